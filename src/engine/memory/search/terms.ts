import {
  bare,
  ENGLISH,
  LATIN_LANGUAGES,
  type Language,
  languageOfScript,
  latinLanguageOf,
  UNSPACED_STOP,
} from './languages.ts';
import { traitsOf } from './traits.ts';

/** One thing that a question asks for: any of `terms` answers it. */
export interface QueryGroup {
  /** As it stands in the question. */
  surface: string;
  terms: string[];
}

/** Longer texts are read at both ends. */
const MOST_CHARS = 8_000;
const TAIL_CHARS = 2_000;
const RUN = /[\p{L}\p{N}\p{M}]+/gu;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;
const HANGUL = /\p{Script=Hangul}/u;
const HAN = /\p{Script=Han}/u;
const HIRAGANA_ONLY = /^\p{Script=Hiragana}+$/u;
/** Names of files, versions, addresses, times, keys: they count as a whole, too. */
const COMPOUND = /[\p{L}\p{N}]+(?:[._\-/@:+#][\p{L}\p{N}]+)+/gu;
const TELLING = /[\d._/@:+#]/;
const LONGEST_TERM = 40;
/** What is left of `don't`, `we'll`, `I've` and the like. */
const CLIPPED = new Set(['ll', 're', 've', 'don', 'didn', 'doesn', 'isn', 'wasn', 'couldn', 'wouldn']);

const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });

/** The terms of a text that is stored, repeated as often as they occur, and what traits it has. */
export function readText(text: string): { terms: string[]; traits: number } {
  const read = readingOf(text);
  const language = latinLanguageOf(read.latin) ?? ENGLISH;
  const terms: string[] = [];
  for (const word of read.words) {
    const own = languageOfScript(word) ?? language;
    if (!isStop(word, own)) terms.push(stemOf(word, own));
  }
  return { terms: [...terms, ...read.others], traits: traitsOf(read.text, read.words) };
}

/**
 * What a question asks for, in order, each thing once. A word is looked for under the stem that it has in the
 * question's language and in English; in a question too short to tell its language, under those of all.
 */
export function groupsOf(text: string): QueryGroup[] {
  const read = readingOf(text);
  const language = latinLanguageOf(read.latin);
  const groups = new Map<string, QueryGroup>();
  const add = (surface: string, terms: readonly string[]) => {
    const [key] = terms;
    if (key !== undefined && !groups.has(key)) groups.set(key, { surface, terms: [...new Set(terms)] });
  };
  for (const word of read.words) {
    const own = languageOfScript(word);
    const languages = own ? [own] : language ? [language, ENGLISH] : [ENGLISH, ...LATIN_LANGUAGES];
    if (isStop(word, own ?? language ?? ENGLISH)) continue;
    add(
      word,
      languages.map((one) => stemOf(word, one)),
    );
  }
  for (const term of read.others) add(term, [term]);
  return [...groups.values()];
}

/** Words of names, as speakers have them: folded, not stemmed. */
export function namesIn(text: string): string[] {
  return readingOf(text).words.map(bare);
}

interface Reading {
  /** As it was read. */
  text: string;
  /** In lower case, with their accents. */
  words: string[];
  /** Those of `words` in the Latin alphabet. */
  latin: string[];
  /** Terms that have no stem: of scripts without spaces, of Korean, and names of things such as `v5.7`. */
  others: string[];
}

function readingOf(whole: string): Reading {
  const text = (
    whole.length <= MOST_CHARS
      ? whole
      : `${whole.slice(0, MOST_CHARS - TAIL_CHARS)} ${whole.slice(-TAIL_CHARS)}`
  )
    .normalize('NFKC')
    .toLowerCase();
  const words: string[] = [];
  const latin: string[] = [];
  const others: string[] = [];
  const spaced = text.replace(UNSPACED, (run) => {
    addUnspaced(others, run);
    return ' ';
  });
  for (const [run] of spaced.matchAll(RUN)) {
    if (run.length > LONGEST_TERM) continue;
    if (HANGUL.test(run)) addPairs(others, run);
    else if (isWord(run)) {
      words.push(run);
      if (/^[\p{Script=Latin}\p{M}]+$/u.test(run)) latin.push(run);
    }
  }
  for (const [name] of spaced.matchAll(COMPOUND))
    if (name.length <= LONGEST_TERM && TELLING.test(name)) others.push(bare(name));
  return { text, words, latin, others };
}

/** A single letter is none, a single digit is. */
function isWord(run: string): boolean {
  return (run.length > 1 || /\p{N}/u.test(run)) && !CLIPPED.has(run);
}

function isStop(word: string, language: Language): boolean {
  return language.stop.has(word);
}

/** Words of at least two characters, and the overlapping pairs of what stands between function words. */
function addUnspaced(terms: string[], run: string): void {
  let piece = '';
  const close = () => {
    if (piece !== '') addPairs(terms, piece);
    piece = '';
  };
  for (const { segment, isWordLike } of segmenter.segment(run)) {
    if (!isWordLike || UNSPACED_STOP.has(segment) || (HIRAGANA_ONLY.test(segment) && segment.length < 3)) {
      close();
      continue;
    }
    const length = [...segment].length;
    if (!HAN.test(segment)) {
      close();
      if (length > 1) terms.push(segment.replace(/ー+$/u, ''));
      continue;
    }
    if (length > 2) terms.push(segment);
    piece += segment;
  }
  close();
}

function addPairs(terms: string[], piece: string): void {
  const characters = [...piece];
  if (characters.length === 1) terms.push(piece);
  for (let at = 0; at + 1 < characters.length; at += 1) terms.push(`${characters[at]}${characters[at + 1]}`);
}

const MOST_STEMS = 50_000;
const stems = new Map<Language, Map<string, string>>();

/** Stemming costs more than the rest of reading a text, and words repeat. */
function stemOf(word: string, language: Language): string {
  let known = stems.get(language);
  if (!known) {
    known = new Map();
    stems.set(language, known);
  }
  const before = known.get(word);
  if (before !== undefined) return before;
  if (known.size >= MOST_STEMS) known.clear();
  const stem = /\d/.test(word) ? bare(word) : bare(language.stem(word)) || bare(word);
  known.set(word, stem);
  return stem;
}
