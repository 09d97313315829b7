import { termsOf } from '../platform/words.ts';
import { COMMON, livesFromFunctionWords, phraseKeys, plain, startOf } from './phrases.ts';
import { type Group, groupsOf, standNear } from './question.ts';
import { type Unit, unitsOf } from './units.ts';

/** A skill as the ranking sees it. */
export interface RankedText {
  name: string;
  description: string;
  triggers: readonly string[];
  body: string;
}

export interface Hit {
  id: string;
  score: number;
  /** Readable, e.g. `phrase: flaky test; words: ci`. */
  reason: string;
}

/** How near skills are to the question by their vectors. */
export interface NearByMeaning {
  /** `share`: 0 is nothing, 1 enough to enter alone. */
  skills: ReadonlyMap<string, { similarity: number; share: number }>;
  hasVector: (name: string) => boolean;
  /** What the words of a skill count that has a vector. */
  wordShare: number;
}

interface Posting {
  doc: number;
  weight: number;
}

interface Phrase {
  doc: number;
  text: string;
  /** Distinct words or ideas, all of which must stand near each other in the question. */
  keys: readonly string[];
  /**
   * Its words; where all of them stand there, and not only their ideas, the phrase counts in full. Null where
   * function words make an idea ("should we use"): then its text must stand there.
   */
  words: readonly string[] | null;
  /** Set for phrases that live from their function words ("are you sure"): they must stand there word for word. */
  verbatim: string | null;
}

interface Doc {
  id: string;
  weights: ReadonlyMap<string, number>;
  phrases: readonly number[];
  hasTriggers: boolean;
}

/** A phrase that stands in the question; `isExact`: with its own words. */
interface Complete {
  text: string;
  credit: number;
  isExact: boolean;
}

interface Found {
  entry: Doc;
  score: number;
  phrase: Complete | null;
  /** By its vector; null where that says nothing for it. */
  similarity: number | null;
}

const WEIGHT = { name: 1, trigger: 1, description: 0.7, body: 0.25 } as const;
/** What an idea counts beside a word that stands there itself. */
const IDEA_SHARE = 0.8;
/** What a phrase counts when not all of its words stand there, but all of its ideas do. */
const IDEA_PHRASE_SHARE = 0.8;
/** A phrase of one idea is no phrase: another word for it may mean something else here. */
const LONE_IDEA_SHARE = 0.35;
/**
 * Most entries of the index that a question looks at, rarest words first: what is left then are words of thousands of
 * skills, which tell none of them apart.
 */
const MOST_POSTINGS = 6_000;
const SWEEP_AFTER = 200;
/** Small libraries borrow the rarity of words from a library of this size. */
const SMALLEST_LIBRARY = 60;
/** A question longer than this is read at both ends: that is where people say what they want. */
const QUERY_CHARS = 1600;
/** Least evidence for a skill to enter; a phrase of two rare words has about 12, one rare word of a description 2.5. */
export const THRESHOLD = 4.2;
/** What a word-for-word phrase counts: enough to enter alone. */
const VERBATIM_CREDIT = 6;
/** From here on a skill enters whatever else was found. */
const CERTAIN = 1.5 * THRESHOLD;
/** Below that, a skill enters beside a better one only with this share of its evidence. */
const BESIDE_SHARE = 0.55;
/** The same for a skill that has trigger phrases, none of which stands there with its own words. */
const LOOSE_BESIDE_SHARE = 0.75;
const LOOSE_CERTAIN = 2 * THRESHOLD;

const COMMON_SHARE = 0.45;

/**
 * Finds the skills that fit a text: BM25-like rarity of words and ideas over name, trigger phrases, description and
 * body, plus the credit of whole phrases. An inverted index, so that its cost depends on the question and not on the
 * library; skills are added and removed one at a time. Owned by SkillBook.
 */
export class Ranking {
  readonly #docs = new Map<string, number>();
  readonly #slots: (Doc | null)[] = [];
  /** Also of removed documents, until `#sweep`; their slots are null. */
  readonly #postings = new Map<string, Posting[]>();
  /** Documents that have a key. */
  readonly #having = new Map<string, number>();
  #removed = 0;
  readonly #phrases = new Map<number, Phrase>();
  #nextPhrase = 0;
  readonly #phrasesByKey = new Map<string, number[]>();
  /** Phrases that must stand word for word, by their start. */
  readonly #phrasesByStart = new Map<string, number[]>();
  /** Scratch space of one search, reused. */
  #scores = new Float64Array(64);
  #ofGroup = new Float64Array(64);

  get size(): number {
    return this.#docs.size;
  }

  add(id: string, text: RankedText): void {
    this.remove(id);
    const doc = this.#slots.length;
    const weights = new Map<string, number>();
    const weigh = (key: string, weight: number) => {
      if ((weights.get(key) ?? 0) < weight) weights.set(key, weight);
    };
    const weighUnits = (units: readonly Unit[], weight: number) => {
      for (const { idea, terms } of units) {
        if (idea !== null) weigh(idea, weight);
        for (const { term } of terms) weigh(term, weight);
      }
    };
    for (const { term } of termsOf(text.body)) weigh(term, WEIGHT.body);
    weighUnits(unitsOf(text.description), WEIGHT.description);
    const phrases: number[] = [];
    for (const phrase of [...text.triggers, text.name.replace(/-/g, ' ')]) {
      const units = unitsOf(phrase);
      const keys = phraseKeys(units);
      const verbatim = livesFromFunctionWords(phrase, units, keys) ? plain(phrase) : null;
      weighUnits(units, verbatim === null ? WEIGHT.trigger / Math.sqrt(keys.length) : WEIGHT.body);
      const words = units.some(({ terms }) => terms.length === 0)
        ? null
        : units.flatMap(({ terms }) => terms.map(({ term }) => term));
      phrases.push(this.#addPhrase({ doc, text: phrase, keys, words, verbatim }));
    }
    for (const [key, weight] of weights) {
      append(this.#postings, key, { doc, weight });
      this.#having.set(key, (this.#having.get(key) ?? 0) + 1);
    }
    this.#slots[doc] = { id, weights, phrases, hasTriggers: text.triggers.length > 0 };
    this.#docs.set(id, doc);
    if (this.#scores.length < this.#slots.length) {
      this.#scores = new Float64Array(this.#slots.length * 2);
      this.#ofGroup = new Float64Array(this.#slots.length * 2);
    }
  }

  remove(id: string): void {
    const doc = this.#docs.get(id);
    const entry = doc === undefined ? null : this.#slots[doc];
    if (doc === undefined || !entry) return;
    for (const key of entry.weights.keys()) {
      const left = (this.#having.get(key) ?? 1) - 1;
      if (left === 0) this.#having.delete(key);
      else this.#having.set(key, left);
    }
    for (const index of entry.phrases) this.#phrases.delete(index);
    this.#slots[doc] = null;
    this.#docs.delete(id);
    this.#removed += 1;
    if (this.#removed > SWEEP_AFTER && this.#removed > this.#docs.size) this.#sweep();
  }

  /** Takes what was removed out of the lists: rare, since it costs as much as the whole index. */
  #sweep(): void {
    for (const [key, list] of this.#postings) {
      const left = list.filter(({ doc }) => this.#slots[doc]);
      if (left.length > 0) this.#postings.set(key, left);
      else this.#postings.delete(key);
    }
    for (const map of [this.#phrasesByKey, this.#phrasesByStart])
      for (const [key, list] of map) {
        const left = list.filter((index) => this.#phrases.has(index));
        if (left.length > 0) map.set(key, left);
        else map.delete(key);
      }
    this.#removed = 0;
  }

  /**
   * The skills that may enter, best first. Two words of a long request meet some skill by accident, so what is not
   * certain by itself must stand comparison with the best.
   */
  search(
    question: string,
    limit: number,
    allows: ((id: string) => boolean) | null = null,
    near: NearByMeaning | null = null,
  ): Hit[] {
    const { found: all, groups } = this.#find(question, THRESHOLD, near);
    const found = allows === null ? all : all.filter(({ entry }) => allows(entry.id));
    // A skill without phrases cannot reach what one with them has: it stands beside its like.
    const bestWhere = (hasTriggers: boolean) =>
      found.find(({ entry }) => entry.hasTriggers === hasTriggers)?.score ?? 0;
    const best = bestWhere(true);
    const bestWithout = bestWhere(false);
    return found
      .filter(({ entry, score, phrase }) => {
        const beside = !entry.hasTriggers
          ? Math.min(CERTAIN, bestWithout * BESIDE_SHARE)
          : phrase?.isExact
            ? Math.min(CERTAIN, best * BESIDE_SHARE)
            : Math.min(LOOSE_CERTAIN, best * LOOSE_BESIDE_SHARE);
        return score >= Math.max(THRESHOLD, beside);
      })
      .slice(0, Math.max(0, limit))
      .map((hit) => this.#toHit(hit, groups));
  }

  /**
   * All skills for which anything speaks, best first; ties by name, so that the same question gets the same answer.
   */
  weigh(question: string, limit: number, near: NearByMeaning | null = null): Hit[] {
    const { found, groups } = this.#find(question, 0, near);
    return found.slice(0, Math.max(0, limit)).map((hit) => this.#toHit(hit, groups));
  }

  #find(
    question: string,
    least: number,
    near: NearByMeaning | null,
  ): { found: Found[]; groups: ReadonlyMap<string, Group> } {
    const text = ends(question);
    const groups = groupsOf(unitsOf(text));
    if (this.#docs.size === 0) return { found: [], groups };
    const touched = this.#scoreGroups(groups.values());
    const phrases = this.#completePhrases(groups, plain(text));
    const others = new Set(phrases.keys());
    for (const [name, { share }] of near?.skills ?? []) {
      const doc = share > 0 ? this.#docs.get(name) : undefined;
      if (doc !== undefined) others.add(doc);
    }
    for (const doc of others) if (this.#scores[doc] === 0) touched.push(doc);
    // The words of a long text meet some skill by accident: they count less than those of a short request.
    const dilution = groups.size <= 12 ? 1 : Math.sqrt(12 / groups.size);
    const found: Found[] = [];
    for (const doc of touched) {
      const phrase = phrases.get(doc) ?? null;
      const words = (this.#scores[doc] ?? 0) * dilution + (phrase?.credit ?? 0);
      this.#scores[doc] = 0;
      const entry = this.#slots[doc];
      const meaning = entry ? near?.skills.get(entry.id) : undefined;
      const wordShare = entry && near?.hasVector(entry.id) ? near.wordShare : 1;
      const score = words * wordShare + (meaning?.share ?? 0) * THRESHOLD;
      const similarity = meaning?.similarity ?? null;
      if (entry && score > 0 && score >= least) found.push({ entry, score, phrase, similarity });
    }
    found.sort((a, b) => b.score - a.score || (a.entry.id < b.entry.id ? -1 : 1));
    return { found, groups };
  }

  #toHit({ entry, score, phrase, similarity }: Found, groups: ReadonlyMap<string, Group>): Hit {
    const words = this.#explain(entry, groups, phrase?.text ?? null);
    const meaning = similarity === null ? '' : `meaning: ${similarity.toFixed(2)}`;
    return {
      id: entry.id,
      score: Math.round(score * 100) / 100,
      reason: [words, meaning].filter((part) => part !== '').join('; '),
    };
  }

  /** A phrase stands in one list only, that of its rarest word. */
  #addPhrase(phrase: Phrase): number {
    const index = this.#nextPhrase++;
    this.#phrases.set(index, phrase);
    if (phrase.verbatim !== null) append(this.#phrasesByStart, startOf(phrase.verbatim, 0), index);
    else {
      const having = (key: string) => this.#having.get(key) ?? 0;
      const rarest = [...phrase.keys].sort((a, b) => having(a) - having(b))[0];
      if (rarest !== undefined) append(this.#phrasesByKey, rarest, index);
    }
    return index;
  }

  #rarity(key: string): number {
    const total = Math.max(this.#docs.size, SMALLEST_LIBRARY);
    const having = this.#having.get(key) ?? 0;
    return Math.log(1 + (total - having + 0.5) / (having + 0.5));
  }

  #rarestFirst(groups: Iterable<Group>): Group[] {
    const having = ({ idea, terms }: Group) =>
      [...terms.keys()].reduce((sum, term) => sum + (this.#having.get(term) ?? 0), 0) +
      (idea === null ? 0 : (this.#having.get(idea) ?? 0));
    return [...groups]
      .map((group) => ({ group, having: having(group) }))
      .sort((a, b) => a.having - b.having)
      .map(({ group }) => group);
  }

  /** Adds each group's evidence to `#scores`; returns the documents that got any. */
  #scoreGroups(groups: Iterable<Group>): number[] {
    const touched: number[] = [];
    let left = MOST_POSTINGS;
    for (const { idea, terms, common } of this.#rarestFirst(groups)) {
      if (left <= 0) break;
      const ofGroup: number[] = [];
      const offer = (key: string, share: number) => {
        const worth = this.#rarity(key) * share;
        const postings = this.#postings.get(key) ?? [];
        left -= postings.length;
        for (const { doc, weight } of postings) {
          if (!this.#slots[doc]) continue;
          const before = this.#ofGroup[doc] ?? 0;
          if (before === 0) ofGroup.push(doc);
          if (worth * weight > before) this.#ofGroup[doc] = worth * weight;
        }
      };
      if (idea !== null) offer(idea, IDEA_SHARE * (common ? COMMON_SHARE : 1));
      for (const term of terms.keys()) offer(term, COMMON.has(term) ? COMMON_SHARE : 1);
      for (const doc of ofGroup) {
        if (this.#scores[doc] === 0) touched.push(doc);
        this.#scores[doc] = (this.#scores[doc] ?? 0) + (this.#ofGroup[doc] ?? 0);
        this.#ofGroup[doc] = 0;
      }
    }
    return touched;
  }

  /** The best phrase of each document that stands in the question. */
  #completePhrases(groups: ReadonlyMap<string, Group>, text: string): Map<number, Complete> {
    const best = new Map<number, Complete>();
    /** The strongest counts; one that stands there word for word is the one to show. */
    const offer = ({ doc, text }: Phrase, credit: number, isExact: boolean) => {
      const before = best.get(doc);
      const isShown = !before || (isExact === before.isExact ? credit > before.credit : isExact);
      best.set(doc, {
        text: isShown ? text : before.text,
        credit: Math.max(credit, before?.credit ?? 0),
        isExact: isExact || before?.isExact === true,
      });
    };
    const words = new Set([...groups.values()].flatMap(({ terms }) => [...terms.keys()]));
    for (const key of groups.keys())
      for (const index of this.#phrasesByKey.get(key) ?? []) {
        const phrase = this.#phrases.get(index);
        if (!phrase?.keys.every((other) => groups.has(other)) || !standNear(phrase.keys, groups)) continue;
        const isExact =
          phrase.words === null
            ? text.includes(plain(phrase.text))
            : phrase.words.every((word) => words.has(word));
        offer(phrase, this.#credit(phrase.keys, groups, isExact), isExact);
      }
    for (let at = 0; at + 1 < text.length; at += 1)
      for (const index of this.#phrasesByStart.get(startOf(text, at)) ?? []) {
        const phrase = this.#phrases.get(index);
        if (phrase?.verbatim && text.startsWith(phrase.verbatim, at)) offer(phrase, VERBATIM_CREDIT, true);
      }
    return best;
  }

  #credit(keys: readonly string[], groups: ReadonlyMap<string, Group>, isExact: boolean): number {
    const alone = keys.length === 1;
    const share = isExact ? 1 : alone ? LONE_IDEA_SHARE : IDEA_PHRASE_SHARE;
    return keys.reduce(
      (sum, key) => sum + share * this.#rarity(key) * (alone && groups.get(key)?.common ? COMMON_SHARE : 1),
      0,
    );
  }

  #explain(entry: Doc, groups: ReadonlyMap<string, Group>, phrase: string | null): string {
    const words = [...groups.values()]
      .map(({ idea, terms, surface }) => ({
        surface: [...terms].find(([term]) => entry.weights.has(term))?.[1] ?? surface,
        value: Math.max(
          ...[...(idea === null ? [] : [idea]), ...terms.keys()].map(
            (key) => this.#rarity(key) * (entry.weights.get(key) ?? 0),
          ),
        ),
      }))
      .filter(({ value }) => value > 0)
      .sort((a, b) => b.value - a.value)
      .slice(0, 5)
      .map(({ surface }) => surface);
    return [phrase === null ? '' : `phrase: ${phrase}`, `words: ${words.join(', ')}`]
      .filter(Boolean)
      .join('; ');
  }
}

function ends(text: string): string {
  if (text.length <= QUERY_CHARS) return text;
  return `${text.slice(0, QUERY_CHARS / 2)} ${text.slice(-QUERY_CHARS / 2)}`;
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
