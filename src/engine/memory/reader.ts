import type { Config } from '../../shared/config.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Bus } from '../bus.ts';
import type { Logger } from '../platform/logger.ts';
import type { ChatModel, Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { HopelessError, JobQueue } from '../store/job-queue.ts';
import { wordsOf } from './extract/echo.ts';
import { readByModel } from './extract/model.ts';
import type { Reading } from './extract/reading.ts';
import { readByRules } from './extract/rules.ts';
import type { TurnRow } from './rows.ts';
import type { Summaries } from './summaries.ts';
import type { TurnStore } from './turns.ts';
import type { UnitStore } from './units.ts';

export interface ReaderDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Bus;
  config: () => Config;
  chatModel: () => ChatModel;
  heldUntil: () => number | null;
  turns: TurnStore;
  units: Pick<UnitStore, 'add'>;
  summaries: Summaries;
}

/** How often a model may answer with nothing usable before rules read in its place. */
const MODEL_ATTEMPTS = 3;
/** What waits longer than this for the day's cap is read by rules. */
const PATIENCE_MS = 24 * 60 * 60 * 1000;
const MODEL_MS = 120_000;
const CONTEXT_ROWS = 4;
/** Topical words of a request that is more than a greeting. */
const LEAST_WORDS = 2;
/** What was left unread so long ago is read on request only. */
const RECENT_MS = 7 * 24 * 60 * 60 * 1000;

/** How often a model was asked for the same, this time included; `last`: it will not be asked again. */
type Tries = number | 'last';

/**
 * Reads conversations for what is worth remembering, far from the request path: a job for each session, which reads
 * what nobody has read. Memories and the mark that their words are read are written together, so that a job that is
 * interrupted and repeated adds nothing twice.
 */
export class Reader {
  readonly #deps: ReaderDeps;
  readonly #queue: JobQueue;
  /** Readings that run, by session: one at a time. */
  readonly #running = new Map<string, Promise<unknown>>();
  #stop = new AbortController();

  constructor(deps: ReaderDeps) {
    this.#deps = deps;
    this.#queue = new JobQueue({
      kind: 'remember',
      database: deps.database,
      clock: deps.clock,
      log: deps.log,
      bus: deps.bus,
      ready: () => deps.config().memory.enabled,
      heldUntil: () => this.#heldUntil(),
      run: async (job, signal) => {
        // It may be asked for inside the transaction that records a turn, whose answer must not wait.
        await nextTick();
        await this.#alone(job.subject, () => this.#read(job.subject, job.attempts, signal));
      },
    });
  }

  /** Takes up what was left unread, then works until `stop`. */
  start(): void {
    this.#stop = new AbortController();
    this.#queue.start();
    if (!this.#readsByItself()) return;
    const { clock, turns } = this.#deps;
    const since = new Date(clock.now() - RECENT_MS).toISOString();
    for (const session of turns.sessionsUnread(since))
      if (this.#isOver(session)) this.#queue.enqueue(session);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#queue.stop();
    await Promise.allSettled(this.#running.values());
  }

  /** Call when provider, key or settings changed: what waits is tried now. */
  wake(): void {
    this.#queue.wake();
  }

  /** Something was said in the session: it is read soon when enough has come together. */
  heard(sessionId: string): void {
    const { config, turns } = this.#deps;
    if (this.#readsByItself() && turns.requestsUnread(sessionId) >= config().memory.flush_every)
      this.#queue.enqueue(sessionId);
  }

  /** The session is over, or its history is about to be shortened: what is unread is read soon. */
  due(sessionId: string): void {
    if (this.#readsByItself() && this.#deps.turns.unread(sessionId).length > 0)
      this.#queue.enqueue(sessionId);
  }

  /**
   * Reads a session now, because somebody asked; returns how many memories are new. When the model cannot be asked,
   * rules read.
   */
  async readNow(sessionId: string): Promise<number> {
    return this.#alone(sessionId, () => this.#read(sessionId, 'last', this.#stop.signal));
  }

  /** Sessions with words that nobody has read. */
  sessionsUnread(): string[] {
    return this.#deps.turns.sessionsUnread('');
  }

  /** Number of the scope that a session began in; null when nothing was said in it. */
  scopeOf(sessionId: string): number | null {
    return this.#deps.turns.scopeOf(sessionId);
  }

  /** Requests of a session that nobody has read. */
  requestsUnread(sessionId: string): number {
    return this.#deps.turns.requestsUnread(sessionId);
  }

  status(): { pending: number; lastError: string | null } {
    return { pending: this.#deps.turns.pending(), lastError: this.#queue.status().lastError };
  }

  #readsByItself(): boolean {
    const { enabled, auto_extract: auto, manual_trigger: manual } = this.#deps.config().memory;
    return enabled && auto && !manual;
  }

  #isOver(sessionId: string): boolean {
    const row = this.#deps.database.get<{ ended_at: string | null }>(
      'SELECT ended_at FROM sessions WHERE id = ?',
      sessionId,
    );
    return row === null || row.ended_at !== null;
  }

  /** The cap holds only what a model would be asked, and not for ever. */
  #heldUntil(): number | null {
    const held = this.#deps.config().memory.extractor === 'llm' ? this.#deps.heldUntil() : null;
    if (held === null) return null;
    const oldest = this.#deps.database.get<{ at: string }>(
      "SELECT updated_at AS at FROM jobs WHERE kind = 'remember' AND state = 'queued' ORDER BY updated_at LIMIT 1",
    );
    if (oldest === null) return held;
    const patientUntil = Date.parse(oldest.at) + PATIENCE_MS;
    return patientUntil <= this.#deps.clock.now() ? null : Math.min(held, patientUntil);
  }

  async #alone<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    for (;;) {
      const running = this.#running.get(sessionId);
      if (!running) break;
      await running.catch(() => {});
    }
    const promise = work();
    this.#running.set(sessionId, promise);
    try {
      return await promise;
    } finally {
      this.#running.delete(sessionId);
    }
  }

  async #read(sessionId: string, tries: Tries, signal: AbortSignal): Promise<number> {
    const { turns } = this.#deps;
    let added = 0;
    for (let batch = turns.unread(sessionId); batch.length > 0; batch = turns.unread(sessionId)) {
      signal.throwIfAborted();
      const said = batch.filter(({ forgotten_at: forgotten }) => forgotten === null);
      const reading = said.length === 0 ? null : await this.#readBatch(said, tries, signal);
      signal.throwIfAborted();
      added += this.#keep(sessionId, { batch, said }, reading);
    }
    return added;
  }

  async #readBatch(batch: TurnRow[], tries: Tries, signal: AbortSignal): Promise<Reading> {
    const { config, chatModel, heldUntil, log, summaries } = this.#deps;
    const first = batch[0];
    const input = {
      turns: batch,
      before: first ? this.#deps.turns.before(first, CONTEXT_ROWS) : [],
      injected: this.#injectedInto(first?.session_id ?? ''),
      summary: first ? summaries.textOf(first.session_id) : null,
    };
    const isByRules = config().memory.extractor === 'rules' || heldUntil() !== null;
    if (isByRules || isSmallTalk(batch)) return readByRules(input);
    try {
      return await this.#withinTime(signal, (limited) => readByModel(input, chatModel(), limited));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError && error.code === 'PROVIDER_NOT_SET') return readByRules(input);
      const isHopeless =
        error instanceof HopelessError || (error instanceof AppError && error.code === 'UPSTREAM_REFUSED');
      if (tries !== 'last' && !(isHopeless && tries >= MODEL_ATTEMPTS)) throw error;
      log.warn(`the model cannot read for memories, so rules do: ${messageOf(error)}`);
      return readByRules(input);
    }
  }

  /** A provider that never answers must not keep the others waiting. */
  async #withinTime<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const cancel = this.#deps.clock.after(MODEL_MS, () => late.abort());
    try {
      const limited = AbortSignal.any([signal, late.signal]);
      return await Promise.race([work(limited), aborted(limited)]);
    } catch (error) {
      if (late.signal.aborted) throw new HopelessError('The model took too long to read for memories.');
      throw error;
    } finally {
      cancel();
    }
  }

  /** Memories that the session carried: what repeats them is no news. */
  #injectedInto(sessionId: string): string[] {
    return this.#deps.database
      .all<{ text: string }>(
        `SELECT DISTINCT coalesce(u.content, t.text) AS text FROM memory_uses x
         LEFT JOIN memory_units u ON u.uuid = x.memory
         LEFT JOIN memory_turns t ON u.id IS NULL AND t.id = CAST(substr(x.memory, 2) AS INTEGER)
         WHERE x.turn_id IN (SELECT turn_id FROM memory_turns WHERE session_id = ?)
           AND coalesce(u.content, t.text) IS NOT NULL`,
        sessionId,
      )
      .map(({ text }) => text);
  }

  /** Writes what was found together with the mark that it was read. */
  #keep(
    sessionId: string,
    { batch, said }: { batch: readonly TurnRow[]; said: readonly TurnRow[] },
    reading: Reading | null,
  ): number {
    const { database, turns, units, summaries, bus } = this.#deps;
    const scope = batch[0]?.scope ?? 0;
    const added = database.tx(() => {
      // The user may have forgotten words while the model thought.
      const alive = turns.alive(batch.map(({ id }) => id));
      turns.markRead(batch.map(({ id }) => id));
      if (reading === null) return 0;
      const { by, facts, summary } = reading;
      const news = facts
        .filter(({ sources }) => sources.every((id) => alive.has(id)))
        .map((fact) => units.add({ ...fact, scope, origin: by }));
      const sources = said.map(({ id }) => id);
      if (summary !== null && sources.every((id) => alive.has(id)))
        summaries.keep({
          sessionId,
          scope,
          sources,
          text: summary,
          by,
          observedAt: said.at(-1)?.said_at ?? '',
        });
      return news.filter(({ merged }) => !merged).length;
    });
    bus.emit('invalidate', 'memory');
    return added;
  }
}

/** Nobody said anything that a model would have to be asked about. */
function isSmallTalk(turns: readonly TurnRow[]): boolean {
  return !turns.some(({ role, text }) => role === 'user' && wordsOf(text).size >= LEAST_WORDS);
}

/** Rejects when the signal fires, whether or not the work listens to it. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
