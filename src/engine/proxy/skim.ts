import { AppError, messageOf } from '../../shared/errors.ts';
import {
  ARRAY,
  BACKSLASH,
  OBJECT,
  Odd,
  QUOTE,
  type SkimValue,
  type Span,
  Walker,
} from '../platform/json-walker.ts';
import { roleOfItem } from './translate/responses/items.ts';

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

function readMessage(walker: Walker): SkimMessage {
  const start = walker.i;
  if (walker.s.charCodeAt(start) !== OBJECT) {
    const { end } = walker.value();
    return { start, end, role: '', roleSpan: null, content: null, type: '' };
  }
  let role: string | null = null;
  let roleSpan: Span | null = null;
  let content: SkimValue | null = null;
  let output: SkimValue | null = null;
  let type = '';
  walker.object((key) => {
    if (key === 'role') {
      if (roleSpan !== null) throw new Odd();
      const from = walker.i;
      if (walker.s.charCodeAt(from) === QUOTE) role = walker.text();
      else walker.value();
      roleSpan = { start: from, end: walker.i };
    } else if (key === 'content') {
      if (content !== null) throw new Odd();
      content = walker.value();
    } else if (key === 'type' && walker.s.charCodeAt(walker.i) === QUOTE) type = walker.text();
    else if (key === 'output') output = walker.value();
    else walker.value();
  });
  return { start, end: walker.i, role: role ?? '', roleSpan, content: content ?? output, type };
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
      walker.array(() => messages.push(readMessage(walker)));
      value = { start: from, end: walker.i, kind: 'array' };
    } else if (key === 'input' && walker.s.charCodeAt(from) === ARRAY) {
      walker.array(() => items.push(asItem(readMessage(walker))));
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
    throw notJson(error);
  }
}

function notJson(error: unknown): AppError {
  return new AppError('BAD_INPUT', `The request body is not valid JSON: ${messageOf(error)}`, {
    hint: 'Send a JSON object as the API describes it.',
    cause: error,
  });
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

/** Decodes the JSON value at a span. Throws BAD_INPUT. */
export function decodeValue(from: Skim, span: Span): unknown {
  return decode(from.bytes.toString('utf8', span.start, span.end));
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
  return decode(`${from.bytes.toString('utf8', span.start, end)}"`) as string;
}

/**
 * The walk looks into no string, so what it let pass can still be broken (a raw line break, an unknown escape): that
 * is the caller's fault, not ours. Throws BAD_INPUT.
 */
export function decode(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw notJson(error);
  }
}
