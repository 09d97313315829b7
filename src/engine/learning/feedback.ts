import { AppError } from '../../shared/errors.ts';
import type { TurnFeedback } from '../../shared/model.ts';
import { redact } from '../platform/redact.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';

/** What a user says of a turn outside of the conversation. */
export interface FeedbackInput {
  turnId?: string | undefined;
  /** Without a turn: the newest one of this session. */
  sessionId?: string | undefined;
  /** Null takes it back. */
  label: 'good' | 'bad' | null;
  text?: string | undefined;
}

interface Row {
  turn_id: string;
  label: 'good' | 'bad';
  text: string;
  at: string;
}

const MAX_TEXT = 2000;

/** One word of the user per turn, kept apart from what was said: a later one takes the place of an earlier one. */
export class FeedbackStore {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(deps: { database: Database; clock: Clock }) {
    this.#database = deps.database;
    this.#clock = deps.clock;
  }

  /** The same twice changes nothing. NOT_FOUND when there is no such turn or session. */
  set({ turnId, sessionId, label, text = '' }: FeedbackInput): {
    turnId: string;
    sessionId: string;
    changed: boolean;
  } {
    const turn = this.#turn(turnId, sessionId);
    const before = this.get(turn.id);
    const words = redact(text.trim()).text.slice(0, MAX_TEXT);
    const result = { turnId: turn.id, sessionId: turn.session_id };
    if ((before?.label ?? null) === label && (before?.text ?? '') === words)
      return { ...result, changed: false };
    if (label === null) this.#database.run('DELETE FROM feedback WHERE turn_id = ?', turn.id);
    else
      this.#database.run(
        `INSERT INTO feedback (turn_id, session_id, label, text, at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (turn_id) DO UPDATE SET label = excluded.label, text = excluded.text, at = excluded.at`,
        turn.id,
        turn.session_id,
        label,
        words,
        new Date(this.#clock.now()).toISOString(),
      );
    return { ...result, changed: true };
  }

  get(turnId: string): TurnFeedback | null {
    const row = this.#database.get<Row>(
      'SELECT turn_id, label, text, at FROM feedback WHERE turn_id = ?',
      turnId,
    );
    return row ? { label: row.label, text: row.text, at: row.at } : null;
  }

  /** All of a session, by turn. */
  ofSession(sessionId: string): Map<string, TurnFeedback> {
    const rows = this.#database.all<Row>(
      'SELECT turn_id, label, text, at FROM feedback WHERE session_id = ?',
      sessionId,
    );
    return new Map(rows.map(({ turn_id, ...feedback }) => [turn_id, feedback]));
  }

  #turn(turnId: string | undefined, sessionId: string | undefined): { id: string; session_id: string } {
    const found =
      turnId !== undefined
        ? this.#database.get<{ id: string; session_id: string }>(
            'SELECT id, session_id FROM turns WHERE id = ?',
            turnId,
          )
        : this.#database.get<{ id: string; session_id: string }>(
            "SELECT id, session_id FROM turns WHERE session_id = ? AND kind = 'main' ORDER BY started_at DESC, id DESC LIMIT 1",
            sessionId ?? '',
          );
    if (found) return found;
    throw new AppError(
      'NOT_FOUND',
      turnId === undefined ? 'There is no such session with a recorded turn.' : 'There is no such turn.',
      {
        hint: 'Answers name theirs in x-metaclaw-turn and x-metaclaw-session.',
        field: turnId === undefined ? 'session_id' : 'turn_id',
      },
    );
  }
}
