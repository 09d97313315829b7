import type { AnswerEnd, AnswerWriter } from './answer.ts';
import { BlockQueue } from './block-queue.ts';
import type { CallParts } from './call-index.ts';
import { errorEvent } from './errors.ts';
import { messageId } from './reply-ids.ts';
import { anthropicEvent } from './sse.ts';
import type { TranslationContext, WireError } from './types.ts';
import { anthropicStop, type TokenCounts, toAnthropicUsage } from './vocabulary.ts';

/** Tells a client of Anthropic's messages of an answer. */
export class AnthropicWriter implements AnswerWriter {
  readonly #context: TranslationContext;
  readonly #blocks: BlockQueue;

  constructor(context: TranslationContext) {
    this.#context = context;
    this.#blocks = new BlockQueue(context);
  }

  begin(id: unknown, counts: TokenCounts | null): string {
    const message = {
      id: messageId(id, this.#context),
      type: 'message',
      role: 'assistant',
      model: this.#context.requestedModel,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: toAnthropicUsage({ input: this.#context.estimatedInputTokens, output: 0, ...counts }),
    };
    return anthropicEvent({ type: 'message_start', message });
  }

  text(text: string): string {
    this.#blocks.text('text', text);
    return this.#blocks.drain();
  }

  thinking(text: string): string {
    this.#blocks.text('thinking', text);
    return this.#blocks.drain();
  }

  /** Anthropic's refusals are text; the stop reason tells what it is (S29). */
  refusal(text: string): string {
    return this.text(text);
  }

  call(call: CallParts, added: string): string {
    this.#blocks.call(call, added);
    return this.#blocks.drain();
  }

  alive(): string {
    return anthropicEvent({ type: 'ping' });
  }

  finish({ finish, stopSequence, hasCalls, refused, counts }: AnswerEnd): string {
    const reason = anthropicStop(finish, hasCalls, refused);
    const bySequence = stopSequence !== null && reason === 'end_turn';
    const delta = {
      stop_reason: bySequence ? 'stop_sequence' : reason,
      stop_sequence: bySequence ? stopSequence : null,
    };
    return (
      this.#blocks.finish() +
      anthropicEvent({ type: 'message_delta', delta, usage: toAnthropicUsage(counts) }) +
      anthropicEvent({ type: 'message_stop' })
    );
  }

  fail(error: WireError): string {
    return errorEvent('anthropic', error);
  }
}
