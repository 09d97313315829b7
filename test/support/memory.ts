import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bus } from '../../src/engine/bus.ts';
import { Changes } from '../../src/engine/memory/changes.ts';
import { MemoryBook } from '../../src/engine/memory/index.ts';
import { Rivals } from '../../src/engine/memory/rivals.ts';
import { ScopeTable } from '../../src/engine/memory/scope.ts';
import { type AddedUnit, type NewUnit, UnitStore } from '../../src/engine/memory/units.ts';
import { silentLogger } from '../../src/engine/platform/logger.ts';
import { type Database, openDatabase } from '../../src/engine/store/database.ts';
import { UndoLog } from '../../src/engine/store/undo.ts';
import { type Config, DEFAULT_CONFIG } from '../../src/shared/config.ts';
import { ROUTES, type RouteInput, type RouteParsed } from '../../src/shared/contract.ts';
import type { MemoryScope, MemoryStatus, MemoryUnit } from '../../src/shared/memory.ts';
import { type FakeClock, fakeClock } from './clock.ts';
import { NO_EMBEDDER } from './embedder.ts';

/** Memories over a real database, with a clock that stands still. */
export class MemoryLab {
  readonly root = mkdtempSync(join(tmpdir(), 'metaclaw-memory-'));
  readonly clock: FakeClock = fakeClock();
  readonly database: Database;
  readonly undo: UndoLog;
  readonly book: MemoryBook;
  config: Config = DEFAULT_CONFIG;

  constructor() {
    this.database = openDatabase(join(this.root, 'metaclaw.db')).database;
    this.undo = new UndoLog({ database: this.database, clock: this.clock });
    this.book = new MemoryBook({
      database: this.database,
      clock: this.clock,
      log: silentLogger(),
      bus: new Bus(),
      undo: this.undo,
      config: () => this.config,
      embedder: NO_EMBEDDER,
      chatModel: () => {
        throw new Error('no model here');
      },
      heldUntil: () => null,
    });
  }

  /** Adds a memory of the user's own. */
  add(content: string, input: Partial<RouteInput<'memory.add'>> = {}): string {
    return this.book.add(ROUTES['memory.add'].input.parse({ content, ...input })).id;
  }

  /** Keeps what was learned from a conversation, as the reader does. */
  learn(content: string, over: Partial<NewUnit> = {}): AddedUnit {
    const changes = new Changes({
      database: this.database,
      clock: this.clock,
      undo: new UndoLog({ database: this.database, clock: this.clock }),
      index: { indexUnit() {}, indexTurn() {}, drop() {} },
      onBack: () => {},
    });
    const units = new UnitStore({
      database: this.database,
      changes,
      rivals: new Rivals(this.database),
      consolidates: () => this.config.memory.auto_consolidate,
    });
    const scope = new ScopeTable(this.database).idFor({ user: '', workspace: '', agent: '' });
    return this.database.tx(() => units.add({ content, kind: 'semantic', scope, origin: 'rules', ...over }));
  }

  list(input: RouteInput<'memory.list'> = {}) {
    const parsed: RouteParsed<'memory.list'> = ROUTES['memory.list'].input.parse(input);
    return this.book.list(parsed);
  }

  /** Contents in a state, oldest first. */
  contents(status: MemoryStatus = 'active', scope?: Partial<MemoryScope>): string[] {
    return this.#units(status, scope).map(({ content }) => content);
  }

  unit(content: string): MemoryUnit {
    const found = (['active', 'superseded', 'expired', 'forgotten'] as const)
      .flatMap((status) => this.#units(status))
      .find((unit) => unit.content === content);
    if (!found) throw new Error(`There is no memory: ${content}`);
    return found;
  }

  /** Writes down something that was said, as capture does. Returns its number. */
  say(
    text: string,
    over: { sessionId?: string; turnId?: string; role?: 'user' | 'assistant'; scope?: MemoryScope } = {},
  ): number {
    const { user, workspace, agent } = over.scope ?? { user: '', workspace: '', agent: '' };
    this.database.run(
      'INSERT OR IGNORE INTO memory_scopes (user, workspace, agent) VALUES (?, ?, ?)',
      user,
      workspace,
      agent,
    );
    const role = over.role ?? 'user';
    const turnId = over.turnId ?? null;
    this.#said += 1;
    const row = this.database.get<{ id: number }>(
      `INSERT INTO memory_turns (key, scope, session_id, turn_id, role, speaker, text, said_at)
       VALUES (?, (SELECT id FROM memory_scopes WHERE user = ? AND workspace = ? AND agent = ?), ?, ?, ?, ?, ?, ?)
       RETURNING id`,
      `${turnId ?? `said-${this.#said}`}:${role}`,
      user,
      workspace,
      agent,
      over.sessionId ?? 's1',
      turnId,
      role,
      role,
      text,
      new Date(this.clock.now()).toISOString(),
    );
    return (row as { id: number }).id;
  }

  /** So many more memories like that one, numbered, straight into the store. */
  multiply(uuid: string, more: number): void {
    const columns = this.database
      .all<{ name: string }>(
        "SELECT name FROM pragma_table_info('memory_units') WHERE name NOT IN ('id', 'uuid', 'content', 'hash')",
      )
      .map(({ name }) => name)
      .join(', ');
    this.database.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
       INSERT INTO memory_units (uuid, content, hash, ${columns})
       SELECT printf('00000000-0000-4000-8000-%012d', n), content || ' ' || n, n, ${columns}
       FROM numbers, memory_units WHERE uuid = ?`,
      more,
      uuid,
    );
  }

  count(table: string): number {
    return this.database.get<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table}`)?.n ?? 0;
  }

  async close(): Promise<void> {
    await this.book.stop();
    this.database.close();
    rmSync(this.root, { recursive: true, force: true });
  }

  #said = 0;

  #units(status: MemoryStatus, scope?: Partial<MemoryScope>): MemoryUnit[] {
    return this.list({ statuses: [status], sort: 'oldest', limit: 1000, ...(scope && { scopes: [scope] }) })
      .units;
  }
}
