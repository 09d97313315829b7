import { AppError, messageOf } from '../../shared/errors.ts';
import { roleOfItem } from './translate/responses/items.ts';

/** A value's place in the body, in bytes; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export type ValueKind = 'string' | 'array' | 'object' | 'other';

export interface SkimValue extends Span {
  readonly kind: ValueKind;
}

export interface SkimMessage extends Span {
  /** Empty when the message has none. */
  readonly role: string;
  readonly roleSpan: Span | null;
  readonly content: SkimValue | null;
  /** Kind of an item of the Responses API; empty on the other wires. */
  readonly type: string;
}

/** Top-level member: from its key's quote to the end of its value. */
export interface SkimMember extends Span {
  readonly key: string;
  readonly value: SkimValue;
}

/** Where everything is that MetaClaw reads or may change in a request body of either chat dialect. */
export interface Skim {
  /** The bytes that spans refer to. */
  readonly bytes: Buffer;
  /** The bytes as they came; differs from `bytes` only after the parse path had to normalise them. */
  readonly source: Buffer;
  /** The top-level object's members in order. */
  readonly members: readonly SkimMember[];
  /** Position just after the opening brace. */
  readonly bodyStart: number;
  readonly messages: readonly SkimMessage[];
  /** The items of a Responses request's `input`; a bare string is one user message. */
  readonly items: readonly SkimMessage[];
  /** Bytes in long strings without spaces (pictures, audio, files): they are not prompt text. */
  readonly opaqueBytes: number;
}

/** The exact walk does not cover this body; the parse path decides whether it is odd or broken. */
class Odd extends Error {}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const OBJECT = 123;
const OBJECT_END = 125;
const ARRAY = 91;
const ARRAY_END = 93;
const OPAQUE_MIN = 8192;
const SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** Walks JSON once; strings are skipped by `indexOf`, so a byte of text costs almost nothing. */
class Walker {
  readonly s: string;
  i = 0;
  opaque = 0;

  constructor(latin1: string) {
    this.s = latin1;
  }

  ws(): number {
    const { s } = this;
    let code = s.charCodeAt(this.i);
    while (code === 32 || code === 10 || code === 13 || code === 9) {
      this.i += 1;
      code = s.charCodeAt(this.i);
    }
    return code;
  }

  expect(code: number): void {
    if (this.s.charCodeAt(this.i) !== code) throw new Odd();
    this.i += 1;
  }

  /** From an opening quote to just after the closing one. */
  string(): void {
    const { s } = this;
    const start = this.i;
    let at = start;
    for (;;) {
      at = s.indexOf('"', at + 1);
      if (at < 0) throw new Odd();
      let back = at - 1;
      while (s.charCodeAt(back) === BACKSLASH) back -= 1;
      if ((at - back) % 2 === 1) break;
    }
    this.i = at + 1;
    if (at - start > OPAQUE_MIN && s.slice(start, start + 512).indexOf(' ', 64) < 0)
      this.opaque += at - start;
  }

  /** A key or short string, decoded. */
  text(): string {
    const start = this.i;
    this.expect(QUOTE);
    this.i = start;
    this.string();
    const raw = this.s.slice(start + 1, this.i - 1);
    return raw.includes('\\') ? decode(`"${raw}"`) : raw;
  }

  value(): SkimValue {
    const start = this.i;
    const code = this.s.charCodeAt(start);
    if (code === QUOTE) {
      this.string();
      return { start, end: this.i, kind: 'string' };
    }
    if (code === OBJECT || code === ARRAY) {
      this.#nested();
      return { start, end: this.i, kind: code === OBJECT ? 'object' : 'array' };
    }
    this.i = this.#scalarEnd(start);
    if (!SCALAR.test(this.s.slice(start, this.i))) throw new Odd();
    return { start, end: this.i, kind: 'other' };
  }

  #scalarEnd(from: number): number {
    let at = from;
    for (;;) {
      const code = this.s.charCodeAt(at);
      if (Number.isNaN(code) || code <= 32 || code === COMMA || code === OBJECT_END || code === ARRAY_END)
        return at;
      at += 1;
    }
  }

  #nested(): void {
    const { s } = this;
    const open: number[] = [];
    for (;;) {
      const code = s.charCodeAt(this.i);
      if (code === QUOTE) {
        this.string();
        continue;
      }
      if (Number.isNaN(code)) throw new Odd();
      this.i += 1;
      if (code === OBJECT || code === ARRAY) open.push(code);
      else if (code === OBJECT_END || code === ARRAY_END) {
        if (open.pop() !== code - 2) throw new Odd();
        if (open.length === 0) return;
      }
    }
  }

  /** Calls `member` at each value of an object; it must consume the value. */
  object(member: (key: string, keyStart: number) => void): void {
    this.expect(OBJECT);
    if (this.ws() === OBJECT_END) {
      this.i += 1;
      return;
    }
    for (;;) {
      const keyStart = this.i;
      const key = this.text();
      this.ws();
      this.expect(COLON);
      this.ws();
      member(key, keyStart);
      if (this.#last(OBJECT_END)) return;
    }
  }

  /** Calls `element` at each value of an array; it must consume the value. */
  array(element: () => void): void {
    this.expect(ARRAY);
    if (this.ws() === ARRAY_END) {
      this.i += 1;
      return;
    }
    for (;;) {
      element();
      if (this.#last(ARRAY_END)) return;
    }
  }

  #last(end: number): boolean {
    const code = this.ws();
    this.i += 1;
    if (code === end) return true;
    if (code !== COMMA) throw new Odd();
    this.ws();
    return false;
  }

  message(): SkimMessage {
    const start = this.i;
    if (this.s.charCodeAt(start) !== OBJECT) {
      const { end } = this.value();
      return { start, end, role: '', roleSpan: null, content: null, type: '' };
    }
    let role: string | null = null;
    let roleSpan: Span | null = null;
    let content: SkimValue | null = null;
    let output: SkimValue | null = null;
    let type = '';
    this.object((key) => {
      if (key === 'role') {
        if (roleSpan !== null) throw new Odd();
        const from = this.i;
        if (this.s.charCodeAt(from) === QUOTE) role = this.text();
        else this.value();
        roleSpan = { start: from, end: this.i };
      } else if (key === 'content') {
        if (content !== null) throw new Odd();
        content = this.value();
      } else if (key === 'type' && this.s.charCodeAt(this.i) === QUOTE) type = this.text();
      else if (key === 'output') output = this.value();
      else this.value();
    });
    return { start, end: this.i, role: role ?? '', roleSpan, content: content ?? output, type };
  }
}

/** An item of `input`: what it is tells its role where it names none. */
function asItem(item: SkimMessage): SkimMessage {
  return { ...item, role: roleOfItem(item.type, item.role) };
}

function asUserItem(value: SkimValue): SkimMessage {
  return {
    start: value.start,
    end: value.end,
    role: 'user',
    roleSpan: null,
    content: value,
    type: 'message',
  };
}

/** Keys that MetaClaw reads or changes; twice the same one sends a body to the parse path. */
const OURS = new Set(
  `model messages system stream stream_options max_tokens max_completion_tokens tools session_id turn_type session_done
  memory_scope user_id workspace_id prompt_cache_key metadata client_metadata input instructions max_output_tokens
  previous_response_id`.split(/\s+/),
);

function walk(bytes: Buffer, source: Buffer): Skim {
  const walker = new Walker(bytes.toString('latin1'));
  walker.ws();
  const bodyStart = walker.i + 1;
  const members: SkimMember[] = [];
  const messages: SkimMessage[] = [];
  const items: SkimMessage[] = [];
  const seen = new Set<string>();
  walker.object((key, start) => {
    if (OURS.has(key)) {
      if (seen.has(key)) throw new Odd();
      seen.add(key);
    }
    const from = walker.i;
    let value: SkimValue;
    if (key === 'messages' && walker.s.charCodeAt(from) === ARRAY) {
      walker.array(() => messages.push(walker.message()));
      value = { start: from, end: walker.i, kind: 'array' };
    } else if (key === 'input' && walker.s.charCodeAt(from) === ARRAY) {
      walker.array(() => items.push(asItem(walker.message())));
      value = { start: from, end: walker.i, kind: 'array' };
    } else value = walker.value();
    if (key === 'input' && value.kind === 'string') items.push(asUserItem(value));
    members.push({ key, start, end: walker.i, value });
  });
  walker.ws();
  if (walker.i !== walker.s.length) throw new Odd();
  return { bytes, source, members, bodyStart, messages, items, opaqueBytes: walker.opaque };
}

/**
 * Reads a request body without parsing it: one walk finds the places that matter, and edits are byte splices, so
 * unknown fields, key order, number spellings and whitespace survive. A body that the walk does not cover (a byte
 * order mark, one of our keys twice, broken JSON) takes the parse path, with the same result when it is valid.
 *
 * Throws BAD_INPUT when the body is no JSON object.
 */
export function skim(source: Buffer): Skim {
  try {
    return walk(source, source);
  } catch (error) {
    if (!(error instanceof Odd) && !(error instanceof SyntaxError)) throw error;
  }
  try {
    const parsed: unknown = JSON.parse(source.toString('utf8').replace(/^\uFEFF/, ''));
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      throw new SyntaxError('a JSON object is expected');
    return walk(Buffer.from(JSON.stringify(parsed)), source);
  } catch (error) {
    throw new AppError('BAD_INPUT', `The request body is not valid JSON: ${messageOf(error)}`, {
      hint: 'Send a JSON object as the API describes it.',
      cause: error,
    });
  }
}

/** The elements of an array value with each element's `type`, for placing a block among others. */
export function skimBlocks(from: Skim, array: Span): (Span & { type: string })[] {
  const walker = new Walker(from.bytes.toString('latin1', array.start, array.end));
  const blocks: (Span & { type: string })[] = [];
  walker.array(() => {
    const start = walker.i;
    let type = '';
    if (walker.s.charCodeAt(start) === OBJECT)
      walker.object((key) => {
        if (key === 'type' && walker.s.charCodeAt(walker.i) === QUOTE) type = walker.text();
        else walker.value();
      });
    else walker.value();
    blocks.push({ start: array.start + start, end: array.start + walker.i, type });
  });
  return blocks;
}

/** The members of an object value, in order. */
export function skimMembers(from: Skim, object: Span): SkimMember[] {
  const walker = new Walker(from.bytes.toString('latin1', object.start, object.end));
  const members: SkimMember[] = [];
  walker.object((key, start) => {
    const { kind, ...span } = walker.value();
    const shift = object.start;
    members.push({
      key,
      start: shift + start,
      end: shift + walker.i,
      value: { kind, start: shift + span.start, end: shift + span.end },
    });
  });
  return members;
}

/** Place of the string value at a path of keys in one JSON object text, or null; used on stream events. */
export function findString(json: string, path: readonly string[]): Span | null {
  const walker = new Walker(json);
  const state: { found: Span | null } = { found: null };
  const descend = (depth: number): void =>
    walker.object((key) => {
      if (key !== path[depth]) {
        walker.value();
        return;
      }
      const code = walker.s.charCodeAt(walker.i);
      if (depth + 1 < path.length && code === OBJECT) descend(depth + 1);
      else {
        const value = walker.value();
        if (depth + 1 === path.length && value.kind === 'string') state.found = value;
      }
    });
  try {
    walker.ws();
    descend(0);
  } catch {
    return null;
  }
  return state.found;
}

/** The top-level member, or null. */
export function member(from: Skim, key: string): SkimMember | null {
  return from.members.find((candidate) => candidate.key === key) ?? null;
}

/** Decodes the JSON value at a span. */
export function decodeValue(from: Skim, span: Span): unknown {
  return JSON.parse(from.bytes.toString('utf8', span.start, span.end));
}

/** Decodes at most about `limit` bytes of a string value: a long system prompt is hashed by its head. */
export function decodeHead(from: Skim, span: Span, limit: number): string {
  if (span.end - span.start <= limit) return String(decodeValue(from, span));
  let end = span.start + limit;
  // Never cut inside a UTF-8 sequence or an escape (at most \uXXXX\uXXXX, 12 bytes).
  while (end > span.start + 1 && ((from.bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const backslash = from.bytes.lastIndexOf(BACKSLASH, end - 1);
  if (backslash > span.start && end - backslash < 12) {
    let first = backslash;
    while (from.bytes[first - 1] === BACKSLASH) first -= 1;
    end = first;
  }
  return decode(`${from.bytes.toString('utf8', span.start, end)}"`);
}

function decode(json: string): string {
  return JSON.parse(json) as string;
}
