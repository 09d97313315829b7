import type { MemoryStatus } from '../../shared/memory.ts';
import { termsOf } from '../platform/words.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { Changes } from './changes.ts';
import type { UnitRow } from './rows.ts';

/** The part of a memory that forgetting needs; there may be thousands. */
export type Handle = Pick<UnitRow, 'id' | 'uuid' | 'status' | 'status_before' | 'forgotten_at'>;

/** Columns of a handle, of the table named u. */
export const HANDLE = 'u.id, u.uuid, u.status, u.status_before, u.forgotten_at';

/** So many are deleted at once. */
const SLICE = 50;
const RECOVERABLE_MS = 24 * 60 * 60 * 1000;
/** Share of a memory's words from which on a message that it was carried in, or was answered by, repeats it. */
const ECHO = 0.6;

/** What was deleted for good, in rows. */
export interface Purged {
  units: number;
  /** Messages word for word. */
  messages: number;
}

/** What is out of use by now: for those who hold it outside of the store. */
export interface Dropped {
  /** Uuids of memories, and `t` and a number for messages. */
  keys: string[];
  /** Their words; only when they are gone for good. */
  texts: string[];
}

interface ForgettingDeps {
  database: Database;
  clock: Clock;
  changes: Changes;
  onDropped: (dropped: Dropped) => void;
}

/**
 * Takes memories out of use: from one moment to the next nothing finds them, nor the messages that they come from or
 * that repeat them. For a day they can be brought back; then, or at once when that is wanted, they are deleted.
 */
export class Forgetting {
  readonly #deps: ForgettingDeps;

  #stopped = false;

  constructor(deps: ForgettingDeps) {
    this.#deps = deps;
  }

  /** What waits to be deleted is deleted at the next start. */
  stop(): void {
    this.#stopped = true;
  }

  /** Call it in a change. Those that say the same and were merged into these go with them. Returns how many. */
  forget(rows: readonly Handle[]): number {
    const { changes } = this.#deps;
    const all = this.#withMerged(rows).filter(({ status }) => status !== 'forgotten');
    const at = changes.now();
    for (const status of ['active', 'superseded', 'expired'] as const) {
      const ids = all.filter((row) => row.status === status).map(({ id }) => id);
      changes.patch(
        ids,
        { status: 'forgotten', status_before: status, forgotten_at: at },
        { what: 'forgotten', by: 'user' },
      );
    }
    const turns = this.#messagesOf(all);
    changes.hideTurns(turns, at);
    this.#deps.onDropped({ keys: keysOf(all, turns), texts: [] });
    return all.length;
  }

  /** Takes messages out of use; call it in a change. */
  forgetTurns(turns: readonly number[]): void {
    this.#deps.changes.hideTurns(turns, this.#deps.changes.now());
    this.#deps.onDropped({ keys: keysOf([], turns), texts: [] });
  }

  /** Brings back what is in forgetting, with its messages; call it in a change. */
  restore(rows: readonly Handle[]): Handle[] {
    const { database, changes } = this.#deps;
    const forgotten = this.#withMerged(rows).filter(({ status }) => status === 'forgotten');
    for (const status of new Set(forgotten.map(({ status_before }) => status_before ?? 'active'))) {
      const ids = forgotten.filter((row) => (row.status_before ?? 'active') === status).map(({ id }) => id);
      const back: { status: MemoryStatus; status_before: null; forgotten_at: null } = {
        status,
        status_before: null,
        forgotten_at: null,
      };
      changes.patch(ids, back, { what: 'restored', by: 'user' });
    }
    // What another memory that stays forgotten comes from remains out of use.
    const turns = database.all<{ id: number }>(
      `SELECT t.id FROM memory_turns t
       WHERE t.forgotten_at IN (SELECT value FROM json_each(?))
         AND (t.id IN (SELECT turn FROM memory_sources WHERE unit IN (SELECT value FROM json_each(?)))
           OR t.id NOT IN (SELECT turn FROM memory_sources))
         AND NOT EXISTS (
           SELECT 1 FROM memory_sources s JOIN memory_units u ON u.id = s.unit
           WHERE s.turn = t.id AND u.status = 'forgotten')`,
      JSON.stringify([...new Set(forgotten.map(({ forgotten_at }) => forgotten_at))]),
      JSON.stringify(forgotten.map(({ id }) => id)),
    );
    changes.hideTurns(
      turns.map(({ id }) => id),
      null,
    );
    return forgotten;
  }

  /** Memories that can still be brought back. */
  recoverable(): Handle[] {
    return this.#deps.database.all<Handle>(
      `SELECT ${HANDLE} FROM memory_units u WHERE u.forgotten_at > ?`,
      this.#recoverableSince(),
    );
  }

  /**
   * Brings back messages, or all that can be; those of a memory that stays forgotten remain out of use. Call it in a
   * transaction. Returns how many.
   */
  restoreTurns(turns: readonly number[] | null): number {
    const { database, changes } = this.#deps;
    const rows = database.all<{ id: number }>(
      `SELECT t.id FROM memory_turns t
       WHERE t.forgotten_at > ?1 AND (?2 IS NULL OR t.id IN (SELECT value FROM json_each(?2)))
         AND NOT EXISTS (
           SELECT 1 FROM memory_sources s JOIN memory_units u ON u.id = s.unit
           WHERE s.turn = t.id AND u.status = 'forgotten')`,
      this.#recoverableSince(),
      turns && JSON.stringify(turns),
    );
    changes.hideTurns(
      rows.map(({ id }) => id),
      null,
    );
    return rows.length;
  }

  #recoverableSince(): string {
    return new Date(this.#deps.clock.now() - RECOVERABLE_MS).toISOString();
  }

  /**
   * Deletes memories and messages for good, wherever they are kept. Out of use at once; many are deleted a slice at a
   * time, and what a crash leaves of them at the next start.
   */
  async purge(rows: readonly Handle[], turns: readonly number[] = []): Promise<Purged> {
    const { all, messages } = this.#concerned(rows, turns);
    if (all.length + messages.length <= SLICE) return this.#purgeNow(all, messages);
    this.#deps.database.tx(() => this.#condemn(all, messages));
    const purged = { units: 0, messages: 0 };
    for (let at = 0; at < Math.max(all.length, messages.length) && !this.#stopped; at += SLICE) {
      const one = this.#purgeNow(all.slice(at, at + SLICE), messages.slice(at, at + SLICE));
      purged.units += one.units;
      purged.messages += one.messages;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return purged;
  }

  /** The same at once, for a few. */
  purgeFew(rows: readonly Handle[], turns: readonly number[] = []): Purged {
    const { all, messages } = this.#concerned(rows, turns);
    return this.#purgeNow(all, messages);
  }

  /** Takes them out of use with a time at which they should have been deleted already. */
  #condemn(rows: readonly Handle[], turns: readonly number[]): void {
    const { database } = this.#deps;
    const past = new Date(0).toISOString();
    database.run(
      `UPDATE memory_units SET status = 'forgotten', forgotten_at = ? WHERE id IN (SELECT value FROM json_each(?))`,
      past,
      JSON.stringify(rows.map(({ id }) => id)),
    );
    database.run(
      'UPDATE memory_turns SET forgotten_at = ? WHERE id IN (SELECT value FROM json_each(?))',
      past,
      JSON.stringify(turns),
    );
    this.#deps.onDropped({ keys: keysOf(rows, turns), texts: [] });
  }

  #concerned(rows: readonly Handle[], turns: readonly number[]) {
    const all = this.#withMerged(rows);
    return { all, messages: [...new Set([...turns, ...this.#messagesOf(all)])] };
  }

  #purgeNow(all: readonly Handle[], messages: readonly number[]): Purged {
    const { database, changes } = this.#deps;
    const list = JSON.stringify(all.map(({ id }) => id));
    const said = JSON.stringify(messages);
    const texts = [
      ...database.all<{ text: string }>(
        'SELECT content AS text FROM memory_units WHERE id IN (SELECT value FROM json_each(?))',
        list,
      ),
      ...database.all<{ text: string }>(
        'SELECT text FROM memory_turns WHERE id IN (SELECT value FROM json_each(?))',
        said,
      ),
    ].map(({ text }) => text);
    // Freed pages are overwritten, so that the words are not left in the file.
    database.get('PRAGMA secure_delete = ON');
    const purged = database.tx(() => {
      changes.dropFromIndex(
        all.map(({ id }) => id),
        messages,
      );
      changes.forgetUndo(all.map(({ id }) => id));
      const uuids = JSON.stringify(all.map(({ uuid }) => uuid));
      database.run(
        `DELETE FROM memory_uses WHERE memory IN (SELECT value FROM json_each(?))`,
        JSON.stringify(keysOf(all, messages)),
      );
      database.run(
        `DELETE FROM memory_conflicts WHERE one IN (SELECT value FROM json_each(?1))
           OR other IN (SELECT value FROM json_each(?1))`,
        uuids,
      );
      database.run(
        `UPDATE memory_units SET superseded_by = NULL WHERE superseded_by IN (SELECT value FROM json_each(?))`,
        uuids,
      );
      database.run(
        `INSERT OR IGNORE INTO memory_gone (key, at)
         SELECT key, ? FROM memory_turns WHERE id IN (SELECT value FROM json_each(?))`,
        changes.now(),
        said,
      );
      return {
        units: database.run('DELETE FROM memory_units WHERE id IN (SELECT value FROM json_each(?))', list),
        messages: database.run('DELETE FROM memory_turns WHERE id IN (SELECT value FROM json_each(?))', said),
      };
    });
    database.get('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#deps.onDropped({ keys: keysOf(all, messages), texts });
    return purged;
  }

  /** Deletes what has been in forgetting for a day. */
  sweep(): Promise<Purged> | Purged {
    const { database, clock } = this.#deps;
    const until = new Date(clock.now() - RECOVERABLE_MS).toISOString();
    const rows = database.all<Handle>(
      `SELECT ${HANDLE} FROM memory_units u WHERE u.forgotten_at <= ?`,
      until,
    );
    const turns = database
      .all<{ id: number }>('SELECT id FROM memory_turns WHERE forgotten_at <= ?', until)
      .map(({ id }) => id);
    if (rows.length + turns.length === 0) return { units: 0, messages: 0 };
    return rows.length + turns.length <= SLICE ? this.purgeFew(rows, turns) : this.purge(rows, turns);
  }

  #withMerged(rows: readonly Handle[]): Handle[] {
    const all = new Map(rows.map((row) => [row.id, row]));
    let found: readonly Handle[] = rows;
    while (found.length > 0) {
      found = this.#deps.database
        .all<Handle>(
          `SELECT ${HANDLE} FROM json_each(?) j CROSS JOIN memory_units u ON u.superseded_by = j.value WHERE u.merged = 1`,
          JSON.stringify(found.map(({ uuid }) => uuid)),
        )
        .filter(({ id }) => !all.has(id));
      for (const row of found) all.set(row.id, row);
    }
    return [...all.values()];
  }

  /** What they come from, and what was said with it or by way of them and repeats their words. */
  #messagesOf(rows: readonly Handle[]): number[] {
    const { database } = this.#deps;
    const list = JSON.stringify(rows.map(({ id }) => id));
    const sources = database.all<{ unit: number; turn: number }>(
      'SELECT unit, turn FROM memory_sources WHERE unit IN (SELECT value FROM json_each(?))',
      list,
    );
    const beside = database.all<{ unit: number; content: string; turn: number; text: string }>(
      `WITH near (unit, turn_id) AS MATERIALIZED (
         SELECT s.unit, t.turn_id FROM memory_sources s JOIN memory_turns t ON t.id = s.turn
         WHERE s.unit IN (SELECT value FROM json_each(?1)) AND t.turn_id IS NOT NULL
         UNION SELECT u.id, m.turn_id FROM memory_units u JOIN memory_uses m ON m.memory = u.uuid
         WHERE u.id IN (SELECT value FROM json_each(?1)))
       SELECT n.unit, u.content, t.id AS turn, t.text
       FROM near n JOIN memory_turns t ON t.turn_id = n.turn_id JOIN memory_units u ON u.id = n.unit
       WHERE NOT EXISTS (SELECT 1 FROM memory_sources s WHERE s.unit = n.unit AND s.turn = t.id)`,
      list,
    );
    const traces = new Map<number, Trace>();
    const echoes = beside.filter(({ unit, content, text }) => {
      const trace = traces.get(unit) ?? traceOf(content);
      traces.set(unit, trace);
      return repeats(text, trace);
    });
    return [...new Set([...sources, ...echoes].map(({ turn }) => turn))];
  }
}

function keysOf(rows: readonly Handle[], turns: readonly number[]): string[] {
  return [...rows.map(({ uuid }) => uuid), ...turns.map((id) => `t${id}`)];
}

interface Trace {
  words: ReadonlySet<string>;
  /** Numbers and names: one of them gives the memory away. */
  telling: ReadonlySet<string>;
}

function traceOf(content: string): Trace {
  const names = [...content.matchAll(/(?<=[\p{L}\p{N},;:]\s)\p{Lu}[\p{L}\p{N}'-]+/gu)].map(([name]) =>
    name.toLowerCase(),
  );
  return { words: wordsOf(content), telling: new Set([...names, ...numbersOf(content)]) };
}

function wordsOf(text: string): Set<string> {
  return new Set([...termsOf(text).map(({ term }) => term), ...numbersOf(text)]);
}

function numbersOf(text: string): string[] {
  return text.match(/\d[\d.,:/-]*\d/g) ?? [];
}

function repeats(text: string, { words, telling }: Trace): boolean {
  const there = wordsOf(text);
  const lower = text.toLowerCase();
  for (const one of telling) if (lower.includes(one)) return true;
  let shared = 0;
  for (const word of words) if (there.has(word)) shared += 1;
  return words.size > 0 && shared / words.size >= ECHO;
}
