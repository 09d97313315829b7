import type { Term } from '../platform/words.ts';
import { COMMON } from './phrases.ts';
import type { Unit } from './units.ts';

/** Words of a question that count once: those of one idea, or one word that the lexicon does not know. */
export interface Group {
  /** The idea; null for a lone word. */
  idea: string | null;
  /** Each word's stem and how it stood in the question. */
  terms: Map<string, string>;
  surface: string;
  /** Words that stand in requests of every kind. */
  common: boolean;
  /** Places in the question, the first ones. */
  places: number[];
}

/** Words between those of a phrase. */
const PHRASE_GAP = 3;
const MOST_PLACES = 8;

/** A question's words and ideas, by what they are found by. */
export function groupsOf(units: readonly Unit[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  const put = (key: string, idea: string | null, terms: readonly Term[], surface: string, place: number) => {
    const common = terms.length > 0 && terms.every(({ term }) => COMMON.has(term));
    const group: Group = groups.get(key) ?? { idea, terms: new Map(), surface, common, places: [] };
    for (const { term, surface: word } of terms) if (!group.terms.has(term)) group.terms.set(term, word);
    group.common &&= common;
    if (group.places.length < MOST_PLACES) group.places.push(place);
    groups.set(key, group);
  };
  for (const [place, { idea, terms, surface }] of units.entries())
    if (idea !== null) put(idea, idea, terms, surface, place);
    else for (const term of terms) put(term.term, null, [term], term.surface, place);
  return groups;
}

/** True when a phrase's words stand close enough in the question to be that phrase. */
export function standNear(keys: readonly string[], groups: ReadonlyMap<string, Group>): boolean {
  const [first = '', ...others] = keys;
  const reach = keys.length + PHRASE_GAP;
  return (groups.get(first)?.places ?? []).some((place) =>
    others.every((key) => groups.get(key)?.places.some((other) => Math.abs(other - place) <= reach)),
  );
}
