import { Answer, type AnswerWriter } from './answer.ts';
import { isObject, parseJson } from './json.ts';
import { isDone } from './sse.ts';
import type { JsonObject, StreamTranslator, TranslationContext, WireError, WireEvent } from './types.ts';

/** Reads one dialect's events, one after the other. */
export interface WireReader {
  /** `event` is the event's name, where it has one. */
  read(data: JsonObject, event: string | undefined, answer: Answer): void;
  /** OpenAI's end mark. */
  done(answer: Answer): void;
  /** The upstream closed: finishes the answer if it said how the answer ended. */
  close(answer: Answer): void;
}

/** One dialect's reader and another's writer, with what holds for all of them. */
export class AnswerStream implements StreamTranslator {
  readonly #reader: WireReader;
  readonly #answer: Answer;

  constructor(reader: WireReader, writer: AnswerWriter, context: TranslationContext) {
    this.#reader = reader;
    this.#answer = new Answer(writer, context);
  }

  get state(): StreamTranslator['state'] {
    return this.#answer.state;
  }

  get error(): WireError | null {
    return this.#answer.error;
  }

  push(event: WireEvent): string {
    if (this.#answer.isOver || event.data.trim() === '') return '';
    if (isDone(event.data)) this.#reader.done(this.#answer);
    else this.#read(event);
    return this.#answer.take();
  }

  end(): string {
    if (!this.#answer.isOver) this.#reader.close(this.#answer);
    return this.fail({
      type: 'api_error',
      message: 'The upstream closed the stream before the answer was complete.',
    });
  }

  fail(error: WireError): string {
    this.#answer.fail(error);
    return this.#answer.take();
  }

  #read(event: WireEvent): void {
    const data = parseJson(event.data);
    if (isObject(data)) this.#reader.read(data, event.event, this.#answer);
    // Text that is no JSON is noise of some gateways, unless it looks like a broken object: that may be lost words.
    else if (/^\s*[{[]/.test(event.data))
      this.#answer.fail({ type: 'api_error', message: 'The upstream sent an event that cannot be read.' });
  }
}
