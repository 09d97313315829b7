import type { Pump } from './pump.ts';
import type { AssembledReply, WireError } from './translate/types.ts';

/** What is told to the client in the place of such a body, and what it was. */
export interface Told {
  out: string;
  result: AssembledReply;
}

/** White space and a byte order mark say nothing of what follows. */
const BLANK = /^[\s\u00ef\u00bb\u00bf]*$/;
/** How a JSON text or a page begins; no line of an event stream does. */
const NO_EVENT = /^[\s\u00ef\u00bb\u00bf]*[{[<]/;
/** No answer is larger. */
const LARGEST = 64 * 1024 * 1024;

/**
 * Some servers call a body an event stream that is none: a JSON answer, an error object, a page. Its first bytes tell;
 * then it is read to its end and told as a stream. Everything else goes through the pump as it comes.
 */
export class NotEventsPump implements Pump {
  readonly #pump: Pump;
  readonly #tell: (body: Buffer) => Told;
  #isEvents: boolean | null = null;
  #held: Buffer[] = [];
  #size = 0;
  #result: AssembledReply | null = null;

  constructor(pump: Pump, tell: (body: Buffer) => Told) {
    this.#pump = pump;
    this.#tell = tell;
  }

  get ended(): boolean {
    return this.#pump.ended;
  }

  get over(): boolean {
    return this.#pump.over;
  }

  get silent(): boolean {
    return this.#pump.silent;
  }

  get atBoundary(): boolean {
    return this.#pump.atBoundary;
  }

  push(chunk: Buffer): Buffer | string {
    if (this.#isEvents) return this.#pump.push(chunk);
    this.#held.push(chunk);
    this.#size += chunk.length;
    if (this.#size > LARGEST) throw new Error('it is larger than any answer');
    if (this.#isEvents === false) return '';
    const head = Buffer.concat(this.#held).toString('latin1', 0, 512);
    if (BLANK.test(head)) return '';
    this.#isEvents = !NO_EVENT.test(head);
    return this.#isEvents ? this.#pump.push(this.#take()) : '';
  }

  end(): Buffer | string {
    if (this.#isEvents === false) {
      const { out, result } = this.#tell(this.#take());
      this.#result = result;
      return out;
    }
    return this.#pump.end();
  }

  fail(error: WireError): Buffer | string {
    return this.#pump.fail(error);
  }

  result(): AssembledReply {
    return this.#result ?? this.#pump.result();
  }

  #take(): Buffer {
    const held = Buffer.concat(this.#held);
    this.#held = [];
    return held;
  }
}
