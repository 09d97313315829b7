import type { Database } from '../../store/database.ts';
import { docOfTurn, docOfUnit, type TurnText, type UnitText } from './documents.ts';
import { type DocRef, type IndexedDoc, IndexStore } from './store.ts';

/** The way that texts are split, and what is kept of them: a change of either raises it, and the index is made anew. */
const VERSION = 1;
/** Rows that one step reads or deletes. */
const SLICE = 100;

interface Generation {
  generation: number;
  version: number;
  /** Rows up to which it is built; null once it is complete. */
  turn: number | null;
  unit: number | null;
}

/**
 * The index, and its successor while that is being built: the old one serves until the new one is complete. Writes go
 * to both.
 */
export class Generations {
  readonly #database: Database;
  readonly #stores = new Map<number, IndexStore>();
  /** There was nothing to index when this began, so that what is written from now on is all there is. */
  readonly #isFresh: boolean;

  constructor(database: Database) {
    this.#database = database;
    this.#isFresh =
      database.get('SELECT 1 FROM memory_turns LIMIT 1') === null &&
      database.get('SELECT 1 FROM memory_units LIMIT 1') === null;
  }

  /** The one to search. */
  serving(): IndexStore {
    return this.#store(servingOf(this.#all())?.generation ?? 1);
  }

  /** Adds documents of one scope. */
  add(scope: number, docs: readonly IndexedDoc[]): void {
    const all = this.#begun();
    const serving = servingOf(all);
    for (const one of all)
      this.#store(one.generation).add(
        scope,
        // What a build has not come to yet it will read by itself.
        one === serving ? docs : docs.filter(({ ref }) => ref.id <= cursorOf(one, ref)),
      );
  }

  drop(ref: DocRef): void {
    for (const { generation } of this.#all()) this.#store(generation).drop(ref);
  }

  /** Begins a successor, whether it is needed or not. */
  renew(): void {
    const newest = this.#begun().at(-1)?.generation ?? 0;
    this.#database.run(
      'INSERT INTO memory_index (generation, version, turn, unit) VALUES (?, ?, 0, 0)',
      newest + 1,
      VERSION,
    );
  }

  /** Does a little of what is left to build or to clear away. Returns whether there may be more. */
  step(): boolean {
    return this.#database.tx(() => {
      const all = this.#begun();
      if (all.every(({ version }) => version !== VERSION)) {
        this.renew();
        return true;
      }
      const serving = servingOf(all);
      const building = all.findLast(isBuilding);
      if (building) {
        this.#build(building);
        return true;
      }
      const old = all.find((one) => one !== serving);
      if (old) this.#clear(old.generation);
      return old !== undefined;
    });
  }

  #build({ generation, turn, unit }: Generation): void {
    const turns = this.#database.all<TurnText>(
      'SELECT * FROM memory_turns WHERE id > ? AND forgotten_at IS NULL ORDER BY id LIMIT ?',
      turn ?? 0,
      SLICE,
    );
    const units =
      turns.length > 0
        ? []
        : this.#database.all<UnitText>(
            `SELECT * FROM memory_units WHERE id > ? AND status <> 'forgotten' ORDER BY id LIMIT ?`,
            unit ?? 0,
            SLICE,
          );
    const store = this.#store(generation);
    for (const [scope, docs] of byScope(turns, docOfTurn)) store.add(scope, docs);
    for (const [scope, docs] of byScope(units, docOfUnit)) store.add(scope, docs);
    const isDone = turns.length === 0 && units.length === 0;
    this.#database.run(
      'UPDATE memory_index SET turn = ?, unit = ? WHERE generation = ?',
      isDone ? null : (turns.at(-1)?.id ?? turn),
      isDone ? null : (units.at(-1)?.id ?? unit),
      generation,
    );
  }

  #clear(generation: number): void {
    let deleted = 0;
    for (const [table, key] of [
      ['memory_postings', 'generation, scope, term, first'],
      ['memory_docs', 'generation, scope, doc'],
      ['memory_doc_meta', 'generation, scope, block'],
      ['memory_index_scopes', 'generation, scope'],
    ])
      deleted += this.#database.run(
        `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE generation = ? LIMIT ${SLICE * 5})`,
        generation,
      );
    if (deleted > 0) return;
    this.#database.run('DELETE FROM memory_index WHERE generation = ?', generation);
    this.#stores.delete(generation);
  }

  /** As they are, after the first one was begun. */
  #begun(): Generation[] {
    const all = this.#all();
    if (all.length > 0) return all;
    const cursor = this.#isFresh ? null : 0;
    this.#database.run(
      'INSERT INTO memory_index (generation, version, turn, unit) VALUES (1, ?, ?, ?)',
      VERSION,
      cursor,
      cursor,
    );
    return this.#all();
  }

  #all(): Generation[] {
    return this.#database.all<Generation>(
      'SELECT generation, version, turn, unit FROM memory_index ORDER BY generation',
    );
  }

  #store(generation: number): IndexStore {
    let store = this.#stores.get(generation);
    if (!store) {
      store = new IndexStore(this.#database, generation);
      this.#stores.set(generation, store);
    }
    return store;
  }
}

export function byScope<Row extends { scope: number }>(
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

/** The newest complete one; where none is, the first, as far as it has come. */
function servingOf(all: readonly Generation[]): Generation | undefined {
  return all.findLast((one) => !isBuilding(one)) ?? all[0];
}

function isBuilding({ turn }: Generation): boolean {
  return turn !== null;
}

function cursorOf({ turn, unit }: Generation, { type }: DocRef): number {
  return (type === 'turn' ? turn : unit) ?? Number.POSITIVE_INFINITY;
}
