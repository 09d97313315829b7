import type { AnswerEnd, AnswerWriter } from '../answer.ts';
import { argumentsObject, ObjectProgress } from '../arguments.ts';
import type { CallParts } from '../call-index.ts';
import { statusOfType } from '../errors.ts';
import { asText, isObject, parseJson } from '../json.ts';
import { ReplyCallIds } from '../reply-ids.ts';
import type { JsonObject, TranslationContext, WireError } from '../types.ts';
import { EventCounter } from './events.ts';
import { responseErrorCode, responseFrame, toResponsesUsage } from './response-object.ts';

/** A tool call on its way: its reader fills the parts, the writer remembers what the client has seen. */
interface Call {
  readonly call: CallParts;
  /** Position among the calls. */
  readonly order: number;
  readonly progress: ObjectProgress;
  /** Arguments that the client does not have yet. */
  pending: string;
  item: JsonObject | null;
  index: number;
  closed: boolean;
}

interface Message {
  kind: 'message';
  item: JsonObject;
  index: number;
  parts: JsonObject[];
}
interface Reasoning {
  kind: 'reasoning';
  item: JsonObject;
  index: number;
  text: string;
}

type Status = 'completed' | 'incomplete';

/**
 * Builds one response of the Responses API: the object, and the events that tell of it. Every method returns the SSE
 * text for what it changed. Texts and reasoning stand one after the other; calls may grow side by side.
 */
export class ResponseWriter implements AnswerWriter {
  readonly #context: TranslationContext;
  readonly #onWhole: (response: JsonObject) => void;
  readonly #events = new EventCounter();
  readonly #ids: ReplyCallIds;
  readonly #output: JsonObject[] = [];
  readonly #calls = new Map<CallParts, Call>();
  #frame: JsonObject;
  #open: Message | Reasoning | null = null;
  #told = 0;

  /** `onWhole` gets the response object before its last event goes out. */
  constructor(context: TranslationContext, onWhole: (response: JsonObject) => void = () => {}) {
    this.#context = context;
    this.#onWhole = onWhole;
    this.#ids = new ReplyCallIds(context);
    this.#frame = responseFrame(context);
  }

  /** The response so far; whole after `finish`. */
  get response(): JsonObject {
    return { ...this.#frame, output: this.#output };
  }

  begin(): string {
    const response = this.response;
    return (
      this.#events.event('response.created', { response }) +
      this.#events.event('response.in_progress', { response })
    );
  }

  thinking(text: string): string {
    let out = '';
    if (this.#open?.kind !== 'reasoning') {
      out += this.#closeOpen('completed');
      const { item, index, added } = this.#add({ id: this.#itemId('rs'), type: 'reasoning', summary: [] });
      this.#open = { kind: 'reasoning', item, index, text: '' };
      out +=
        added +
        this.#events.event('response.reasoning_summary_part.added', {
          ...place(item, index),
          summary_index: 0,
          part: { type: 'summary_text', text: '' },
        });
    }
    const open = this.#open as Reasoning;
    open.text += text;
    return (
      out +
      this.#events.event('response.reasoning_summary_text.delta', {
        ...place(open.item, open.index),
        summary_index: 0,
        delta: text,
      })
    );
  }

  text(text: string, told: readonly unknown[]): string {
    const logprobs = this.#context.responses?.wantsLogprobs === true ? told : [];
    const { message, part, at, out } = this.#part('output_text');
    part.text = asText(part.text) + text;
    if (logprobs.length > 0) part.logprobs = [...((part.logprobs as unknown[]) ?? []), ...logprobs];
    return (
      out +
      this.#events.event('response.output_text.delta', {
        ...place(message.item, message.index),
        content_index: at,
        delta: text,
        logprobs,
      })
    );
  }

  refusal(text: string): string {
    const { message, part, at, out } = this.#part('refusal');
    part.refusal = asText(part.refusal) + text;
    return (
      out +
      this.#events.event('response.refusal.delta', {
        ...place(message.item, message.index),
        content_index: at,
        delta: text,
      })
    );
  }

  call(parts: CallParts, added: string): string {
    let out = '';
    let call = this.#calls.get(parts);
    if (call === undefined) {
      out += this.#closeOpen('completed');
      // What is complete need not wait for the others: the client may show it.
      for (const other of this.#calls.values())
        if (other.progress.complete) out += this.#closeCall(other, 'completed');
      call = newCall(parts, this.#calls.size);
      this.#calls.set(parts, call);
    }
    if (call.closed) return out;
    call.progress.feed(added);
    call.pending += added;
    if (parts.id === '' || parts.name === '' || !call.progress.isObject) return out;
    return out + this.#startCall(call) + this.#pour(call);
  }

  alive(): string {
    return ': keep-alive\n\n';
  }

  finish(end: AnswerEnd): string {
    const reason = shortReason(end);
    const status = reason === null ? 'completed' : 'incomplete';
    let out = this.#closeOpen(status);
    for (const call of this.#calls.values()) out += this.#closeCall(call, status);
    this.#frame = {
      ...this.#frame,
      status,
      usage: toResponsesUsage(end.counts),
      incomplete_details: reason === null ? null : { reason },
      completed_at: reason === null ? this.#context.createdAt : null,
    };
    this.#onWhole(this.response);
    return out + this.#events.event(`response.${status}`, { response: this.response });
  }

  /**
   * Something broke. Clients know two signs of it, and each client one of them: an `error` event (the SDKs throw),
   * and the response told as failed (Codex looks for that).
   */
  fail(error: WireError, begun: boolean): string {
    const status = error.status ?? statusOfType(error.type);
    const code = responseErrorCode(error.code, status);
    const out = this.#events.event('error', { code, message: error.message, param: error.param ?? null });
    if (!begun) return out;
    this.#frame = { ...this.#frame, status: 'failed', error: { code, message: error.message } };
    return out + this.#events.event('response.failed', { response: this.response });
  }

  #part(type: 'output_text' | 'refusal'): { message: Message; part: JsonObject; at: number; out: string } {
    let out = '';
    if (this.#open?.kind !== 'message') {
      out += this.#closeOpen('completed');
      const { item, index, added } = this.#add({
        id: this.#itemId('msg'),
        type: 'message',
        status: 'in_progress',
        role: 'assistant',
        content: [],
      });
      this.#open = { kind: 'message', item, index, parts: [] };
      out += added;
    }
    const message = this.#open as Message;
    const last = message.parts.at(-1);
    if (last?.type === type) return { message, part: last, at: message.parts.length - 1, out };
    out += this.#closePart(message);
    const part: JsonObject =
      type === 'refusal' ? { type, refusal: '' } : { type, text: '', annotations: [], logprobs: [] };
    message.parts.push(part);
    const at = message.parts.length - 1;
    out += this.#events.event('response.content_part.added', {
      ...place(message.item, message.index),
      content_index: at,
      part,
    });
    return { message, part, at, out };
  }

  #closePart(message: Message): string {
    const part = message.parts.at(-1);
    if (part === undefined) return '';
    const where = { ...place(message.item, message.index), content_index: message.parts.length - 1 };
    const done =
      part.type === 'refusal'
        ? this.#events.event('response.refusal.done', { ...where, refusal: part.refusal })
        : this.#events.event('response.output_text.done', {
            ...where,
            text: part.text,
            logprobs: part.logprobs,
          });
    return done + this.#events.event('response.content_part.done', { ...where, part });
  }

  #closeOpen(status: Status): string {
    const open = this.#open;
    this.#open = null;
    if (open === null) return '';
    if (open.kind === 'message') {
      const out = this.#closePart(open);
      return out + this.#done(open.index, { ...open.item, status, content: open.parts });
    }
    const where = { ...place(open.item, open.index), summary_index: 0 };
    const part = { type: 'summary_text', text: open.text };
    return (
      this.#events.event('response.reasoning_summary_text.done', { ...where, text: open.text }) +
      this.#events.event('response.reasoning_summary_part.done', { ...where, part }) +
      this.#done(open.index, { ...open.item, summary: [part] })
    );
  }

  #startCall(call: Call): string {
    if (call.item !== null) return '';
    const { id, name } = call.call;
    const tool = this.#context.responses?.tools.get(name);
    const custom = tool?.kind === 'custom';
    const { item, index, added } = this.#add({
      id: this.#itemId(custom ? 'ctc' : 'fc'),
      type: custom ? 'custom_tool_call' : 'function_call',
      status: 'in_progress',
      call_id: this.#ids.take(id, call.order),
      name: tool?.name ?? name,
      ...(tool?.namespace ? { namespace: tool.namespace } : {}),
      ...(custom ? { input: '' } : { arguments: '' }),
    });
    call.item = item;
    call.index = index;
    return added;
  }

  /** A free-form tool's text is cut out of its wrapper when that is whole. */
  #pour(call: Call): string {
    if (call.item?.type !== 'function_call' || call.pending === '') return '';
    const delta = call.pending;
    call.pending = '';
    return this.#events.event('response.function_call_arguments.delta', {
      ...place(call.item, call.index),
      delta,
    });
  }

  #closeCall(call: Call, status: Status): string {
    if (call.closed) return '';
    call.closed = true;
    const told = call.call.arguments;
    const whole = call.progress.isObject ? told : JSON.stringify(argumentsObject(told));
    if (call.item === null) call.pending = whole;
    let out = this.#startCall(call);
    const item = call.item as unknown as JsonObject;
    const where = place(item, call.index);
    if (item.type === 'custom_tool_call') {
      const input = customInput(whole);
      if (input !== '')
        out += this.#events.event('response.custom_tool_call_input.delta', { ...where, delta: input });
      out += this.#events.event('response.custom_tool_call_input.done', { ...where, input });
      return out + this.#done(call.index, { ...item, status, input });
    }
    out += this.#pour(call);
    out += this.#events.event('response.function_call_arguments.done', {
      ...where,
      name: item.name,
      arguments: whole,
    });
    return out + this.#done(call.index, { ...item, status, arguments: whole });
  }

  #add(item: JsonObject): { item: JsonObject; index: number; added: string } {
    const index = this.#output.push(item) - 1;
    return {
      item,
      index,
      added: this.#events.event('response.output_item.added', { output_index: index, item }),
    };
  }

  #done(index: number, item: JsonObject): string {
    this.#output[index] = item;
    return this.#events.event('response.output_item.done', { output_index: index, item });
  }

  #itemId(prefix: string): string {
    this.#told += 1;
    return `${prefix}_${this.#context.replyId}_${this.#told - 1}`;
  }
}

function newCall(call: CallParts, order: number): Call {
  const progress = new ObjectProgress();
  return { call, order, progress, pending: '', item: null, index: -1, closed: false };
}

/** Why an answer is not whole; a refusal in words is a whole answer. */
function shortReason({
  finish,
  refused,
  hasCalls,
}: AnswerEnd): 'max_output_tokens' | 'content_filter' | null {
  if (finish === 'length' || finish === 'max_tokens') return 'max_output_tokens';
  return finish === 'content_filter' && !refused && !hasCalls ? 'content_filter' : null;
}

function place(item: JsonObject, index: number): JsonObject {
  return { item_id: item.id, output_index: index };
}

/** What the model wrote into the one parameter of a free-form tool; all it wrote when it ignored the form. */
function customInput(args: string): string {
  const parsed = parseJson(args);
  if (!isObject(parsed)) return args;
  if (typeof parsed.input === 'string') return parsed.input;
  const texts = Object.values(parsed).filter((value) => typeof value === 'string');
  return texts.length === 1 && texts[0] !== undefined ? texts[0] : args;
}
