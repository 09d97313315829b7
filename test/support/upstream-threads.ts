/** Conversations that Anthropic's service keeps (beta `message-threads-2026-08-12`), as its SDK 1.14 knows them. */
import { anthropicWhole, type RawReply, type ScriptedReply } from './upstream-reply.ts';

type Json = Record<string, unknown>;

interface Kept {
  /** What every later turn must repeat, if it says it at all. */
  fixed: Json;
  messages: unknown[];
}

const BETA = 'message-threads-2026-08-12';
const FIXED = ['system', 'tools', 'model'];

export class Threads {
  readonly #kept = new Map<string, Kept>();

  /** A request with the whole conversation that it stands for, or the answer of a service that refuses it. */
  read(body: Json, betas: readonly string[]): { body: Json } | { refusal: RawReply } {
    const thread = body.thread as { type: string; previous_message_id?: string } | undefined;
    if (thread === undefined) return { body };
    if (!betas.includes(BETA)) return refuse('thread: Extra inputs are not permitted');
    if (thread.type === 'create') return { body };
    const kept = this.#kept.get(String(thread.previous_message_id));
    if (!kept) return refuse(`no message ${thread.previous_message_id} is kept`, 'thread_not_found');
    const changed = FIXED.filter(
      (name) => body[name] !== undefined && JSON.stringify(body[name]) !== JSON.stringify(kept.fixed[name]),
    );
    if (changed.length > 0)
      return refuse(`a thread cannot change its ${changed.join(', ')}`, 'thread_fingerprint_mismatch');
    return {
      body: { ...kept.fixed, ...body, messages: [...kept.messages, ...(body.messages as unknown[])] },
    };
  }

  /** The answer to a request that `read` made whole, under an id by which the conversation goes on. */
  keep(whole: Json, reply: ScriptedReply): ScriptedReply {
    if (whole.thread === undefined) return reply;
    const id = `msg_thread_${this.#kept.size + 1}`;
    const named = { ...reply, extra: { id, ...reply.extra } };
    const { content } = anthropicWhole(named, '');
    const messages = [...(whole.messages as unknown[]), { role: 'assistant', content }];
    this.#kept.set(String(named.extra.id), {
      fixed: Object.fromEntries(FIXED.map((name) => [name, whole[name]])),
      messages,
    });
    return named;
  }
}

function refuse(message: string, code?: string): { refusal: RawReply } {
  const details = code === undefined ? {} : { details: { error_code: code } };
  return {
    refusal: {
      status: 400,
      body: {
        type: 'error',
        error: { type: 'invalid_request_error', message, ...details },
        request_id: 'req_scripted',
      },
    },
  };
}
