import { createParser, type EventSourceParser } from 'eventsource-parser';
import type { Dialect } from '../../shared/model.ts';
import { EventBytes } from './event-bytes.ts';
import { findString } from './skim.ts';
import { type AssembledReply, createAssembler } from './translate/assemble.ts';
import { errorEvent } from './translate/errors.ts';
import type { StreamTranslator, WireError, WireEvent } from './translate/types.ts';

/** Turns upstream bytes into client bytes, one event after the other, and remembers the answer for the record. */
export interface Pump {
  /** Bytes to write at once; empty when the chunk ended no event. */
  push(chunk: Buffer): Buffer | string;
  /** The upstream closed: what is left, and an error in-band when the answer has no end. */
  end(): Buffer | string;
  /** The upstream broke: the error in-band. */
  fail(error: WireError): string;
  /** The stream's last event has been seen. */
  readonly ended: boolean;
  /** Written bytes end with a whole event, so that a heartbeat may follow. */
  readonly atBoundary: boolean;
  result(): AssembledReply;
}

/** What an event stream says while it has nothing to say (S46). */
export const HEARTBEAT: Readonly<Record<Dialect, string>> = {
  openai: ': keep-alive\n\n',
  anthropic: 'event: ping\ndata: {"type":"ping"}\n\n',
};

const INCOMPLETE: WireError = {
  type: 'api_error',
  message: 'The provider closed the stream before the answer was complete.',
};

/** Decodes bytes into events; a character cut between two chunks is whole again. */
class EventReader {
  readonly #decoder = new TextDecoder('utf-8');
  readonly #parser: EventSourceParser;

  constructor(onEvent: (event: WireEvent) => void, onComment?: (comment: string) => void) {
    this.#parser = createParser({ onEvent, ...(onComment ? { onComment } : {}) });
  }

  feed(chunk: Buffer): void {
    this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
  }

  /** The stream is over: an event whose closing blank line never came counts too (S33). */
  close(): void {
    this.#parser.feed(`${this.#decoder.decode()}\n\n`);
  }
}

function isLastEvent(dialect: Dialect, event: WireEvent): boolean {
  return dialect === 'openai'
    ? event.data.trim() === '[DONE]'
    : event.event === 'message_stop' || (event.event === undefined && event.data.includes('"message_stop"'));
}

const END_MARK: Readonly<Record<Dialect, string>> = { openai: '[DONE]', anthropic: 'message_stop' };
/** The record reads along in pieces of this size: often enough to need no pause at the end, rarely enough to be cheap. */
const READ_ALONG_BYTES = 32 * 1024;

/** Same dialect, nothing to change: the upstream's own bytes. */
export class RawPump implements Pump {
  readonly #dialect: Dialect;
  readonly #bytes = new EventBytes();
  readonly #assembler;
  readonly #reader: EventReader;
  #unread: Buffer[] = [];
  #unreadSize = 0;
  ended = false;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#assembler = createAssembler(dialect);
    this.#reader = new EventReader((event) => {
      this.#assembler.push(event);
      if (isLastEvent(dialect, event)) this.ended = true;
    });
  }

  get atBoundary(): boolean {
    return this.#bytes.atBoundary;
  }

  push(chunk: Buffer): Buffer | string {
    const ready = this.#bytes.push(chunk);
    if (ready === null) return '';
    this.#note(ready);
    if (this.#unreadSize > READ_ALONG_BYTES || ready.includes(END_MARK[this.#dialect])) this.#read();
    return ready;
  }

  end(): Buffer | string {
    const rest = this.#bytes.rest();
    if (rest) this.#note(rest);
    this.#read();
    this.#reader.close();
    const { complete, error } = this.#assembler.result();
    if (complete || error !== null) return rest ?? '';
    return errorEvent(this.#dialect, INCOMPLETE);
  }

  fail(error: WireError): string {
    this.#read();
    const gap = this.#bytes.atBoundary ? '' : '\n\n';
    return gap + errorEvent(this.#dialect, error);
  }

  result(): AssembledReply {
    this.#read();
    return this.#assembler.result();
  }

  #note(bytes: Buffer): void {
    this.#unread.push(bytes);
    this.#unreadSize += bytes.length;
  }

  #read(): void {
    for (const bytes of this.#unread) this.#reader.feed(bytes);
    this.#unread = [];
    this.#unreadSize = 0;
  }
}

/** Same dialect, but the client asked for the model under another name (H16): only that value is exchanged. */
export class RenamingPump implements Pump {
  readonly #dialect: Dialect;
  readonly #model: string;
  readonly #assembler;
  readonly #reader: EventReader;
  readonly atBoundary = true;
  ended = false;
  #out = '';

  constructor(dialect: Dialect, model: string) {
    this.#dialect = dialect;
    this.#model = JSON.stringify(model);
    this.#assembler = createAssembler(dialect);
    this.#reader = new EventReader(
      (event) => this.#event(event),
      (comment) => {
        this.#out += `:${comment}\n\n`;
      },
    );
  }

  push(chunk: Buffer): string {
    this.#reader.feed(chunk);
    return this.#flush();
  }

  end(): string {
    this.#reader.close();
    const { complete, error } = this.#assembler.result();
    if (!complete && error === null) this.#out += errorEvent(this.#dialect, INCOMPLETE);
    return this.#flush();
  }

  fail(error: WireError): string {
    return errorEvent(this.#dialect, error);
  }

  result(): AssembledReply {
    return this.#assembler.result();
  }

  #event(event: WireEvent & { id?: string | undefined }): void {
    this.#assembler.push(event);
    if (isLastEvent(this.#dialect, event)) this.ended = true;
    const data = renameModel(this.#dialect, event.data, this.#model);
    if (event.id !== undefined) this.#out += `id: ${event.id}\n`;
    if (event.event !== undefined) this.#out += `event: ${event.event}\n`;
    this.#out += `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
  }

  #flush(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }
}

/** Puts another model name (as JSON) into an event or reply; every other byte stays. */
export function renameModel(dialect: Dialect, json: string, model: string): string {
  const span =
    findString(json, ['model']) ?? (dialect === 'anthropic' ? findString(json, ['message', 'model']) : null);
  return span ? json.slice(0, span.start) + model + json.slice(span.end) : json;
}

/** The upstream speaks the other dialect. */
export class TranslatingPump implements Pump {
  readonly #translator: StreamTranslator;
  readonly #assembler;
  readonly #reader: EventReader;
  readonly atBoundary = true;
  #out = '';

  constructor(upstream: Dialect, translator: StreamTranslator) {
    this.#translator = translator;
    this.#assembler = createAssembler(upstream);
    this.#reader = new EventReader((event) => {
      this.#assembler.push(event);
      this.#out += translator.push(event);
    });
  }

  get ended(): boolean {
    return this.#translator.state === 'ended';
  }

  push(chunk: Buffer): string {
    this.#reader.feed(chunk);
    return this.#flush();
  }

  end(): string {
    this.#reader.close();
    this.#out += this.#translator.end();
    return this.#flush();
  }

  fail(error: WireError): string {
    return this.#flush() + this.#translator.fail(error);
  }

  result(): AssembledReply {
    return this.#assembler.result();
  }

  #flush(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }
}
