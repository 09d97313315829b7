import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { TurnRow, UnitRow } from './rows.ts';

/** What finds memories by their words; kept in step inside the same transaction. */
export interface RowIndex {
  indexUnit(row: UnitRow): void;
  indexTurn(row: TurnRow): void;
  drop(ref: RowRef): void;
}

export interface RowRef {
  type: 'turn' | 'unit';
  /** Number of the row. */
  id: number;
}

/** So many are taken out at once; more of them a slice at a time, since nothing shows what is forgotten meanwhile. */
const AT_ONCE = 200;
const SLICE = 50;
const PAUSE_MS = 20;

interface QueueDeps {
  database: Database;
  clock: Clock;
  index: RowIndex;
}

/** Takes what is forgotten out of the index, and puts it back; thousands of them without a pause for anybody else. */
export class IndexQueue {
  readonly #deps: QueueDeps;
  readonly #waiting = new Map<string, RowRef>();
  #cancel: (() => void) | null = null;

  constructor(deps: QueueDeps) {
    this.#deps = deps;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Out of the index; later, where there are many. */
  drop(refs: readonly RowRef[]): void {
    if (refs.length + this.#waiting.size <= AT_ONCE) {
      for (const ref of refs) this.#deps.index.drop(ref);
      return;
    }
    for (const ref of refs) this.#waiting.set(nameOf(ref), ref);
    this.#cancel ??= this.#deps.clock.after(PAUSE_MS, () => this.#work());
  }

  /** Out of the index now, with every trace. */
  purge(refs: readonly RowRef[]): void {
    for (const ref of refs) {
      this.#waiting.delete(nameOf(ref));
      this.#deps.index.drop(ref);
    }
  }

  /** Whether it is in the index still, so that it needs only to be left there. */
  keep(ref: RowRef): boolean {
    return this.#waiting.delete(nameOf(ref));
  }

  #work(): void {
    this.#cancel = null;
    const { database, clock, index } = this.#deps;
    const slice = [...this.#waiting].slice(0, SLICE);
    database.tx(() => {
      for (const [name, ref] of slice) {
        this.#waiting.delete(name);
        if (this.#isForgotten(ref)) index.drop(ref);
      }
    });
    if (this.#waiting.size > 0) this.#cancel = clock.after(PAUSE_MS, () => this.#work());
  }

  #isForgotten({ type, id }: RowRef): boolean {
    const table = type === 'unit' ? 'memory_units' : 'memory_turns';
    return (
      this.#deps.database.get(`SELECT 1 FROM ${table} WHERE id = ? AND forgotten_at IS NULL`, id) === null
    );
  }
}

function nameOf({ type, id }: RowRef): string {
  return `${type}${id}`;
}
