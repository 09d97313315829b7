import type { Config } from '../../../shared/config.ts';
import type { RouteOutput, RouteParsed } from '../../../shared/contract.ts';
import { AppError } from '../../../shared/errors.ts';
import {
  MEMORY_KINDS,
  type MemoryKind,
  type MemoryScope,
  type MemoryStatus,
  scopeName,
} from '../../../shared/memory.ts';
import { withoutInjected } from '../../platform/injected.ts';
import { ownWords } from '../../platform/user-text.ts';
import type { Clock } from '../../ports.ts';
import type { ToldExchange } from '../conversations.ts';
import type { MemoryCandidate } from '../recall.ts';
import { type Asker, type Reach, reachOf } from './asker.ts';
import type { UnitCount } from './counts.ts';
import { type FlatHit, type FlatUnit, flatHit, flatUnit } from './shapes.ts';

/** The calls of the store that programs outside reach through here. */
interface Book {
  stats(): RouteOutput<'memory.stats'>;
  list(input: RouteParsed<'memory.list'>): RouteOutput<'memory.list'>;
  scopes(): RouteOutput<'memory.scopes'>;
  search(input: RouteParsed<'memory.search'>): Promise<RouteOutput<'memory.search'>>;
  get(id: string): RouteOutput<'memory.get'>;
  add(input: RouteParsed<'memory.add'>): RouteOutput<'memory.add'>;
  edit(id: string, change: Omit<RouteParsed<'memory.edit'>, 'id'>): RouteOutput<'memory.edit'>;
  pin(ids: readonly string[], pinned: boolean): RouteOutput<'memory.pin'>;
  forget(ids: readonly string[], now: boolean): RouteOutput<'memory.forget'>;
  restore(ids: readonly string[] | null): RouteOutput<'memory.restore'>;
  conflicts(): RouteOutput<'memory.conflicts'>;
  consolidate(dryRun: boolean): RouteOutput<'memory.consolidate'>;
}

/** What other programs say was said. */
interface Hearing {
  tell(exchanges: readonly ToldExchange[]): number;
  unread(sessionId?: string): { sessionId: string; exchanges: number; scope: MemoryScope | null }[];
  readNow(sessionId?: string): Promise<number>;
}

type Exchange = Pick<ToldExchange, 'user' | 'reply' | 'id'>;

export interface MemoryApiDeps {
  book: Book;
  conversations: Hearing;
  /** Memories of these scopes, or of all, by what they are. */
  counts: (scopes?: readonly MemoryScope[]) => UnitCount[];
  config: () => Config;
  clock: Clock;
  /** Memories that would enter a turn with these words. */
  recall: (text: string, scopes: readonly MemoryScope[]) => Promise<MemoryCandidate[]>;
}

const OFF = /^\s*(?:off|false|no|0)\s*$/i;
const ON = /^\s*(?:on|true|yes|1)\s*$/i;
/** Gateways wait for the answer. */
const PATIENCE_MS = 10_000;
const MOST_USED = 10;

/**
 * What is remembered as programs outside see it: the REST routes of the proxy and the sidecar, in the original's
 * shapes. Every method throws NOT_RUNNING while memory is off, and shows nobody what is another user's.
 */
export class MemoryApi {
  readonly #deps: MemoryApiDeps;

  constructor(deps: MemoryApiDeps) {
    this.#deps = deps;
  }

  /** Counts, nested by kind. */
  stats(asker: Asker) {
    const reach = this.#reach(asker);
    const { extractor, mode, pending, conflicts, lastError } = this.#deps.book.stats();
    const scopes = this.#scopes(reach);
    const counts = this.#deps.counts(reach.all ? undefined : scopes.map(({ scope }) => scope));
    const sum = (fits: (one: UnitCount) => boolean) =>
      counts.reduce((total, one) => total + (fits(one) ? one.count : 0), 0);
    const isActive = ({ status }: UnitCount) => status === 'active';
    const byType: Partial<Record<MemoryKind, number>> = {};
    for (const kind of MEMORY_KINDS) {
      const units = sum((one) => isActive(one) && one.kind === kind);
      if (units > 0) byType[kind] = units;
    }
    return {
      scope_id: reach.name,
      total: sum(() => true),
      active: sum(isActive),
      superseded: sum(({ status }) => status === 'superseded'),
      archived: sum(({ status }) => status === 'expired' || status === 'forgotten'),
      pinned: sum((one) => isActive(one) && one.pinned === 1),
      turns: scopes.reduce((total, { turns }) => total + turns, 0),
      scopes: scopes.length,
      active_by_type: byType,
      retrieval_mode: mode,
      extractor,
      pending_turns: reach.all
        ? pending
        : this.#waiting(asker).reduce((total, { exchanges }) => total + exchanges, 0),
      conflicts: reach.all ? conflicts : this.#conflicts(reach),
      last_error: lastError ?? '',
    };
  }

  health(asker: Asker) {
    const { scope_id, last_error: error, pending_turns: pending, conflicts } = this.stats(asker);
    const checks = [
      { name: 'store', passed: true, detail: '' },
      { name: 'extraction', passed: error === '', detail: error },
      { name: 'conflicts', passed: conflicts === 0, detail: conflicts === 0 ? '' : `${conflicts} in doubt` },
    ];
    return { passed: error === '', scope_id, pending_turns: pending, checks };
  }

  summary(asker: Asker) {
    const scopes = this.#scopes(this.#reach(asker));
    return {
      scopes: scopes.map(({ scope, units, turns }) => ({ scope_id: scopeName(scope), active: units, turns })),
      scope_count: scopes.length,
      total_active: scopes.reduce((sum, { units }) => sum + units, 0),
      total_turns: scopes.reduce((sum, { turns }) => sum + turns, 0),
    };
  }

  /** What a text would bring to mind, the best first; with `turns` also what was said. */
  async search(
    asker: Asker,
    { text, limit, turns }: { text: string; limit: number; turns: boolean },
  ): Promise<FlatHit[]> {
    const { write, read } = this.#reach(asker);
    const hits = await this.#deps.book.search({ text, scope: write, limit, turns });
    const names = new Set(read.map(scopeName));
    return hits
      .filter((hit) => names.has(scopeName((hit.type === 'unit' ? hit.unit : hit.turn).scope)))
      .map((hit) => flatHit(hit, text));
  }

  /** One page, newest first; with `q` the best first. */
  list(
    asker: Asker,
    {
      type,
      q,
      status,
      limit,
      cursor,
    }: {
      type?: MemoryKind | undefined;
      q: string;
      status: MemoryStatus;
      limit: number;
      cursor?: string | undefined;
    },
  ): { data: FlatUnit[]; total: number; next: string | null } {
    const reach = this.#reach(asker);
    if (!reach.all && this.#scopes(reach).length === 0) return { data: [], total: 0, next: null };
    const page = this.#list(reach, {
      ...(type === undefined ? {} : { kinds: [type] }),
      text: q,
      statuses: [status],
      limit,
      ...(cursor === undefined ? {} : { after: cursor }),
    });
    return { data: page.units.map(flatUnit), total: page.total, next: page.next };
  }

  /** One memory with where it comes from. Throws NOT_FOUND, also for what is another user's. */
  get(asker: Asker, id: string) {
    const unit = this.#seen(this.#reach(asker), id);
    return {
      ...flatUnit(unit),
      source_session_id: unit.sources[0]?.sessionId ?? '',
      origin: unit.origin,
      tokens: unit.tokens,
      sources: unit.sources.map(({ sessionId, turnId, role, speaker, quote, saidAt }) => ({
        session_id: sessionId,
        turn_id: turnId,
        role,
        speaker,
        quote,
        said_at: saidAt,
      })),
      history: unit.history,
      supersedes: unit.replaced.map((older) => older.id),
    };
  }

  add(
    asker: Asker,
    input: Pick<
      RouteParsed<'memory.add'>,
      'content' | 'kind' | 'pinned' | 'importance' | 'tags' | 'expiresAt'
    >,
  ) {
    const reach = this.#reach(asker);
    if (this.#isPrivate(asker))
      throw new AppError('NOT_RUNNING', 'Private mode is on: nothing is remembered.', {
        hint: 'Switch it off first: metaclaw config private false',
      });
    const { id, merged, superseded } = this.#deps.book.add({ ...input, scope: reach.write });
    return { memory_id: id, scope_id: scopeName(reach.write), merged, superseded };
  }

  edit(
    asker: Asker,
    id: string,
    {
      pinned,
      ...change
    }: Omit<RouteParsed<'memory.edit'>, 'id' | 'scope'> & { pinned?: boolean | undefined },
  ) {
    const { book } = this.#deps;
    this.#seen(this.#reach(asker), id);
    if (Object.values(change).some((value) => value !== undefined)) book.edit(id, change);
    if (pinned !== undefined) book.pin([id], pinned);
    return this.get(asker, id);
  }

  /** Recoverable for a day unless `now`. */
  forget(asker: Asker, id: string, now: boolean) {
    const reach = this.#reach(asker);
    if (!isMessage(id) || !reach.all) this.#seen(reach, id);
    const { forgotten, note } = this.#deps.book.forget([id], now);
    return { memory_id: id, deleted: true, forgotten, purged: now, note };
  }

  restore(asker: Asker, id: string) {
    const reach = this.#reach(asker);
    if (!isMessage(id) || !reach.all) this.#seen(reach, id);
    const { restored, turns } = this.#deps.book.restore([id]);
    return { memory_id: id, restored: restored + turns };
  }

  /** What the owner may want to do, and how. */
  actionPlan(asker: Asker) {
    const stats = this.stats(asker);
    const due = this.#deps.book.consolidate(true);
    const actions = [
      { action: 'settle_conflicts', count: stats.conflicts, command: 'metaclaw memory conflicts' },
      { action: 'consolidate', count: due.superseded + due.expired, command: 'metaclaw memory consolidate' },
      { action: 'read_pending_turns', count: stats.pending_turns, command: 'POST /v1/memory/ingest' },
    ].filter(({ count }) => count > 0);
    return { scope_id: stats.scope_id, actions, action_count: actions.length };
  }

  /** Merges, replaces and ends what is due. Nothing decays by being written: age counts when memories are ranked. */
  maintenance(asker: Asker) {
    const { name } = this.#reach(asker);
    const { superseded, expired, conflicts } = this.#deps.book.consolidate(false);
    return { scope_id: name, superseded, expired, conflicts, decayed: 0, reinforced: 0 };
  }

  /** Which memories turns carried. */
  feedbackAnalysis(asker: Asker) {
    const reach = this.#reach(asker);
    const { units, total } =
      !reach.all && this.#scopes(reach).length === 0
        ? { units: [], total: 0 }
        : this.#list(reach, { sort: 'used', limit: 1000 });
    const used = units.filter(({ usedIn }) => usedIn > 0);
    return {
      scope_id: reach.name,
      total,
      used: used.length,
      most_used: used.slice(0, MOST_USED).map((unit) => ({
        memory_id: unit.id,
        content: unit.content,
        access_count: unit.usedIn,
        last_accessed_at: unit.lastUsedAt ?? '',
      })),
    };
  }

  operatorReport(asker: Asker) {
    return {
      scope_id: this.#reach(asker).name,
      stats: this.stats(asker),
      health: this.health(asker),
      action_plan: this.actionPlan(asker),
      feedback: this.feedbackAnalysis(asker),
    };
  }

  /** Memories that a turn with these words would carry; none where nothing may be added. */
  async recall(asker: Asker, text: string): Promise<MemoryCandidate[]> {
    const { read } = this.#reach(asker);
    const words = wordsOf(text);
    return words === '' || this.#isPrivate(asker) ? [] : this.#deps.recall(words, read);
  }

  /** Keeps exchanges of a session, if there are any, and looks through what waits: of it, or of all sessions. */
  async ingest(asker: Asker, sessionId: string, exchanges: readonly Exchange[]) {
    this.#tell(asker, sessionId, exchanges);
    const sessions = await this.#read(asker, sessionId === '' ? undefined : sessionId);
    return {
      added: sessions.reduce((sum, { added }) => sum + added, 0),
      buffered_turns: sessions.reduce((sum, { turns }) => sum + turns, 0),
      sessions,
    };
  }

  /** Keeps one exchange at once. What is made of it comes later, in the background, so `added` is not known yet. */
  bufferTurn(asker: Asker, sessionId: string, exchange: Exchange): { flushed: boolean; added: null } {
    const isNew = this.#tell(asker, sessionId, [exchange]) > 0;
    const waiting = this.#deps.conversations.unread(sessionId)[0]?.exchanges ?? 0;
    return { flushed: isNew && waiting >= this.#deps.config().memory.flush_every, added: null };
  }

  /** Looks through what waits of a session. */
  async flushSession(asker: Asker, sessionId: string): Promise<{ added: number }> {
    const sessions = await this.#read(asker, sessionId);
    return { added: sessions.reduce((sum, { added }) => sum + added, 0) };
  }

  /** Returns how many exchanges had news. */
  #tell(asker: Asker, sessionId: string, exchanges: readonly Exchange[]): number {
    const { write: scope } = this.#reach(asker);
    const { record } = this.#deps.config();
    if (this.#isPrivate(asker) || !record.bodies || OFF.test(asker.headers['x-metaclaw-memory'] ?? ''))
      return 0;
    // What the client itself wrote, such as its heartbeat, is no conversation.
    const told = exchanges
      .map(({ user, reply, id }) => ({ sessionId, scope, user: wordsOf(user), reply, id }))
      .filter(({ user }) => user !== '');
    return told.length === 0 ? 0 : this.#deps.conversations.tell(told);
  }

  /**
   * Reads what waits, one session after the other. A model may take long: after a while the caller is answered with
   * what there is, and the reading goes on.
   */
  async #read(asker: Asker, sessionId: string | undefined) {
    const { conversations, clock } = this.#deps;
    const waiting = this.#waiting(asker, sessionId);
    const sessions = waiting.map((one) => ({ session_id: one.sessionId, added: 0, turns: one.exchanges }));
    const reading = (async () => {
      for (const session of sessions) session.added = await conversations.readNow(session.session_id);
    })();
    await within(clock, PATIENCE_MS, reading);
    return structuredClone(sessions);
  }

  /** Sessions of the caller with exchanges that nobody has read. */
  #waiting(asker: Asker, sessionId?: string) {
    const { sees } = this.#reach(asker);
    return this.#deps.conversations
      .unread(sessionId)
      .filter(({ exchanges, scope }) => exchanges > 0 && scope !== null && sees(scope));
  }

  #isPrivate({ headers, agent }: Asker): boolean {
    const config = this.#deps.config();
    return (
      config.private ||
      config.bypass ||
      config.agents[agent]?.private === true ||
      ON.test(headers['x-metaclaw-private'] ?? '') ||
      OFF.test(headers['x-metaclaw-learn'] ?? '')
    );
  }

  #reach(asker: Asker): Reach {
    const config = this.#deps.config();
    if (!config.memory.enabled)
      throw new AppError('NOT_RUNNING', 'Memory is off.', {
        hint: 'Switch it on: metaclaw config memory.enabled true',
        field: 'memory.enabled',
      });
    return reachOf(asker, config);
  }

  #scopes({ sees }: Reach): RouteOutput<'memory.scopes'> {
    return this.#deps.book.scopes().filter(({ scope }) => sees(scope));
  }

  #list(reach: Reach, input: Partial<RouteParsed<'memory.list'>>): RouteOutput<'memory.list'> {
    const scopes = reach.all ? {} : { scopes: this.#scopes(reach).map(({ scope }) => scope) };
    return this.#deps.book.list({
      text: '',
      statuses: ['active'],
      sort: 'newest',
      limit: 100,
      ...scopes,
      ...input,
    });
  }

  #seen({ sees }: Reach, id: string): RouteOutput<'memory.get'> {
    const unit = this.#deps.book.get(id);
    if (sees(unit.scope)) return unit;
    throw new AppError('NOT_FOUND', `There is no memory ${JSON.stringify(id)}.`);
  }

  #conflicts({ sees }: Reach): number {
    return this.#deps.book.conflicts().filter(({ one, other }) => sees(one.scope) && sees(other.scope))
      .length;
  }
}

/** The id of something that was said. */
function isMessage(id: string): boolean {
  return /^t\d+$/.test(id);
}

/** What the user wrote: what was injected stands before what the client put around it. */
function wordsOf(text: string): string {
  return ownWords(withoutInjected(text));
}

/** Waits for the work, but not for longer. What it throws later is nobody's. */
function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  work.catch(() => {});
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, resolve);
    work.finally(cancel).then(resolve, reject);
  });
}
