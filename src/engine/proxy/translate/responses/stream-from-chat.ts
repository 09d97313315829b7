import { CallIndex } from '../call-index.ts';
import { readErrorObject } from '../errors.ts';
import { asArray, asObject, asText, isObject, parseJson } from '../json.ts';
import { isDone } from '../sse.ts';
import { splitThink, ThinkTags } from '../think-tags.ts';
import type { JsonObject, StreamTranslator, TranslationContext, WireError, WireEvent } from '../types.ts';
import { guessTokens, readOpenaiUsage, reasoningOf, splitContent, type TokenCounts } from '../vocabulary.ts';
import { toResponsesUsage } from './response-object.ts';
import { CallItem, ResponseWriter } from './writer.ts';

/** Chat chunks → events of the Responses API. `onWhole` gets the response object before its last event goes out. */
export function createResponsesStream(
  context: TranslationContext,
  onWhole: (response: JsonObject) => void = () => {},
): StreamTranslator {
  return new ResponsesStream(context, onWhole);
}

class ResponsesStream implements StreamTranslator {
  readonly #context: TranslationContext;
  readonly #onWhole: (response: JsonObject) => void;
  readonly #writer: ResponseWriter;
  readonly #calls = new CallIndex(() => new CallItem());
  readonly #tags: ThinkTags;
  #state: StreamTranslator['state'] = 'idle';
  #error: WireError | null = null;
  #finish: string | null = null;
  #refused = false;
  #usage: TokenCounts | null = null;
  #characters = 0;

  constructor(context: TranslationContext, onWhole: (response: JsonObject) => void) {
    this.#context = context;
    this.#onWhole = onWhole;
    this.#writer = new ResponseWriter(context);
    this.#tags = new ThinkTags(context.thinkTags);
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
    return error === null ? this.#chunk(chunk) : this.fail(error);
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
    const begun = this.#state === 'open';
    this.#state = 'failed';
    this.#error = error;
    return this.#writer.fail(error, begun);
  }

  #isOver(): boolean {
    return this.#state === 'ended' || this.#state === 'failed';
  }

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
    const choice =
      asArray(chunk.choices)
        .filter(isObject)
        .find((item) => (item.index ?? 0) === 0) ?? {};
    this.#usage =
      readOpenaiUsage(chunk.usage) ??
      readOpenaiUsage(choice.usage) ??
      readOpenaiUsage(asObject(chunk.x_groq).usage) ??
      this.#usage;
    let out = '';
    if (this.#state === 'idle') {
      this.#state = 'open';
      out += this.#writer.begin();
    }
    const delta = isObject(choice.delta) ? choice.delta : asObject(choice.message);
    out += this.#delta(delta, asArray(asObject(choice.logprobs).content));
    const finish = asText(choice.finish_reason);
    if (finish === 'error') {
      const error = readErrorObject(choice) ?? { message: 'The upstream stopped with an error.' };
      return out + this.fail({ type: 'api_error', ...error });
    }
    if (finish !== '') this.#finish = finish;
    return out;
  }

  #delta(delta: JsonObject, logprobs: readonly unknown[]): string {
    let out = '';
    const { text, reasoning: inParts } = splitContent(delta.content);
    const reasoning = reasoningOf(delta) || inParts;
    if (reasoning !== '') {
      this.#tags.separated(reasoning);
      out += this.#say('thinking', reasoning);
    }
    const shown = this.#context.responses?.wantsLogprobs === true ? logprobs : [];
    if (text !== '')
      for (const piece of this.#tags.push(text)) out += this.#say(piece.kind, piece.text, shown);
    const refusal = asText(delta.refusal);
    if (refusal !== '') {
      this.#refused = true;
      this.#characters += refusal.length;
      out += this.#writer.refusal(refusal);
    }
    const calls = asArray(delta.tool_calls).filter(isObject);
    if (isObject(delta.function_call)) calls.push({ index: 0, function: delta.function_call });
    if (calls.length > 0) out += this.#flush();
    for (const piece of calls) {
      const { call, added } = this.#calls.add(piece);
      this.#characters += added.length;
      out += this.#writer.call(call, added);
    }
    return out;
  }

  #say(kind: 'text' | 'thinking', text: string, logprobs: readonly unknown[] = []): string {
    this.#characters += text.length;
    return kind === 'text' ? this.#writer.text(text, logprobs) : this.#writer.reasoning(text);
  }

  #flush(): string {
    return this.#tags
      .flush()
      .map((piece) => this.#say(piece.kind, piece.text))
      .join('');
  }

  #close(): string {
    const out = this.#flush();
    if (this.#writer.hasNamelessCall)
      return out + this.fail({ type: 'api_error', message: 'The upstream sent a tool call without a name.' });
    const last = this.#writer.finish(
      usageOf(this.#usage, this.#context, this.#characters),
      shortReason(this.#finish, this.#refused, this.#writer.hasCalls),
    );
    this.#state = 'ended';
    this.#onWhole(this.#writer.response);
    return out + last;
  }
}

/** A chat completion → response object. The caller has made sure that it is an answer. */
export function chatReplyToResponse(reply: JsonObject, context: TranslationContext): JsonObject {
  const choice = asObject(asArray(reply.choices)[0]);
  const message = asObject(choice.message);
  const writer = new ResponseWriter(context);
  const parts = splitContent(message.content);
  const separate = reasoningOf(message) || parts.reasoning;
  const { text, thinking } = splitThink(parts.text, separate, context.thinkTags);
  const refusal = asText(message.refusal);
  const logprobs =
    context.responses?.wantsLogprobs === true ? asArray(asObject(choice.logprobs).content) : [];
  writer.reasoning(separate || thinking);
  writer.text(text, logprobs);
  writer.refusal(refusal);
  const calls = asArray(message.tool_calls).filter(isObject);
  if (isObject(message.function_call)) calls.push({ function: message.function_call });
  const index = new CallIndex(() => new CallItem());
  for (const [order, piece] of calls.entries()) {
    const { call, added } = index.add({ ...piece, index: order });
    writer.call(call, added);
  }
  const counts = readOpenaiUsage(reply.usage) ?? readOpenaiUsage(choice.usage);
  const characters = text.length + separate.length + JSON.stringify(calls).length;
  writer.finish(
    usageOf(counts, context, characters),
    shortReason(asText(choice.finish_reason) || null, refusal !== '', calls.length > 0),
  );
  return writer.response;
}

function usageOf(counts: TokenCounts | null, context: TranslationContext, characters: number): JsonObject {
  return toResponsesUsage(counts ?? { input: context.estimatedInputTokens, output: guessTokens(characters) });
}

/** Why an answer is not whole; a refusal in words is a whole answer. */
function shortReason(
  finish: string | null,
  refused: boolean,
  hasCalls: boolean,
): 'max_output_tokens' | 'content_filter' | null {
  if (finish === 'length' || finish === 'max_tokens') return 'max_output_tokens';
  return finish === 'content_filter' && !refused && !hasCalls ? 'content_filter' : null;
}
