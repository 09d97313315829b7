import type { Config } from '../../shared/config.ts';
import type { RouteOutput, RouteParsed } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { MemoryScope } from '../../shared/memory.ts';
import { Bus } from '../bus.ts';
import type { Logger } from '../platform/logger.ts';
import { estimateTokens } from '../platform/tokens.ts';
import type { ChatModel, Clock, Embedder } from '../ports.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { UndoLog } from '../store/undo.ts';
import { countUnits } from './api/counts.ts';
import { MemoryApi } from './api/index.ts';
import { Capture } from './capture.ts';
import { Changes } from './changes.ts';
import { Conversations } from './conversations.ts';
import { Erasure } from './erasure.ts';
import type { TrialStore } from './eval/trial.ts';
import { Tuning } from './eval/tuning.ts';
import { finder } from './find.ts';
import type { Dropped } from './forgetting.ts';
import { Listing } from './listing.ts';
import { exportMemories } from './porting/export.ts';
import { readMemories } from './porting/files.ts';
import { Importer } from './porting/importer.ts';
import { Reader } from './reader.ts';
import { Recall } from './recall.ts';
import { Rivals } from './rivals.ts';
import { toTurn, type UnitRow } from './rows.ts';
import { readable, ScopeTable, scopesOf } from './scope.ts';
import { MemoryIndex } from './search/index.ts';
import { Summaries } from './summaries.ts';
import { TurnMemory } from './turn-memory.ts';
import { TurnStore } from './turns.ts';
import { counted, noMemory, UnitStore } from './units.ts';
import { Upkeep } from './upkeep.ts';
import { serveVectors, usesVectors, withVectors } from './vectors.ts';

/** A person who searches waits so long for the question's vector. */
const QUESTION_MS = 3000;

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
  embedder: Embedder;
}

/** All that is remembered: what was said, what was made of it, and the ways to find, change and forget it. */
export class MemoryBook {
  /** How conversations become memories. */
  readonly conversations: Conversations;
  /** What turns are told of it. */
  readonly forTurns: TurnMemory;
  /** What programs outside see of it. */
  readonly api: MemoryApi;
  /** How well it is found, and the settings that follow from it. */
  readonly tuning: Tuning;
  readonly #deps: MemoryDeps;
  readonly #scopes: ScopeTable;
  readonly #changes: Changes;
  readonly #units: UnitStore;
  readonly #erasure: Erasure;
  readonly #index: MemoryIndex;
  readonly #listing: Listing;
  readonly #upkeep: Upkeep;
  readonly #importer: Importer;
  readonly #recall: Recall;
  readonly #onDropped = new Set<(dropped: Dropped) => void>();
  #stopServing: () => void = () => {};

  constructor(deps: MemoryDeps) {
    this.#deps = deps;
    const { database, clock, undo } = deps;
    const memoryIndex = new MemoryIndex(database, deps);
    this.#index = memoryIndex;
    const index = withVectors(memoryIndex, deps);
    this.#scopes = new ScopeTable(database);
    this.#changes = new Changes({
      database,
      clock,
      undo,
      index,
      onBack: (units) => this.#upkeep.order(units),
    });
    const rivals = new Rivals(database);
    this.#units = new UnitStore({
      database,
      changes: this.#changes,
      rivals,
      consolidates: () => deps.config().memory.auto_consolidate,
    });
    const find = finder({ database, clock, index: memoryIndex });
    this.#listing = new Listing({ database, clock, scopes: this.#scopes, find });
    this.#upkeep = new Upkeep({
      database,
      changes: this.#changes,
      units: this.#units,
      rivals,
      listing: this.#listing,
    });
    this.#erasure = new Erasure({
      ...deps,
      changes: this.#changes,
      units: this.#units,
      upkeep: this.#upkeep,
      scopes: this.#scopes,
      onDropped: (dropped) => {
        deps.embedder.drop(dropped.texts);
        for (const listener of this.#onDropped) listener(dropped);
      },
      changed: () => this.#changed(),
    });
    this.tuning = new Tuning({ ...deps, usesVectors, openTrial: () => openTrial(deps) });
    this.#recall = new Recall({
      ...deps,
      config: () => this.tuning.config(),
      index: memoryIndex,
      scopes: this.#scopes,
      least: () => this.tuning.adaptive.settings().relevance,
    });
    const turns = new TurnStore({ database, index });
    this.#importer = new Importer({
      database,
      changes: this.#changes,
      units: this.#units,
      turns,
      rivals,
      scopes: this.#scopes,
      order: (units) => this.#upkeep.order(units),
    });
    this.conversations = this.#listen(turns);
    this.forTurns = new TurnMemory({ ...deps, scopes: this.#scopes, turns, recall: this.#recall });
    this.api = new MemoryApi({
      book: this,
      conversations: this.conversations,
      counts: (scopes) =>
        countUnits(
          database,
          scopes?.flatMap((scope) => this.#scopes.idOf(scope) ?? []),
        ),
      config: deps.config,
      clock,
      recall: async (text, scopes) =>
        this.#recall.find({
          text,
          scopes,
          vector: usesVectors(deps.config()) ? await deps.embedder.query(text, QUESTION_MS) : null,
          sessionId: null,
          isFirst: false,
          holds: () => false,
        }),
    });
  }

  /** Takes up what a crash left, then works until `stop`. */
  start(): void {
    this.#index.start();
    this.#stopServing = serveVectors(this.#deps);
    this.conversations.start();
    this.tuning.adaptive.start();
    this.#erasure.start();
  }

  async stop(): Promise<void> {
    await this.tuning.adaptive.stop();
    await this.conversations.stop();
    this.#stopServing();
    this.#changes.stop();
    this.#erasure.stop();
    this.#index.stop();
  }

  /** Calls the listener with what is out of use from now on, so that no copy of it is used. Returns the disposer. */
  onDropped(listener: (dropped: Dropped) => void): () => void {
    this.#onDropped.add(listener);
    return () => this.#onDropped.delete(listener);
  }

  stats(): RouteOutput<'memory.stats'> {
    const { database, config } = this.#deps;
    const { enabled, extractor, retrieval_mode: mode } = config().memory;
    const counts = database.get<
      Pick<RouteOutput<'memory.stats'>, 'units' | 'turns' | 'scopes' | 'conflicts' | 'forgotten'>
    >(
      `SELECT (SELECT COUNT(*) FROM memory_units WHERE status = 'active') AS units,
         (SELECT COUNT(*) FROM memory_turns WHERE forgotten_at IS NULL) AS turns,
         (SELECT COUNT(*) FROM memory_scopes) AS scopes,
         (SELECT COUNT(*) FROM memory_conflicts WHERE settled = 0) AS conflicts,
         (SELECT COUNT(*) FROM memory_units WHERE forgotten_at IS NOT NULL) AS forgotten`,
    ) ?? { units: 0, turns: 0, scopes: 0, conflicts: 0, forgotten: 0 };
    return {
      enabled,
      reason: enabled ? null : 'memory.enabled is off.',
      ...counts,
      extractor,
      mode,
      embeddings: this.#vectorWords(),
      ...this.conversations.status(),
    };
  }

  list(input: RouteParsed<'memory.list'>): RouteOutput<'memory.list'> {
    return this.#listing.list(input);
  }

  facets(text: string): RouteOutput<'memory.facets'> {
    return this.#listing.facets(text);
  }

  scopes(): RouteOutput<'memory.scopes'> {
    return this.#listing.scopes();
  }

  async search(input: RouteParsed<'memory.search'>): Promise<RouteOutput<'memory.search'>> {
    const { text, scope, limit, turns } = input;
    const { config, embedder } = this.#deps;
    const { read } = scope
      ? { read: readable(scope) }
      : scopesOf({ headers: {}, fields: {}, agent: '' }, config());
    const vector = usesVectors(config()) ? await embedder.query(text, QUESTION_MS) : null;
    const found = this.#recall.search({
      text,
      scopes: read,
      vector,
      sessionId: null,
      isFirst: false,
      holds: () => false,
      limit,
      turns,
    });
    const units = new Map(
      this.#listing
        .byRows(found.flatMap((one) => ('unit' in one ? [one.unit.id] : [])))
        .map((unit) => [unit.id, unit]),
    );
    return found.flatMap((one): RouteOutput<'memory.search'> => {
      const { match, enters } = one;
      const hit = { score: match.score, reason: match.reason, enters };
      if ('turn' in one)
        return [{ ...hit, type: 'turn', turn: toTurn(one.turn, this.#scopes.get(one.turn.scope)) }];
      const unit = units.get(one.unit.uuid);
      return unit ? [{ ...hit, type: 'unit', unit }] : [];
    });
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

  get(id: string): RouteOutput<'memory.get'> {
    const row = this.#existing(id);
    const [unit] = this.#listing.byUuid([id]);
    if (!unit) throw noMemory(id);
    return {
      ...unit,
      tokens: estimateTokens(unit.content),
      ...this.#listing.background(row.id),
      replaced: this.#listing.replacedBy(id),
      usedBy: this.#listing.usedBy(id),
    };
  }

  add(input: RouteParsed<'memory.add'>): RouteOutput<'memory.add'> {
    const { scope, importance = 0.8, ...unit } = input;
    const { result, undo } = this.#undoable('Remembered', () =>
      this.#units.add({
        ...unit,
        importance,
        origin: 'user',
        confidence: 1,
        scope: this.#scopes.idFor(scope ?? this.#ownScope()),
      }),
    );
    return { id: result.row.uuid, merged: result.merged, superseded: result.superseded, undo };
  }

  edit(id: string, change: Omit<RouteParsed<'memory.edit'>, 'id'>): RouteOutput<'memory.edit'> {
    const row = this.#existing(id);
    if (change.base !== undefined && change.base !== row.updated_at)
      throw new AppError('CONFLICT', 'This memory has been changed since it was shown.', {
        hint: 'Load it again, then repeat the change.',
      });
    const { scope, ...rest } = change;
    const { undo } = this.#undoable('Edited a memory', () => {
      this.#units.edit(row, { ...rest, scope: scope && this.#scopes.idFor(scope) });
      this.#upkeep.reworded(id);
    });
    return { undo };
  }

  pin(ids: readonly string[], pinned: boolean): RouteOutput<'memory.pin'> {
    const rows = this.#units.known(ids);
    const label = `${pinned ? 'Pinned' : 'Unpinned'} ${counted(rows.length)}`;
    const { undo } = this.#undoable(label, () =>
      this.#changes.patch(
        rows.map((row) => row.id),
        { pinned: pinned ? 1 : 0 },
        { what: pinned ? 'pinned' : 'unpinned', by: 'user' },
      ),
    );
    return { undo };
  }

  forget(ids: readonly string[], now: boolean): RouteOutput<'memory.forget'> {
    return this.#erasure.forget(ids, now);
  }

  /** Deletes for good, without a pause for anybody else however many there are. */
  purge(ids: readonly string[]): Promise<RouteOutput<'memory.forget'>> {
    return this.#erasure.purge(ids);
  }

  forgetSession(sessionId: string, now: boolean): Promise<RouteOutput<'memory.forgetSession'>> {
    return this.#erasure.forgetSession(sessionId, now);
  }

  wipe(scope: MemoryScope | undefined, now: boolean): Promise<RouteOutput<'memory.wipe'>> {
    return this.#erasure.wipe(scope, now);
  }

  /** Brings back memories and messages; null: all that can be. */
  restore(ids: readonly string[] | null): RouteOutput<'memory.restore'> {
    return this.#erasure.restore(ids);
  }

  merge(ids: readonly string[], content: string): RouteOutput<'memory.merge'> {
    const { result, undo } = this.#undoable(`Merged ${counted(ids.length)}`, () =>
      this.#upkeep.merge(ids, content),
    );
    return { id: result.uuid, undo };
  }

  conflicts(): RouteOutput<'memory.conflicts'> {
    return this.#upkeep.conflicts();
  }

  settle(id: string, keep: 'one' | 'other' | 'both'): RouteOutput<'memory.settle'> {
    const { undo } = this.#undoable('Settled a conflict', () => this.#upkeep.settle(id, keep));
    return { undo };
  }

  consolidate(dryRun: boolean): RouteOutput<'memory.consolidate'> {
    if (dryRun) return { ...this.#deps.database.rehearse(() => this.#upkeep.consolidate()), undo: null };
    const { result, record } = this.#changes.slice(() => this.#upkeep.consolidate());
    this.#changed();
    return { ...result, undo: this.#changes.offerAll('Consolidated memories', [record]) };
  }

  async import({
    path,
    format,
    scope,
    dryRun,
  }: RouteParsed<'memory.import'>): Promise<RouteOutput<'memory.import'>> {
    const records = readMemories(path, format, this.#changes.now());
    const result = await this.#importer.run(records, { scope, ownScope: this.#ownScope(), dryRun });
    if (!dryRun) this.#changed();
    return result;
  }

  export(to: string, format: 'jsonl' | 'markdown'): RouteOutput<'memory.export'> {
    return exportMemories({
      database: this.#deps.database,
      scopes: this.#scopes,
      to,
      format,
      now: this.#changes.now(),
    });
  }

  #undoable<T>(label: string, change: () => T) {
    const done = this.#changes.undoable(label, change);
    this.#changed();
    return done;
  }

  #changed(): void {
    this.#deps.bus.emit('invalidate', 'memory');
  }

  #vectorWords(): string {
    const { config, embedder } = this.#deps;
    if (usesVectors(config()) || embedder.id === null) return embedder.describe();
    const { retrieval_mode: mode } = config().memory;
    return mode === 'keyword'
      ? 'memory.retrieval_mode is keyword: memories are searched by words.'
      : 'memory.use_embeddings is off: memories are searched by words.';
  }

  #ownScope(): MemoryScope {
    return scopesOf({ headers: {}, fields: {}, agent: '' }, this.#deps.config()).write;
  }

  #existing(id: string): UnitRow {
    const row = this.#units.get(id);
    if (!row) throw noMemory(id);
    return row;
  }

  #listen(turns: TurnStore): Conversations {
    const { database } = this.#deps;
    const scopes = this.#scopes;
    const summaries = new Summaries({ database, changes: this.#changes, units: this.#units });
    return new Conversations({
      scopes,
      capture: new Capture({ ...this.#deps, scopes, turns }),
      reader: new Reader({ ...this.#deps, turns, units: this.#units, summaries }),
    });
  }
}

/** Memories of a moment: in memory only, read by rules, on a clock that is set by hand. */
function openTrial(deps: MemoryDeps): TrialStore & { stop: () => Promise<void> } {
  const { database } = openDatabase(':memory:');
  let nowMs = 0;
  const clock = { now: () => nowMs, after: () => () => {} };
  const config = deps.config();
  const memory = { ...config.memory, enabled: true, extractor: 'rules', retrieval_mode: 'keyword' } as const;
  const book = new MemoryBook({
    ...deps,
    database,
    clock,
    bus: new Bus(),
    undo: new UndoLog({ database, clock }),
    config: () => ({ ...config, memory }),
  });
  return {
    database,
    conversations: book.conversations,
    setTime: (ms) => {
      nowMs = ms;
    },
    stop: async () => {
      await book.stop();
      database.close();
    },
  };
}
