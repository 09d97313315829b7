import { termsOf } from '../platform/words.ts';
import { FILLER, NEGATION } from './slots/phrases.ts';

/** What a text says, as far as two texts are compared by it. */
export interface Gist {
  /** Its words without fillers, each once, in order. */
  words: readonly string[];
  /** Numbers, versions, dates, paths and codes as they stand, and small words that turn a meaning. */
  exact: string;
  negated: boolean;
  /** Words that begin with a capital inside of a sentence, lower case. */
  names: ReadonlySet<string>;
  /** One thing is set against another: the order of the words counts. */
  compares: boolean;
}

const NUMBERS = /(?<![\p{L}\p{N}])v?\d+(?:[.,:/-]\d+)*/giu;
/** What is written with signs or capitals inside is a name of a machine's: each letter counts. */
const CODE = /[_/\\@#~]|\p{Ll}\p{Lu}|\.\p{L}/u;
const ASCII_RUNS = /[!-~]{3,}/g;
const TURNS =
  /(?<![\p{L}])(?:before|after|above|below|under|more|less|most|least|first|last|only|until|since|all|some|if|unless|except|when|while|up|down|out|in|off|before|antes|después|más|menos|solo|sólo|hasta|desde|si|cuando|avant|après|plus|moins|seulement|jusqu|depuis|sauf|quand)(?![\p{L}])/giu;
/** `in` and `on` are mostly fillers; they count only as `in ↔ out`. */
const WEAK = new Set(['in', 'when', 'all', 'plus', 'si']);
const COMPARES =
  /(?<![\p{L}])(?:over|than|instead|rather|versus|vs|reports? to|from .+ to|en lugar|en vez|antes que|au lieu|plutôt)(?![\p{L}])|而不是|比|より|ではなく/iu;
const NAME = /(?<=[\p{L}\p{N},;:)]\s)\p{Lu}[\p{L}\p{N}'’-]*/gu;
const CALENDAR =
  /^(?:mon|tues|wednes|thurs|fri|satur|sun)day|^(?:january|february|march|april|may|june|july|august|september|october|november|december)$/;

export function gistOf(content: string): Gist {
  const text = content.normalize('NFKC');
  const words = termsOf(text.replace(NEGATION, ' ').replace(FILLER, ' ')).map(({ term }) => term);
  const names = (text.match(NAME) ?? [])
    .map((name) => name.toLowerCase())
    .filter((name) => !CALENDAR.test(name));
  NEGATION.lastIndex = 0;
  return {
    words: [...new Set(words)],
    exact: exactOf(text),
    negated: NEGATION.test(text),
    names: new Set(names.flatMap((name) => termsOf(name).map(({ term }) => term))),
    compares: COMPARES.test(text),
  };
}

/** The part of a gist that two texts must share, which is cheap to tell. */
export function exactOf(content: string): string {
  const text = content.normalize('NFKC');
  const turns = (text.toLowerCase().match(TURNS) ?? []).filter((word) => !WEAK.has(word));
  return [...(text.match(NUMBERS) ?? []), ...codesOf(text), ...turns.sort()].join(' ');
}

function codesOf(text: string): string[] {
  return (text.match(ASCII_RUNS) ?? [])
    .filter((run) => CODE.test(run))
    .map((run) => run.replace(/^["'(]+|[.,;:!?)"']+$/g, ''));
}

/**
 * How two texts stand to each other. `same`: the same words in other forms or another order. `opposite`: one denies
 * the other. `near`: nearly the same words. Never `same` where numbers, codes or names differ.
 */
export function compareGists(one: Gist, other: Gist): 'same' | 'opposite' | 'near' | null {
  if (one.words.length === 0 || other.words.length === 0 || one.exact !== other.exact) return null;
  const there = new Set(other.words);
  const shared = one.words.filter((word) => there.has(word)).length;
  const all = one.words.length + other.words.length - shared;
  const equal = shared === all && inOrder(one, other);
  if (one.negated !== other.negated) return equal && one.words.length > 1 ? 'opposite' : null;
  if (equal) return 'same';
  const named = [...one.names, ...other.names].every((name) => there.has(name) && one.words.includes(name));
  return named && shared / all >= NEAR && all >= 4 ? 'near' : null;
}
const NEAR = 0.75;

function inOrder(one: Gist, other: Gist): boolean {
  const counts = (word: string) =>
    one.compares || other.compares || one.names.has(word) || other.names.has(word);
  const [first, second] = [one.words.filter(counts), other.words.filter(counts)];
  return first.every((word, at) => word === second[at]);
}

/**
 * A few numbers for a text: equal for texts with the same words, and mostly shared by texts with nearly the same.
 * The first, which is negative, stands for all words together.
 */
export function sketchOf({ words }: Gist): number[] {
  if (words.length === 0) return [];
  const hashes = words.map(hash).sort((a, b) => a - b);
  return [-1 - hash([...words].sort().join(' ')), ...hashes.slice(0, KEPT)];
}
const KEPT = 3;

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value ^= text.charCodeAt(at);
    value = Math.imul(value, 0x01000193) >>> 0;
  }
  return value;
}
