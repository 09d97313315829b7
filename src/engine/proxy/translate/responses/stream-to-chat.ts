import { AppError } from '../../../../shared/errors.ts';
import { errorEvent, readErrorObject } from '../errors.ts';
import { asArray, asCount, asObject, asText, isObject, parseJson } from '../json.ts';
import { isDone, OPENAI_DONE, openaiEvent } from '../sse.ts';
import { completionId } from '../stream-to-openai.ts';
import type { JsonObject, StreamTranslator, TranslationContext, WireError, WireEvent } from '../types.ts';
import { guessTokens, type TokenCounts, toOpenaiUsage } from '../vocabulary.ts';
import { reasoningText } from './items.ts';

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

/** A response object → chat completion. Throws UPSTREAM_REFUSED when it is an error or no whole response. */
export function responseToChatReply(reply: unknown, context: TranslationContext): JsonObject {
  if (!isObject(reply)) throw notAReply();
  if (reply.status === 'failed' || reply.status === 'cancelled' || isObject(reply.error))
    throw new AppError('UPSTREAM_REFUSED', failureOf(reply).message);
  if (!Array.isArray(reply.output)) throw notAReply();
  let text = '';
  let refusal = '';
  const reasoning: string[] = [];
  const calls: JsonObject[] = [];
  const logprobs: unknown[] = [];
  for (const item of reply.output.filter(isObject)) {
    if (item.type === 'reasoning') reasoning.push(reasoningText(item));
    else if (item.type === 'function_call' || item.type === 'custom_tool_call')
      calls.push(callOf(item, context));
    else if (item.type === 'message')
      for (const part of asArray(item.content).filter(isObject)) {
        text += asText(part.text);
        refusal += asText(part.refusal);
        logprobs.push(...asArray(part.logprobs));
      }
  }
  const thought = reasoning.filter((part) => part !== '').join('\n\n');
  const message = {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(thought !== '' && context.showReasoning ? { reasoning_content: thought } : {}),
    ...(calls.length === 0
      ? {}
      : context.legacyFunctions
        ? { function_call: calls[0]?.function }
        : { tool_calls: calls }),
  };
  const choice = {
    index: 0,
    message,
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: finishOf(reply, calls.length > 0, context.legacyFunctions),
  };
  return {
    id: completionId(reply.id, context),
    object: 'chat.completion',
    created: context.createdAt,
    model: context.requestedModel,
    choices: [choice],
    usage: usageOf(readResponsesUsage(reply.usage), context, text.length + thought.length),
  };
}

/** Reads a `usage` of the Responses API. */
export function readResponsesUsage(value: unknown): TokenCounts | null {
  if (!isObject(value)) return null;
  const input = asCount(value.input_tokens);
  const output = asCount(value.output_tokens);
  if (input === undefined && output === undefined) return null;
  const details = asObject(value.input_tokens_details);
  const cacheRead = asCount(details.cached_tokens);
  const cacheWrite = asCount(details.cache_write_tokens);
  return {
    input: input === undefined ? undefined : Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output,
    cacheRead,
    cacheWrite,
    reasoning: asCount(asObject(value.output_tokens_details).reasoning_tokens),
  };
}

/** Why a response failed, in the words of either wire. */
export function failureOf(response: JsonObject): WireError {
  const error = asObject(response.error);
  const code = asText(error.code) || null;
  const type = code === 'rate_limit_exceeded' ? 'rate_limit_error' : 'api_error';
  return { type, message: asText(error.message) || 'The upstream reported that its answer failed.', code };
}

function usageOf(counts: TokenCounts | null, context: TranslationContext, characters: number): JsonObject {
  return toOpenaiUsage(counts ?? { input: context.estimatedInputTokens, output: guessTokens(characters) });
}

function finishOf(response: JsonObject, hasCalls: boolean, legacyFunctions: boolean): string {
  const { reason } = asObject(response.incomplete_details);
  if (response.status === 'incomplete' || asText(reason) !== '')
    return reason === 'content_filter' ? 'content_filter' : 'length';
  if (!hasCalls) return 'stop';
  return legacyFunctions ? 'function_call' : 'tool_calls';
}

function callHead(
  item: JsonObject,
  context: TranslationContext,
): { custom: boolean; id: string; name: string } {
  const wire = asText(item.name);
  return {
    custom: item.type === 'custom_tool_call',
    id: asText(item.call_id) || asText(item.id),
    name: context.toolNames.get(wire) ?? wire,
  };
}

function callOf(item: JsonObject, context: TranslationContext): JsonObject {
  const { custom, id, name } = callHead(item, context);
  return custom
    ? { id, type: 'custom', custom: { name, input: argumentsOf(item) } }
    : { id, type: 'function', function: { name, arguments: argumentsOf(item) || '{}' } };
}

function argumentsOf(item: JsonObject): string {
  return asText(item.type === 'custom_tool_call' ? item.input : item.arguments);
}

function partKey(data: JsonObject): string {
  return `${keyOf(data.output_index)} ${keyOf(data.content_index)}`;
}

function keyOf(index: unknown): string {
  return String(index ?? 0);
}

function notAReply(): AppError {
  return new AppError('UPSTREAM_REFUSED', 'The upstream answered with something that is no response.', {
    hint: 'Check the base URL of the provider: it may lead to a web page or to another kind of API.',
  });
}
