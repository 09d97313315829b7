import { termsOf } from '../../platform/words.ts';

/** So much of a text's words, or more, that it says nothing new. */
const SAME = 0.75;

/** True when a text says again what one of the known ones says. Numbers, versions and the like must agree. */
export function isEcho(text: string, known: readonly string[]): boolean {
  const terms = wordsOf(text);
  if (terms.size === 0) return false;
  const figures = figuresOf(text);
  return known.some((other) => {
    const otherFigures = figuresOf(other);
    if (figures.some((figure) => !otherFigures.includes(figure))) return false;
    const others = wordsOf(other);
    let shared = 0;
    for (const term of others) if (terms.has(term)) shared += 1;
    // Either the text is part of the memory, or it puts the whole memory into a longer sentence.
    return shared >= SAME * Math.min(terms.size, others.size) && shared > 0;
  });
}

/** Terms that carry a topic. */
export function wordsOf(text: string): Set<string> {
  return new Set(termsOf(text).map(({ term }) => term));
}

/** Numbers, versions, dates and times, as they are written. */
export function figuresOf(text: string): string[] {
  return text.normalize('NFKC').match(/\d+(?:[.:,/-]\d+)*/g) ?? [];
}
