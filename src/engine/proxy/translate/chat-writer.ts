import type { AnswerEnd, AnswerWriter } from './answer.ts';
import type { CallParts } from './call-index.ts';
import { errorEvent } from './errors.ts';
import { completionId } from './reply-ids.ts';
import { OPENAI_DONE, openaiEvent } from './sse.ts';
import type { JsonObject, TranslationContext, WireError } from './types.ts';
import { finishWord, toOpenaiUsage } from './vocabulary.ts';

/** Tells a chat completions client of an answer, chunk by chunk. */
export class ChatWriter implements AnswerWriter {
  readonly #context: TranslationContext;
  /** Calls that the client knows of, in its order (S15). */
  readonly #calls: CallParts[] = [];
  #id = '';

  constructor(context: TranslationContext) {
    this.#context = context;
  }

  begin(id: unknown): string {
    this.#id = completionId(id, this.#context);
    return this.#chunk({ role: 'assistant', content: '' });
  }

  text(text: string, logprobs: readonly unknown[]): string {
    return this.#chunk({ content: text }, null, logprobs);
  }

  thinking(text: string): string {
    return this.#chunk({ reasoning_content: text });
  }

  refusal(text: string): string {
    return this.#chunk({ refusal: text });
  }

  call(call: CallParts, added: string): string {
    const known = this.#calls.indexOf(call);
    const index = known < 0 ? this.#calls.push(call) - 1 : known;
    return (
      (known < 0 ? this.#head(call, index) : '') + (added === '' ? '' : this.#arguments(call, index, added))
    );
  }

  /** A comment keeps the connection alive and is no chunk (S17). */
  alive(): string {
    return ': keep-alive\n\n';
  }

  finish({ finish, counts }: AnswerEnd): string {
    const { includeUsage, legacyFunctions } = this.#context;
    const usage = includeUsage
      ? openaiEvent({ ...this.#frame(), choices: [], usage: toOpenaiUsage(counts) })
      : '';
    return this.#chunk({}, finishWord(finish, legacyFunctions)) + usage + OPENAI_DONE;
  }

  fail(error: WireError): string {
    return errorEvent('openai', error);
  }

  #head({ id, name, custom }: CallParts, index: number): string {
    if (this.#context.legacyFunctions) return this.#chunk({ function_call: { name, arguments: '' } });
    const inner =
      custom === true
        ? { type: 'custom', custom: { name, input: '' } }
        : { type: 'function', function: { name, arguments: '' } };
    return this.#chunk({ tool_calls: [{ index, id, ...inner }] });
  }

  #arguments({ custom }: CallParts, index: number, text: string): string {
    if (this.#context.legacyFunctions) return this.#chunk({ function_call: { arguments: text } });
    const inner = custom === true ? { custom: { input: text } } : { function: { arguments: text } };
    return this.#chunk({ tool_calls: [{ index, ...inner }] });
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
