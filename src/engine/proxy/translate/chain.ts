import { createParser, type EventSourceParser } from 'eventsource-parser';
import type { StreamTranslator, WireError, WireEvent } from './types.ts';

/** Two translators in a row: from the upstream's wire to chat completions, from there to the client's dialect. */
export class ChainedStream implements StreamTranslator {
  readonly #first: StreamTranslator;
  readonly #second: StreamTranslator;
  readonly #parser: EventSourceParser;
  #out = '';

  constructor(first: StreamTranslator, second: StreamTranslator) {
    this.#first = first;
    this.#second = second;
    this.#parser = createParser({
      onEvent: (event) => {
        this.#out += second.push(event);
      },
      onComment: (comment) => {
        if (second.state === 'open') this.#out += `:${comment}\n\n`;
      },
    });
  }

  get state(): StreamTranslator['state'] {
    return this.#second.state;
  }

  get error(): WireError | null {
    return this.#first.error ?? this.#second.error;
  }

  push(event: WireEvent): string {
    return this.#pass(this.#first.push(event));
  }

  end(): string {
    return this.#pass(this.#first.end()) + this.#second.end();
  }

  fail(error: WireError): string {
    this.#first.fail(error);
    return this.#second.fail(error);
  }

  #pass(text: string): string {
    if (text !== '') this.#parser.feed(text);
    const out = this.#out;
    this.#out = '';
    return out;
  }
}
