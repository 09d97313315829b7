import type { Answer } from '../answer.ts';
import type { WireReader } from '../answer-stream.ts';
import type { CallParts } from '../call-index.ts';
import { readErrorObject } from '../errors.ts';
import { asArray, asObject, asText, isObject } from '../json.ts';
import type { JsonObject, TranslationContext } from '../types.ts';
import { reasoningText } from './items.ts';
import { argumentsOf, callHead, failureOf, finishOf, readResponsesUsage } from './reply-to-chat.ts';

/** Reads the events of the Responses API. Some servers tell an item or a part only when it is done. */
export class ResponsesReader implements WireReader {
  readonly #context: TranslationContext;
  readonly #calls = new Map<string, CallParts>();
  /** Items and parts of which something was told already, so that their closing events add nothing. */
  readonly #told = new Set<string>();
  /** The part that the newest reasoning came from. */
  #reasoned = '';

  constructor(context: TranslationContext) {
    this.#context = context;
  }

  read(data: JsonObject, event: string | undefined, answer: Answer): void {
    const type = asText(data.type) || event;
    switch (type) {
      case 'response.created':
        answer.begin(asObject(data.response).id);
        break;
      case 'response.output_item.added':
        this.#itemAdded(asObject(data.item), keyOf(data.output_index), answer);
        break;
      case 'response.output_text.delta':
        this.#text(asText(data.delta), data, answer);
        break;
      case 'response.output_text.done':
        if (!this.#told.has(partKey(data))) this.#text(asText(data.text), data, answer);
        break;
      case 'response.refusal.delta':
        this.#refusal(asText(data.delta), data, answer);
        break;
      case 'response.refusal.done':
        if (!this.#told.has(partKey(data))) this.#refusal(asText(data.refusal), data, answer);
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#reasoning(asText(data.delta), data, answer);
        break;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#arguments(keyOf(data.output_index), asText(data.delta), answer);
        break;
      case 'response.function_call_arguments.done':
        this.#rest(keyOf(data.output_index), asText(data.arguments), answer);
        break;
      case 'response.custom_tool_call_input.done':
        this.#rest(keyOf(data.output_index), asText(data.input), answer);
        break;
      case 'response.output_item.done':
        this.#itemDone(asObject(data.item), keyOf(data.output_index), answer);
        break;
      case 'response.completed':
      case 'response.incomplete':
        this.#close(asObject(data.response), answer);
        break;
      case 'response.failed':
      case 'response.cancelled':
        answer.fail(failureOf(asObject(data.response)));
        break;
      default:
        if (type === 'error' || (data.error && type === undefined))
          answer.fail(
            readErrorObject(data) ?? { type: 'api_error', message: 'The upstream reported an error.' },
          );
    }
  }

  /** Not of this wire. */
  done(): void {}

  /** Only its last event says how a response ended. */
  close(): void {}

  #itemAdded(item: JsonObject, key: string, answer: Answer): void {
    if ((item.type !== 'function_call' && item.type !== 'custom_tool_call') || this.#calls.has(key)) return;
    const call = { ...callHead(item, this.#context), arguments: argumentsOf(item) };
    this.#calls.set(key, call);
    answer.call(call, call.arguments);
  }

  #itemDone(item: JsonObject, key: string, answer: Answer): void {
    if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      this.#itemAdded(item, key, answer);
      this.#rest(key, argumentsOf(item) || (item.type === 'function_call' ? '{}' : ''), answer);
    } else if (item.type === 'reasoning') {
      if (!this.#told.has(reasoningKey(key)))
        this.#reasoning(reasoningText(item), { output_index: key }, answer);
    } else if (item.type === 'message')
      for (const [at, part] of asArray(item.content).filter(isObject).entries())
        this.#partDone(part, { output_index: key, content_index: at }, answer);
  }

  #partDone(part: JsonObject, where: JsonObject, answer: Answer): void {
    if (this.#told.has(partKey(where))) return;
    if (part.type === 'refusal') this.#refusal(asText(part.refusal), where, answer);
    else this.#text(asText(part.text), where, answer);
  }

  #text(text: string, where: JsonObject, answer: Answer): void {
    if (text === '') return;
    this.#told.add(partKey(where));
    answer.text(text, asArray(where.logprobs));
  }

  #refusal(text: string, where: JsonObject, answer: Answer): void {
    if (text === '') return;
    this.#told.add(partKey(where));
    answer.refusal(text);
  }

  /** The parts of a summary are paragraphs. */
  #reasoning(text: string, where: JsonObject, answer: Answer): void {
    if (text === '') return;
    const item = keyOf(where.output_index);
    this.#told.add(reasoningKey(item));
    const part = `${item} ${keyOf(where.summary_index ?? where.content_index)}`;
    const separator = this.#reasoned === '' || this.#reasoned === part ? '' : '\n\n';
    this.#reasoned = part;
    answer.thinking(separator + text);
  }

  #arguments(key: string, text: string, answer: Answer): void {
    const call = this.#calls.get(key);
    if (call === undefined || text === '') return;
    call.arguments += text;
    answer.call(call, text);
  }

  /** What of the whole arguments the client does not have. */
  #rest(key: string, whole: string, answer: Answer): void {
    const told = this.#calls.get(key)?.arguments;
    if (told !== undefined && whole.startsWith(told)) this.#arguments(key, whole.slice(told.length), answer);
  }

  #close(response: JsonObject, answer: Answer): void {
    for (const [index, item] of asArray(response.output).filter(isObject).entries())
      this.#itemDone(item, keyOf(index), answer);
    const counts = readResponsesUsage(response.usage);
    if (counts !== null) answer.usage(counts);
    answer.finish(finishOf(response, this.#calls.size > 0));
  }
}

function partKey(where: JsonObject): string {
  return `${keyOf(where.output_index)} ${keyOf(where.content_index)}`;
}

function reasoningKey(item: string): string {
  return `reasoning ${item}`;
}

function keyOf(index: unknown): string {
  return String(index ?? 0);
}
