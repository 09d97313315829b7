import type { Answer } from './answer.ts';
import type { WireReader } from './answer-stream.ts';
import type { CallParts } from './call-index.ts';
import { readErrorObject } from './errors.ts';
import { asObject, asText } from './json.ts';
import { STAYS_PAUSED } from './reply.ts';
import type { JsonObject, TranslationContext } from './types.ts';
import { openaiFinish, readAnthropicUsage, type TokenCounts } from './vocabulary.ts';

const PAUSE = 'pause_turn';

interface OpenCall {
  call: CallParts;
  /** Arguments that came whole with the block's start. */
  whole: JsonObject;
}

/** Reads the events of Anthropic's messages. */
export class AnthropicReader implements WireReader {
  readonly #toolNames: ReadonlyMap<string, string>;
  readonly #open = new Map<unknown, OpenCall>();
  #hasCalls = false;
  #stopReason: string | null = null;
  #explanation = '';
  #usage: TokenCounts = {};
  /** Counts of the answers before, where the turn was paused and goes on. */
  #before: TokenCounts | null = null;

  constructor(context: TranslationContext) {
    this.#toolNames = context.toolNames;
  }

  read(data: JsonObject, event: string | undefined, answer: Answer): void {
    const type = asText(data.type) || event;
    switch (type) {
      case 'message_start': {
        const message = asObject(data.message);
        if (this.#stopReason === PAUSE) this.#goOn(answer);
        this.#count(message.usage, answer);
        answer.begin(message.id);
        break;
      }
      case 'content_block_start':
        this.#blockStart(data.index, asObject(data.content_block), answer);
        break;
      case 'content_block_delta':
        this.#blockDelta(data.index, asObject(data.delta), answer);
        break;
      case 'content_block_stop':
        this.#blockStop(data.index, answer);
        break;
      case 'message_delta':
        this.#messageDelta(data, answer);
        break;
      case 'message_stop':
        // The rest of a paused turn may follow as another message.
        if (this.#stopReason !== PAUSE) this.#close(answer);
        break;
      case 'ping':
        answer.alive();
        break;
      default:
        if (data.error || type === 'error')
          answer.fail(
            readErrorObject(data) ?? { type: 'api_error', message: 'The upstream reported an error.' },
          );
    }
  }

  /** Not of this wire. */
  done(): void {}

  close(answer: Answer): void {
    if (this.#stopReason !== null) this.#close(answer);
  }

  #blockStart(index: unknown, block: JsonObject, answer: Answer): void {
    if (block.type === 'text') answer.text(asText(block.text));
    else if (block.type === 'thinking') answer.thinking(asText(block.thinking));
    else if (block.type === 'tool_use') {
      const wire = asText(block.name);
      const call = { id: asText(block.id), name: this.#toolNames.get(wire) ?? wire, arguments: '' };
      this.#hasCalls = true;
      this.#open.set(index, { call, whole: asObject(block.input) });
      answer.call(call, '');
    }
  }

  #blockDelta(index: unknown, delta: JsonObject, answer: Answer): void {
    if (delta.type === 'text_delta') answer.text(asText(delta.text));
    else if (delta.type === 'thinking_delta') answer.thinking(asText(delta.thinking));
    const open = this.#open.get(index);
    if (delta.type === 'input_json_delta' && open !== undefined)
      pour(open.call, asText(delta.partial_json), answer);
  }

  /** A call without any argument text still needs an object that its client can parse (S07). */
  #blockStop(index: unknown, answer: Answer): void {
    const open = this.#open.get(index);
    this.#open.delete(index);
    if (open?.call.arguments === '') pour(open.call, JSON.stringify(open.whole), answer);
  }

  #messageDelta(data: JsonObject, answer: Answer): void {
    const delta = asObject(data.delta);
    this.#count(data.usage, answer);
    if (asText(delta.stop_reason) !== '') this.#stopReason = asText(delta.stop_reason);
    this.#explanation ||= asText(asObject(delta.stop_details).explanation);
  }

  #goOn(answer: Answer): void {
    for (const index of [...this.#open.keys()]) this.#blockStop(index, answer);
    this.#before = addCounts(this.#before, this.#usage);
    this.#usage = {};
    this.#stopReason = null;
  }

  #count(usage: unknown, answer: Answer): void {
    this.#usage = readAnthropicUsage(usage, this.#usage);
    answer.usage(addCounts(this.#before, this.#usage));
  }

  #close(answer: Answer): void {
    if (this.#stopReason === PAUSE) {
      answer.fail({ type: 'api_error', message: STAYS_PAUSED });
      return;
    }
    for (const index of [...this.#open.keys()]) this.#blockStop(index, answer);
    answer.refusal(this.#explanation);
    answer.finish(openaiFinish(this.#stopReason, this.#hasCalls));
  }
}

function pour(call: CallParts, text: string, answer: Answer): void {
  if (text === '') return;
  call.arguments += text;
  answer.call(call, text);
}

/** Counts of two calls that make one answer; null counts nothing. */
function addCounts(one: TokenCounts | null, other: TokenCounts): TokenCounts {
  const sum: TokenCounts = { ...one };
  for (const key of Object.keys(other) as (keyof TokenCounts)[]) {
    const value = other[key];
    if (value !== undefined) sum[key] = (sum[key] ?? 0) + value;
  }
  return sum;
}
