import { parse } from 'yaml';

type Item = Record<string, unknown>;

/** What was found in a model's answer. `found` is false when it holds no JSON at all, so that "nothing" and "garbage" differ. */
export interface AnswerItems {
  items: Item[];
  found: boolean;
}

const MAX_CHARS = 100_000;
/** The YAML reader is slower than JSON's, and much slower on deep nesting. */
const MAX_LOOSE_CHARS = 30_000;
const MAX_LOOSE_DEPTH = 12;
const MAX_OBJECTS = 50;

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '', t: '\t' };

/**
 * Reads a list of objects out of a model's answer; `isItem` knows the ones that are meant. Tolerates thinking blocks, code fences, prose around the list,
 * a wrapper object, a single object, single quotes, trailing commas, and an answer that was cut off: the first
 * strategy that finds items wins, and one bad item never costs the others.
 */
export function readItems(answer: string, isItem: (object: Item) => boolean): AnswerItems {
  const isWanted = (value: unknown): value is Item => isObject(value) && isItem(value);
  const text = withoutThinking(answer.slice(0, MAX_CHARS)).trim();
  let found = false;
  for (const { candidate, loose } of candidates(text)) {
    const value = loose ? parseLoosely(candidate) : parseStrictly(candidate);
    if (value === undefined) continue;
    const items = itemsOf(value, isWanted);
    if (items === null) continue;
    found = true;
    if (items.length > 0) return { items, found };
  }
  const objects = balancedObjects(text).map(parseLoosely).filter(isWanted);
  return { items: objects, found: found || objects.length > 0 };
}

/** The texts that may be the list: the whole, what stands in code fences, from each `[` to the last `]` that parses. */
function* candidates(text: string): Generator<{ candidate: string; loose: boolean }> {
  yield { candidate: text, loose: true };
  for (const match of [...text.matchAll(/```[\w-]*\s*\n?([\s\S]*?)```/g)].slice(0, 10))
    yield { candidate: match[1] ?? '', loose: true };
  const starts = [...text.matchAll(/\[\s*(?=[{\]])/g)].slice(0, 20).map((match) => match.index);
  for (const start of starts) {
    let end = text.lastIndexOf(']');
    for (let tries = 0; end > start && tries < 20; tries += 1) {
      yield { candidate: text.slice(start, end + 1), loose: tries === 0 };
      end = text.lastIndexOf(']', end - 1);
    }
  }
}

function withoutThinking(text: string): string {
  const closed = text.replace(/<(think|thinking|reasoning|thought)>[\s\S]*?<\/\1>/gi, '');
  const end = closed.search(/<\/(?:think|thinking|reasoning|thought)>/i);
  return end < 0 ? closed : closed.slice(closed.indexOf('>', end) + 1);
}

function parseStrictly(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** As JSON, else as YAML's flow style, which is JSON with single quotes and trailing commas. */
function parseLoosely(text: string): unknown {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed)) return undefined;
  const strict = parseStrictly(trimmed);
  if (strict !== undefined || trimmed.length > MAX_LOOSE_CHARS || depthOf(trimmed) > MAX_LOOSE_DEPTH)
    return strict;
  // A quote inside of single quotes is doubled in YAML, and has a backslash in everything else.
  return parseYaml(trimmed) ?? parseYaml(trimmed.replaceAll("\\'", "''"));
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, (_key, value: unknown) => (typeof value === 'string' ? unescaped(value) : value), {
      logLevel: 'error',
      maxAliasCount: 0,
    });
  } catch {
    return undefined;
  }
}

/** In single quotes YAML takes escapes as they stand; models mean them as JSON and Python do. */
function unescaped(text: string): string {
  if (text.includes('\n')) return text;
  return text.replace(/\\([nrt"'\\])/g, (_, letter: string) => ESCAPED[letter] ?? letter);
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** The items of a list, of a wrapper such as `{"skills": […]}`, or one object alone; null for other JSON. */
function itemsOf(value: unknown, isWanted: (value: unknown) => value is Item): Item[] | null {
  if (Array.isArray(value)) {
    const items = value.filter(isWanted);
    return items.length > 0 || value.length === 0 ? items : null;
  }
  if (isWanted(value)) return [value];
  if (typeof value !== 'object' || value === null) return null;
  const lists = Object.values(value).filter((inner): inner is unknown[] => Array.isArray(inner));
  for (const list of lists) {
    const items = list.filter(isWanted);
    if (items.length > 0) return items;
  }
  return lists.length > 0 && lists.every((list) => list.length === 0) ? [] : null;
}

function isObject(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Outermost `{…}` groups with balanced braces outside of strings: what is left of a broken or cut-off list. */
function balancedObjects(text: string): string[] {
  const objects: string[] = [];
  let depth = 0;
  let start = -1;
  let quoted = false;
  for (let at = 0; at < text.length && objects.length < MAX_OBJECTS; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"' && depth > 0) quoted = true;
    else if (character === '{') {
      if (depth === 0) start = at;
      depth += 1;
    } else if (character === '}' && depth > 0) {
      depth -= 1;
      if (depth === 0) objects.push(text.slice(start, at + 1));
    }
  }
  return objects;
}
