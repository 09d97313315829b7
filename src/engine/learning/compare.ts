import { termsOf } from '../platform/words.ts';
import { sharedTerms } from './lessons.ts';

/** A text that a suggestion is compared with. */
export interface KnownSkill {
  name: string;
  description: string;
  body: string;
}

/** From here on two skills say the same. */
export const SAME = 0.6;
/** From here on they resemble each other. */
export const SIMILAR = 0.42;
/** From here on one line says what another one says. */
const SAME_LINE = 0.7;

interface TermSets {
  head: ReadonlySet<string>;
  all: ReadonlySet<string>;
}

/** Stands in every skill and says nothing about it. */
const BOILERPLATE = new Set(['anti', 'pattern']);

/** The terms of a text, without what every skill says. */
export function termSetOf(text: string): Set<string> {
  return new Set(
    termsOf(text)
      .map(({ term }) => term)
      .filter((term) => !BOILERPLATE.has(term)),
  );
}

/** A skill's terms, to be compared with those of others. */
export function termSets(skill: KnownSkill): TermSets {
  const head = termSetOf(`${skill.name} ${skill.description}`);
  return { head, all: new Set([...head, ...termSetOf(skill.body)]) };
}

/** How much two skills say the same, 0 to 1: by what they are for, or by all that they say. */
function likeness(a: TermSets, b: TermSets): number {
  return Math.max(cosine(a.all, b.all), cosine(a.head, b.head) * 0.85);
}

/** How much two sets of terms are the same, 0 to 1. */
export function cosine(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return a.size === 0 || b.size === 0 ? 0 : sharedTerms(a, b) / Math.sqrt(a.size * b.size);
}

/** The entry that is most like a skill, and how much; null when there is none. */
export function nearest<T extends { terms: TermSets }>(
  own: TermSets,
  others: readonly T[],
): { entry: T; share: number } | null {
  let best: { entry: T; share: number } | null = null;
  for (const entry of others) {
    const share = likeness(own, entry.terms);
    if (best === null || share > best.share) best = { entry, share };
  }
  return best;
}

/** The lines of a text that say something that none of another text's lines says. */
export function newLines(text: string, base: string): string[] {
  const known = base.split('\n').map(termSetOf);
  return text.split('\n').filter((line) => {
    const terms = termSetOf(line);
    if (terms.size === 0) return false;
    return !known.some((other) => cosine(terms, other) >= SAME_LINE || isWithin(terms, other));
  });
}

function isWithin(terms: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return sharedTerms(terms, other) === terms.size;
}
