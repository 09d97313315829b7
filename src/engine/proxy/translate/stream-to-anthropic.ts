import { BlockQueue, CallBlock } from './block-queue.ts';
import { CallIndex } from './call-index.ts';
import { errorEvent, readErrorObject } from './errors.ts';
import { asArray, asObject, asText, isObject, parseJson } from './json.ts';
import { anthropicEvent, isDone } from './sse.ts';
import { ThinkTags } from './think-tags.ts';
import type { JsonObject, StreamTranslator, TranslationContext, WireError, WireEvent } from './types.ts';
import {
  anthropicStop,
  guessTokens,
  readOpenaiUsage,
  reasoningOf,
  splitContent,
  type TokenCounts,
  toAnthropicUsage,
} from './vocabulary.ts';

/** Upstream OpenAI chunks → Anthropic events for the client. */
export function createAnthropicStream(context: TranslationContext): StreamTranslator {
  return new AnthropicStream(context);
}

class AnthropicStream implements StreamTranslator {
  readonly #context: TranslationContext;
  readonly #calls = new CallIndex(() => new CallBlock());
  readonly #blocks: BlockQueue;
  readonly #tags: ThinkTags;
  #state: StreamTranslator['state'] = 'idle';
  #error: WireError | null = null;
  #finish: string | null = null;
  #stopSequence: string | null = null;
  #refused = false;
  #usage: TokenCounts | null = null;
  #characters = 0;

  constructor(context: TranslationContext) {
    this.#context = context;
    this.#tags = new ThinkTags(context.thinkTags);
    const ids = new ReplyCallIds(context);
    this.#blocks = new BlockQueue({
      name: (call) => context.toolNames.get(call.name) ?? call.name,
      id: (call, order) => ids.take(call.id, order),
    });
  }

  get state(): StreamTranslator['state'] {
    return this.#state;
  }

  get error(): WireError | null {
    return this.#error;
  }

  push(event: WireEvent): string {
    if (this.#isOver() || event.data.trim() === '') return '';
    if (isDone(event.data)) return this.#done();
    const chunk = parseJson(event.data);
    if (!isObject(chunk)) return this.#odd(event.data);
    const error = chunk.error || event.event === 'error' ? readErrorObject(chunk) : null;
    if (error !== null) return this.fail(error);
    return this.#chunk(chunk);
  }

  end(): string {
    if (this.#isOver()) return '';
    if (this.#finish !== null) return this.#close();
    return this.fail({
      type: 'api_error',
      message: 'The upstream closed the stream before the answer was complete.',
    });
  }

  fail(error: WireError): string {
    if (this.#isOver()) return '';
    this.#state = 'failed';
    this.#error = error;
    return errorEvent('anthropic', error);
  }

  #isOver(): boolean {
    return this.#state === 'ended' || this.#state === 'failed';
  }

  /** `[DONE]` is the upstream's own word that all was sent, also from servers that give no finish reason. */
  #done(): string {
    return this.#state === 'idle'
      ? this.fail({ type: 'api_error', message: 'The upstream sent an empty answer.' })
      : this.#close();
  }

  /** Text that is no JSON is noise of some gateways, unless it looks like a broken object: that may be lost words. */
  #odd(data: string): string {
    if (!/^\s*[{[]/.test(data)) return '';
    return this.fail({ type: 'api_error', message: 'The upstream sent an event that cannot be read.' });
  }

  #chunk(chunk: JsonObject): string {
    // Whatever the upstream offers beyond one answer has no place in this dialect.
    const choice =
      asArray(chunk.choices)
        .filter(isObject)
        .find((item) => (item.index ?? 0) === 0) ?? {};
    const usage =
      readOpenaiUsage(chunk.usage) ??
      readOpenaiUsage(choice.usage) ??
      readOpenaiUsage(asObject(chunk.x_groq).usage);
    if (usage !== null) this.#usage = usage;
    const delta = isObject(choice.delta) ? choice.delta : asObject(choice.message);
    const start = this.#start(chunk);
    this.#delta(delta);
    const finish = asText(choice.finish_reason);
    if (finish === 'error') {
      const error = readErrorObject(choice) ?? {
        type: 'api_error',
        message: 'The upstream stopped with an error.',
      };
      return start + this.#blocks.drain() + this.fail(error);
    }
    if (finish !== '') this.#finish = finish;
    const stop = asText(choice.stop_reason);
    if (stop !== '' && this.#context.stopSequences.includes(stop)) this.#stopSequence = stop;
    return start + this.#blocks.drain();
  }

  #delta(delta: JsonObject): void {
    const { text, reasoning: inParts } = splitContent(delta.content);
    const reasoning = reasoningOf(delta) || inParts;
    if (reasoning !== '') {
      this.#tags.separated(reasoning);
      this.#say('thinking', reasoning);
    }
    if (text !== '') for (const piece of this.#tags.push(text)) this.#say(piece.kind, piece.text);
    const refusal = asText(delta.refusal);
    if (refusal !== '') {
      this.#refused = true;
      this.#say('text', refusal);
    }
    const calls = asArray(delta.tool_calls).filter(isObject);
    if (isObject(delta.function_call)) calls.push({ index: 0, function: delta.function_call });
    if (calls.length > 0) for (const piece of this.#tags.flush()) this.#say(piece.kind, piece.text);
    for (const piece of calls) {
      const { call, added } = this.#calls.add(piece);
      this.#characters += added.length;
      this.#blocks.call(call, added);
    }
  }

  #say(kind: 'text' | 'thinking', text: string): void {
    this.#characters += text.length;
    this.#blocks.text(kind, text);
  }

  #start(chunk: JsonObject): string {
    if (this.#state !== 'idle') return '';
    this.#state = 'open';
    const message = {
      id: messageId(chunk.id, this.#context),
      type: 'message',
      role: 'assistant',
      model: this.#context.requestedModel,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: toAnthropicUsage({ input: this.#context.estimatedInputTokens, output: 0, ...this.#usage }),
    };
    return anthropicEvent({ type: 'message_start', message });
  }

  #close(): string {
    for (const piece of this.#tags.flush()) this.#say(piece.kind, piece.text);
    const nameless = this.#calls.calls.find((call) => call.name === '');
    if (nameless !== undefined) {
      return (
        this.#blocks.drain() +
        this.fail({ type: 'api_error', message: 'The upstream sent a tool call without a name.' })
      );
    }
    const blocks = this.#blocks.finish();
    this.#state = 'ended';
    const reason = anthropicStop(this.#finish, this.#blocks.calls > 0, this.#refused);
    const bySequence = this.#stopSequence !== null && reason === 'end_turn';
    const guessed = { input: this.#context.estimatedInputTokens, output: guessTokens(this.#characters) };
    const delta = {
      stop_reason: bySequence ? 'stop_sequence' : reason,
      stop_sequence: bySequence ? this.#stopSequence : null,
    };
    return (
      blocks +
      anthropicEvent({ type: 'message_delta', delta, usage: toAnthropicUsage(this.#usage ?? guessed) }) +
      anthropicEvent({ type: 'message_stop' })
    );
  }
}

/** An Anthropic message id; the upstream's own id stays readable in it. */
export function messageId(upstreamId: unknown, context: TranslationContext): string {
  const id = asText(upstreamId) || context.replyId;
  return id.startsWith('msg_') ? id : `msg_${id}`;
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
