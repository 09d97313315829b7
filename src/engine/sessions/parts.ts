import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ARRAY, type Span, Walker } from '../platform/json-walker.ts';
import { redact, redactJson } from '../platform/redact.ts';
import type { Database } from '../store/database.ts';

/** Names the parts that a body consists of; JSON text, kept with the turn. */
export type Outline = string;

/** One member of a body: its value inline, in a part, or as a list of parts. */
type Member =
  | [key: string, kind: 'v', value: unknown]
  | [key: string, kind: 'p', hash: string]
  | [key: string, kind: 'l', levels: string[][]];

/** A stored piece; `masked`: something in it was. */
interface Part {
  hash: string;
  masked: boolean;
}

/** A message, or another member of a body that stands before the model; `place` is empty for messages. */
export interface PromptPiece {
  place: string;
  hash: string;
}

/** As providers put them together. */
const PROMPT_KEYS = ['tools', 'system', 'instructions', 'messages', 'input'];
const CACHE_MARK = '"cache_control"';
/** Values whose JSON is shorter stay in the outline. */
const INLINE_CHARS = 160;
/** Hashes in a full run of a list. */
const RUN = 16;
/** Base64 longer than this is not kept: nobody learns from its characters, and images would fill the disk. */
const PAYLOAD_CHARS = 32_768;
const PAYLOAD = /^(?:data:([^,;]{1,100})[^,]{0,100},)?[A-Za-z0-9+/_-]+={0,2}$/;
/** Messages whose masked form is remembered, two entries each, so that a growing conversation is masked once. */
const REMEMBERED = 8000;

/**
 * Keeps bodies as content-addressed parts, so that a conversation stores each message once however often it is sent.
 *
 * Lists of messages are kept as runs of 16 hashes, and runs of runs: what a turn adds stays small for conversations of
 * any length. Everything passes the redactor before it is written. Call inside a transaction, then `settle`.
 */
export class PartStore {
  readonly #database: Database;
  /** Hash of the raw JSON, and of the bytes that it came as → the part that holds its masked form; only what is committed. */
  readonly #known = new Map<string, Part>();
  #unsettled: [string, Part][] = [];
  /** JSON → part, of this transaction: nearly all that was sent stands in the request already. */
  readonly #puts = new Map<string, Part>();
  /** Hash of bytes → part, of this transaction. */
  readonly #pieces = new Map<string, Part>();
  /** Hashes of the payloads of this transaction: a picture may stand in a message that was added to. */
  readonly #payloads = new Map<string, string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Stores a body as it came over the wire. What was stored before is known by its bytes and not parsed again. Text
   * that is no JSON object is kept as it stands.
   */
  putBytes(body: Uint8Array): { outline: Outline; masked: boolean } {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    try {
      return this.#putPieces(bytes, topLevel(bytes));
    } catch {
      // Not covered by the walk: an array, a byte order mark, broken JSON.
    }
    const text = bytes.toString('utf8');
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      const cleaned = redact(text);
      return { outline: JSON.stringify({ text: this.#write(cleaned.text) }), masked: cleaned.masked };
    }
    return this.putValue(value);
  }

  /** Stores a JSON value. */
  putValue(value: unknown): { outline: Outline; masked: boolean } {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      const part = this.#put(value);
      return { outline: JSON.stringify({ part: part.hash }), masked: part.masked };
    }
    const members = Object.entries(value).map(([key, inner]): Stored => {
      if (isHistory(key) && Array.isArray(inner))
        return this.#list(
          key,
          inner.map((item) => this.#put(item)),
        );
      const json = JSON.stringify(inner);
      return json === undefined || json.length <= INLINE_CHARS
        ? inline(key, inner)
        : asPart(key, this.#put(inner, json));
    });
    return outlineOf(members);
  }

  /** The JSON text that an outline stands for; null when a part is missing. */
  read(outline: Outline): string | null {
    const parsed = JSON.parse(outline) as { text?: string; part?: string; members?: Member[] };
    if (parsed.text !== undefined) return this.#read(parsed.text);
    if (parsed.part !== undefined) return this.#read(parsed.part);
    const members: string[] = [];
    for (const member of parsed.members ?? []) {
      const text = this.#readMember(member);
      if (text === null) return null;
      members.push(`${JSON.stringify(member[0])}:${text}`);
    }
    return `{${members.join(',')}}`;
  }

  /**
   * What a body puts before the model, in that order: tools, system text, then each message, by hash. Null when it is
   * no JSON object.
   */
  prompt(outline: Outline): PromptPiece[] | null {
    const { members } = JSON.parse(outline) as { members?: Member[] };
    if (members === undefined) return null;
    return PROMPT_KEYS.flatMap((key) => {
      const member = members.find(([name]) => name === key);
      if (member === undefined) return [];
      const place = isHistory(key) ? '' : key;
      if (member[1] === 'l') return this.#ungroup(member[2]).map((hash) => ({ place, hash }));
      return [{ place, hash: member[1] === 'p' ? member[2] : hashOf(JSON.stringify(member[2])) }];
    });
  }

  /**
   * True when two pieces are the same to a provider's cache: marks of where to cache may stand elsewhere, since
   * clients move them with every turn.
   */
  isSamePiece(one: PromptPiece | undefined, other: PromptPiece | undefined): boolean {
    if (one === undefined || other === undefined || one.place !== other.place) return false;
    if (one.hash === other.hash) return true;
    const [first, second] = [this.#read(one.hash), this.#read(other.hash)];
    if (first === null || second === null) return false;
    if (!first.includes(CACHE_MARK) && !second.includes(CACHE_MARK)) return false;
    return withoutMarks(first) === withoutMarks(second);
  }

  /** Says whether the transaction around the last puts was committed. */
  settle(committed: boolean): void {
    if (committed) {
      for (const [raw, part] of this.#unsettled) this.#known.set(raw, part);
      for (const raw of this.#known.keys()) {
        if (this.#known.size <= REMEMBERED) break;
        this.#known.delete(raw);
      }
    }
    this.#unsettled = [];
    this.#puts.clear();
    this.#pieces.clear();
    this.#payloads.clear();
  }

  #readMember(member: Member): string | null {
    switch (member[1]) {
      case 'v':
        return JSON.stringify(member[2]);
      case 'p':
        return this.#read(member[2]);
      case 'l': {
        const items: string[] = [];
        for (const hash of this.#ungroup(member[2])) {
          const text = this.#read(hash);
          if (text === null) return null;
          items.push(text);
        }
        return `[${items.join(',')}]`;
      }
    }
  }

  #putPieces(bytes: Buffer, pieces: readonly Piece[]): { outline: Outline; masked: boolean } {
    const members = pieces.map(({ key, value, items }): Stored => {
      if (items !== null)
        return this.#list(
          key,
          items.map((item) => this.#putPiece(bytes, item)),
        );
      return value.end - value.start <= INLINE_CHARS
        ? inline(key, parsed(bytes, value))
        : asPart(key, this.#putPiece(bytes, value));
    });
    return outlineOf(members);
  }

  /** Throws SyntaxError for what is no JSON. */
  #putPiece(bytes: Buffer, span: Span): Part {
    const raw = hashOf(bytes.subarray(span.start, span.end));
    const known = this.#known.get(raw) ?? this.#pieces.get(raw);
    if (known) {
      this.#refresh(raw, known);
      return known;
    }
    const part = this.#put(parsed(bytes, span));
    this.#pieces.set(raw, part);
    this.#unsettled.push([raw, part]);
    return part;
  }

  #list(key: string, parts: readonly Part[]): Stored {
    return {
      member: [key, 'l', this.#group(parts.map((part) => part.hash))],
      masked: parts.some((part) => part.masked),
    };
  }

  /** Most recently used last. */
  #refresh(raw: string, part: Part): void {
    if (this.#known.delete(raw)) this.#known.set(raw, part);
  }

  #put(value: unknown, json = JSON.stringify(value) ?? 'null'): Part {
    const part = this.#puts.get(json) ?? this.#keep(value, json);
    this.#puts.set(json, part);
    return part;
  }

  #keep(value: unknown, json: string): Part {
    // Megabytes of base64 are hashed once, as what stands in their place.
    const kept =
      json.length < PAYLOAD_CHARS ? value : withoutPayloads(value, (text) => this.#payloadHash(text));
    const raw = hashOf(kept === value ? json : (JSON.stringify(kept) ?? 'null'));
    const known = this.#known.get(raw);
    if (known) {
      this.#refresh(raw, known);
      return known;
    }
    const cleaned = redactJson(kept);
    const part = { hash: this.#write(JSON.stringify(cleaned.value) ?? 'null'), masked: cleaned.masked };
    this.#unsettled.push([raw, part]);
    return part;
  }

  #payloadHash(payload: string): string {
    const hash = this.#payloads.get(payload) ?? hashOf(payload);
    this.#payloads.set(payload, hash);
    return hash;
  }

  #write(text: string): string {
    const hash = hashOf(text);
    const exists = this.#database.get('SELECT 1 FROM parts WHERE hash = ?', hash) !== null;
    if (!exists) {
      this.#database.run('INSERT INTO parts (hash, data) VALUES (?, ?)', hash, pack(text));
    }
    return hash;
  }

  #read(hash: string): string | null {
    const row = this.#database.get<{ data: Uint8Array }>('SELECT data FROM parts WHERE hash = ?', hash);
    return row === null ? null : unpack(row.data);
  }

  /** Level 0 holds the newest hashes, each further level the runs of the one before; oldest run first. */
  #group(hashes: string[]): string[][] {
    const levels: string[][] = [];
    let rest = hashes;
    while (rest.length >= RUN) {
      const runs: string[] = [];
      const whole = rest.length - (rest.length % RUN);
      for (let at = 0; at < whole; at += RUN) runs.push(this.#write(rest.slice(at, at + RUN).join(' ')));
      levels.push(rest.slice(whole));
      rest = runs;
    }
    levels.push(rest);
    return levels;
  }

  #ungroup(levels: string[][]): string[] {
    let hashes: string[] = [];
    for (const level of [...levels].reverse()) {
      const expanded = hashes.flatMap((run) => this.#read(run)?.split(' ') ?? []);
      hashes = [...expanded, ...level];
    }
    return hashes;
  }
}

const PLAIN = 0;
const DEFLATED = 1;
/** Shorter texts shrink little, and compressing each one costs more than writing it. */
const PLAIN_BYTES = 700;

/** One byte that names the form, then the text as it is or deflated. */
function pack(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length < PLAIN_BYTES) return Buffer.concat([Buffer.from([PLAIN]), bytes]);
  // A window no larger than the text: most of the time for a short one goes into clearing the window.
  const windowBits = Math.min(15, Math.max(9, Math.ceil(Math.log2(bytes.length))));
  const deflated = deflateRawSync(bytes, { windowBits, memLevel: Math.min(8, windowBits - 6) });
  return Buffer.concat([Buffer.from([DEFLATED]), deflated]);
}

function unpack(data: Uint8Array): string {
  const rest = data.subarray(1);
  return (data[0] === PLAIN ? Buffer.from(rest) : inflateRawSync(rest)).toString('utf8');
}

/** A member as it stands in an outline. */
interface Stored {
  member: Member;
  masked: boolean;
}

/** A top-level member of a body; `items`: the elements of a list of messages. */
interface Piece {
  key: string;
  value: Span;
  items: Span[] | null;
}

/** Throws for what is no plain JSON object. */
function topLevel(bytes: Buffer): Piece[] {
  const walker = new Walker(bytes.toString('latin1'));
  const pieces: Piece[] = [];
  walker.ws();
  walker.object((key) => {
    // The walk reads bytes as characters.
    if (/[\u0080-\uffff]/.test(key)) throw new SyntaxError('a key that is not ASCII');
    const from = walker.i;
    const items: Span[] = [];
    const isList = isHistory(key) && walker.s.charCodeAt(from) === ARRAY;
    if (isList) walker.array(() => items.push(walker.value()));
    else walker.value();
    pieces.push({ key, value: { start: from, end: walker.i }, items: isList ? items : null });
  });
  walker.ws();
  if (walker.i !== bytes.length) throw new SyntaxError('more than one JSON value');
  return pieces;
}

function isHistory(key: string): boolean {
  return key === 'messages' || key === 'input';
}

function parsed(bytes: Buffer, { start, end }: Span): unknown {
  return JSON.parse(bytes.toString('utf8', start, end));
}

function inline(key: string, value: unknown): Stored {
  const cleaned = redactJson({ [key]: value });
  const [entry] = Object.entries(cleaned.value);
  return { member: [entry?.[0] ?? key, 'v', entry?.[1] ?? null], masked: cleaned.masked };
}

function asPart(key: string, part: Part): Stored {
  return { member: [key, 'p', part.hash], masked: part.masked };
}

function outlineOf(members: readonly Stored[]): { outline: Outline; masked: boolean } {
  return {
    outline: JSON.stringify({ members: members.map(({ member }) => member) }),
    masked: members.some(({ masked }) => masked),
  };
}

/** JSON without marks of where to cache; text in a block alone is the same as the bare text. */
function withoutMarks(json: string): string {
  return JSON.stringify(JSON.parse(json), (key, value: unknown) => {
    if (key === 'cache_control') return undefined;
    if (key !== 'content' || !Array.isArray(value) || value.length !== 1) return value;
    const [only] = value as { type?: unknown; text?: unknown }[];
    return only?.type === 'text' && typeof only.text === 'string' ? only.text : value;
  });
}

/** 128 bits of SHA-256. */
function hashOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Replaces long base64 by a note of its kind, length and hash. */
function withoutPayloads(value: unknown, hash: (payload: string) => string): unknown {
  if (typeof value === 'string') {
    if (value.length < PAYLOAD_CHARS) return value;
    const match = PAYLOAD.exec(value);
    return match
      ? `[not kept: ${match[1] ?? 'base64'}, ${value.length} characters, sha256 ${hash(value)}]`
      : value;
  }
  if (Array.isArray(value)) return value.map((item) => withoutPayloads(item, hash));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutPayloads(inner, hash)]));
}

/** Cuts without leaving half of a surrogate pair. */
export function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const code = text.charCodeAt(chars - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? chars - 1 : chars);
}
