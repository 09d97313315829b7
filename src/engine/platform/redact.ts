import { WRITTEN_FORMS } from './secret-forms.ts';
import { RULES, type SecretRule } from './secret-rules.ts';
import { isPlaceholder, STOP_WORDS } from './secret-values.ts';

/** Text with its secrets replaced by `[redacted:kind]`, and whether anything was replaced. */
export interface Redacted {
  text: string;
  masked: boolean;
}

/** Nothing shorter can hold a secret together with what shows it to be one. */
const MIN_CHARS = 6;
/** Strings longer than this that hold nothing but base64 are payloads (images, audio) and carry no readable secret. */
const PAYLOAD_CHARS = 4096;
const PAYLOAD = /^(?:data:[^,]{1,100},)?[A-Za-z0-9+/_=-]+$/;

/**
 * Masks what looks like a credential, before text reaches disk, a log or a model of ours.
 *
 * Every pattern starts at a literal or a boundary and is bounded, so the time is linear in the length. The same
 * secret always gets the same mask, and masking twice changes nothing.
 */
export function redact(text: string): Redacted {
  let masked = text;
  // A mask ends what stood before it, so that a secret glued to another shows itself in the next pass.
  for (let pass = 0; pass < 5; pass += 1) {
    const spans = findSecrets(masked);
    if (spans.length === 0) break;
    masked = maskSpans(masked, spans);
  }
  return { text: masked, masked: masked !== text };
}

const ALL_RULES: readonly SecretRule[] = [...RULES, ...WRITTEN_FORMS];

function findSecrets(text: string): Span[] {
  if (text.length < MIN_CHARS) return [];
  const spans = privateKeys(text);
  for (const rule of ALL_RULES) {
    rule.pattern.lastIndex = 0;
    for (let match = rule.pattern.exec(text); match !== null; match = rule.pattern.exec(text)) {
      const found = rule.secret(match);
      if (found)
        spans.push({ start: match.index + found.start, end: match.index + found.end, kind: rule.kind });
      else rule.pattern.lastIndex = match.index + resumeAt(match);
    }
  }
  return spans;
}

/** Masks every string inside a JSON value, and the values of fields whose name says that they are secret. */
export function redactJson<T>(value: T): { value: T; masked: boolean } {
  const state = { masked: false };
  const result = walk(value, state) as T;
  return { value: result, masked: state.masked };
}

const SECRET_FIELD =
  /^(?:.*[_-])?(?:password|passwd|passphrase|pwd|api[_-]?key|apikey|access[_-]?token|auth[_-]?token|refresh[_-]?token|client[_-]?secret|secret[_-]?key|private[_-]?key|secret|authorization|cookie)$/i;

function walk(value: unknown, state: { masked: boolean }): unknown {
  if (typeof value === 'string') {
    if (value.length > PAYLOAD_CHARS && PAYLOAD.test(value)) return value;
    const result = redact(value);
    if (result.masked) state.masked = true;
    return result.text;
  }
  if (Array.isArray(value)) {
    let changed = false;
    const items = value.map((item) => {
      const next = walk(item, state);
      if (next !== item) changed = true;
      return next;
    });
    return changed ? items : value;
  }
  if (value === null || typeof value !== 'object') return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, inner]) => {
    const named = redact(key);
    let next: unknown;
    if (typeof inner === 'string' && SECRET_FIELD.test(key) && isNamedSecret(inner)) {
      next = '[redacted:field]';
      state.masked = true;
    } else {
      next = walk(inner, state);
    }
    if (named.masked) state.masked = true;
    if (named.masked || next !== inner) changed = true;
    return [named.text, next] as const;
  });
  return changed ? Object.fromEntries(entries) : value;
}

function isNamedSecret(value: string): boolean {
  return (
    value.length >= 4 && !/\s/.test(value) && !isPlaceholder(value) && !STOP_WORDS.has(value.toLowerCase())
  );
}

interface Span {
  start: number;
  end: number;
  kind: string;
}

/** Overlapping spans become one mask, named after the one that starts first. */
function maskSpans(text: string, spans: Span[]): string {
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  let result = '';
  let at = 0;
  for (const span of spans) {
    if (span.end <= at) continue;
    if (span.start >= at) result += `${text.slice(at, span.start)}[redacted:${span.kind}]`;
    at = span.end;
  }
  return result + text.slice(at);
}

/** PEM blocks are found by plain search: a lazy pattern would be quadratic on text full of openings. */
function privateKeys(text: string): Span[] {
  const spans: Span[] = [];
  const opening = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
  let closingMissing = false;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const bodyAt = match.index + match[0].length;
    const endAt = closingMissing ? -1 : text.indexOf('-----END', bodyAt);
    const tailAt = endAt < 0 ? -1 : text.indexOf('-----', endAt + 8);
    if (endAt < 0) closingMissing = true;
    // A cut-off key is masked as far as one may reach.
    const end = tailAt < 0 ? Math.min(text.length, bodyAt + 8000) : Math.min(tailAt + 5, bodyAt + 20_000);
    spans.push({ start: match.index, end, kind: 'private-key' });
    opening.lastIndex = end;
  }
  return spans;
}

/** Where to look on after a match that was no secret: a short value may hold the start of one, a long one is passed. */
function resumeAt(match: RegExpExecArray): number {
  const value = match.groups?.value ?? '';
  const length = match[0].length;
  return Math.max(1, value.length <= 40 ? length - value.length : length);
}
