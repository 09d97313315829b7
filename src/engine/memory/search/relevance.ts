import { TRAIT } from './traits.ts';

/** What tells whether a document has to do with a question at all, however it compares with others. */
export interface Bearing {
  /** Share of what was asked for that stands in it, by rarity, 0 to 1. */
  coverage: number;
  /** Rarity of all that is shared, and of the rarest word shared, as parts of the rarity of a word that stands once. */
  evidence: number;
  rarest: number;
  /** 0 to 1, of 60 words and more. */
  length: number;
  /** Bits of TRAIT. */
  traits: number;
  /** The question is about the asker or what is the asker's. */
  isPersonal: boolean;
  /** The question is written without spaces: its words are asked for in overlapping pairs, of which few are met. */
  isUnspaced: boolean;
}

/** Least relevance of a memory that is put into a turn unasked. */
export const ENOUGH = 0.5;

/**
 * Logistic regression over the best match of each labelled case for tuning (`npm run bench:memory-cases`), the
 * conversations alone and amid thousands of strangers' messages.
 */
const WEIGHT = {
  none: -3.8,
  coverage: 3,
  evidence: 3.3,
  rarest: 2.9,
  length: -5,
  assistant: -3.2,
  asks: -2.9,
  personal: 1.1,
  unspaced: 1.3,
};
const MOST_EVIDENCE = 1.6;

const PERSONAL =
  /(?<![\p{L}\p{M}])(?:i|i['’]m|i['’]ve|me|my|mine|we|us|our|ours|je|moi|mon|ma|mes|nous|notre|nos|yo|mi|mis|nuestr[oa]s?|ich|mich|mir|mein\p{L}*|wir|uns|unser\p{L}*|io|mio|mia|miei|noi|nostr[oaie]|eu|meus?|minhas?|nós|nossos?|nossas?|[usnptv]\p{L}*amos|tengo|tenemos|vivo|soy|estoy|quiero|puedo|debo|prefiero)(?![\p{L}\p{M}])|(?<![\p{L}\p{M}])j['’]|我|咱|私|僕|俺|うち|自分|나는|내가|우리/iu;

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** What of the question itself bears on relevance. `isPersonal`: it speaks of the asker, in seven languages and more. */
export function mannerOf(question: string): Pick<Bearing, 'isPersonal' | 'isUnspaced'> {
  return { isPersonal: PERSONAL.test(question), isUnspaced: UNSPACED.test(question) };
}

/** How surely the document has to do with the question, 0 to 1; the same scale for every question and store. */
export function relevanceOf({
  coverage,
  evidence,
  rarest,
  length,
  traits,
  isPersonal,
  isUnspaced,
}: Bearing): number {
  const sum =
    WEIGHT.none +
    WEIGHT.coverage * coverage +
    WEIGHT.evidence * Math.min(MOST_EVIDENCE, evidence) +
    WEIGHT.rarest * rarest +
    WEIGHT.length * length +
    (traits & TRAIT.assistant ? WEIGHT.assistant : 0) +
    (traits & TRAIT.asks ? WEIGHT.asks : 0) +
    (isPersonal ? WEIGHT.personal : 0) +
    (isUnspaced ? WEIGHT.unspaced : 0);
  return 1 / (1 + Math.exp(-sum));
}
