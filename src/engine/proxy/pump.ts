import { createParser, type EventSourceParser } from 'eventsource-parser';
import type { Dialect } from '../../shared/model.ts';
import { EventBytes } from './event-bytes.ts';
import { findString } from './skim.ts';
import { createAssembler } from './translate/assemble.ts';
import { errorEvent } from './translate/errors.ts';
import { ResponsesAssembler } from './translate/responses/assemble.ts';
import type { AssembledReply, Assembler, StreamTranslator, WireError, WireEvent } from './translate/types.ts';

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
  responses: ': keep-alive\n\n',
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
  if (dialect === 'openai') return event.data.trim() === '[DONE]';
  if (dialect === 'responses') return /^response\.(?:completed|incomplete)$/.test(typeOf(event));
  return (
    event.event === 'message_stop' || (event.event === undefined && event.data.includes('"message_stop"'))
  );
}

function typeOf(event: WireEvent): string {
  return event.event ?? /^\s*\{\s*"type"\s*:\s*"([^"]*)"/.exec(event.data)?.[1] ?? '';
}

/** What the last event must hold; whether it is the last one, its reader says. */
const END_MARKS: Readonly<Record<Dialect, readonly string[]>> = {
  openai: ['[DONE]'],
  anthropic: ['message_stop'],
  responses: ['response.completed', 'response.incomplete'],
};

/** The error in-band, where a response that is known to have begun is also told to have failed. */
function failureEvents(dialect: Dialect, assembler: Assembler, error: WireError): string {
  return assembler instanceof ResponsesAssembler ? assembler.failure(error) : errorEvent(dialect, error);
}

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
    const mayEnd = END_MARKS[this.#dialect].some((mark) => ready.includes(mark));
    if (this.#unreadSize > READ_ALONG_BYTES || mayEnd) this.#read();
    return ready;
  }

  end(): Buffer | string {
    const rest = this.#bytes.rest();
    if (rest) this.#note(rest);
    this.#read();
    this.#reader.close();
    const { complete, error } = this.#assembler.result();
    if (complete || error !== null) return rest ?? '';
    return failureEvents(this.#dialect, this.#assembler, INCOMPLETE);
  }

  fail(error: WireError): string {
    this.#read();
    const gap = this.#bytes.atBoundary ? '' : '\n\n';
    return gap + failureEvents(this.#dialect, this.#assembler, error);
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

/**
 * Same dialect, but the client asked for the model under another name (H16), or a response repeats instructions that
 * went upstream with an addition: only those values are exchanged.
 */
export class RenamingPump implements Pump {
  readonly #dialect: Dialect;
  readonly #model: string | null;
  readonly #echo: Echo | null;
  readonly #assembler;
  readonly #reader: EventReader;
  readonly atBoundary = true;
  ended = false;
  #out = '';

  constructor(dialect: Dialect, model: string | null, echo: Echo | null = null) {
    this.#dialect = dialect;
    this.#model = model === null ? null : JSON.stringify(model);
    this.#echo = echo;
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
    if (!complete && error === null) this.#out += failureEvents(this.#dialect, this.#assembler, INCOMPLETE);
    return this.#flush();
  }

  fail(error: WireError): string {
    return failureEvents(this.#dialect, this.#assembler, error);
  }

  result(): AssembledReply {
    return this.#assembler.result();
  }

  #event(event: WireEvent & { id?: string | undefined }): void {
    this.#assembler.push(event);
    if (isLastEvent(this.#dialect, event)) this.ended = true;
    const named = this.#model === null ? event.data : renameModel(this.#dialect, event.data, this.#model);
    const data = restoreEcho(named, this.#echo);
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
  const inner = { openai: null, anthropic: 'message', responses: 'response' }[dialect];
  const span = findString(json, ['model']) ?? (inner ? findString(json, [inner, 'model']) : null);
  return span ? exchange(json, span, model) : json;
}

/** What a response must repeat of its request, where that went upstream changed; values as JSON. */
export type Echo = Readonly<Record<string, string>>;

/** Puts the client's own values back into a response object or an event that holds one. */
export function restoreEcho(json: string, echo: Echo | null): string {
  let out = json;
  for (const [key, value] of Object.entries(echo ?? {})) {
    const span = findString(out, ['response', key]) ?? findString(out, [key]);
    if (span) out = exchange(out, span, value);
  }
  return out;
}

function exchange(json: string, span: { start: number; end: number }, value: string): string {
  return json.slice(0, span.start) + value + json.slice(span.end);
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
