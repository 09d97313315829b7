/** Text with its secrets replaced by `[redacted:kind]`, and whether anything was replaced. */
export interface Redacted {
  text: string;
  masked: boolean;
}

interface Rule {
  kind: string;
  pattern: RegExp;
  /** The part of the match that is the secret; null when it only looks like one. */
  secret(match: RegExpExecArray): { start: number; end: number } | null;
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

function findSecrets(text: string): Span[] {
  if (text.length < MIN_CHARS) return [];
  const spans = privateKeys(text);
  for (const rule of RULES) {
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

const whole = (match: RegExpExecArray) => ({ start: 0, end: match[0].length });

/** The span of a captured group, which stands at the end of the match or before `after` more characters. */
function tail(match: RegExpExecArray, group: string, after = 0): { start: number; end: number } {
  const end = match[0].length - after;
  return { start: end - group.length, end };
}

/** Where to look on after a match that was no secret: a short value may hold the start of one, a long one is passed. */
function resumeAt(match: RegExpExecArray): number {
  const value = match.groups?.value ?? '';
  const length = match[0].length;
  return Math.max(1, value.length <= 40 ? length - value.length : length);
}

const START = '(?<![A-Za-z0-9_-])';
const PASSWORD_WORD =
  '(?:password|passwd|passphrase|passwort|pwd|mot de passe|contraseña|senha|密码|密碼|口令|パスワード|비밀번호)';
const KEY_WORD =
  '(?:api[ _-]?key|access[ _-]?key(?:[ _-]?id)?|secret[ _-]?key|private[ _-]?key|signing[ _-]?key|encryption[ _-]?key|(?:access|auth|refresh|bearer|session|id|bot)[ _-]?token|client[ _-]?secret|secret|token|credential|密钥|密鑰|令牌)s?';
/** Between a name and its value: closing quote of the name, then `=`, `:`, `=>`, `:=` or full-width colon. */
const ASSIGN = '(?:\\\\?["\'`])?\\]?[ \\t]{0,4}(?:=>|:=|=|:|：)[ \\t]{0,4}';
/** An unquoted value ends at white space, quotes, closing brackets, separators and CJK punctuation. */
const BARE = '[^\\s"\'`,;&)\\]}<>|\\\\，。；、！？）】」]';

const RULES: readonly Rule[] = [
  {
    kind: 'api-key',
    // OpenAI, Anthropic, OpenRouter, DeepSeek and others.
    pattern: new RegExp(`${START}sk-(?<value>[A-Za-z0-9_-]{6,250})`, 'g'),
    secret: (match) => {
      const value = match.groups?.value ?? '';
      const digits = count(value, /\d/g);
      const certain = /[A-Z]/.test(value) && digits >= 1;
      return certain || (value.length >= 16 && digits >= 3) ? whole(match) : null;
    },
  },
  {
    kind: 'api-key',
    // Vendor prefixes that nothing else uses.
    pattern: new RegExp(
      `${START}(?:github_pat_[A-Za-z0-9_]{20,255}|gh[pousr]_[A-Za-z0-9]{20,255}|glpat-[A-Za-z0-9_-]{18,60}|xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-[A-Za-z0-9-]{20,250}|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])|AIza[A-Za-z0-9_-]{30,60}|ya29\\.[A-Za-z0-9_-]{20,500}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,250}|whsec_[A-Za-z0-9]{20,100}|npm_[A-Za-z0-9]{30,60}|hf_[A-Za-z0-9]{20,60}|gsk_[A-Za-z0-9]{20,80}|xai-[A-Za-z0-9]{20,120}|r8_[A-Za-z0-9]{30,60}|tvly-[A-Za-z0-9-]{16,60}|nvapi-[A-Za-z0-9_-]{20,100}|pypi-[A-Za-z0-9_-]{40,250}|dop_v1_[a-f0-9]{40,80}|SG\\.[A-Za-z0-9_-]{16,40}\\.[A-Za-z0-9_-]{20,80}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|tml-[A-Za-z0-9]{20,120})`,
      'g',
    ),
    secret: whole,
  },
  {
    kind: 'bot-token',
    // Telegram: <bot id>:<35 characters>.
    pattern: /(?<![A-Za-z0-9_-])\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g,
    secret: whole,
  },
  {
    kind: 'webhook',
    pattern: /hooks\.slack\.com\/services\/[A-Za-z0-9/_-]{20,100}/g,
    secret: whole,
  },
  {
    kind: 'jwt',
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}/g,
    secret: whole,
  },
  {
    kind: 'token',
    pattern: /\b(?:Bearer|Basic|Token)[ \t]{1,4}(?<value>[A-Za-z0-9._~+/=-]{12,4000})/gi,
    secret: (match) => {
      const value = match.groups?.value ?? '';
      return isRandomLooking(value, 12) ? tail(match, value) : null;
    },
  },
  {
    kind: 'password',
    // scheme://user:password@host
    pattern: /:\/\/[^\s:@/"'<>\\]{0,100}:(?<value>[^\s@/"'<>\\]{1,200})@/g,
    secret: (match) => {
      const value = match.groups?.value ?? '';
      return isPlaceholder(value) || GENERIC_PASSWORD.test(value) ? null : tail(match, value, 1);
    },
  },
  {
    kind: 'password',
    // password = "…", password: '…', "password": "…", \"password\": \"…\"
    pattern: new RegExp(
      `${PASSWORD_WORD}${ASSIGN}(?<quote>\\\\?["'\`])(?<value>[^\\s"'\`\\\\]{3,200})\\k<quote>`,
      'giu',
    ),
    secret: (match) => {
      const { value = '', quote = '' } = match.groups ?? {};
      if (isPlaceholder(value) || STOP_WORDS.has(value.toLowerCase())) return null;
      return tail(match, value, quote.length);
    },
  },
  {
    kind: 'password',
    // PASSWORD=…, password: …
    pattern: new RegExp(`${PASSWORD_WORD}${ASSIGN}(?<value>${BARE}{3,200})(?<after>.?)`, 'giu'),
    secret: (match) => {
      const { value = '', after = '' } = match.groups ?? {};
      if (isPlaceholder(value) || STOP_WORDS.has(value.toLowerCase())) return null;
      if (looksLikeCode(value, after)) return null;
      const name = match[0].slice(0, match[0].length - value.length - after.length);
      const strong = /[\d!@#$%^&*~+]/.test(value);
      // Letters alone: a value only where nothing else can follow, as in an env file, a URL or a YAML line.
      const certain =
        strong || /[=：]$/.test(name) || (/:[ \t]+$/.test(name) && (after === '' || after === '\r'));
      return certain ? tail(match, value, after.length) : null;
    },
  },
  {
    kind: 'password',
    // "the password is …", "密码是…"
    pattern: new RegExp(
      `${PASSWORD_WORD}[ \\t]{0,4}(?:(?:is|was|est|ist|es|now|will be)(?::|：)?[ \\t]{1,4}|是|为|為)[ \\t]{0,4}["'\`“「]?(?<value>${BARE}{3,200})`,
      'giu',
    ),
    secret: (match) => {
      const raw = match.groups?.value ?? '';
      const value = raw.replace(/[.!?…:]+$/u, '');
      if (value.length < 3 || isPlaceholder(value) || STOP_WORDS.has(value.toLowerCase())) return null;
      if (/^[a-z]+(?:ed|ing|ly)$/.test(value) || /^\p{Script=Han}+$/u.test(value)) return null;
      return tail(match, value, raw.length - value.length);
    },
  },
  {
    kind: 'password',
    // "password hunter2": without any sign between, only what no word looks like.
    pattern: new RegExp(`${PASSWORD_WORD}[ \\t]{1,4}["'\`]?(?<value>${BARE}{4,100})`, 'giu'),
    secret: (match) => {
      const raw = match.groups?.value ?? '';
      const value = raw.replace(/[.!?…:]+$/u, '');
      if (value.length < 4 || isPlaceholder(value) || /[=:(/[{]/.test(value)) return null;
      const mixed = /[a-z]/i.test(value) && /\d/.test(value);
      return mixed && !/^(?:v?\d+(?:\.\d+)*[a-z]{0,2}|[a-z]+-\d{1,2}|\d+(?:st|nd|rd|th))$/i.test(value)
        ? tail(match, value, raw.length - value.length)
        : null;
    },
  },
  {
    kind: 'secret',
    // api_key: …, SECRET_KEY="…", token=…: only values that look random.
    pattern: new RegExp(
      `${KEY_WORD}${ASSIGN}(?:\\\\?["'\`])?(?:Bearer[ \\t]+)?(?<value>[A-Za-z0-9_.~+/$@!%*-]{8,4000}={0,2})`,
      'giu',
    ),
    secret: (match) => {
      const value = match.groups?.value ?? '';
      return isRandomLooking(value, 10) ? tail(match, value) : null;
    },
  },
  {
    kind: 'secret',
    // "my key is …", "token is …"
    pattern:
      /\b(?:key|token|secret)[ \t]{1,4}(?:is|was)(?::)?[ \t]{1,4}["'`]?(?<value>[A-Za-z0-9_~+/=-]{12,400})/gi,
    secret: (match) => {
      const value = match.groups?.value ?? '';
      return isRandomLooking(value, 12) ? tail(match, value) : null;
    },
  },
];

/** Values that stand for a secret instead of being one. */
function isPlaceholder(value: string): boolean {
  return (
    value.startsWith('[redacted') ||
    /^[$%<{[(*#]/.test(value) ||
    /^(.)\1*$/u.test(value) ||
    /^(?:x{3,}|your[-_ ]?.*|my[-_]?(?:password|secret|key|token).*|example.*|changeme.*|placeholder.*|dummy.*|redacted.*|secret:[\w.]+|\.\.\.)$/i.test(
      value,
    ) ||
    /(?:…|\.{3})$/.test(value)
  );
}

const GENERIC_PASSWORD = /^(?:pass|password|passwd|pwd|pw|secret|\d{1,5})$/i;

/** A call, property or variable instead of a literal value. */
function looksLikeCode(value: string, after: string): boolean {
  if (/[([{]/.test(value)) return true;
  if (/^[A-Za-z_][\w]*(?:\??\.[A-Za-z_][\w]*)+$/.test(value)) return true;
  if (/passw|passwd|pwd|secret/i.test(value) && /^[A-Za-z_][\w-]*$/.test(value)) return true;
  return /^[A-Za-z_]+$/.test(value) && /^[)\],;}>|]$/.test(after);
}

/** Long enough, letters and digits mixed, and not a plain word, path, number, identifier or hash. */
function isRandomLooking(value: string, minLength: number): boolean {
  if (value.length < minLength || isPlaceholder(value)) return false;
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^[a-z]+(?:[_.-][a-z]+)*[_.-]?\d{1,4}$/i.test(value)) return false;
  if (/^(?:[A-Za-z_][\w]*)(?:\.[A-Za-z_]\w*)+$/.test(value)) return false;
  if (/^[./~]|^https?:|\/.*\/.*\./.test(value)) return false;
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(value)) return false;
  if (/^\d{4}-\d\d-\d\dT?/.test(value)) return false;
  const distinct = new Set(value.slice(0, 64)).size;
  return distinct >= 7;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** Words that follow "password is" or stand as its type or label, and are none. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'required requires optional missing empty wrong incorrect invalid valid correct weak strong short long expired reset set unset not too the and or for from with ' +
    'your our their this that these those one any all used stored saved hashed encrypted changed never always being case only also ' +
    'string str number boolean bool text varchar char null none nil undefined true false void any unknown optional object password passwd pwd secret hidden ' +
    'input field label type name value env key token bytes buffer credential credentials auth login yes ok needed asked shown visible secure insecure safe ' +
    'plain protected masked available unavailable unknown here there what why how when where who which correct same different new old current default ' +
    'securestring secretstr promise'
  ).split(' '),
);
