import type { Config } from '../../shared/config.ts';
import type { SessionEndReason } from '../../shared/model.ts';
import type { Logger } from '../platform/logger.ts';
import type { Clock } from '../ports.ts';
import type { LiveSession, LiveSessions } from './live.ts';
import type { SessionEnd } from './turn.ts';
import type { TurnWriter } from './writer.ts';

export interface SessionEndsDeps {
  live: LiveSessions;
  writer: TurnWriter;
  clock: Clock;
  log: Logger;
  config: () => Pick<Config, 'sessions'>;
  /** Runs a function in a transaction that calls `rollBack` when it fails. */
  transaction: (fn: () => void) => void;
  /** Called after sessions ended by themselves. */
  changed: () => void;
}

/** Longest wait between two looks at the clock: a suspended machine's timers are late by the time it slept. */
const LOOK_MS = 60_000;
/** A turn that has been open for longer no longer keeps its session from ending. */
const TURN_MS = 2 * 60 * 60 * 1000;

/** Ends sessions, each once, and tells the listeners: at once when asked to, or after they idled. */
export class SessionEnds {
  readonly #deps: SessionEndsDeps;
  readonly #listeners = new Set<(end: SessionEnd) => void>();
  /** Sessions that the running transaction ended. */
  #fresh: LiveSession[] = [];
  #cancelTimer: (() => void) | null = null;
  #started = false;

  constructor(deps: SessionEndsDeps) {
    this.#deps = deps;
  }

  /** Ends what idled too long while nobody looked, and watches the rest. */
  start(): void {
    this.#started = true;
    this.#look();
  }

  stop(): void {
    this.#started = false;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  listen(listener: (end: SessionEnd) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /**
   * Marks a session as ended; does nothing when it is. Call inside a transaction. Sessions without main turns end
   * silently: there is nothing to learn from.
   */
  end(session: LiveSession, reason: SessionEndReason, turns = session.turns): void {
    const { writer, clock, log } = this.#deps;
    if (!session.stored || session.ended) return;
    const isNew = writer.endSession(session.id, reason, clock.now());
    session.ended = true;
    this.#fresh.push(session);
    if (!isNew || turns === 0) return;
    const end: SessionEnd = { sessionId: session.id, agent: session.agent, turns, reason };
    for (const listener of this.#listeners) {
      try {
        listener(end);
      } catch (error) {
        log.error({ err: error, session: session.id }, 'a listener to the end of a session failed');
      }
    }
  }

  /** The transaction that the last ends were part of is done: with false, they did not happen. */
  settle(committed: boolean): void {
    if (!committed) for (const session of this.#fresh) session.ended = false;
    this.#fresh = [];
  }

  /** Nothing has happened in the session for too long, and nothing is being answered but `exceptTurn`. */
  isIdle(session: LiveSession, nowMs: number, exceptTurn?: string): boolean {
    if (!session.stored || session.ended) return false;
    for (const [id, startedAtMs] of session.inFlight)
      if (id !== exceptTurn && nowMs - startedAtMs < TURN_MS) return false;
    return nowMs - session.lastAtMs >= this.#idleMs();
  }

  /** Looks again when the next session may have idled long enough, at the latest in a minute. */
  watch(): void {
    if (!this.#started || this.#cancelTimer !== null) return;
    let dueMs = Number.POSITIVE_INFINITY;
    for (const session of this.#deps.live.all())
      if (session.stored && !session.ended) dueMs = Math.min(dueMs, session.lastAtMs + this.#idleMs());
    if (dueMs === Number.POSITIVE_INFINITY) return;
    const waitMs = Math.min(LOOK_MS, Math.max(50, dueMs - this.#deps.clock.now()));
    this.#cancelTimer = this.#deps.clock.after(waitMs, () => this.#look());
  }

  #look(): void {
    const { live, clock, log, transaction, changed } = this.#deps;
    this.#cancelTimer = null;
    const nowMs = clock.now();
    const idle: LiveSession[] = [];
    for (const session of live.all()) {
      // A clock that was set back must not keep a session open for ever.
      session.lastAtMs = Math.min(session.lastAtMs, nowMs);
      if (this.isIdle(session, nowMs)) idle.push(session);
    }
    if (idle.length > 0) {
      try {
        transaction(() => {
          for (const session of idle) this.end(session, 'idle');
        });
        for (const session of idle) live.release(session);
        changed();
      } catch (error) {
        log.error({ err: error }, 'the end of idle sessions could not be recorded; it is tried again');
      }
    }
    this.watch();
  }

  #idleMs(): number {
    return this.#deps.config().sessions.idle_minutes * 60_000;
  }
}
