import { asText } from './json.ts';
import type { TranslationContext } from './types.ts';

/** An Anthropic message id; the upstream's own id stays readable in it. */
export function messageId(upstreamId: unknown, context: TranslationContext): string {
  return prefixed('msg_', upstreamId, context);
}

/** An OpenAI completion id; the upstream's own id stays readable in it. */
export function completionId(upstreamId: unknown, context: TranslationContext): string {
  return prefixed('chatcmpl-', upstreamId, context);
}

function prefixed(prefix: string, upstreamId: unknown, context: TranslationContext): string {
  const id = asText(upstreamId) || context.replyId;
  return id.startsWith(prefix) ? id : prefix + id;
}

/** Ids of one reply's tool calls: the upstream's own, or made up where it gave none or the same twice. */
export class ReplyCallIds {
  readonly #base: string;
  readonly #used = new Set<string>();

  constructor(context: TranslationContext) {
    this.#base = context.replyId.replace(/[^a-zA-Z0-9_-]/g, '').slice(-24);
  }

  /** `order` counts the calls of the reply from 0. */
  take(upstreamId: string, order: number): string {
    const id = upstreamId === '' || this.#used.has(upstreamId) ? `call_${this.#base}_${order}` : upstreamId;
    this.#used.add(id);
    return id;
  }
}
