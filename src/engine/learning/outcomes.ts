import type { TurnDetail, TurnFeedback } from '../../shared/model.ts';
import type { Logger } from '../platform/logger.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { exchangesOf, isRepeated, reactionOf, termsIn } from './lessons.ts';
import { toolTrail } from './tool-trail.ts';

/** How one request of a session went, as far as that can be told. */
interface Outcome {
  turnId: string;
  good: boolean;
  why: 'feedback' | 'corrected' | 'repeated' | 'tool-error' | 'praised' | 'went-on';
}

export interface OutcomesDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  turnsOf: (sessionId: string) => readonly TurnDetail[];
  feedbackOf: (sessionId: string) => ReadonlyMap<string, TurnFeedback>;
  /** Told when sessions were rated. */
  rated: () => void;
}

const SESSIONS_AT_ONCE = 5;
/** Bodies are large: tools are looked at in so many requests of a session, the newest. */
const MOST_BODIES = 40;

/**
 * Says of each request of a session that ended whether it went well: by feedback, by what the user said next, and by
 * tools that failed to the end. The newest request, which nobody reacted to, is left open.
 */
export function rateSession(
  turns: readonly TurnDetail[],
  feedback: ReadonlyMap<string, TurnFeedback>,
): Outcome[] {
  const exchanges = exchangesOf(turns);
  return exchanges.flatMap((exchange, at): Outcome[] => {
    const { turn } = exchange;
    const told = exchange.turnIds.map((id) => feedback.get(id)).findLast((one) => one !== undefined);
    if (told) return [{ turnId: turn.id, good: told.label === 'good', why: 'feedback' }];
    const next = exchanges[at + 1];
    const reaction = next ? reactionOf(next.turn.userText) : null;
    if (reaction === 'correction') return [{ turnId: turn.id, good: false, why: 'corrected' }];
    if (reaction === 'praise') return [{ turnId: turn.id, good: true, why: 'praised' }];
    if (next && isRepeated(termsIn(next.turn.userText), [termsIn(turn.userText)]))
      return [{ turnId: turn.id, good: false, why: 'repeated' }];
    const isRecent = at >= exchanges.length - MOST_BODIES;
    if (isRecent && exchange.turnIds.length > 1 && toolTrail(exchange.last.requestBody).at(-1)?.failed)
      return [{ turnId: turn.id, good: false, why: 'tool-error' }];
    return next ? [{ turnId: turn.id, good: true, why: 'went-on' }] : [];
  });
}

/** Rates sessions after their end, a few at a time, whatever learning is set to; a crash only delays it. */
export class Outcomes {
  readonly #deps: OutcomesDeps;
  #cancel: (() => void) | null = null;
  #stopped = false;

  constructor(deps: OutcomesDeps) {
    this.#deps = deps;
  }

  /** Looks for sessions that ended since, soon. */
  wake(): void {
    if (this.#cancel !== null || this.#stopped) return;
    this.#cancel = this.#deps.clock.after(50, () => {
      this.#cancel = null;
      this.#work();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  /** Rates one session again, e.g. because of feedback. */
  rate(sessionId: string): void {
    const { database, clock, turnsOf, feedbackOf } = this.#deps;
    const outcomes = rateSession(turnsOf(sessionId), feedbackOf(sessionId));
    const at = new Date(clock.now()).toISOString();
    database.tx(() => {
      database.run('DELETE FROM outcomes WHERE session_id = ?', sessionId);
      for (const { turnId, good, why } of outcomes)
        database.run(
          'INSERT OR REPLACE INTO outcomes (turn_id, session_id, good, why) VALUES (?, ?, ?, ?)',
          turnId,
          sessionId,
          good ? 1 : 0,
          why,
        );
      database.run('INSERT OR REPLACE INTO rated_sessions (session_id, at) VALUES (?, ?)', sessionId, at);
    });
    this.#deps.rated();
  }

  /** Only sessions with a skill that fitted or a memory that was carried. Never throws: it runs in a timer. */
  #work(): void {
    try {
      const due = this.#deps.database.all<{ id: string }>(
        `SELECT s.id FROM sessions s LEFT JOIN rated_sessions r ON r.session_id = s.id
         WHERE s.ended_at IS NOT NULL AND (r.at IS NULL OR r.at < s.ended_at)
           AND (EXISTS (SELECT 1 FROM skill_trials t WHERE t.session_id = s.id)
             OR EXISTS (SELECT 1 FROM turns t JOIN memory_uses m ON m.turn_id = t.id WHERE t.session_id = s.id))
         LIMIT ?`,
        SESSIONS_AT_ONCE,
      );
      for (const { id } of due) this.rate(id);
      if (due.length === SESSIONS_AT_ONCE) this.wake();
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'how sessions went could not be noted');
    }
  }
}
