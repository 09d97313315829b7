import type { Config } from '../../shared/config.ts';
import type { RouteOutput, RouteParsed } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { MemoryScope } from '../../shared/memory.ts';
import type { Bus } from '../bus.ts';
import type { Logger } from '../platform/logger.ts';
import type { ChatModel, Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { UndoLog } from '../store/undo.ts';

export interface MemoryDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Bus;
  undo: UndoLog;
  config: () => Config;
  /** Throws PROVIDER_NOT_SET when there is none. */
  chatModel: () => ChatModel;
  /** Until when nothing may be asked, because the day's cap is used up, in milliseconds; null when it may. */
  heldUntil: () => number | null;
}

/** All that is remembered: what was said, what was made of it, and the ways to find, change and forget it. */
export class MemoryBook {
  readonly #deps: MemoryDeps;

  constructor(deps: MemoryDeps) {
    this.#deps = deps;
  }

  /** Takes up what a crash left, then works until `stop`. */
  start(): void {}

  async stop(): Promise<void> {}

  stats(): RouteOutput<'memory.stats'> {
    return this.#unwritten();
  }

  list(_input: RouteParsed<'memory.list'>): RouteOutput<'memory.list'> {
    return this.#unwritten();
  }

  facets(_text: string): RouteOutput<'memory.facets'> {
    return this.#unwritten();
  }

  scopes(): RouteOutput<'memory.scopes'> {
    return this.#unwritten();
  }

  search(_input: RouteParsed<'memory.search'>): Promise<RouteOutput<'memory.search'>> {
    return this.#unwritten();
  }

  get(_id: string): RouteOutput<'memory.get'> {
    return this.#unwritten();
  }

  /** Ids of the memories, in any state, whose ids begin so; at most ten, so that a caller sees that several do. */
  find(prefix: string): RouteOutput<'memory.find'> {
    return this.#deps.database
      .all<{ uuid: string }>(
        'SELECT uuid FROM memory_units WHERE uuid >= ? AND uuid < ? ORDER BY uuid LIMIT 10',
        prefix.toLowerCase(),
        `${prefix.toLowerCase()}~`,
      )
      .map(({ uuid }) => uuid);
  }

  add(_input: RouteParsed<'memory.add'>): RouteOutput<'memory.add'> {
    return this.#unwritten();
  }

  edit(_id: string, _change: Omit<RouteParsed<'memory.edit'>, 'id'>): RouteOutput<'memory.edit'> {
    return this.#unwritten();
  }

  pin(_ids: readonly string[], _pinned: boolean): RouteOutput<'memory.pin'> {
    return this.#unwritten();
  }

  forget(_ids: readonly string[], _now: boolean): RouteOutput<'memory.forget'> {
    return this.#unwritten();
  }

  forgetSession(_sessionId: string, _now: boolean): RouteOutput<'memory.forgetSession'> {
    return this.#unwritten();
  }

  restore(_ids: readonly string[]): RouteOutput<'memory.restore'> {
    return this.#unwritten();
  }

  merge(_ids: readonly string[], _content: string): RouteOutput<'memory.merge'> {
    return this.#unwritten();
  }

  conflicts(): RouteOutput<'memory.conflicts'> {
    return this.#unwritten();
  }

  settle(_id: string, _keep: 'one' | 'other' | 'both'): RouteOutput<'memory.settle'> {
    return this.#unwritten();
  }

  consolidate(_dryRun: boolean): RouteOutput<'memory.consolidate'> {
    return this.#unwritten();
  }

  import(_input: RouteParsed<'memory.import'>): RouteOutput<'memory.import'> {
    return this.#unwritten();
  }

  export(_to: string, _format: 'jsonl' | 'markdown'): RouteOutput<'memory.export'> {
    return this.#unwritten();
  }

  wipe(_scope: MemoryScope | undefined, _now: boolean): RouteOutput<'memory.wipe'> {
    return this.#unwritten();
  }

  #unwritten(): never {
    this.#deps.log.debug('not there yet');
    throw new AppError('NOT_FOUND', 'Memory is not there yet.');
  }
}
