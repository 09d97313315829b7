import { errorEvent, readErrorObject } from './errors.ts';
import { asObject, asText, isObject, parseJson } from './json.ts';
import { isDone, OPENAI_DONE, openaiEvent } from './sse.ts';
import type { JsonObject, StreamTranslator, TranslationContext, WireError, WireEvent } from './types.ts';
import {
  guessTokens,
  openaiFinish,
  readAnthropicUsage,
  type TokenCounts,
  toOpenaiUsage,
} from './vocabulary.ts';

interface OpenCall {
  /** Position among the tool calls, not among the blocks (S15). */
  index: number;
  /** Arguments that came whole with the block's start. */
  whole: JsonObject;
  told: boolean;
}

/** Upstream Anthropic events → OpenAI chunks for the client. */
export function createOpenaiStream(context: TranslationContext): StreamTranslator {
  return new OpenaiStream(context);
}

class OpenaiStream implements StreamTranslator {
  readonly #context: TranslationContext;
  readonly #calls = new Map<unknown, OpenCall>();
  #callCount = 0;
  #state: StreamTranslator['state'] = 'idle';
  #error: WireError | null = null;
  #id: string;
  #stopReason: string | null = null;
  #explanation = '';
  #usage: TokenCounts = {};
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
      case 'message_start':
        return this.#messageStart(asObject(data.message));
      case 'content_block_start':
        return this.#blockStart(data.index, asObject(data.content_block));
      case 'content_block_delta':
        return this.#blockDelta(data.index, asObject(data.delta));
      case 'content_block_stop':
        return this.#blockStop(data.index);
      case 'message_delta':
        return this.#messageDelta(data);
      case 'message_stop':
        return this.#close();
      case 'ping':
        // A comment keeps the connection alive and is no chunk (S17).
        return this.#state === 'idle' ? '' : ': keep-alive\n\n';
      case 'error':
        return this.fail(
          readErrorObject(data) ?? { type: 'api_error', message: 'The upstream reported an error.' },
        );
      default:
        return data.error
          ? this.fail(readErrorObject(data) ?? { message: 'The upstream reported an error.' })
          : '';
    }
  }

  end(): string {
    if (this.#isOver()) return '';
    if (this.#stopReason !== null) return this.#close();
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

  #messageStart(message: JsonObject): string {
    this.#usage = readAnthropicUsage(message.usage, this.#usage);
    if (this.#state === 'idle') this.#id = completionId(message.id, this.#context);
    return this.#start();
  }

  #start(): string {
    if (this.#state !== 'idle') return '';
    this.#state = 'open';
    return this.#chunk({ role: 'assistant', content: '' });
  }

  #blockStart(index: unknown, block: JsonObject): string {
    if (block.type === 'text') return this.#text(asText(block.text));
    if (block.type === 'thinking') return this.#thinking(asText(block.thinking));
    if (block.type !== 'tool_use') return '';
    const call = { index: this.#callCount, whole: asObject(block.input), told: false };
    this.#callCount += 1;
    this.#calls.set(index, call);
    const wire = asText(block.name);
    const name = this.#context.toolNames.get(wire) ?? wire;
    const fn = { name, arguments: '' };
    if (this.#context.legacyFunctions) return this.#say({ function_call: fn });
    return this.#say({
      tool_calls: [{ index: call.index, id: asText(block.id), type: 'function', function: fn }],
    });
  }

  #blockDelta(index: unknown, delta: JsonObject): string {
    if (delta.type === 'text_delta') return this.#text(asText(delta.text));
    if (delta.type === 'thinking_delta') return this.#thinking(asText(delta.thinking));
    const call = this.#calls.get(index);
    if (delta.type !== 'input_json_delta' || call === undefined) return '';
    return this.#arguments(call, asText(delta.partial_json));
  }

  /** A call without any argument text still needs an object that its client can parse (S07). */
  #blockStop(index: unknown): string {
    const call = this.#calls.get(index);
    if (call === undefined) return '';
    this.#calls.delete(index);
    return call.told ? '' : this.#arguments(call, JSON.stringify(call.whole));
  }

  #text(text: string): string {
    this.#characters += text.length;
    return text === '' ? '' : this.#say({ content: text });
  }

  #thinking(text: string): string {
    this.#characters += text.length;
    return text === '' || !this.#context.showReasoning ? '' : this.#say({ reasoning_content: text });
  }

  #arguments(call: OpenCall, text: string): string {
    if (text === '') return '';
    call.told = true;
    this.#characters += text.length;
    if (this.#context.legacyFunctions) return this.#say({ function_call: { arguments: text } });
    return this.#say({ tool_calls: [{ index: call.index, function: { arguments: text } }] });
  }

  #messageDelta(data: JsonObject): string {
    const delta = asObject(data.delta);
    this.#usage = readAnthropicUsage(data.usage, this.#usage);
    if (asText(delta.stop_reason) !== '') this.#stopReason = asText(delta.stop_reason);
    this.#explanation = asText(asObject(delta.stop_details).explanation);
    return '';
  }

  #close(): string {
    if (this.#stopReason === 'pause_turn') {
      return this.fail({
        type: 'api_error',
        message: 'The upstream paused its turn in the middle of its own tool use.',
      });
    }
    let out = this.#start();
    for (const index of [...this.#calls.keys()]) out += this.#blockStop(index);
    if (this.#explanation !== '') out += this.#chunk({ refusal: this.#explanation });
    out += this.#chunk(
      {},
      openaiFinish(this.#stopReason, this.#callCount > 0, this.#context.legacyFunctions),
    );
    if (this.#context.includeUsage)
      out += openaiEvent({ ...this.#frame(), choices: [], usage: this.#totals() });
    this.#state = 'ended';
    return out + OPENAI_DONE;
  }

  #totals(): JsonObject {
    const known = this.#usage.input !== undefined || this.#usage.output !== undefined;
    return toOpenaiUsage(
      known
        ? this.#usage
        : { input: this.#context.estimatedInputTokens, output: guessTokens(this.#characters) },
    );
  }

  #say(delta: JsonObject): string {
    return this.#start() + this.#chunk(delta);
  }

  #chunk(delta: JsonObject, finish: string | null = null): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return openaiEvent({ ...this.#frame(), choices, ...(this.#context.includeUsage ? { usage: null } : {}) });
  }

  #frame(): JsonObject {
    const { createdAt, requestedModel } = this.#context;
    return { id: this.#id, object: 'chat.completion.chunk', created: createdAt, model: requestedModel };
  }
}

/** An OpenAI completion id; the upstream's own id stays readable in it. */
export function completionId(upstreamId: unknown, context: TranslationContext): string {
  const id = asText(upstreamId) || context.replyId;
  return id.startsWith('chatcmpl-') ? id : `chatcmpl-${id}`;
}
