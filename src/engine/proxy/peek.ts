import type { BodySink } from '../upstream/index.ts';
import type { Flow } from './stream.ts';

/** A body whose first bytes are looked at before it is decided how to treat it. */
export class PeekedFlow implements Flow {
  readonly #flow: Flow;
  #first: Buffer | null = null;
  #sink: BodySink | null = null;
  #over: { error: Error | null } | null = null;

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  /** The first bytes, as many as it takes to tell what they are; null when the body is empty or broke before any. */
  first(): Promise<Buffer | null> {
    return new Promise((resolve) => {
      this.#flow.pipe({
        data: (chunk) => {
          if (this.#sink) return this.#sink.data(chunk);
          this.#first = this.#first ? Buffer.concat([this.#first, chunk]) : chunk;
          if (!tells(this.#first)) return true;
          resolve(this.#first);
          return false;
        },
        end: () => this.#finish(null, resolve),
        fail: (error) => this.#finish(error, resolve),
      });
    });
  }

  pipe(sink: BodySink): void {
    this.#sink = sink;
    const first = this.#first;
    this.#first = null;
    const open = first === null || sink.data(first);
    if (this.#over) this.#tell(sink, this.#over.error);
    else if (open) this.#flow.resume();
  }

  resume(): void {
    this.#flow.resume();
  }

  abort(): void {
    this.#flow.abort();
  }

  #finish(error: Error | null, resolve: (first: Buffer | null) => void): void {
    this.#over = { error };
    resolve(this.#first);
    if (this.#sink) this.#tell(this.#sink, error);
  }

  #tell(sink: BodySink, error: Error | null): void {
    if (error) sink.fail(error);
    else sink.end();
  }
}

const HEAD = 64;

/** True when bytes begin like an event stream, whatever their content type says. */
export function looksLikeEvents(first: Buffer | null): boolean {
  return /^\uFEFF?\s*(?:(?:data|event|id|retry)\s*:|:)/.test(headOf(first ?? Buffer.alloc(0)));
}

/** False while more bytes can still make a beginning that is not yet one of an event stream into one. */
function tells(first: Buffer): boolean {
  return first.length >= HEAD || !/^(?:\uFEFF|\uFFFD)?\s*[a-z]{0,5}\s*$/.test(headOf(first));
}

function headOf(bytes: Buffer): string {
  return bytes.subarray(0, HEAD).toString('utf8');
}
