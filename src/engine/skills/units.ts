import { type Term, termsOf } from '../platform/words.ts';
import { LEXICON } from './lexicon.ts';

/** A word, or words that stand for one idea, at its place in a text. */
export interface Unit {
  /** Name of the idea in the lexicon, as `#name`; null for words that it does not know. */
  idea: string | null;
  /** The words themselves. */
  terms: readonly Term[];
  /** As it stood in the text, for explanations. */
  surface: string;
}

const WIDE = '\\u3040-\\u30ff\\u31f0-\\u31ff\\u3400-\\u9fff々';
const RUNS = new RegExp(`[${WIDE}]+|(?:(?![${WIDE}])[\\p{L}\\p{N}\\p{M}'’-])+`, 'gu');
const IS_WIDE = new RegExp(`^[${WIDE}]`, 'u');
const IS_PLAIN = /^[a-z0-9-]*$/;
const KATAKANA = /^[\u30a1-\u30ff]+$/;
const SHORTEST_PREFIX = 3;

interface Lexicon {
  words: ReadonlyMap<string, string>;
  prefixes: ReadonlyMap<string, string>;
  /** By first word; longest first. A last word may be open (`*`). */
  sayings: ReadonlyMap<string, readonly { words: readonly string[]; open: boolean; idea: string }[]>;
  wide: ReadonlyMap<string, { idea: string; open: boolean }>;
  longestWide: number;
}

const lexicon = readLexicon(LEXICON);

/**
 * Splits a text into units, in order. Takes time linear in the length; callers cap it. Function words give no unit
 * unless they belong to a saying.
 */
export function unitsOf(text: string): Unit[] {
  const units: Unit[] = [];
  let latin: string[] = [];
  const flush = () => {
    addLatin(units, latin);
    latin = [];
  };
  for (const [run] of text.normalize('NFKC').toLowerCase().matchAll(RUNS)) {
    if (IS_WIDE.test(run)) {
      flush();
      addWide(units, run);
    } else latin.push(...wordsOf(run));
  }
  flush();
  return units;
}

/** What a unit is found by: its idea, or else its words. */
export function keysOf({ idea, terms }: Unit): string[] {
  return idea === null ? terms.map(({ term }) => term) : [idea];
}

function addLatin(units: Unit[], words: readonly string[]): void {
  for (let at = 0; at < words.length; ) {
    const word = words[at] as string;
    const saying = lexicon.sayings.get(fold(word))?.find((candidate) => stands(candidate, words, at));
    if (saying) {
      const surface = words.slice(at, at + saying.words.length).join(' ');
      units.push({ idea: saying.idea, terms: termsOf(surface), surface });
      at += saying.words.length;
      continue;
    }
    const unit = unitOfWord(word);
    if (unit !== null) units.push(unit);
    at += 1;
  }
}

/** Words come again and again: in texts and in ten thousand skills. */
const known = new Map<string, Unit | null>();
const MOST_KNOWN = 20_000;

function unitOfWord(word: string): Unit | null {
  const before = known.get(word);
  if (before !== undefined) return before;
  const idea = ideaOfWord(fold(word));
  const terms = termsOf(word);
  const unit = idea === null && terms.length === 0 ? null : { idea, terms, surface: word };
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(word, unit);
  return unit;
}

function addWide(units: Unit[], run: string): void {
  let rest = '';
  const flush = () => {
    for (const term of termsOf(rest)) units.push({ idea: null, terms: [term], surface: term.surface });
    rest = '';
  };
  for (let at = 0; at < run.length; ) {
    const found = ideaAt(run, at);
    if (found === null) {
      rest += run[at];
      at += 1;
      continue;
    }
    flush();
    const surface = run.slice(at, at + found.length);
    units.push({ idea: found.idea, terms: termsOf(surface), surface });
    at += found.length;
  }
  flush();
}

function ideaAt(run: string, at: number): { idea: string; length: number } | null {
  for (let length = Math.min(lexicon.longestWide, run.length - at); length > 0; length -= 1) {
    const piece = run.slice(at, at + length);
    const found = lexicon.wide.get(piece);
    if (found !== undefined && (found.open || !isCutOut(run, at, piece))) return { idea: found.idea, length };
  }
  return null;
}

/** Katakana that goes on is another word: プレゼント is no プレゼン. */
function isCutOut(run: string, at: number, piece: string): boolean {
  if (!KATAKANA.test(piece)) return false;
  return KATAKANA.test(run[at - 1] ?? '') || KATAKANA.test(run[at + piece.length] ?? '');
}

function ideaOfWord(word: string): string | null {
  const exact = lexicon.words.get(word);
  if (exact !== undefined) return exact;
  for (let length = Math.min(word.length, 20); length >= SHORTEST_PREFIX; length -= 1) {
    const idea = lexicon.prefixes.get(word.slice(0, length));
    if (idea !== undefined) return idea;
  }
  return null;
}

function stands(
  { words, open }: { words: readonly string[]; open: boolean },
  text: readonly string[],
  at: number,
): boolean {
  return words.every((word, n) => {
    const other = fold(text[at + n] ?? '');
    return open && n === words.length - 1 ? other.startsWith(word) && other !== '' : other === word;
  });
}

/** French and Spanish clitics are words of their own; a hyphen holds a word together. */
function wordsOf(run: string): string[] {
  return run
    .replace(/’/g, "'")
    .replace(/^['-]+|['-]+$/g, '')
    .split(/(?<=^(?:l|d|j|n|s|c|m|t|qu))'/)
    .map((word) => word.replace(/'/g, ''))
    .filter((word) => word !== '');
}

function fold(word: string): string {
  return IS_PLAIN.test(word) ? word : word.normalize('NFD').replace(/\p{M}+/gu, '');
}

function readLexicon(text: string): Lexicon {
  const words = new Map<string, string>();
  const prefixes = new Map<string, string>();
  const sayings = new Map<string, { words: string[]; open: boolean; idea: string }[]>();
  const wide = new Map<string, { idea: string; open: boolean }>();
  for (const line of text.trim().split('\n')) {
    const [name = '', ...entries] = line.split(' ');
    const idea = `#${name}`;
    for (const entry of entries) {
      const open = entry.endsWith('*');
      const parts = entry.replace(/\*$/, '').split('_').flatMap(wordsOfEntry);
      if (open && entry.endsWith('_*')) parts.push('');
      const [first = ''] = parts;
      if (IS_WIDE.test(first)) wide.set(first.normalize('NFKC').toLowerCase(), { idea, open });
      else if (parts.length > 1)
        sayings.set(first, [...(sayings.get(first) ?? []), { words: parts, open, idea }]);
      else if (open) prefixes.set(first, idea);
      else words.set(first, idea);
    }
  }
  for (const list of sayings.values()) list.sort((a, b) => b.words.length - a.words.length);
  return {
    words,
    prefixes,
    sayings,
    wide,
    longestWide: Math.max(...[...wide.keys()].map((key) => key.length)),
  };
}

function wordsOfEntry(part: string): string[] {
  return IS_WIDE.test(part) ? [part] : wordsOf(part).map(fold);
}
