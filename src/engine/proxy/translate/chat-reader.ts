import type { Answer } from './answer.ts';
import type { WireReader } from './answer-stream.ts';
import { CallIndex } from './call-index.ts';
import { isErrorChunk, readErrorObject } from './errors.ts';
import { asArray, asObject, asText, isObject } from './json.ts';
import { type ThinkPiece, ThinkTags } from './think-tags.ts';
import type { JsonObject, TranslationContext } from './types.ts';
import { readOpenaiUsage, reasoningOf, splitContent } from './vocabulary.ts';

/** Reads chunks of chat completions, with the freedoms that servers take. */
export class ChatReader implements WireReader {
  readonly #calls = new CallIndex();
  readonly #tags: ThinkTags;
  readonly #stopSequences: readonly string[];
  /** A part of an answer came, be it empty: counts and filters alone are none. */
  #heard = false;
  #finish: string | null = null;
  #stopSequence: string | null = null;

  constructor(context: TranslationContext) {
    this.#tags = new ThinkTags(context.thinkTags);
    this.#stopSequences = context.stopSequences;
  }

  read(chunk: JsonObject, event: string | undefined, answer: Answer): void {
    const error = isErrorChunk(chunk) || event === 'error' ? readErrorObject(chunk) : null;
    if (error !== null) {
      answer.fail(error);
      return;
    }
    // Whatever the upstream offers beyond one answer has no place in the other dialects.
    const choices = asArray(chunk.choices).filter(isObject);
    this.#heard ||= choices.length > 0;
    const choice = choices.find((item) => (item.index ?? 0) === 0) ?? {};
    const usage =
      readOpenaiUsage(chunk.usage) ??
      readOpenaiUsage(choice.usage) ??
      readOpenaiUsage(asObject(chunk.x_groq).usage);
    if (usage !== null) answer.usage(usage);
    answer.begin(chunk.id);
    const delta = isObject(choice.delta) ? choice.delta : asObject(choice.message);
    this.#delta(delta, asArray(asObject(choice.logprobs).content), answer);
    this.#end(choice, answer);
  }

  /** The upstream's own word that all was sent, also from servers that give no finish reason. */
  done(answer: Answer): void {
    if (!this.#heard) answer.fail({ type: 'api_error', message: 'The upstream sent an empty answer.' });
    else this.#close(answer);
  }

  close(answer: Answer): void {
    if (this.#finish !== null) this.#close(answer);
  }

  #delta(delta: JsonObject, logprobs: readonly unknown[], answer: Answer): void {
    const { text, reasoning: inParts } = splitContent(delta.content);
    const reasoning = reasoningOf(delta) || inParts;
    if (reasoning !== '') {
      this.#tags.separated(reasoning);
      answer.thinking(reasoning);
    }
    if (text !== '') this.#say(this.#tags.push(text), answer, logprobs);
    answer.refusal(asText(delta.refusal));
    const calls = asArray(delta.tool_calls).filter(isObject);
    if (isObject(delta.function_call)) calls.push({ index: 0, function: delta.function_call });
    if (calls.length > 0) this.#say(this.#tags.flush(), answer);
    for (const piece of calls) {
      const { call, added } = this.#calls.add(piece);
      answer.call(call, added);
    }
  }

  #end(choice: JsonObject, answer: Answer): void {
    const finish = asText(choice.finish_reason);
    if (finish === 'error')
      answer.fail(
        readErrorObject(choice) ?? { type: 'api_error', message: 'The upstream stopped with an error.' },
      );
    else if (finish !== '') this.#finish = finish;
    const stop = asText(choice.stop_reason);
    if (this.#stopSequences.includes(stop)) this.#stopSequence = stop;
  }

  #say(pieces: readonly ThinkPiece[], answer: Answer, logprobs: readonly unknown[] = []): void {
    for (const { kind, text } of pieces)
      if (kind === 'text') answer.text(text, logprobs);
      else answer.thinking(text);
  }

  #close(answer: Answer): void {
    this.#say(this.#tags.flush(), answer);
    if (this.#calls.calls.some((call) => call.name === ''))
      answer.fail({ type: 'api_error', message: 'The upstream sent a tool call without a name.' });
    else answer.finish(this.#finish, this.#stopSequence);
  }
}
