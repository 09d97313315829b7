import type { Clock, Embedder } from '../../ports.ts';
import type { Database } from '../../store/database.ts';
import { docOfTurn, docOfUnit, type TurnText, type UnitText } from './documents.ts';
import { lexicalMeritOf, meritOf } from './features.ts';
import { byScope, Generations } from './generations.ts';
import { type Meanings, meaningsOf } from './meanings.ts';
import { type Candidate, Ranker } from './ranker.ts';
import { reasonsFor } from './reasons.ts';
import { mannerOf, relevanceOf } from './relevance.ts';
import { Shelf } from './shelf.ts';
import { Sketches } from './sketches.ts';
import { Space } from './space.ts';
import type { DocRef, IndexStore } from './store.ts';
import { TRAIT } from './traits.ts';
import { type Wish, wishOf } from './wish.ts';

export interface MemoryQuery {
  text: string;
  /** In order: of equally good memories, one of an earlier scope goes first. */
  scopeIds: readonly number[];
  limit: number;
  /** `embedding` puts nearness in meaning first, and goes by words where a memory has no vector. */
  mode: 'keyword' | 'hybrid' | 'embedding';
  /** Of the text, of length 1; null when there is none: then words decide alone. */
  queryVector: Float32Array | null;
  nowMs: number;
  types: readonly ('turn' | 'unit')[];
  /** States of units that may be found; `active` alone when it is left out. */
  statuses?: readonly string[];
}

export interface MemoryMatch {
  ref: DocRef;
  /** 0 to 1, comparable between questions: how surely it has to do with the question. */
  score: number;
  /** The part of it that comes from words. */
  lexical: number;
  /** Cosine with the question; null without vectors. */
  similarity: number | null;
  /** Readable, e.g. `words: postgres, staging`. */
  reason: string;
}

/** Documents whose metadata is held in memory, over all scopes. */
const MOST_HELD = 1_000_000;
/** Between two steps of building the index anew. */
const STEP_MS = 20;

/**
 * Finds memories. Words are looked up in posting lists by scope, so that a search never sees another scope, and its
 * cost depends on the question; what was said before and after a passage, who said it and when weigh with it.
 */
export class MemoryIndex {
  readonly #database: Database;
  readonly #generations: Generations;
  readonly #ranker = new Ranker();
  readonly #sketches: Sketches | null;
  readonly #clock: Clock | null;
  #served: IndexStore | null = null;
  /** Of what serves; the least recently used first. */
  readonly #shelves = new Map<number, Shelf>();
  #cancel: (() => void) | null = null;

  /** `live`: for an index that builds itself and compares by meaning; without it, it only serves what is there. */
  constructor(database: Database, live: { embedder: Embedder; clock: Clock } | null = null) {
    this.#database = database;
    this.#generations = new Generations(database);
    this.#clock = live?.clock ?? null;
    this.#sketches = live ? new Sketches({ database, ...live }) : null;
  }

  /** Builds, in the background, what is missing or was made by an older version. */
  start(): void {
    this.#cancel ??=
      this.#clock?.after(STEP_MS, () => {
        this.#cancel = null;
        if (this.#generations.step()) this.start();
      }) ?? null;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#sketches?.stop();
  }

  /** Makes the whole index anew in the background; the present one serves until then. */
  rebuild(): void {
    this.#generations.renew();
    this.start();
  }

  /** Adds what was said; replaces it when it is there. Belongs to the caller's transaction. */
  indexTurn(row: TurnText): void {
    this.indexTurns([row]);
  }

  /** The same for many at once, which costs less for each. */
  indexTurns(rows: readonly TurnText[]): void {
    for (const [scope, docs] of byScope(rows, docOfTurn)) this.#generations.add(scope, docs);
  }

  /** Adds a unit; replaces it when it is there. Belongs to the caller's transaction. */
  indexUnit(row: UnitText): void {
    this.#generations.add(row.scope, [docOfUnit(row)]);
  }

  /** Takes something out with every trace of its words. Belongs to the caller's transaction. */
  drop(ref: DocRef): void {
    this.#generations.drop(ref);
  }

  /** Best first; of equally good ones, those of an earlier scope. */
  search(query: MemoryQuery): MemoryMatch[] {
    const { wish, space, candidates, meanings } = this.#candidates(query);
    const manner = mannerOf(query.text);
    const statuses = query.statuses ?? ['active'];
    const matches: MemoryMatch[] = [];
    for (const candidate of ordered(candidates, query.mode)) {
      if (matches.length >= query.limit) break;
      const { shelf: at, doc, features, evidence, similarity } = candidate;
      const shelf = space.shelves[at];
      if (!shelf) continue;
      const traits = shelf.traits[doc] ?? 0;
      const type = traits & TRAIT.unit ? 'unit' : 'turn';
      const id = shelf.ref[doc] ?? 0;
      if (!query.types.includes(type) || (type === 'unit' && !this.#hasStatus(id, statuses))) continue;
      const lexical = relevanceOf({ ...features, evidence, traits, ...manner });
      const related = meanings !== null && similarity !== null ? meanings.relatednessOf(similarity) : 0;
      matches.push({
        ref: { type, id },
        score: Math.max(lexical, related),
        lexical,
        similarity,
        reason: reasonsFor(candidate, wish),
      });
    }
    return matches;
  }

  /** What a search chooses from, with its features. */
  #candidates(query: MemoryQuery): {
    wish: Wish;
    space: Space;
    candidates: Candidate[];
    meanings: Meanings | null;
  } {
    const wish = wishOf(query.text, query.nowMs);
    const store = this.#generations.serving();
    if (store !== this.#served) this.#shelves.clear();
    this.#served = store;
    const space = new Space(query.scopeIds.map((scope) => this.#shelf(store, scope)));
    const meanings =
      query.mode === 'keyword' || query.queryVector === null || this.#sketches === null
        ? null
        : meaningsOf(space, query.queryVector, this.#sketches);
    return { wish, space, candidates: this.#ranker.candidates(space, wish, meanings), meanings };
  }

  #hasStatus(id: number, statuses: readonly string[]): boolean {
    const status = this.#database.get<{ status: string }>('SELECT status FROM memory_units WHERE id = ?', id);
    return status !== null && statuses.includes(status.status);
  }

  #shelf(store: IndexStore, scope: number): Shelf {
    const shelf = this.#shelves.get(scope) ?? new Shelf(store, scope);
    this.#shelves.delete(scope);
    this.#shelves.set(scope, shelf);
    shelf.refresh();
    let held = 0;
    for (const { count } of this.#shelves.values()) held += count;
    for (const [other, { count }] of this.#shelves) {
      if (held <= MOST_HELD || other === scope) break;
      this.#shelves.delete(other);
      held -= count;
    }
    return shelf;
  }
}

function ordered(candidates: readonly Candidate[], mode: MemoryQuery['mode']): Candidate[] {
  const ranked = (rank: (candidate: Candidate) => number) =>
    candidates
      .map((candidate) => ({ candidate, value: rank(candidate) }))
      .sort((a, b) => b.value - a.value || a.candidate.place - b.candidate.place)
      .map(({ candidate }) => candidate);
  if (mode !== 'embedding') return ranked(({ features }) => meritOf(features));
  const most = Math.max(...candidates.map(({ features }) => lexicalMeritOf(features)), 1);
  return ranked(({ features, similarity }) =>
    similarity === null ? lexicalMeritOf(features) / most : features.meaning,
  );
}
