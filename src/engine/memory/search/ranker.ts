import type { Features } from './features.ts';
import { kinOf } from './kin.ts';
import type { Meanings } from './meanings.ts';
import { isPlain } from './plain-words.ts';
import type { PostingList } from './shelf.ts';
import { highestOf, type Space, Sparse } from './space.ts';
import type { QueryGroup } from './terms.ts';
import { TRAIT } from './traits.ts';
import type { Wish } from './wish.ts';

/** A document that anything speaks for. */
export interface Candidate {
  /** Its place in the space that was searched, the shelf that it is on, and its number there. */
  place: number;
  shelf: number;
  doc: number;
  features: Features;
  /** Cosine with the question; null without vectors. */
  similarity: number | null;
  /** Words of the question that stand in it, the rarest first. */
  words: string[];
  /** Rarity of the words asked for that stand in it, as a part of that of a word that stands once. */
  evidence: number;
}

interface Found {
  group: QueryGroup;
  /** By shelf. */
  lists: PostingList[][];
  /** The same for words that may stand for it. */
  kin: PostingList[][];
  count: number;
  /** In nats. */
  rarity: number;
}

/** What the features of a document are measured by. */
interface Question {
  wish: Wish;
  /** It names one of those who speak. */
  namesOne: boolean;
  /** Rarity of all that is asked for, and of a word that stands once. */
  asked: number;
  utmost: number;
  /** The words that were looked for, the rarest first. */
  words: readonly string[];
}

/** Columns of `#own` and `#around`. */
const EVIDENCE = 1;
const RAREST = 2;
const WORDS = 3;
/** So many bits a 32-bit float keeps apart. */
const MOST_WORDS = 24;
/** What a word counts that may stand for the one asked for; one that stands everywhere is not looked for. */
const KIN = 0.25;
const MOST_OF_KIN = 3_000;
const K1 = 1.2;
const B = 0.5;
/** So many entries of posting lists a question looks at, rarest words first; the rest tells nothing apart any more. */
const MOST_POSTINGS = 30_000;
const MOST_CANDIDATES = 400;
/** Documents that are looked at for the time when they were said alone. */
const MOST_BY_DATE = 300;
/** Small scopes borrow the rarity of words from one of this size. */
const SMALLEST_SCOPE = 200;
/** What a word counts that stands in what was said just before or after; two away, it counts the square. */
const NEAR = 0.5;
/** What stands in any text tells of the topic less than its rarity in one scope. */
const PLAIN_SHARE = 0.35;
/** A text longer than this is no better for its length. */
const LONGEST = 60;
/** Counts as nothing, but marks a document as looked at. */
const TRACE = 1e-9;

/** Weighs documents against a question. Keeps its working memory between questions, so there is one per index. */
export class Ranker {
  /** BM25 of the words in a document, with their rarity, that of the rarest, and a bit for each. */
  readonly #own = new Sparse(4);
  /** The same of the words in it and near it, with their rarity. */
  readonly #around = new Sparse(2);
  readonly #session = new Sparse();
  readonly #speaker = new Sparse();
  /** Of one group of words. */
  readonly #times = new Sparse();
  readonly #timesAround = new Sparse();
  readonly #inSession = new Sparse();
  #rough = new Float32Array(0);

  /** Documents that anything speaks for, in no order. */
  candidates(space: Space, wish: Wish, meanings: Meanings | null): Candidate[] {
    this.#reset(space);
    const total = Math.max(space.live, SMALLEST_SCOPE);
    const named = this.#markSpeakers(space, wish.names);
    const weighed: string[] = [];
    let asked = 0;
    let left = MOST_POSTINGS;
    for (const found of this.#find(space, wish.groups, total)) {
      // Who says it tells more than whom it speaks of.
      if (named.has(found.group.surface)) continue;
      const telling = isPlain(found.group.surface) ? found.rarity * PLAIN_SHARE : found.rarity;
      asked += telling;
      left -= found.count;
      // At least the rarest, however often it stands there.
      if (left < 0 && weighed.length > 0) continue;
      this.#weigh(space, found, telling, weighed.length);
      weighed.push(found.group.surface);
    }
    this.#lookByDate(space, wish);
    for (const place of meanings?.nearest ?? []) this.#around.add(place, TRACE);
    const question = { wish, namesOne: named.size === 1, asked, utmost: Math.log(1 + total), words: weighed };
    const describe = this.#describer(space, question, meanings);
    return this.#chosen(space, meanings).flatMap((place) => describe(place) ?? []);
  }

  #reset({ places, slots }: Space): void {
    for (const field of [this.#own, this.#around, this.#speaker, this.#times, this.#timesAround])
      field.reset(places);
    this.#session.reset(slots);
    this.#inSession.reset(slots);
  }

  /** Where the words stand, the rarest first. */
  #find(space: Space, groups: readonly QueryGroup[], total: number): Found[] {
    return groups
      .map((group) => {
        const lists = space.shelves.map((shelf) => group.terms.map((term) => shelf.find(term)));
        const others = group.terms.flatMap((term) => kinOf(term));
        const kin = space.shelves.map((shelf) => others.map((term) => shelf.find(term)));
        const count = Math.min(
          total,
          lists.flat().reduce((sum, list) => sum + list.count, 0),
        );
        return { group, lists, kin, count, rarity: Math.log(1 + (total - count + 0.5) / (count + 0.5)) };
      })
      .sort((a, b) => a.count - b.count);
  }

  /** Marks what was said by those whose names stand in the question. Returns the names. */
  #markSpeakers(space: Space, words: readonly string[]): Set<string> {
    const named = new Set<string>();
    for (const word of words)
      space.shelves.forEach((shelf, at) => {
        const list = shelf.find(`@${word}`);
        if (list.count === 0) return;
        named.add(word);
        list.each((doc) => this.#speaker.add(space.firstPlace(at) + doc, 1));
      });
    return named;
  }

  /** Adds what one group of words tells, to the documents that have it, to those next to them and to their sessions. */
  #weigh(space: Space, { lists, kin, rarity }: Found, telling: number, number: number): void {
    this.#times.reset(space.places);
    this.#timesAround.reset(space.places);
    this.#inSession.reset(space.slots);
    lists.forEach((ofShelf, at) => {
      for (const list of ofShelf) list.each((doc, times) => this.#spread(space, at, doc, times, 1));
    });
    kin.forEach((ofShelf, at) => {
      for (const list of ofShelf)
        if (list.count < MOST_OF_KIN) list.each((doc) => this.#spread(space, at, doc, KIN, KIN));
    });
    for (let one = 0; one < this.#times.count; one += 1) {
      const place = this.#times.place(one);
      const at = space.shelfOf(place);
      const length = space.shelves[at]?.length[place - space.firstPlace(at)] ?? 0;
      const times = this.#times.get(place);
      const norm = K1 * (1 - B + (B * length) / space.averageLength);
      this.#own.add(place, (rarity * times * (K1 + 1)) / (times + norm));
      // A word that may stand for another is no evidence.
      if (times < 1) continue;
      this.#own.addMore(place, EVIDENCE, telling);
      this.#own.raise(place, RAREST, rarity);
      if (number < MOST_WORDS) this.#own.addMore(place, WORDS, 2 ** number);
    }
    for (let one = 0; one < this.#timesAround.count; one += 1) {
      const place = this.#timesAround.place(one);
      const times = this.#timesAround.get(place);
      this.#around.add(place, (rarity * times * (K1 + 1)) / (times + K1));
      this.#around.addMore(place, EVIDENCE, telling * Math.min(1, times));
    }
    for (let one = 0; one < this.#inSession.count; one += 1) {
      const slot = this.#inSession.place(one);
      const times = this.#inSession.get(slot);
      this.#session.add(slot, (rarity * times * (K1 + 1)) / (times + K1));
    }
  }

  #spread(space: Space, at: number, doc: number, times: number, share: number): void {
    const shelf = space.shelves[at];
    const base = space.firstPlace(at);
    // Under two stems of the same word it is found once.
    if (!shelf || this.#times.get(base + doc) > 0) return;
    this.#times.add(base + doc, times);
    this.#timesAround.add(base + doc, times);
    for (const chain of [shelf.previous, shelf.next]) {
      const one = chain[doc] ?? -1;
      if (one < 0) continue;
      this.#timesAround.add(base + one, NEAR * share);
      const two = chain[one] ?? -1;
      if (two >= 0) this.#timesAround.add(base + two, NEAR * NEAR * share);
    }
    const session = shelf.session[doc] ?? -1;
    if (session >= 0) this.#inSession.add(space.firstSlot(at) + session, share);
  }

  /** What was said at the time that the question names need not share a word with it. */
  #lookByDate(space: Space, { isDated, nearness }: Wish): void {
    if (!isDated) return;
    let left = MOST_BY_DATE;
    space.shelves.forEach((shelf, at) => {
      for (let doc = shelf.count - 1; doc >= 0 && left > 0; doc -= 1) {
        if (nearness(shelf.day[doc] ?? 0) < 1) continue;
        this.#around.add(space.firstPlace(at) + doc, TRACE);
        left -= 1;
      }
    });
  }

  /** The places that are worth a closer look. */
  #chosen(space: Space, meanings: Meanings | null): number[] {
    const { count } = this.#around;
    if (this.#rough.length < count) this.#rough = new Float32Array(count * 2);
    const own = this.#own.highest();
    const around = this.#around.highest();
    const near = new Set(meanings?.nearest);
    const session = this.#session.highest();
    for (let one = 0; one < count; one += 1) {
      const place = this.#around.place(one);
      const at = space.shelfOf(place);
      const slot = space.shelves[at]?.session[place - space.firstPlace(at)] ?? -1;
      this.#rough[one] =
        this.#own.get(place) / own +
        this.#around.get(place) / around +
        (slot < 0 ? 0 : this.#session.get(space.firstSlot(at) + slot) / session / 2) +
        Math.min(1, this.#speaker.get(place)) * 0.6 +
        (near.has(place) ? 2 : 0);
    }
    return highestOf(this.#rough, count, MOST_CANDIDATES).map((one) => this.#around.place(one));
  }

  #describer(
    space: Space,
    { wish, namesOne, asked, utmost, words }: Question,
    meanings: Meanings | null,
  ): (place: number) => Candidate | null {
    const mostOwn = this.#own.highest();
    const mostAround = this.#around.highest();
    const mostSession = this.#session.highest();
    const share = (rarity: number) => (asked === 0 ? 0 : rarity / asked);
    return (place) => {
      const at = space.shelfOf(place);
      const shelf = space.shelves[at];
      const base = space.firstPlace(at);
      const doc = place - base;
      const traits = shelf?.traits[doc] ?? TRAIT.dropped;
      if (!shelf || traits & TRAIT.dropped) return null;
      const own = (other: number) => (other < 0 ? 0 : this.#own.get(base + other) / mostOwn);
      const previous = shelf.previous[doc] ?? -1;
      const next = shelf.next[doc] ?? -1;
      const session = shelf.session[doc] ?? -1;
      const follows = previous >= 0 && ((shelf.traits[previous] ?? 0) & TRAIT.asks) !== 0;
      const isAssistant = (traits & TRAIT.assistant) !== 0;
      const similarity = meanings?.cosineOf(place) ?? null;
      const features: Features = {
        own: own(doc),
        around: this.#around.get(place) / mostAround,
        before1: own(previous),
        before2: previous < 0 ? 0 : own(shelf.previous[previous] ?? -1),
        after2: next < 0 ? 0 : own(shelf.next[next] ?? -1),
        session: session < 0 ? 0 : this.#session.get(space.firstSlot(at) + session) / mostSession,
        speaker: namesOne ? Math.min(1, this.#speaker.get(place)) : 0,
        length: Math.log(1 + Math.min(LONGEST, shelf.length[doc] ?? 0)) / Math.log(1 + LONGEST),
        asks: traits & TRAIT.asks ? 1 : 0,
        when: wish.asksWhen && traits & TRAIT.dated ? 1 : 0,
        amount: wish.asksAmount && traits & TRAIT.counted ? 1 : 0,
        date: wish.nearness(shelf.day[doc] ?? 0),
        coverage: share(this.#own.get(place, EVIDENCE)),
        coverageAround: share(this.#around.get(place, EVIDENCE)),
        answers: follows ? own(previous) : 0,
        role: wish.role !== null && (wish.role === 'assistant') === isAssistant ? 1 : 0,
        rarest: this.#own.get(place, RAREST) / utmost,
        meaning: meanings === null || similarity === null ? 0 : meanings.standingOf(similarity),
      };
      const bits = this.#own.get(place, WORDS);
      return {
        place,
        shelf: at,
        doc,
        features,
        similarity,
        words: words.filter((_, number) => number < MOST_WORDS && (bits & (1 << number)) !== 0),
        evidence: this.#own.get(place, EVIDENCE) / utmost,
      };
    };
  }
}
