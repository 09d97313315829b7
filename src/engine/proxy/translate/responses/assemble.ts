import { errorEvent, readErrorObject, statusOfType } from '../errors.ts';
import { asArray, asObject, asText, isObject, parseJson } from '../json.ts';
import type { AssembledReply, Assembler, JsonObject, WireError, WireEvent } from '../types.ts';
import { toUsage } from '../vocabulary.ts';
import { EventCounter } from './events.ts';
import { visibleText } from './items.ts';
import { failureOf, readResponsesUsage } from './reply-to-chat.ts';
import { responseErrorCode } from './response-object.ts';

/** Builds the response object from a stream's events. The last event holds it whole; before that, what is known. */
export class ResponsesAssembler implements Assembler {
  readonly #items = new Map<number, JsonObject>();
  readonly #texts = new Map<number, string>();
  #frame: JsonObject | null = null;
  #whole: JsonObject | null = null;
  #error: WireError | null = null;
  #sequence = -1;

  push(event: WireEvent): void {
    const data = parseJson(event.data);
    if (!isObject(data)) return;
    if (typeof data.sequence_number === 'number') this.#sequence = data.sequence_number;
    const index = typeof data.output_index === 'number' ? data.output_index : 0;
    switch (asText(data.type) || event.event) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        this.#frame = asObject(data.response);
        break;
      case 'response.output_item.added':
      case 'response.output_item.done':
        this.#items.set(index, asObject(data.item));
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#texts.set(index, (this.#texts.get(index) ?? '') + asText(data.delta));
        break;
      case 'response.completed':
      case 'response.incomplete':
        this.#whole = asObject(data.response);
        break;
      case 'response.failed':
        this.#frame = asObject(data.response);
        this.#error ??= failureOf(this.#frame);
        break;
      case 'error':
        this.#error ??= readErrorObject(data) ?? { message: 'error' };
        break;
      default:
    }
  }

  /** The events that tell a client of a stream that broke here. */
  failure(error: WireError): string {
    const out = errorEvent('responses', error, this.#sequence + 1);
    const { reply } = this.result();
    if (reply === null) return out;
    const code = responseErrorCode(error.code, error.status ?? statusOfType(error.type));
    const response = { ...reply, status: 'failed', error: { code, message: error.message } };
    return out + new EventCounter(this.#sequence + 2).event('response.failed', { response });
  }

  result(): AssembledReply {
    const output = this.#output();
    const known = this.#whole ?? this.#frame;
    const reply = known === null ? null : { ...known, output };
    return {
      reply,
      text: output.map(visibleText).join(''),
      usage: toUsage(readResponsesUsage(known?.usage)),
      complete: this.#whole !== null && this.#error === null,
      error: this.#error,
    };
  }

  /** Some servers leave the output out of their last event; a broken stream has no last event. */
  #output(): JsonObject[] {
    const told = asArray(this.#whole?.output).filter(isObject);
    if (told.length > 0) return told;
    return [...this.#items]
      .sort(([a], [b]) => a - b)
      .map(([index, item]) => {
        const text = this.#texts.get(index);
        if (item.type !== 'message' || text === undefined || visibleText(item) !== '') return item;
        return { ...item, content: [{ type: 'output_text', text, annotations: [] }] };
      });
  }
}
