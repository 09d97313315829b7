/** What a refusal says, freed of its wrapping and of what it quotes. */
export interface Complaint {
  /** The provider's own words, one complaint a line. */
  about: string;
  /** The parameter that it names by itself; empty when it names none. */
  param: string;
}

type Json = Record<string, unknown>;

/** A provider that complains of a field says so early; what comes later is what it quotes. */
const MOST_CHARACTERS = 4000;
/** Conversation that is looked through for quotes, from its beginning and from its end. */
const MOST_CONVERSATION = 500_000;
/** This many words in a row that also stand in the conversation are a quote of it. */
const QUOTE_WORDS = 6;

/**
 * Reads an error body in the shapes of OpenAI, Anthropic, Google (a list), AWS, FastAPI and Mistral (`detail`), and of
 * gateways that wrap another provider's error as text. Null when it says nothing.
 */
export function complaintOf(errorText: string): Complaint | null {
  const found: Found = { words: [], param: '', code: '' };
  const start = errorText.slice(0, 50_000);
  // A page of HTML is a gateway's, and says nothing of the request.
  read(parse(start) ?? (/^\s*</.test(start) ? null : start), found, 0);
  if (found.words.length === 0) return null;
  const about = `${found.param} ${found.code.replaceAll('_', ' ')} ${found.words.join('\n')}`;
  return { about: about.slice(0, MOST_CHARACTERS), param: found.param };
}

/** The same complaint of another request: numbers and ids say nothing. */
export function gist({ about }: Complaint): string {
  return about.replace(/\b(?=\w*\d)[\w-]+\b/g, '#');
}

/** Takes out of a complaint whatever stands in the request's conversation too: quotes teach nothing. */
export function withoutQuotes(complaint: Complaint, sent: Json): Complaint {
  const conversation = ` ${wordsOf(conversationOf(sent)).join(' ')} `;
  const unquoted = complaint.about.replace(QUOTED, (all, ...groups: (string | undefined)[]) => {
    const pieces = (groups.slice(0, 4).find((group) => group !== undefined) ?? '').split(/\.{3}|…/);
    const told = pieces.map((piece) => wordsOf(piece)).filter((words) => words.length > 1);
    return told.some((words) => conversation.includes(words.join(' '))) ? ' ' : all;
  });
  return { ...complaint, about: withoutRuns(unquoted, conversation) };
}

/** A quotation mark behind a letter is an apostrophe. */
const QUOTED = /(?<!\w)'([^'\n]*)'(?!\w)|"([^"\n]*)"|`([^`\n]*)`|“([^”\n]*)”/g;

function withoutRuns(text: string, conversation: string): string {
  const words = [...text.matchAll(/[\p{L}\p{N}_]+/gu)];
  const quoted = new Set<number>();
  for (let at = 0; at + QUOTE_WORDS <= words.length; at += 1) {
    const run = words.slice(at, at + QUOTE_WORDS).map(([word]) => word.toLowerCase());
    if (conversation.includes(` ${run.join(' ')} `))
      for (let n = at; n < at + QUOTE_WORDS; n += 1) quoted.add(n);
  }
  if (quoted.size === 0) return text;
  let n = -1;
  return text.replace(/[\p{L}\p{N}_]+/gu, (word) => {
    n += 1;
    return quoted.has(n) ? '' : word;
  });
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []) as string[];
}

/** All that people, models and tools said in a request. */
function conversationOf(sent: Json): string {
  const texts: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  for (const field of ['system', 'instructions', 'messages', 'input', 'prompt']) visit(sent[field]);
  const all = texts.join('\n');
  if (all.length <= 2 * MOST_CONVERSATION) return all;
  return `${all.slice(0, MOST_CONVERSATION)}\n${all.slice(-MOST_CONVERSATION)}`;
}

interface Found {
  words: string[];
  param: string;
  code: string;
}

function read(value: unknown, found: Found, depth: number): void {
  if (depth > 6) return;
  if (typeof value === 'string') readText(value, found, depth);
  else if (Array.isArray(value)) for (const item of value.slice(0, 10)) read(item, found, depth + 1);
  else if (typeof value === 'object' && value !== null) readObject(value as Json, found, depth);
}

function readObject(value: Json, found: Found, depth: number): void {
  if (typeof value.param === 'string') found.param ||= value.param;
  if (typeof value.code === 'string') found.code ||= value.code;
  if (Array.isArray(value.loc) && typeof value.msg === 'string') {
    const loc = value.loc.filter((part) => part !== 'body').join('.');
    found.param ||= loc;
    found.words.push(`${loc}: ${value.msg}`);
    return;
  }
  const { raw } = (value.metadata ?? {}) as Json;
  // A gateway's own words say only that another provider complained.
  if (typeof raw === 'string' && raw !== '') {
    read(raw, found, depth + 1);
    return;
  }
  for (const name of ['error', 'message', 'Message', 'detail', 'errors'])
    if (value[name] !== undefined) {
      const before = found.words.length;
      read(value[name], found, depth + 1);
      if (found.words.length > before) return;
    }
}

/** Text may itself be, or end in, another provider's error. */
function readText(text: string, found: Found, depth: number): void {
  const from = text.indexOf('{');
  const inner = from < 0 ? null : parse(text.slice(from, text.lastIndexOf('}') + 1));
  const before = found.words.length;
  if (inner !== null) read(inner, found, depth + 1);
  if (found.words.length === before && text.trim() !== '') found.words.push(text.trim());
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
