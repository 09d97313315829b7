import type { Config } from '../../shared/config.ts';
import type { RouteOutput } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { MemoryScope } from '../../shared/memory.ts';
import type { Logger } from '../platform/logger.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { Changes } from './changes.ts';
import { type Dropped, Forgetting, HANDLE, type Handle, type Purged } from './forgetting.ts';
import type { ScopeTable } from './scope.ts';
import { counted, type UnitStore } from './units.ts';
import type { Upkeep } from './upkeep.ts';

interface ErasureDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  config: () => Config;
  changes: Changes;
  units: UnitStore;
  upkeep: Upkeep;
  scopes: ScopeTable;
  onDropped: (dropped: Dropped) => void;
  /** Memories are shown otherwise from now on. */
  changed: () => void;
}

const SWEEP_MS = 60 * 60 * 1000;

/** What the user forgets: by id, by conversation or all of a scope, for a day or for good. */
export class Erasure {
  readonly #deps: ErasureDeps;
  readonly #forgetting: Forgetting;
  #stopSweeping: () => void = () => {};

  constructor(deps: ErasureDeps) {
    this.#deps = deps;
    this.#forgetting = new Forgetting(deps);
  }

  start(): void {
    this.#sweep();
  }

  stop(): void {
    this.#stopSweeping();
    this.#forgetting.stop();
  }

  forget(ids: readonly string[], now: boolean): RouteOutput<'memory.forget'> {
    const messages = this.#messages(ids);
    const rows = messages.length > 0 && messages.length === ids.length ? [] : this.#deps.units.known(ids);
    const note = this.#trainedNote();
    if (now) {
      const purged = this.#told(this.#forgetting.purgeFew(rows, messages));
      return { forgotten: purged.units, undo: null, note, purged };
    }
    const label = `Forgot ${rows.length === 0 ? 'what was said' : counted(rows.length)}`;
    const { forgotten, undo } = this.#forgetAll(label, rows, messages);
    return { forgotten, undo, note, purged: null };
  }

  /** Deletes for good, without a pause for anybody else however many there are. */
  async purge(ids: readonly string[]): Promise<RouteOutput<'memory.forget'>> {
    const messages = this.#messages(ids);
    const rows = messages.length > 0 && messages.length === ids.length ? [] : this.#deps.units.known(ids);
    const purged = this.#told(await this.#forgetting.purge(rows, messages));
    return { forgotten: purged.units, undo: null, note: this.#trainedNote(), purged };
  }

  async forgetSession(sessionId: string, now: boolean): Promise<RouteOutput<'memory.forgetSession'>> {
    const { database } = this.#deps;
    const turns = database
      .all<{ id: number }>('SELECT id FROM memory_turns WHERE session_id = ?', sessionId)
      .map(({ id }) => id);
    // What was said in another conversation too stays, and loses its quotation from this one.
    const rows = database.all<Handle>(
      `SELECT ${HANDLE} FROM memory_units u
       WHERE u.id IN (SELECT s.unit FROM memory_turns t JOIN memory_sources s ON s.turn = t.id WHERE t.session_id = ?1)
         AND NOT EXISTS (SELECT 1 FROM memory_sources s JOIN memory_turns t ON t.id = s.turn
           WHERE s.unit = u.id AND t.session_id <> ?1 AND t.forgotten_at IS NULL)
       UNION SELECT ${HANDLE} FROM memory_units u
       WHERE u.extra IS NOT NULL AND json_extract(u.extra, '$.source_session_id') = ?1`,
      sessionId,
    );
    if (rows.length + turns.length === 0)
      throw new AppError('NOT_FOUND', `Nothing is remembered of a conversation ${sessionId}.`);
    return now ? this.#purgeAll(rows, turns) : this.#forgetAll('Forgot a conversation', rows, turns);
  }

  /** Brings back memories and messages; null: all that can be. */
  restore(ids: readonly string[] | null): RouteOutput<'memory.restore'> {
    const messages = ids && this.#messages(ids);
    const rows =
      ids === null
        ? this.#forgetting.recoverable()
        : messages?.length === ids.length
          ? []
          : this.#deps.units.known(ids);
    const { back, turns } = this.#deps.database.tx(() => {
      const restored = this.#forgetting.restore(rows);
      this.#deps.upkeep.order(restored.map((row) => row.id));
      return { back: restored, turns: this.#forgetting.restoreTurns(messages) };
    });
    this.#deps.changed();
    return { restored: back.length, turns };
  }

  async wipe(scope: MemoryScope | undefined, now: boolean): Promise<RouteOutput<'memory.wipe'>> {
    const { database } = this.#deps;
    const id = scope === undefined ? null : this.#deps.scopes.idOf(scope);
    if (scope !== undefined && id === null) return { forgotten: 0, turns: 0, undo: null };
    const where = id === null ? '1' : `scope = ${id}`;
    const rows = database.all<Handle>(
      `SELECT ${HANDLE} FROM memory_units u WHERE ${where} ${now ? '' : "AND status <> 'forgotten'"}`,
    );
    const turns = database
      .all<{ id: number }>(
        `SELECT id FROM memory_turns WHERE ${where} ${now ? '' : 'AND forgotten_at IS NULL'}`,
      )
      .map((turn) => turn.id);
    return now ? this.#purgeAll(rows, turns) : this.#forgetAll('Wiped memories', rows, turns);
  }

  #forgetAll(label: string, rows: readonly Handle[], turns: readonly number[]): RouteOutput<'memory.wipe'> {
    const { result, undo } = this.#deps.changes.undoable(label, () => {
      const forgotten = this.#forgetting.forget(rows);
      const left = this.#deps.database.all<{ id: number }>(
        'SELECT id FROM memory_turns WHERE forgotten_at IS NULL AND id IN (SELECT value FROM json_each(?))',
        JSON.stringify(turns),
      );
      this.#forgetting.forgetTurns(left.map(({ id }) => id));
      return forgotten;
    });
    this.#deps.changed();
    return { forgotten: result, turns: turns.length, undo };
  }

  async #purgeAll(rows: readonly Handle[], turns: readonly number[]): Promise<RouteOutput<'memory.wipe'>> {
    const { units, messages } = this.#told(await this.#forgetting.purge(rows, turns));
    return { forgotten: units, turns: messages, undo: null };
  }

  #told(purged: Purged): Purged {
    this.#deps.log.info({ ...purged }, 'memories were deleted for good');
    this.#deps.changed();
    return purged;
  }

  /** Deletes what has been in forgetting for a day, and what has run out, now and every hour. */
  #sweep(): void {
    try {
      if (this.#deps.units.expire() > 0) this.#deps.changed();
      const swept = this.#forgetting.sweep();
      if (!(swept instanceof Promise)) {
        if (swept.units + swept.messages > 0) this.#told(swept);
      } else
        swept
          .then((purged) => this.#told(purged))
          .catch((error: unknown) => this.#deps.log.warn({ err: error }, 'deleting for good stopped'));
    } finally {
      this.#stopSweeping = this.#deps.clock.after(SWEEP_MS, () => this.#sweep());
    }
  }

  /** The numbers of those that are what was said (`t` and a number), as far as it is there. */
  #messages(ids: readonly string[]): number[] {
    const numbers = ids.flatMap((id) => (/^t\d{1,15}$/.test(id) ? [Number(id.slice(1))] : []));
    return this.#deps.database
      .all<{ id: number }>(
        'SELECT id FROM memory_turns WHERE id IN (SELECT value FROM json_each(?))',
        JSON.stringify(numbers),
      )
      .map(({ id }) => id);
  }

  /** What was learned into weights cannot be taken out of them. */
  #trainedNote(): string | null {
    return this.#deps.config().rl.enabled
      ? 'Weights that were trained before may still keep it; they are not changed by forgetting.'
      : null;
  }
}
