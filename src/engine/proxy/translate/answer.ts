import type { CallParts } from './call-index.ts';
import type { StreamTranslator, TranslationContext, WireError } from './types.ts';
import { guessTokens, type TokenCounts } from './vocabulary.ts';

/** How an answer ended. */
export interface AnswerEnd {
  /** A finish reason of chat completions, the middle between the dialects; null when the upstream gave none. */
  finish: string | null;
  /** The stop sequence that ended it, where the upstream told one that the client asked for. */
  stopSequence: string | null;
  hasCalls: boolean;
  /** The model refused in words. */
  refused: boolean;
  /** Guessed where the upstream counted nothing. */
  counts: TokenCounts;
}

/** Tells a client of an answer in its dialect. Every method returns the SSE text to write at once. */
export interface AnswerWriter {
  /** `id` is the upstream's name for the answer, where it has one; `counts` what it told so far. */
  begin(id: unknown, counts: TokenCounts | null): string;
  text(text: string, logprobs: readonly unknown[]): string;
  thinking(text: string): string;
  refusal(text: string): string;
  /** A piece of a call: `call` holds all that is known by now and is the same object every time, `added` is new. */
  call(call: CallParts, added: string): string;
  alive(): string;
  finish(end: AnswerEnd): string;
  /** `begun`: the client knows of the answer already. */
  fail(error: WireError, begun: boolean): string;
}

/**
 * An answer on its way, as the readers of all wires tell of it. It begins with its first piece, ends or fails once,
 * and says nothing after that.
 */
export class Answer {
  readonly #writer: AnswerWriter;
  readonly #showThinking: boolean;
  readonly #estimatedInput: number;
  #state: StreamTranslator['state'] = 'idle';
  #error: WireError | null = null;
  #out = '';
  #usage: TokenCounts | null = null;
  #characters = 0;
  #hasCalls = false;
  #refused = false;

  constructor(writer: AnswerWriter, context: TranslationContext) {
    this.#writer = writer;
    this.#showThinking = context.showReasoning && (context.hop?.showReasoning ?? true);
    this.#estimatedInput = context.estimatedInputTokens;
  }

  get state(): StreamTranslator['state'] {
    return this.#state;
  }

  get error(): WireError | null {
    return this.#error;
  }

  get isOver(): boolean {
    return this.#state === 'ended' || this.#state === 'failed';
  }

  /** What was told since it was last asked for. */
  take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  begin(id?: unknown): void {
    if (this.#state !== 'idle') return;
    this.#state = 'open';
    this.#out += this.#writer.begin(id, this.#usage);
  }

  text(text: string, logprobs: readonly unknown[] = []): void {
    if (this.#adds(text)) this.#out += this.#writer.text(text, logprobs);
  }

  thinking(text: string): void {
    if (!this.#showThinking) this.#characters += text.length;
    else if (this.#adds(text)) this.#out += this.#writer.thinking(text);
  }

  refusal(text: string): void {
    if (!this.#adds(text)) return;
    this.#refused = true;
    this.#out += this.#writer.refusal(text);
  }

  call(call: CallParts, added: string): void {
    this.begin();
    if (this.isOver) return;
    this.#hasCalls = true;
    this.#characters += added.length;
    this.#out += this.#writer.call(call, added);
  }

  /** Counts are totals: the newest ones hold. */
  usage(counts: TokenCounts): void {
    this.#usage = counts;
  }

  /** The upstream is there and has nothing to say. */
  alive(): void {
    if (this.#state === 'open') this.#out += this.#writer.alive();
  }

  finish(finish: string | null, stopSequence: string | null = null): void {
    this.begin();
    if (this.isOver) return;
    const usage = this.#usage;
    const isCounted = usage !== null && (usage.input !== undefined || usage.output !== undefined);
    this.#out += this.#writer.finish({
      finish,
      stopSequence,
      hasCalls: this.#hasCalls,
      refused: this.#refused,
      counts: isCounted ? usage : { input: this.#estimatedInput, output: guessTokens(this.#characters) },
    });
    this.#state = 'ended';
  }

  fail(error: WireError): void {
    if (this.isOver) return;
    const begun = this.#state === 'open';
    this.#state = 'failed';
    this.#error = error;
    this.#out += this.#writer.fail(error, begun);
  }

  /** True when there is something to add and a place for it. */
  #adds(text: string): boolean {
    if (text === '') return false;
    this.begin();
    this.#characters += text.length;
    return !this.isOver;
  }
}
