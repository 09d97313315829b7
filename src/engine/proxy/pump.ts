import { createParser, type EventSourceParser } from 'eventsource-parser';
import type { Dialect } from '../../shared/model.ts';
import { EventBytes } from './event-bytes.ts';
import { KeptAnswer } from './kept-answer.ts';
import type { AssembledReply, StreamTranslator, WireError, WireEvent } from './translate/types.ts';

/** Turns upstream bytes into client bytes, one event after the other, and remembers the answer for the record. */
export interface Pump {
  /** Bytes to write at once; empty when the chunk ended no event. Throws when an event is too large to be one. */
  push(chunk: Buffer): Buffer | string;
  /** The upstream closed: what is left, and an error in-band when the answer has no end. */
  end(): Buffer | string;
  /** The upstream broke: the error in-band, unless the answer was complete or its error told already. */
  fail(error: WireError): Buffer | string;
  /** The stream's last event has been seen. */
  readonly ended: boolean;
  /** The last event or an error has been seen: nothing that matters follows. */
  readonly over: boolean;
  /** Nothing that follows is passed on. */
  readonly silent: boolean;
  /** Written bytes end with a whole event, so that a heartbeat may follow. */
  readonly atBoundary: boolean;
  result(): AssembledReply;
}

/** What an event stream says while it has nothing to say (S46). */
export const HEARTBEAT: Readonly<Record<Dialect, string>> = {
  openai: ': keep-alive\n\n',
  anthropic: 'event: ping\ndata: {"type":"ping"}\n\n',
  responses: ': keep-alive\n\n',
};

const INCOMPLETE: WireError = {
  type: 'api_error',
  message: 'The provider closed the stream before the answer was complete.',
};

const HOLLOW: WireError = { type: 'api_error', message: 'The provider sent an empty answer.' };
const DONE = '[DONE]';
const LF = 10;
const CR = 13;
const BASE_RESP = '"base_resp"';

function lineStart(bytes: Buffer, at: number): number {
  return Math.max(bytes.lastIndexOf(LF, at), bytes.lastIndexOf(CR, at)) + 1;
}

/** A line that grows beyond this is no event, whatever it is. In characters. */
const LARGEST_EVENT = 64 * 1024 * 1024;

/** Decodes whole events out of bytes; a large one may come in pieces. */
class EventReader {
  readonly #decoder = new TextDecoder('utf-8');
  readonly #parser: EventSourceParser;
  #broken = false;

  constructor(onEvent: (event: WireEvent) => void) {
    this.#parser = createParser({
      onEvent,
      maxBufferSize: LARGEST_EVENT,
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#broken = true;
      },
    });
  }

  /** Throws once, when an event is too large. */
  feed(bytes: Buffer): void {
    if (this.#broken) return;
    const text = this.#decoder.decode(bytes, { stream: true });
    // The parser waits whether a line feed follows a CR; behind a blank line it makes no difference.
    this.#parser.feed(/[\r\n]\r$/.test(text.slice(-2)) ? `${text}\n` : text);
    if (this.#broken) throw new Error(`an event is larger than ${LARGEST_EVENT / 1024 / 1024} MB`);
  }

  /** The stream is over: an event whose closing blank line never came counts too (S33). */
  close(): void {
    if (!this.#broken) this.#parser.feed(`${this.#decoder.decode()}\n\n`);
  }
}

/** What an event that changes the stream's state must hold; whether it is one, its reader says. */
const MARKS: Readonly<Record<Dialect, readonly string[]>> = {
  openai: ['[DONE]', '"error"', '"base_resp"'],
  anthropic: ['message_stop', '"error"', '[DONE]'],
  responses: ['[DONE]', 'response.completed', 'response.incomplete', 'response.failed', '"error"'],
};

/** The record reads along in pieces of this size: often enough to need no pause at the end, rarely enough to be cheap. */
const READ_ALONG_BYTES = 32 * 1024;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

export interface SameDialect {
  /** Exchanges values in whole events; null: the upstream's own bytes. */
  edit: ((bytes: Buffer) => Buffer) | null;
  /** Bytes stand before these already, so that a byte order mark would no longer be one. */
  isContinued: boolean;
}

/** Same dialect: the upstream's own bytes, event by event. */
export class SamePump implements Pump {
  readonly #dialect: Dialect;
  readonly #edit: SameDialect['edit'];
  readonly #bytes = new EventBytes();
  readonly #answer: KeptAnswer;
  readonly #reader: EventReader;
  /** The provider said that the answer ended, and there was none. */
  #isHollow = false;
  #dropsMark: boolean;
  #unread: Buffer[] = [];
  #unreadSize = 0;

  constructor(dialect: Dialect, how: SameDialect = { edit: null, isContinued: false }) {
    this.#dialect = dialect;
    this.#edit = how.edit;
    this.#dropsMark = how.isContinued;
    this.#answer = new KeptAnswer(dialect);
    this.#reader = new EventReader((event) => this.#answer.push(event));
  }

  get ended(): boolean {
    return this.#answer.ended && !this.#isHollow;
  }

  get over(): boolean {
    return this.#answer.ended || this.#answer.failed || this.#isHollow;
  }

  get silent(): boolean {
    return this.#isHollow;
  }

  get atBoundary(): boolean {
    return this.#bytes.atBoundary;
  }

  push(chunk: Buffer): Buffer | string {
    const ready = this.#bytes.push(chunk);
    if (ready === null) return '';
    this.#note(ready);
    const matters = MARKS[this.#dialect].some((mark) => ready.includes(mark));
    if (this.#unreadSize > READ_ALONG_BYTES || matters) this.#read();
    return this.#upToFault(ready) ?? this.#told(ready);
  }

  end(): Buffer | string {
    const rest = this.#bytes.rest();
    if (rest) this.#note(rest);
    this.#read();
    this.#reader.close();
    const hollow = rest && this.#upToFault(rest);
    if (hollow) return hollow;
    const { complete, error } = this.#answer.result();
    if (error !== null && !this.#answer.told) return this.#answer.failure(error);
    if (complete || error !== null) return rest ? this.#told(rest) : '';
    return this.#answer.failure(INCOMPLETE);
  }

  fail(error: WireError): string {
    const known = this.result();
    if (known.complete || known.error !== null) return '';
    const gap = this.#bytes.atBoundary ? '' : '\n\n';
    return gap + this.#answer.failure(error);
  }

  result(): AssembledReply {
    this.#read();
    const known = this.#answer.result();
    return this.#isHollow ? { ...known, error: known.error ?? HOLLOW } : known;
  }

  /**
   * What stands before an end behind nothing, or before an error that clients would not see as one, and an error in
   * its place: OpenAI's clients hear no word behind `[DONE]`. Null where all is well.
   */
  #upToFault(ready: Buffer): Buffer | null {
    const at = this.#isHollow ? -1 : this.#faultAt(ready);
    if (at < 0) return null;
    this.#isHollow = true;
    const failure = this.#answer.failure(this.#answer.result().error ?? HOLLOW);
    return at === 0
      ? Buffer.from(failure)
      : Buffer.concat([this.#told(ready.subarray(0, at)), Buffer.from(`\n${failure}`)]);
  }

  /** Where the line of such a fault begins; -1 when there is none. */
  #faultAt(ready: Buffer): number {
    const answer = this.#answer;
    if (answer.told) return -1;
    if (answer.failed && ready.includes(BASE_RESP)) return lineStart(ready, ready.lastIndexOf(BASE_RESP));
    const done = ready.lastIndexOf(DONE);
    if (done < 0) return -1;
    const start = lineStart(ready, done);
    const isEnd = /^(?:\xef\xbb\xbf)?data: ?$/.test(ready.toString('latin1', start, done));
    return isEnd && !answer.result().complete ? start : -1;
  }

  #told(ready: Buffer): Buffer {
    const marked = this.#dropsMark && ready.subarray(0, BOM.length).equals(BOM);
    this.#dropsMark = false;
    const bytes = marked ? ready.subarray(BOM.length) : ready;
    return this.#edit ? this.#edit(bytes) : bytes;
  }

  #note(bytes: Buffer): void {
    this.#unread.push(bytes);
    this.#unreadSize += bytes.length;
  }

  #read(): void {
    const unread = this.#unread;
    this.#unread = [];
    this.#unreadSize = 0;
    for (const bytes of unread) this.#reader.feed(bytes);
  }
}

/** The upstream speaks the other dialect. */
export class TranslatingPump implements Pump {
  readonly #translator: StreamTranslator;
  readonly #bytes = new EventBytes();
  readonly #answer: KeptAnswer;
  readonly #reader: EventReader;
  readonly atBoundary = true;
  #out = '';

  constructor(upstream: Dialect, translator: StreamTranslator) {
    this.#translator = translator;
    this.#answer = new KeptAnswer(upstream);
    this.#reader = new EventReader((event) => {
      this.#answer.push(event);
      this.#out += translator.push(event);
    });
  }

  get ended(): boolean {
    return this.#translator.state === 'ended';
  }

  get over(): boolean {
    return this.ended || this.#translator.state === 'failed';
  }

  get silent(): boolean {
    return this.over;
  }

  push(chunk: Buffer): string {
    const ready = this.#bytes.push(chunk);
    if (ready !== null) this.#reader.feed(ready);
    return this.#flush();
  }

  end(): string {
    const rest = this.#bytes.rest();
    if (rest !== null) this.#reader.feed(rest);
    this.#reader.close();
    this.#out += this.#translator.end();
    return this.#flush();
  }

  fail(error: WireError): string {
    const isComplete = this.#answer.result().complete;
    this.#out += isComplete ? this.#translator.end() : this.#translator.fail(error);
    return this.#flush();
  }

  result(): AssembledReply {
    const known = this.#answer.result();
    return { ...known, error: known.error ?? this.#translator.error };
  }

  #flush(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }
}
