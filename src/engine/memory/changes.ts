import { z } from 'zod';
import type { Undo } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { MemoryConflict, MemoryEvent } from '../../shared/memory.ts';
import type { Clock } from '../ports.ts';
import type { Database, SqlValue } from '../store/database.ts';
import type { UndoLog } from '../store/undo.ts';
import { IndexQueue, type RowIndex } from './index-queue.ts';
import type { Author, TurnRow, UnitRow } from './rows.ts';
import { gistOf, sketchOf } from './similar.ts';

/** Columns of a memory that a change may set. */
export type Patch = Partial<
  Omit<UnitRow, 'id' | 'uuid' | 'created_at' | 'origin' | 'observed_at' | 'confidence'>
>;

const cells = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));
const recordSchema = z.object({
  patches: z.array(z.object({ units: z.array(z.number()), before: cells, after: cells })),
  created: z.array(z.number()),
  sources: z.array(z.tuple([z.number(), z.number()])),
  turns: z.array(
    z.object({ turns: z.array(z.number()), before: z.string().nullable(), after: z.string().nullable() }),
  ),
  /** Conflicts that were settled. */
  settled: z.array(z.tuple([z.string(), z.string()])),
  /** First and last entries of the histories that the change wrote. */
  events: z.array(z.tuple([z.number(), z.number()])),
  /** Messages that the change brought. */
  said: z.array(z.number()),
});
export type ChangeRecord = z.infer<typeof recordSchema>;

const UNDO = 'memory.change';
const CHUNK = 500;
/** Columns that decide how a memory is found. */
const FOUND_BY: ReadonlySet<string> = new Set(['content', 'scope', 'kind', 'status', 'observed_at', 'tags']);

interface ChangesDeps {
  database: Database;
  clock: Clock;
  undo: UndoLog;
  index: RowIndex;
  /** Units that an undo brought back from being forgotten. */
  onBack: (units: readonly number[]) => void;
}

/**
 * Every write to memories goes through here: it keeps the index in step and the history told, and notes what was
 * there before, so that each change, of one memory or of thousands, is taken back as a whole.
 */
export class Changes {
  readonly #deps: ChangesDeps;
  readonly #queue: IndexQueue;
  #record: ChangeRecord | null = null;

  constructor(deps: ChangesDeps) {
    this.#deps = deps;
    this.#queue = new IndexQueue(deps);
    deps.undo.handle(UNDO, (payload) => this.#takeBack(recordSchema.parse(payload)));
  }

  now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }

  /** Runs a change in one transaction and offers its undo. */
  undoable<T>(label: string, change: () => T): { result: T; undo: Undo } {
    return this.#deps.database.tx(() => {
      const { result, record } = this.#noting(change);
      return { result, undo: this.#deps.undo.offer(UNDO, label, record) };
    });
  }

  /** Runs one slice of a change that is made in several, in one transaction; `offerAll` then offers one undo of all. */
  slice<T>(change: () => T): { result: T; record: ChangeRecord } {
    return this.#deps.database.tx(() => this.#noting(change));
  }

  offerAll(label: string, records: readonly ChangeRecord[]): Undo | null {
    const all = emptyRecord();
    for (const record of records) {
      all.patches.push(...record.patches);
      all.created.push(...record.created);
      all.sources.push(...record.sources);
      all.turns.push(...record.turns);
      all.settled.push(...record.settled);
      all.events.push(...record.events);
      all.said.push(...record.said);
    }
    const changed = all.patches.length + all.created.length + all.said.length > 0;
    return changed ? this.#deps.undo.offer(UNDO, label, all) : null;
  }

  /** A message that this change brought. */
  brought(turn: number): void {
    this.#record?.said.push(turn);
  }

  #noting<T>(change: () => T): { result: T; record: ChangeRecord } {
    const outer = this.#record;
    const record = emptyRecord();
    this.#record = record;
    try {
      return { result: change(), record };
    } finally {
      this.#record = outer;
    }
  }

  /** `history`: what happened to it elsewhere; otherwise it begins here. */
  insert(row: Omit<UnitRow, 'id'>, by: Author, history: readonly MemoryEvent[] = []): UnitRow {
    const columns = Object.keys(row);
    const inserted = this.#deps.database.get<UnitRow>(
      `INSERT INTO memory_units (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) RETURNING *`,
      ...(Object.values(row) as SqlValue[]),
    ) as UnitRow;
    this.#record?.created.push(inserted.id);
    for (const { at, what, by: author, detail } of history)
      this.#deps.database.run(
        'INSERT INTO memory_events (unit, at, what, by, detail) VALUES (?, ?, ?, ?, ?)',
        inserted.id,
        at,
        what,
        author,
        detail,
      );
    if (history.length === 0) this.#tell([inserted.id], 'added', by, '');
    this.#sketch([inserted]);
    this.#deps.index.indexUnit(inserted);
    return inserted;
  }

  /** Sets columns of the memories and writes their history. What is set already counts as no change. */
  patch(
    ids: readonly number[],
    after: Patch,
    told: { what: MemoryEvent['what']; by: Author; detail?: string } | null,
  ): void {
    const columns = Object.keys(after);
    for (const some of chunks(ids)) {
      const list = JSON.stringify(some);
      const rows = this.#deps.database.all<Record<string, SqlValue>>(
        `SELECT id, ${columns.join(', ')} FROM memory_units WHERE id IN (SELECT value FROM json_each(?))`,
        list,
      );
      this.#note(rows, after);
      this.#deps.database.run(
        `UPDATE memory_units SET ${columns.map((column) => `${column} = ?`).join(', ')}
         WHERE id IN (SELECT value FROM json_each(?))`,
        ...(Object.values(after) as SqlValue[]),
        list,
      );
      if (told) this.#tell(some, told.what, told.by, told.detail ?? '');
      this.#bringUp(some, columns);
    }
  }

  /** Notes where a memory comes from. */
  addSource(unit: number, turn: number): void {
    const added = this.#deps.database.run(
      'INSERT OR IGNORE INTO memory_sources (unit, turn) VALUES (?, ?)',
      unit,
      turn,
    );
    if (added > 0) this.#record?.sources.push([unit, turn]);
  }

  /** Takes what was said out of use, or back into it. */
  hideTurns(turns: readonly number[], forgottenAt: string | null): void {
    for (const some of chunks(turns)) {
      const rows = this.#deps.database.all<{ id: number; forgotten_at: string | null }>(
        'SELECT id, forgotten_at FROM memory_turns WHERE id IN (SELECT value FROM json_each(?))',
        JSON.stringify(some),
      );
      for (const [before, group] of groupBy(rows, (row) => row.forgotten_at))
        this.#record?.turns.push({ turns: group.map(({ id }) => id), before, after: forgottenAt });
      this.#setForgotten(some, forgottenAt);
    }
  }

  /** Brings sketches and index up to what the rows say now: what is forgotten is found no more. */
  #bringUp(ids: readonly number[], columns: readonly string[]): void {
    const reworded = columns.includes('content') || columns.includes('scope');
    if (!columns.some((column) => FOUND_BY.has(column))) return;
    const { database, index } = this.#deps;
    const states = database.all<{ id: number; status: string }>(
      'SELECT id, status FROM memory_units WHERE id IN (SELECT value FROM json_each(?))',
      JSON.stringify(ids),
    );
    const forgotten = states.filter(({ status }) => status === 'forgotten');
    this.#queue.drop(forgotten.map(({ id }) => ({ type: 'unit', id })));
    const changed = states.filter(
      ({ id, status }) => status !== 'forgotten' && (!this.#queue.keep({ type: 'unit', id }) || reworded),
    );
    if (changed.length === 0) return;
    const rows = database.all<UnitRow>(
      'SELECT * FROM memory_units WHERE id IN (SELECT value FROM json_each(?))',
      JSON.stringify(changed.map(({ id }) => id)),
    );
    if (reworded) this.#sketch(rows);
    for (const row of rows) index.indexUnit(row);
  }

  #sketch(rows: readonly UnitRow[]): void {
    const { database } = this.#deps;
    for (const { id, scope, content } of rows) {
      database.run('DELETE FROM memory_sketches WHERE unit = ?', id);
      for (const word of sketchOf(gistOf(content)))
        database.run(
          'INSERT OR IGNORE INTO memory_sketches (scope, word, unit) VALUES (?, ?, ?)',
          scope,
          word,
          id,
        );
    }
  }

  /** Notes that rules cannot settle two memories; not again once the user has. */
  doubt(one: string, other: string, why: MemoryConflict['why'], message: string): void {
    this.#deps.database.run(
      'INSERT OR IGNORE INTO memory_conflicts (one, other, why, message, at) VALUES (?, ?, ?, ?, ?)',
      ...([one, other].sort() as [string, string]),
      why,
      message,
      this.now(),
    );
  }

  /** The user has settled two memories. */
  settled(one: string, other: string): void {
    this.#deps.database.run(
      'UPDATE memory_conflicts SET settled = 1 WHERE one = ? AND other = ?',
      one,
      other,
    );
    this.#record?.settled.push([one, other]);
  }

  /** Stops what goes on in the background. */
  stop(): void {
    this.#queue.stop();
  }

  dropFromIndex(units: readonly number[], turns: readonly number[]): void {
    this.#queue.purge([
      ...units.map((id) => ({ type: 'unit' as const, id })),
      ...turns.map((id) => ({ type: 'turn' as const, id })),
    ]);
  }

  /** Takes these memories out of all that could bring them back; a change of nothing else can no longer be undone. */
  forgetUndo(units: readonly number[]): void {
    const gone = new Set(units);
    this.#deps.undo.revise(UNDO, (payload) => {
      const record = recordSchema.parse(payload);
      record.created = record.created.filter((id) => !gone.has(id));
      record.sources = record.sources.filter(([unit]) => !gone.has(unit));
      record.patches = record.patches
        .map((patch) => ({ ...patch, units: patch.units.filter((id) => !gone.has(id)) }))
        .filter((patch) => patch.units.length > 0);
      const empty =
        record.patches.length + record.created.length + record.turns.length + record.said.length === 0;
      return empty ? null : record;
    });
  }

  #tell(units: readonly number[], what: MemoryEvent['what'], by: Author, detail: string): void {
    const { id } = this.#deps.database.get<{ id: number }>(
      'SELECT ifnull(max(id), 0) AS id FROM memory_events',
    ) as { id: number };
    this.#deps.database.run(
      `INSERT INTO memory_events (unit, at, what, by, detail)
       SELECT value, ?, ?, ?, ? FROM json_each(?)`,
      this.now(),
      what,
      by,
      detail,
      JSON.stringify(units),
    );
    const last = this.#record?.events.at(-1);
    if (last?.[1] === id) last[1] = id + units.length;
    else this.#record?.events.push([id + 1, id + units.length]);
  }

  #note(rows: readonly Record<string, SqlValue>[], after: Patch): void {
    if (!this.#record) return;
    const groups = groupBy(rows, ({ id: _, ...before }) => JSON.stringify(before));
    for (const [before, group] of groups)
      this.#record.patches.push({
        units: group.map(({ id }) => Number(id)),
        before: cells.parse(JSON.parse(before)),
        after: cells.parse(after),
      });
  }

  #setForgotten(turns: readonly number[], forgottenAt: string | null): void {
    const { database, index } = this.#deps;
    database.run(
      'UPDATE memory_turns SET forgotten_at = ? WHERE id IN (SELECT value FROM json_each(?))',
      forgottenAt,
      JSON.stringify(turns),
    );
    const refs = turns.map((id) => ({ type: 'turn' as const, id }));
    if (forgottenAt !== null) {
      this.#queue.drop(refs);
      return;
    }
    const gone = refs.filter((ref) => !this.#queue.keep(ref)).map(({ id }) => id);
    if (gone.length === 0) return;
    const rows = database.all<TurnRow>(
      'SELECT * FROM memory_turns WHERE id IN (SELECT value FROM json_each(?))',
      JSON.stringify(gone),
    );
    for (const row of rows) index.indexTurn(row);
  }

  /** What has been changed again since stays as it is; when that is all of it, nothing can be taken back. */
  #takeBack(record: ChangeRecord): void {
    const { database, index } = this.#deps;
    let done = 0;
    for (const { units, before, after } of [...record.patches].reverse()) {
      const columns = Object.keys(before);
      for (const some of chunks(units)) {
        done += database.run(
          `UPDATE memory_units SET ${columns.map((column) => `${column} = ?`).join(', ')}
           WHERE id IN (SELECT value FROM json_each(?)) AND ${columns.map((column) => `${column} IS ?`).join(' AND ')}`,
          ...columns.map((column) => before[column] ?? null),
          JSON.stringify(some),
          ...columns.map((column) => after[column] ?? null),
        );
        this.#bringUp(some, columns);
      }
    }
    for (const { turns, before, after } of record.turns)
      for (const some of chunks(turns)) {
        const same = database.all<{ id: number }>(
          'SELECT id FROM memory_turns WHERE id IN (SELECT value FROM json_each(?)) AND forgotten_at IS ?',
          JSON.stringify(some),
          after,
        );
        done += same.length;
        this.#setForgotten(
          same.map(({ id }) => id),
          before,
        );
      }
    for (const id of record.created) {
      index.drop({ type: 'unit', id });
      done += database.run('DELETE FROM memory_units WHERE id = ?', id);
    }
    for (const [unit, turn] of record.sources)
      database.run('DELETE FROM memory_sources WHERE unit = ? AND turn = ?', unit, turn);
    for (const [one, other] of record.settled)
      done += database.run('UPDATE memory_conflicts SET settled = 0 WHERE one = ? AND other = ?', one, other);
    for (const [first, last] of record.events)
      database.run('DELETE FROM memory_events WHERE id BETWEEN ? AND ?', first, last);
    for (const id of record.said) {
      index.drop({ type: 'turn', id });
      done += database.run('DELETE FROM memory_turns WHERE id = ?', id);
    }
    this.#deps.onBack(
      record.patches.filter(({ after }) => after.status === 'forgotten').flatMap(({ units }) => units),
    );
    if (done === 0)
      throw new AppError(
        'CONFLICT',
        'This can no longer be undone: the memory was changed again or is gone.',
      );
  }
}

function emptyRecord(): ChangeRecord {
  return { patches: [], created: [], sources: [], turns: [], settled: [], events: [], said: [] };
}

function* chunks<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += CHUNK) yield list.slice(at, at + CHUNK);
}

function groupBy<T, K>(list: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
