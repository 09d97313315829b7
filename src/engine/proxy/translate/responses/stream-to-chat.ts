import { errorEvent, readErrorObject } from '../errors.ts';
import { asArray, asObject, asText, isObject, parseJson } from '../json.ts';
import { isDone, OPENAI_DONE, openaiEvent } from '../sse.ts';
import { completionId } from '../stream-to-openai.ts';
import type { JsonObject, StreamTranslator, TranslationContext, WireError, WireEvent } from '../types.ts';
import type { TokenCounts } from '../vocabulary.ts';
import { reasoningText } from './items.ts';
import { argumentsOf, callHead, failureOf, finishOf, readResponsesUsage, usageOf } from './reply-to-chat.ts';

interface SeenCall {
  /** Position among the tool calls. */
  order: number;
  custom: boolean;
  /** Arguments that the client has. */
  told: string;
}

/** Events of the Responses API → chat chunks. */
export function createChatStream(context: TranslationContext): StreamTranslator {
  return new ChatStream(context);
}

class ChatStream implements StreamTranslator {
  readonly #context: TranslationContext;
  readonly #calls = new Map<string, SeenCall>();
  /** Items and parts of which something was told already, so that their closing events add nothing. */
  readonly #told = new Set<string>();
  #reasoned = '';
  #state: StreamTranslator['state'] = 'idle';
  #error: WireError | null = null;
  #id: string;
  #usage: TokenCounts | null = null;
  #characters = 0;

  constructor(context: TranslationContext) {
    this.#context = context;
    this.#id = completionId(undefined, context);
  }

  get state(): StreamTranslator['state'] {
    return this.#state;
  }

  get error(): WireError | null {
    return this.#error;
  }

  push(event: WireEvent): string {
    if (this.#isOver() || event.data.trim() === '' || isDone(event.data)) return '';
    const data = parseJson(event.data);
    if (!isObject(data)) return this.#odd(event.data);
    const type = asText(data.type) || event.event;
    switch (type) {
      case 'response.created':
        if (this.#state === 'idle') this.#id = completionId(asObject(data.response).id, this.#context);
        return this.#start();
      case 'response.output_item.added':
        return this.#itemAdded(asObject(data.item), keyOf(data.output_index));
      case 'response.output_text.delta':
        return this.#text(asText(data.delta), data, asArray(data.logprobs));
      case 'response.output_text.done':
        return this.#told.has(partKey(data)) ? '' : this.#text(asText(data.text), data);
      case 'response.refusal.delta':
        return this.#refusal(asText(data.delta), data);
      case 'response.refusal.done':
        return this.#told.has(partKey(data)) ? '' : this.#refusal(asText(data.refusal), data);
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#reasoning(asText(data.delta), data);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#arguments(keyOf(data.output_index), asText(data.delta));
      case 'response.function_call_arguments.done':
        return this.#rest(keyOf(data.output_index), asText(data.arguments));
      case 'response.custom_tool_call_input.done':
        return this.#rest(keyOf(data.output_index), asText(data.input));
      case 'response.output_item.done':
        return this.#itemDone(asObject(data.item), keyOf(data.output_index));
      case 'response.completed':
      case 'response.incomplete':
        return this.#close(asObject(data.response));
      case 'response.failed':
      case 'response.cancelled':
        return this.fail(failureOf(asObject(data.response)));
      case 'error':
        return this.fail(
          readErrorObject(data) ?? { type: 'api_error', message: 'The upstream reported an error.' },
        );
      default:
        return data.error && type === undefined
          ? this.fail(readErrorObject(data) ?? { message: 'The upstream reported an error.' })
          : '';
    }
  }

  end(): string {
    if (this.#isOver()) return '';
    return this.fail({
      type: 'api_error',
      message: 'The upstream closed the stream before the answer was complete.',
    });
  }

  fail(error: WireError): string {
    if (this.#isOver()) return '';
    this.#state = 'failed';
    this.#error = error;
    return errorEvent('openai', error);
  }

  #isOver(): boolean {
    return this.#state === 'ended' || this.#state === 'failed';
  }

  #odd(data: string): string {
    if (!/^\s*[{[]/.test(data)) return '';
    return this.fail({ type: 'api_error', message: 'The upstream sent an event that cannot be read.' });
  }

  #start(): string {
    if (this.#state !== 'idle') return '';
    this.#state = 'open';
    return this.#chunk({ role: 'assistant', content: '' });
  }

  #itemAdded(item: JsonObject, key: string): string {
    if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return '';
    if (this.#calls.has(key)) return '';
    const { custom, id, name } = callHead(item, this.#context);
    const call = { order: this.#calls.size, custom, told: '' };
    this.#calls.set(key, call);
    if (this.#context.legacyFunctions) return this.#say({ function_call: { name, arguments: '' } });
    const inner = custom
      ? { type: 'custom', custom: { name, input: '' } }
      : { type: 'function', function: { name, arguments: '' } };
    return (
      this.#say({ tool_calls: [{ index: call.order, id, ...inner }] }) +
      this.#arguments(key, argumentsOf(item))
    );
  }

  /** Some servers tell an item only when it is done. */
  #itemDone(item: JsonObject, key: string): string {
    if (item.type === 'function_call' || item.type === 'custom_tool_call')
      return (
        this.#itemAdded(item, key) +
        this.#rest(key, argumentsOf(item) || (item.type === 'function_call' ? '{}' : ''))
      );
    if (item.type === 'reasoning')
      return this.#told.has(`reasoning ${key}`)
        ? ''
        : this.#reasoning(reasoningText(item), { output_index: key });
    if (item.type !== 'message') return '';
    let out = '';
    for (const [at, part] of asArray(item.content).filter(isObject).entries()) {
      const where = { output_index: key, content_index: at };
      if (this.#told.has(partKey(where))) continue;
      out +=
        part.type === 'refusal'
          ? this.#refusal(asText(part.refusal), where)
          : this.#text(asText(part.text), where);
    }
    return out;
  }

  #text(text: string, where: JsonObject, logprobs: readonly unknown[] = []): string {
    if (text === '') return '';
    this.#told.add(partKey(where));
    this.#characters += text.length;
    return this.#say({ content: text }, logprobs);
  }

  #refusal(text: string, where: JsonObject): string {
    if (text === '') return '';
    this.#told.add(partKey(where));
    return this.#say({ refusal: text });
  }

  /** The parts of a summary are paragraphs. */
  #reasoning(text: string, data: JsonObject): string {
    if (text === '') return '';
    this.#told.add(`reasoning ${keyOf(data.output_index)}`);
    this.#characters += text.length;
    const part = `${keyOf(data.output_index)} ${keyOf(data.summary_index ?? data.content_index ?? 0)}`;
    const separator = this.#reasoned === '' || this.#reasoned === part ? '' : '\n\n';
    this.#reasoned = part;
    return this.#context.showReasoning ? this.#say({ reasoning_content: separator + text }) : '';
  }

  #arguments(key: string, text: string): string {
    const call = this.#calls.get(key);
    if (call === undefined || text === '') return '';
    call.told += text;
    this.#characters += text.length;
    if (this.#context.legacyFunctions) return this.#say({ function_call: { arguments: text } });
    const inner = call.custom ? { custom: { input: text } } : { function: { arguments: text } };
    return this.#say({ tool_calls: [{ index: call.order, ...inner }] });
  }

  /** What of the whole arguments the client does not have. */
  #rest(key: string, whole: string): string {
    const call = this.#calls.get(key);
    if (call === undefined || !whole.startsWith(call.told)) return '';
    return this.#arguments(key, whole.slice(call.told.length));
  }

  #close(response: JsonObject): string {
    let out = this.#start();
    for (const [index, item] of asArray(response.output).filter(isObject).entries())
      out += this.#itemDone(item, keyOf(index));
    this.#usage = readResponsesUsage(response.usage);
    out += this.#chunk({}, finishOf(response, this.#calls.size > 0, this.#context.legacyFunctions));
    if (this.#context.includeUsage)
      out += openaiEvent({
        ...this.#frame(),
        choices: [],
        usage: usageOf(this.#usage, this.#context, this.#characters),
      });
    this.#state = 'ended';
    return out + OPENAI_DONE;
  }

  #say(delta: JsonObject, logprobs: readonly unknown[] = []): string {
    return this.#start() + this.#chunk(delta, null, logprobs);
  }

  #chunk(delta: JsonObject, finish: string | null = null, logprobs: readonly unknown[] = []): string {
    const told = logprobs.length > 0 ? { content: logprobs, refusal: null } : null;
    const choices = [{ index: 0, delta, logprobs: told, finish_reason: finish }];
    return openaiEvent({ ...this.#frame(), choices, ...(this.#context.includeUsage ? { usage: null } : {}) });
  }

  #frame(): JsonObject {
    const { createdAt, requestedModel } = this.#context;
    return { id: this.#id, object: 'chat.completion.chunk', created: createdAt, model: requestedModel };
  }
}

function partKey(data: JsonObject): string {
  return `${keyOf(data.output_index)} ${keyOf(data.content_index)}`;
}

function keyOf(index: unknown): string {
  return String(index ?? 0);
}
