import { type Term, termsOf } from '../platform/words.ts';

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

interface Posting {
  doc: number;
  weight: number;
}

interface Phrase {
  doc: number;
  text: string;
  /** Distinct terms, all of which must stand in the question. */
  terms: readonly string[];
  /** Set for phrases that live from their function words ("are you sure"): they must stand there word for word. */
  verbatim: string | null;
}

interface Doc {
  id: string;
  terms: ReadonlyMap<string, number>;
  phrases: readonly number[];
}

const WEIGHT = { name: 1, trigger: 1, description: 0.7, body: 0.25 } as const;
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
const BESIDE_SHARE = 0.5;

/** Words that stand in requests of every kind: alone they say little, as part of a phrase they count in full. */
const COMMON: ReadonlySet<string> = new Set(
  termsOf(
    `write code file work change create add start stop run time day week year list question answer read find check
    people person world change problem idea plan long short part point place order name number text page line best
    better different important simple easy quick easily explain example result change user team company
    project task data test error issue update review story fun recipe game favorite favourite buy learn teach small big
    tool step sentence word message call send open close move turn bring hold happen wrong fix build reply
    ecrire ecris code projet temps probleme exemple escribir escribe codigo proyecto tiempo problema ejemplo
    问题 时间 一个 工作 项目 内容 方法 写一 今天 明天 推荐 介绍 解释 数据 問題 時間 仕事 方法 今日 明日 書`,
  ).map(({ term }) => term),
);
const COMMON_SHARE = 0.45;

/**
 * Finds the skills that fit a text: BM25-like rarity over name, trigger phrases, description and body, plus the
 * credit of whole phrases. An inverted index, so that its cost depends on the question and not on the library;
 * skills are added and removed one at a time. Owned by SkillBook.
 */
export class Ranking {
  readonly #docs = new Map<string, number>();
  readonly #slots: (Doc | null)[] = [];
  readonly #free: number[] = [];
  readonly #postings = new Map<string, Posting[]>();
  readonly #phrases = new Map<number, Phrase>();
  #nextPhrase = 0;
  readonly #phrasesByTerm = new Map<string, number[]>();
  /** Phrases that must stand word for word, by their start. */
  readonly #phrasesByStart = new Map<string, number[]>();
  /** Scratch space of one search, reused. */
  #scores = new Float64Array(64);

  get size(): number {
    return this.#docs.size;
  }

  add(id: string, text: RankedText): void {
    this.remove(id);
    const doc = this.#free.pop() ?? this.#slots.length;
    const weights = new Map<string, number>();
    const weigh = (terms: readonly Term[], weight: number) => {
      for (const { term } of terms) if ((weights.get(term) ?? 0) < weight) weights.set(term, weight);
    };
    weigh(termsOf(text.body), WEIGHT.body);
    weigh(termsOf(text.description), WEIGHT.description);
    weigh(termsOf(text.name), WEIGHT.name);
    const phrases: number[] = [];
    for (const phrase of [...text.triggers, text.name]) {
      const terms = termsOf(phrase);
      const distinct = [...new Set(terms.map(({ term }) => term))];
      const verbatim = livesFromFunctionWords(phrase, distinct) ? plain(phrase) : null;
      weigh(terms, verbatim === null ? WEIGHT.trigger : WEIGHT.body);
      phrases.push(this.#addPhrase({ doc, text: phrase, terms: distinct, verbatim }));
    }
    for (const [term, weight] of weights) append(this.#postings, term, { doc, weight });
    this.#slots[doc] = { id, terms: weights, phrases };
    this.#docs.set(id, doc);
    if (this.#scores.length < this.#slots.length) this.#scores = new Float64Array(this.#slots.length * 2);
  }

  remove(id: string): void {
    const doc = this.#docs.get(id);
    const entry = doc === undefined ? null : this.#slots[doc];
    if (doc === undefined || !entry) return;
    for (const term of entry.terms.keys()) drop(this.#postings, term, (posting) => posting.doc === doc);
    for (const index of entry.phrases) {
      const phrase = this.#phrases.get(index);
      if (phrase) for (const [map, key] of this.#keysOf(phrase)) drop(map, key, (at) => at === index);
      this.#phrases.delete(index);
    }
    this.#slots[doc] = null;
    this.#free.push(doc);
    this.#docs.delete(id);
  }

  /**
   * The skills that may enter, best first. Two words of a long request meet some skill by accident, so what is not
   * certain by itself must stand comparison with the best.
   */
  search(question: string, limit: number): Hit[] {
    const hits = this.weigh(question, limit);
    const best = hits[0]?.score ?? 0;
    const least = Math.max(THRESHOLD, Math.min(CERTAIN, best * BESIDE_SHARE));
    return hits.filter(({ score }) => score >= least);
  }

  /**
   * All skills for which anything speaks, best first; ties by name, so that the same question gets the same answer.
   */
  weigh(question: string, limit: number): Hit[] {
    if (this.#docs.size === 0 || limit <= 0) return [];
    const text = ends(question);
    const surfaces = new Map<string, string>();
    for (const { term, surface } of termsOf(text)) if (!surfaces.has(term)) surfaces.set(term, surface);
    const touched = this.#scoreWords(surfaces.keys());
    const phrases = this.#completePhrases(surfaces, plain(text));
    for (const doc of phrases.keys()) if (this.#scores[doc] === 0) touched.push(doc);
    // The words of a long text meet some skill by accident: they count less than those of a short request.
    const dilution = surfaces.size <= 12 ? 1 : Math.sqrt(12 / surfaces.size);
    const found: { doc: number; score: number }[] = [];
    for (const doc of touched) {
      const score = (this.#scores[doc] ?? 0) * dilution + (phrases.get(doc)?.credit ?? 0);
      this.#scores[doc] = 0;
      if (score > 0) found.push({ doc, score });
    }
    const hits = found.flatMap(({ doc, score }) => {
      const entry = this.#slots[doc];
      return entry ? [{ entry, score, phrase: phrases.get(doc)?.text ?? null }] : [];
    });
    hits.sort((a, b) => b.score - a.score || (a.entry.id < b.entry.id ? -1 : 1));
    return hits.slice(0, limit).map(({ entry, score, phrase }) => ({
      id: entry.id,
      score: Math.round(score * 100) / 100,
      reason: this.#explain(entry, surfaces, phrase),
    }));
  }

  #addPhrase(phrase: Phrase): number {
    const index = this.#nextPhrase++;
    this.#phrases.set(index, phrase);
    for (const [map, key] of this.#keysOf(phrase)) append(map, key, index);
    return index;
  }

  #keysOf(phrase: Phrase): [Map<string, number[]>, string][] {
    if (phrase.verbatim !== null) return [[this.#phrasesByStart, startOf(phrase.verbatim, 0)]];
    return phrase.terms.map((term) => [this.#phrasesByTerm, term]);
  }

  #rarity(term: string): number {
    const total = Math.max(this.#docs.size, SMALLEST_LIBRARY);
    const having = this.#postings.get(term)?.length ?? 0;
    return Math.log(1 + (total - having + 0.5) / (having + 0.5));
  }

  /** Adds each term's evidence to `#scores`; returns the documents that got any. */
  #scoreWords(terms: Iterable<string>): number[] {
    const touched: number[] = [];
    for (const term of terms) {
      const postings = this.#postings.get(term);
      if (!postings) continue;
      const rarity = this.#rarity(term) * (COMMON.has(term) ? COMMON_SHARE : 1);
      for (const { doc, weight } of postings) {
        if (this.#scores[doc] === 0) touched.push(doc);
        this.#scores[doc] = (this.#scores[doc] ?? 0) + rarity * weight;
      }
    }
    return touched;
  }

  /** The best phrase of each document that stands in the question. */
  #completePhrases(
    terms: ReadonlyMap<string, string>,
    text: string,
  ): Map<number, { text: string; credit: number }> {
    const best = new Map<number, { text: string; credit: number }>();
    const offer = (phrase: Phrase, credit: number) => {
      if (credit > (best.get(phrase.doc)?.credit ?? 0)) best.set(phrase.doc, { text: phrase.text, credit });
    };
    const counts = new Map<number, number>();
    for (const term of terms.keys())
      for (const index of this.#phrasesByTerm.get(term) ?? [])
        counts.set(index, (counts.get(index) ?? 0) + 1);
    for (const [index, count] of counts) {
      const phrase = this.#phrases.get(index);
      if (!phrase || count < phrase.terms.length) continue;
      const alone = phrase.terms.length === 1;
      offer(
        phrase,
        phrase.terms.reduce(
          (sum, term) => sum + this.#rarity(term) * (alone && COMMON.has(term) ? COMMON_SHARE : 1),
          0,
        ),
      );
    }
    for (let at = 0; at + 1 < text.length; at += 1)
      for (const index of this.#phrasesByStart.get(startOf(text, at)) ?? []) {
        const phrase = this.#phrases.get(index);
        if (phrase?.verbatim && text.startsWith(phrase.verbatim, at)) offer(phrase, VERBATIM_CREDIT);
      }
    return best;
  }

  #explain(entry: Doc, surfaces: ReadonlyMap<string, string>, phrase: string | null): string {
    const words = [...surfaces]
      .filter(([term]) => entry.terms.has(term))
      .map(([term, surface]) => ({ surface, value: this.#rarity(term) * (entry.terms.get(term) ?? 0) }))
      .sort((a, b) => b.value - a.value)
      .slice(0, 5)
      .map(({ surface }) => surface);
    return [phrase === null ? '' : `phrase: ${phrase}`, `words: ${words.join(', ')}`]
      .filter(Boolean)
      .join('; ');
  }
}

/** True when function words are what makes a phrase: without them one word is left, or only common ones. */
function livesFromFunctionWords(phrase: string, terms: readonly string[]): boolean {
  if (terms.every((term) => [...term].length === 1 || COMMON.has(term))) return true;
  if (terms.length > 1) return false;
  const letters = (text: string) => text.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '').length;
  const [only] = termsOf(phrase);
  return only !== undefined && letters(phrase) > letters(only.surface);
}

const WIDE = '[\\u2e80-\\u9fff\\uac00-\\ud7af]';
const BESIDE_WIDE = new RegExp(`(?<=${WIDE}) +| +(?=${WIDE})`, 'g');

/** Comparable for word-for-word phrases: folded, one space between words and at both ends, none beside ideographs. */
function plain(text: string): string {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^\p{L}\p{N}ー]+/gu, ' ')
    .trim();
  return ` ${words} `.replace(BESIDE_WIDE, '');
}

/** What a word-for-word phrase is found by: its first letters at a word's start, or its first two ideographs. */
function startOf(text: string, at: number): string {
  return text.slice(at, at + (text[at] === ' ' ? 4 : 2));
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

function drop<K, V>(map: Map<K, V[]>, key: K, matches: (value: V) => boolean): void {
  const list = map.get(key);
  if (!list) return;
  const left = list.filter((value) => !matches(value));
  if (left.length === 0) map.delete(key);
  else map.set(key, left);
}
