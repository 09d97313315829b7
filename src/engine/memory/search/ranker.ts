import { isPlain } from './plain-words.ts';
import type { Shelf } from './shelf.ts';
import type { QueryGroup } from './terms.ts';
import { TRAIT } from './traits.ts';
import type { Wish } from './wish.ts';

/** What speaks for a document, each about 0 to 1. The order is that of the columns of `Candidates.values`. */
export const FEATURES = [
  'own',
  'around',
  'before1',
  'after1',
  'before2',
  'after2',
  'session',
  'speaker',
  'length',
  'asks',
  'when',
  'amount',
  'date',
  'coverage',
  'coverageAround',
  'answers',
  'role',
  'addresses',
  'rarest',
  'unit',
] as const;
export type Feature = (typeof FEATURES)[number];

/** Documents that anything speaks for, with their features. */
export interface Candidates {
  count: number;
  /** Shelf of each, as its place in what was searched. */
  shelf: Uint8Array;
  doc: Int32Array;
  /** `FEATURES.length` values for each. */
  values: Float32Array;
  /** Rarity of the words that stand in it, and of those in it and around it, in nats. */
  evidence: Float32Array;
  evidenceAround: Float32Array;
  /** Rarity of all that was asked for. */
  asked: number;
  /** Rarity of a word that stands once. */
  utmost: number;
}

const K1 = 1.2;
const B = 0.5;
/** So many entries of posting lists a question looks at, rarest words first; the rest tells nothing apart any more. */
const MOST_POSTINGS = 60_000;
const MOST_CANDIDATES = 400;
/** Small scopes borrow the rarity of words from one of this size. */
const SMALLEST_SCOPE = 200;
const NEAR = 0.5;
const PLAIN_SHARE = 0.35;
const LONGEST = 60;

/** Weighs documents against a question. Keeps its working memory between questions, so there is one per index. */
export class Ranker {
  #own = new Float32Array(0);
  #around = new Float32Array(0);
  #evidence = new Float32Array(0);
  #evidenceAround = new Float32Array(0);
  #rarest = new Float32Array(0);
  #times = new Float32Array(0);
  #timesAround = new Float32Array(0);
  #session = new Float32Array(0);
  #inSession = new Float32Array(0);
  #speaker = new Uint8Array(0);

  candidates(shelves: readonly Shelf[], wish: Wish): Candidates {
    const docBase: number[] = [];
    const sessionBase: number[] = [];
    let docs = 0;
    let sessions = 0;
    let live = 0;
    let lengths = 0;
    for (const shelf of shelves) {
      docBase.push(docs);
      sessionBase.push(sessions);
      docs += shelf.count;
      sessions += shelf.sessions;
      live += shelf.live;
      lengths += shelf.live * shelf.averageLength;
    }
    this.#fit(docs, sessions);
    const average = live === 0 ? 1 : Math.max(1, lengths / live);
    const total = Math.max(live, SMALLEST_SCOPE);
    const touched: number[] = [];
    const touchedSessions: number[] = [];
    let asked = 0;

    const found = wish.groups
      .map((group) => {
        const lists = shelves.map((shelf) => group.terms.map((term) => shelf.find(term)));
        const count = lists.flat().reduce((sum, list) => sum + list.count, 0);
        return {
          group,
          lists,
          count,
          rarity: Math.log(1 + (total - Math.min(count, total) + 0.5) / (count + 0.5)),
        };
      })
      .sort((a, b) => a.count - b.count);
    const named = this.#markSpeakers(shelves, docBase, wish);
    const isName = (group: QueryGroup) => named.words.has(group.surface);
    let left = MOST_POSTINGS;
    const addressed = new Set<number>();
    for (const { group, lists, count, rarity } of found) {
      if (isName(group)) {
        lists.forEach((ofShelf, at) => {
          for (const list of ofShelf)
            if (list.count < MOST_POSTINGS) list.each((doc) => addressed.add((docBase[at] ?? 0) + doc));
        });
        continue;
      }
      // What stands in any text tells of the topic less than its rarity in this scope.
      const telling = isPlain(group.surface) ? rarity * PLAIN_SHARE : rarity;
      asked += telling;
      left -= count;
      if (left < 0 && left + count < MOST_POSTINGS) continue;
      const having: number[] = [];
      const near: number[] = [];
      const ofSessions: number[] = [];
      lists.forEach((ofShelf, at) => {
        const shelf = shelves[at];
        if (!shelf) return;
        const base = docBase[at] ?? 0;
        const firstSession = sessionBase[at] ?? 0;
        const spread = (doc: number, share: number) => {
          const place = base + doc;
          if (this.#timesAround[place] === 0) near.push(place);
          this.#timesAround[place] = (this.#timesAround[place] ?? 0) + share;
        };
        for (const list of ofShelf)
          list.each((doc, times) => {
            const place = base + doc;
            if ((this.#times[place] ?? 0) > 0) return;
            this.#times[place] = times;
            having.push(place, at, doc);
            spread(doc, times);
            const previous = shelf.previous[doc] ?? -1;
            const next = shelf.next[doc] ?? -1;
            if (previous >= 0) {
              spread(previous, NEAR);
              const further = shelf.previous[previous] ?? -1;
              if (further >= 0) spread(further, NEAR * NEAR);
            }
            if (next >= 0) {
              spread(next, NEAR);
              const further = shelf.next[next] ?? -1;
              if (further >= 0) spread(further, NEAR * NEAR);
            }
            const session = shelf.session[doc] ?? -1;
            if (session >= 0) {
              const slot = firstSession + session;
              if (this.#inSession[slot] === 0) ofSessions.push(slot);
              this.#inSession[slot] = (this.#inSession[slot] ?? 0) + 1;
            }
          });
      });
      for (let at = 0; at < having.length; at += 3) {
        const place = having[at] ?? 0;
        const length = shelves[having[at + 1] ?? 0]?.length[having[at + 2] ?? 0] ?? 0;
        const times = this.#times[place] ?? 0;
        const weight = (rarity * times * (K1 + 1)) / (times + K1 * (1 - B + (B * length) / average));
        this.#own[place] = (this.#own[place] ?? 0) + weight;
        this.#evidence[place] = (this.#evidence[place] ?? 0) + telling;
        if (rarity > (this.#rarest[place] ?? 0)) this.#rarest[place] = rarity;
        this.#times[place] = 0;
      }
      for (const place of near) {
        const times = this.#timesAround[place] ?? 0;
        if (this.#around[place] === 0) touched.push(place);
        this.#around[place] = (this.#around[place] ?? 0) + (rarity * times * (K1 + 1)) / (times + K1);
        this.#evidenceAround[place] = (this.#evidenceAround[place] ?? 0) + telling * Math.min(1, times);
        this.#timesAround[place] = 0;
      }
      for (const slot of ofSessions) {
        const times = this.#inSession[slot] ?? 0;
        if (this.#session[slot] === 0) touchedSessions.push(slot);
        this.#session[slot] = (this.#session[slot] ?? 0) + (rarity * times * (K1 + 1)) / (times + K1);
        this.#inSession[slot] = 0;
      }
    }

    const highest = (values: Float32Array, places: readonly number[]) => {
      let most = 0;
      for (const place of places) if ((values[place] ?? 0) > most) most = values[place] ?? 0;
      return most || 1;
    };
    const mostOwn = highest(this.#own, touched);
    const mostAround = highest(this.#around, touched);
    const mostSession = highest(this.#session, touchedSessions);

    const quick = new Float32Array(touched.length);
    const shelfOf = (place: number) => {
      let at = shelves.length - 1;
      while (at > 0 && (docBase[at] ?? 0) > place) at -= 1;
      return at;
    };
    touched.forEach((place, at) => {
      const shelf = shelfOf(place);
      const doc = place - (docBase[shelf] ?? 0);
      const session = shelves[shelf]?.session[doc] ?? -1;
      quick[at] =
        0.5 * ((this.#own[place] ?? 0) / mostOwn) +
        0.5 * ((this.#around[place] ?? 0) / mostAround) +
        (session < 0 ? 0 : (0.25 * (this.#session[(sessionBase[shelf] ?? 0) + session] ?? 0)) / mostSession) +
        (named.count === 1 && this.#speaker[place] ? 0.3 : 0);
    });
    const chosen = best(quick, MOST_CANDIDATES);
    const width = FEATURES.length;
    const result: Candidates = {
      count: 0,
      shelf: new Uint8Array(chosen.length),
      doc: new Int32Array(chosen.length),
      values: new Float32Array(chosen.length * width),
      evidence: new Float32Array(chosen.length),
      evidenceAround: new Float32Array(chosen.length),
      asked,
      utmost: Math.log(1 + total),
    };
    for (const index of chosen) {
      const place = touched[index] ?? 0;
      const at = shelfOf(place);
      const shelf = shelves[at];
      const base = docBase[at] ?? 0;
      if (!shelf) continue;
      const doc = place - base;
      const traits = shelf.traits[doc] ?? 0;
      if (traits & TRAIT.dropped) continue;
      const own = (other: number) => (other < 0 ? 0 : (this.#own[base + other] ?? 0) / mostOwn);
      const previous = shelf.previous[doc] ?? -1;
      const next = shelf.next[doc] ?? -1;
      const session = shelf.session[doc] ?? -1;
      const isAsking = (other: number) => other >= 0 && ((shelf.traits[other] ?? 0) & TRAIT.asks) !== 0;
      const values: Record<Feature, number> = {
        own: own(doc),
        around: (this.#around[place] ?? 0) / mostAround,
        before1: own(previous),
        after1: own(next),
        before2: previous < 0 ? 0 : own(shelf.previous[previous] ?? -1),
        after2: next < 0 ? 0 : own(shelf.next[next] ?? -1),
        session: session < 0 ? 0 : (this.#session[(sessionBase[at] ?? 0) + session] ?? 0) / mostSession,
        speaker: named.count === 1 && this.#speaker[place] ? 1 : 0,
        length: Math.log(1 + Math.min(LONGEST, shelf.length[doc] ?? 0)) / Math.log(1 + LONGEST),
        asks: traits & TRAIT.asks ? 1 : 0,
        when: wish.asksWhen && traits & TRAIT.dated ? 1 : 0,
        amount: wish.asksAmount && traits & TRAIT.counted ? 1 : 0,
        date: wish.nearness(shelf.day[doc] ?? 0),
        coverage: asked === 0 ? 0 : (this.#evidence[place] ?? 0) / asked,
        coverageAround: asked === 0 ? 0 : (this.#evidenceAround[place] ?? 0) / asked,
        answers: isAsking(previous) ? own(previous) : 0,
        role:
          wish.role === null ? 0 : (wish.role === 'assistant') === ((traits & TRAIT.assistant) !== 0) ? 1 : 0,
        addresses: addressed.has(place) ? 1 : 0,
        rarest: asked === 0 ? 0 : (this.#rarest[place] ?? 0) / Math.log(1 + total),
        unit: traits & TRAIT.unit ? 1 : 0,
      };
      const row = result.count;
      result.shelf[row] = at;
      result.doc[row] = doc;
      result.evidence[row] = this.#evidence[place] ?? 0;
      result.evidenceAround[row] = this.#evidenceAround[place] ?? 0;
      FEATURES.forEach((feature, column) => {
        result.values[row * width + column] = values[feature];
      });
      result.count += 1;
    }
    for (const place of touched) {
      this.#own[place] = 0;
      this.#around[place] = 0;
      this.#evidence[place] = 0;
      this.#evidenceAround[place] = 0;
      this.#rarest[place] = 0;
    }
    for (const slot of touchedSessions) this.#session[slot] = 0;
    for (const place of named.places) this.#speaker[place] = 0;
    return result;
  }

  /** Whose names stand in the question, and what they said. */
  #markSpeakers(
    shelves: readonly Shelf[],
    docBase: readonly number[],
    wish: Wish,
  ): { count: number; words: Set<string>; places: number[] } {
    const words = new Set<string>();
    const places: number[] = [];
    for (const name of wish.names) {
      const lists = shelves.map((shelf) => shelf.find(`@${name}`));
      if (lists.every(({ count }) => count === 0)) continue;
      words.add(name);
      lists.forEach((list, at) => {
        list.each((doc) => {
          const place = (docBase[at] ?? 0) + doc;
          this.#speaker[place] = 1;
          places.push(place);
        });
      });
    }
    return { count: words.size, words, places };
  }

  #fit(docs: number, sessions: number): void {
    if (this.#own.length < docs) {
      const size = Math.ceil(docs * 1.25) + 64;
      this.#own = new Float32Array(size);
      this.#around = new Float32Array(size);
      this.#evidence = new Float32Array(size);
      this.#evidenceAround = new Float32Array(size);
      this.#rarest = new Float32Array(size);
      this.#times = new Float32Array(size);
      this.#timesAround = new Float32Array(size);
      this.#speaker = new Uint8Array(size);
    }
    if (this.#session.length < sessions) {
      const size = Math.ceil(sessions * 1.25) + 16;
      this.#session = new Float32Array(size);
      this.#inSession = new Float32Array(size);
    }
  }
}

/** Places of the `limit` highest values, in no order when there are no more than that, else highest first. */
function best(values: Float32Array, limit: number): number[] {
  const places = Array.from(values, (_, at) => at);
  if (places.length <= limit) return places;
  const sorted = Float32Array.from(values).sort();
  const least = sorted[sorted.length - limit] ?? 0;
  return places.filter((at) => (values[at] ?? 0) >= least).slice(0, limit + 100);
}
