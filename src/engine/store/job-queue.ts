import { randomUUID } from 'node:crypto';
import { messageOf } from '../../shared/errors.ts';
import type { Job, JobState } from '../../shared/model.ts';
import type { Bus } from '../bus.ts';
import type { Logger } from '../platform/logger.ts';
import type { Clock } from '../ports.ts';
import type { Database } from './database.ts';

/** Thrown by a job whose input will not get better by waiting: it is tried a few times, then it has failed. */
export class HopelessError extends Error {}

export interface JobQueueDeps {
  /** What kind of jobs it works; those of other queues are none of its business. */
  kind: Job['kind'];
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Bus;
  /** False while jobs shall wait, e.g. because learning is switched off. */
  ready: () => boolean;
  /** Until when jobs shall wait, in milliseconds, e.g. because the day's cap is used up; null when they need not. */
  heldUntil: () => number | null;
  /** Does one job. Must be safe to repeat: after a crash the job runs again from its beginning. */
  run: (job: Job, signal: AbortSignal) => Promise<void>;
}

interface Row {
  id: string;
  kind: Job['kind'];
  subject: string;
  state: JobState;
  attempts: number;
  run_at: string;
  last_error: string | null;
}

const FIRST_DELAY_MS = 15_000;
const LONGEST_DELAY_MS = 60 * 60 * 1000;
const HOPELESS_ATTEMPTS = 3;
/** A machine that slept, or a clock that was set, is noticed after so long. */
const LONGEST_NAP_MS = 60_000;

/** Wait before attempt n + 1: doubles from 15 seconds up to an hour. */
function backoffMs(attempts: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, attempts - 1));
}

/**
 * Background work in SQLite, one job at a time. Nothing is lost: what ran during a crash runs again, and what fails
 * is tried again, ever later, but never given up in silence.
 */
export class JobQueue {
  readonly #deps: JobQueueDeps;
  /** Jobs that were asked for again while they ran. */
  readonly #again = new Set<string>();
  #abort: AbortController | null = null;
  #active: Promise<void> | null = null;
  #cancelNap: (() => void) | null = null;
  #held = false;

  constructor(deps: JobQueueDeps) {
    this.#deps = deps;
  }

  /** Takes up what a crash left running, then works until `stop`. */
  start(): void {
    if (this.#abort) return;
    const now = this.#deps.clock.now();
    for (const row of this.#deps.database.all<Row>(
      "SELECT * FROM jobs WHERE kind = ? AND state = 'running'",
      this.#deps.kind,
    )) {
      // The first interruption is repeated at once; a job that takes the process down again and again is not.
      const delay = row.attempts > 1 ? backoffMs(row.attempts) : 0;
      this.#update(row.id, 'queued', { runAtMs: now + delay, error: row.last_error });
    }
    this.#abort = new AbortController();
    this.#pump();
  }

  /** Aborts the running job (it stays queued) and resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#abort?.abort();
    this.#abort = null;
    this.#cancelNap?.();
    this.#cancelNap = null;
    await this.#active;
  }

  /** One job per subject: a waiting one stays as it is, a finished one gets a new run. */
  enqueue(subject: string): void {
    const { kind, database, clock, bus } = this.#deps;
    const now = new Date(clock.now()).toISOString();
    database.run(
      `INSERT INTO jobs (id, kind, subject, state, attempts, run_at, last_error, created_at, updated_at)
       VALUES (?, ?, ?, 'queued', 0, ?, NULL, ?, ?)
       ON CONFLICT (kind, subject) DO UPDATE
       SET state = 'queued', attempts = 0, run_at = excluded.run_at, last_error = NULL, updated_at = excluded.updated_at
       WHERE jobs.state IN ('done', 'failed')`,
      randomUUID(),
      kind,
      subject,
      now,
      now,
      now,
    );
    const row = database.get<Row>('SELECT * FROM jobs WHERE kind = ? AND subject = ?', kind, subject);
    if (row?.state === 'running') this.#again.add(row.id);
    bus.emit('invalidate', 'jobs');
    this.#pump();
  }

  /** Something changed that may let waiting jobs succeed, e.g. a new key: tries them now. */
  wake(): void {
    const now = new Date(this.#deps.clock.now()).toISOString();
    const { kind, database } = this.#deps;
    database.run(
      "UPDATE jobs SET run_at = ? WHERE kind = ? AND state = 'queued' AND run_at > ?",
      now,
      kind,
      now,
    );
    this.#pump();
  }

  status(): { queued: number; running: number; lastError: string | null } {
    const { kind, database } = this.#deps;
    const counts = database.all<{ state: JobState; n: number }>(
      "SELECT state, COUNT(*) AS n FROM jobs WHERE kind = ? AND state IN ('queued', 'running') GROUP BY state",
      kind,
    );
    const count = (state: JobState) => counts.find((row) => row.state === state)?.n ?? 0;
    const trouble = database.get<{ last_error: string }>(
      `SELECT last_error FROM jobs WHERE kind = ?1 AND last_error IS NOT NULL AND (state IN ('queued', 'running')
         OR (state = 'failed'
           AND updated_at >= COALESCE((SELECT MAX(updated_at) FROM jobs WHERE kind = ?1 AND state = 'done'), '')))
       ORDER BY updated_at DESC LIMIT 1`,
      kind,
    );
    return { queued: count('queued'), running: count('running'), lastError: trouble?.last_error ?? null };
  }

  /** Never throws: it runs in timers, and a store that cannot be used right now must not take the proxy along. */
  #pump(): void {
    if (!this.#abort || this.#active) return;
    this.#cancelNap?.();
    this.#cancelNap = null;
    try {
      this.#next(this.#abort.signal);
    } catch (error) {
      this.#deps.log.error({ err: error }, 'the queue cannot be read; it is tried again');
      this.#nap(LONGEST_NAP_MS);
    }
  }

  #nap(ms: number): void {
    this.#cancelNap = this.#deps.clock.after(Math.min(ms, LONGEST_NAP_MS), () => this.#pump());
  }

  #next(signal: AbortSignal): void {
    if (!this.#deps.ready()) return;
    const { database, clock, log } = this.#deps;
    const heldUntil = this.#deps.heldUntil();
    const wasHeld = this.#held;
    this.#held = heldUntil !== null;
    // Who tells of it, e.g. the status, hears of both its beginning and its end.
    if (wasHeld !== this.#held) this.#deps.bus.emit('invalidate', 'jobs');
    if (heldUntil !== null) {
      this.#nap(Math.max(0, heldUntil - clock.now()));
      return;
    }
    const row = database.get<Row>(
      "SELECT * FROM jobs WHERE kind = ? AND state = 'queued' ORDER BY run_at, created_at LIMIT 1",
      this.#deps.kind,
    );
    if (!row) return;
    const waitMs = Date.parse(row.run_at) - clock.now();
    if (waitMs > 0) {
      this.#nap(waitMs);
      return;
    }
    let failed = false;
    this.#active = this.#work(row, signal)
      .catch((error: unknown) => {
        failed = true;
        log.error({ err: error, job: row.kind }, 'the state of a background job cannot be written');
      })
      .finally(() => {
        this.#active = null;
        // What could not be noted would run again at once, and again.
        if (!failed) this.#pump();
        else if (this.#abort) this.#nap(LONGEST_NAP_MS);
      });
  }

  async #work(row: Row, signal: AbortSignal): Promise<void> {
    const { database, clock, log, run } = this.#deps;
    const attempts = row.attempts + 1;
    database.run(
      "UPDATE jobs SET state = 'running', attempts = ?, updated_at = ? WHERE id = ?",
      attempts,
      new Date(clock.now()).toISOString(),
      row.id,
    );
    this.#deps.bus.emit('invalidate', 'jobs');
    try {
      await run(toJob({ ...row, state: 'running', attempts }), signal);
      const again = this.#again.delete(row.id);
      this.#update(row.id, again ? 'queued' : 'done', { runAtMs: clock.now(), error: null, attempts: 0 });
    } catch (error) {
      this.#again.delete(row.id);
      if (signal.aborted) {
        this.#update(row.id, 'queued', {
          runAtMs: clock.now(),
          error: row.last_error,
          attempts: row.attempts,
        });
        return;
      }
      const failed = error instanceof HopelessError && attempts >= HOPELESS_ATTEMPTS;
      const delayMs = backoffMs(attempts);
      this.#update(row.id, failed ? 'failed' : 'queued', {
        runAtMs: clock.now() + delayMs,
        error: messageOf(error),
      });
      log.warn(
        { err: error, job: row.kind, subject: row.subject, attempts, delayMs: failed ? null : delayMs },
        failed ? 'background job failed' : 'background job will be tried again',
      );
    }
  }

  #update(
    id: string,
    state: JobState,
    change: { runAtMs: number; error: string | null; attempts?: number },
  ): void {
    const { database, clock, bus } = this.#deps;
    database.run(
      'UPDATE jobs SET state = ?, run_at = ?, last_error = ?, attempts = COALESCE(?, attempts), updated_at = ? WHERE id = ?',
      state,
      new Date(change.runAtMs).toISOString(),
      change.error,
      change.attempts ?? null,
      new Date(clock.now()).toISOString(),
      id,
    );
    bus.emit('invalidate', 'jobs');
  }
}

function toJob(row: Row): Job {
  const { id, kind, subject, state, attempts, run_at: runAt, last_error: lastError } = row;
  return { id, kind, subject, state, attempts, runAt, lastError };
}
