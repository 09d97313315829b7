import type { Database } from '../../store/database.ts';
import { meritOf } from './features.ts';
import { type Candidate, Ranker } from './ranker.ts';
import { relevanceOf, isPersonal as speaksOfAsker } from './relevance.ts';
import { Shelf } from './shelf.ts';
import { Space } from './space.ts';
import { type DocRef, type IndexedDoc, IndexStore } from './store.ts';
import { namesIn, readText } from './terms.ts';
import { TRAIT } from './traits.ts';
import { type Wish, wishOf } from './wish.ts';

/** What the index takes of a row of memory_turns. */
export interface TurnText {
  id: number;
  scope: number;
  session_id: string;
  role: 'user' | 'assistant';
  speaker: string;
  text: string;
  /** ISO time. */
  said_at: string;
}

/** What the index takes of a row of memory_units. */
export interface UnitText {
  id: number;
  scope: number;
  content: string;
  /** ISO time. */
  observed_at: string;
}

export interface MemoryQuery {
  text: string;
  /** In order: of equally good memories, one of an earlier scope goes first. */
  scopeIds: readonly number[];
  limit: number;
  mode: 'keyword' | 'hybrid' | 'embedding';
  /** Of the text, of length 1; null when there is none. */
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

/** The way that texts are split, and what is kept of them: a change of either raises it. */
const VERSION = 1;
/** Documents whose metadata is held in memory, over all scopes. */
const MOST_HELD = 1_000_000;
const DAY_MS = 86_400_000;

/**
 * Finds memories. Words are looked up in posting lists by scope, so that a search never sees another scope, and its
 * cost depends on the question; what was said before and after a passage, who said it and when weigh with it.
 */
export class MemoryIndex {
  readonly #database: Database;
  readonly #store: IndexStore;
  readonly #ranker = new Ranker();
  /** Least recently used first. */
  readonly #shelves = new Map<number, Shelf>();

  constructor(database: Database) {
    this.#database = database;
    this.#store = new IndexStore(database, VERSION);
  }

  /** Adds what was said; replaces it when it is there. Belongs to the caller's transaction. */
  indexTurn(row: TurnText): void {
    this.indexTurns([row]);
  }

  /** The same for many at once, which costs less for each. */
  indexTurns(rows: readonly TurnText[]): void {
    for (const [scope, docs] of byScope(rows, docOfTurn)) this.#store.add(scope, docs);
  }

  /** Adds a unit; replaces it when it is there. Belongs to the caller's transaction. */
  indexUnit(row: UnitText): void {
    this.#store.add(row.scope, [docOfUnit(row)]);
  }

  /** Takes something out with every trace of its words. Belongs to the caller's transaction. */
  drop(ref: DocRef): void {
    this.#store.drop(ref);
  }

  /** Best first; of equally good ones, those of an earlier scope. */
  search(query: MemoryQuery): MemoryMatch[] {
    const { wish, space, candidates } = this.candidates(query);
    const ordered = candidates
      .map((candidate) => ({ candidate, merit: meritOf(candidate.features) }))
      .sort((a, b) => b.merit - a.merit || a.candidate.place - b.candidate.place);
    const isPersonal = speaksOfAsker(query.text);
    const statuses = query.statuses ?? ['active'];
    const matches: MemoryMatch[] = [];
    for (const { candidate } of ordered) {
      if (matches.length >= query.limit) break;
      const { shelf: at, doc, features, evidence } = candidate;
      const shelf = space.shelves[at];
      if (!shelf) continue;
      const traits = shelf.traits[doc] ?? 0;
      const type = traits & TRAIT.unit ? 'unit' : 'turn';
      const id = shelf.ref[doc] ?? 0;
      if (!query.types.includes(type) || (type === 'unit' && !this.#hasStatus(id, statuses))) continue;
      const score = relevanceOf({ ...features, evidence, traits, isPersonal });
      matches.push({
        ref: { type, id },
        score,
        lexical: score,
        similarity: null,
        reason: `words: ${wish.groups.map(({ surface }) => surface).join(', ')}`,
      });
    }
    return matches;
  }

  /** What a search chooses from, with its features: for measuring. */
  candidates(query: MemoryQuery): { wish: Wish; space: Space; candidates: Candidate[] } {
    const wish = wishOf(query.text, query.nowMs);
    const space = new Space(query.scopeIds.map((scope) => this.#shelf(scope)));
    return { wish, space, candidates: this.#ranker.candidates(space, wish, null) };
  }

  #hasStatus(id: number, statuses: readonly string[]): boolean {
    const status = this.#database.get<{ status: string }>('SELECT status FROM memory_units WHERE id = ?', id);
    return status !== null && statuses.includes(status.status);
  }

  #shelf(scope: number): Shelf {
    const shelf = this.#shelves.get(scope) ?? new Shelf(this.#store, scope);
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

function docOfTurn(row: TurnText): IndexedDoc {
  const { terms, traits } = readText(row.text);
  const names = row.speaker === row.role ? [] : namesIn(row.speaker).map((name) => `@${name}`);
  return {
    ref: { type: 'turn', id: row.id },
    session: hash(row.session_id),
    day: dayOf(row.said_at),
    traits: traits | (row.role === 'assistant' ? TRAIT.assistant : 0),
    terms: [...terms, ...names],
  };
}

function docOfUnit(row: UnitText): IndexedDoc {
  const { terms, traits } = readText(row.content);
  return {
    ref: { type: 'unit', id: row.id },
    session: 0,
    day: dayOf(row.observed_at),
    traits: traits | TRAIT.unit,
    terms,
  };
}

function byScope<Row extends { scope: number }>(
  rows: readonly Row[],
  docOf: (row: Row) => IndexedDoc,
): Map<number, IndexedDoc[]> {
  const groups = new Map<number, IndexedDoc[]>();
  for (const row of rows) {
    const group = groups.get(row.scope);
    if (group) group.push(docOf(row));
    else groups.set(row.scope, [docOf(row)]);
  }
  return groups;
}

function dayOf(time: string): number {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? 0 : Math.min(0xffff, Math.max(0, Math.floor(ms / DAY_MS)));
}

/** FNV-1a; never 0. Two conversations with the same number are harmless: they would count as one. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value | 0 || 1;
}
