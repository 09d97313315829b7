import { createHash } from 'node:crypto';
import type { Database } from '../store/database.ts';
import type { RowIndex } from './index-queue.ts';
import type { TurnRow } from './rows.ts';

/** Words to be kept as they were said, after the redactor. */
export type NewTurn = Omit<TurnRow, 'id' | 'forgotten_at'>;

/** Longest text that is kept of one speaker in one turn. */
const MOST_CHARS = 8000;
const BATCH_ROWS = 40;
const BATCH_CHARS = 24_000;

/** What was said, word for word; a row for each speaker of a turn. */
export class TurnStore {
  readonly #database: Database;
  readonly #index: Pick<RowIndex, 'indexTurn'>;

  constructor(deps: { database: Database; index: Pick<RowIndex, 'indexTurn'> }) {
    this.#database = deps.database;
    this.#index = deps.index;
  }

  /** Keeps what was said; call it in a transaction. Null where it is there already, or was forgotten for good. */
  add(turn: NewTurn): TurnRow | null {
    if (this.#database.get('SELECT 1 FROM memory_gone WHERE key = ?', turn.key) !== null) return null;
    const row = this.#database.get<TurnRow>(
      `INSERT INTO memory_turns (key, scope, session_id, turn_id, role, speaker, text, said_at, unread)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING RETURNING *`,
      turn.key,
      turn.scope,
      turn.session_id,
      turn.turn_id,
      turn.role,
      turn.speaker,
      turn.text.slice(0, MOST_CHARS),
      turn.said_at,
      turn.unread,
    );
    if (row !== null) this.#index.indexTurn(row);
    return row;
  }

  /** Whether these very words stand in a recorded turn of the session. */
  isRecorded(sessionId: string, role: TurnRow['role'], text: string): boolean {
    return (
      this.#database.get(
        'SELECT 1 FROM memory_turns WHERE session_id = ? AND role = ? AND text = ? AND turn_id IS NOT NULL LIMIT 1',
        sessionId,
        role,
        text.slice(0, MOST_CHARS),
      ) !== null
    );
  }

  /** The scope in which a session's first words were kept; null for a session without any. */
  scopeOf(sessionId: string): number | null {
    return (
      this.#database.get<{ scope: number }>(
        'SELECT scope FROM memory_turns WHERE session_id = ? ORDER BY id LIMIT 1',
        sessionId,
      )?.scope ?? null
    );
  }

  /** The oldest words of a session that nobody has looked through, as many as go into one question. */
  unread(sessionId: string): TurnRow[] {
    const rows = this.#database.all<TurnRow>(
      'SELECT * FROM memory_turns WHERE session_id = ? AND unread = 1 ORDER BY id LIMIT ?',
      sessionId,
      BATCH_ROWS,
    );
    const scope = rows[0]?.scope;
    let chars = 0;
    const end = rows.findIndex((row) => {
      chars += row.text.length;
      // Words of two scopes are never read together.
      return row.scope !== scope || (chars > BATCH_CHARS && row !== rows[0]);
    });
    return end < 0 ? rows : rows.slice(0, end);
  }

  /** What was said in a session and scope just before a row, oldest first. */
  before({ id, session_id: sessionId, scope }: TurnRow, most: number): TurnRow[] {
    return this.#database
      .all<TurnRow>(
        `SELECT * FROM memory_turns WHERE session_id = ? AND id < ? AND scope = ? AND forgotten_at IS NULL
         ORDER BY id DESC LIMIT ?`,
        sessionId,
        id,
        scope,
        most,
      )
      .reverse();
  }

  /** Those of the rows that are still there and not forgotten. */
  alive(ids: readonly number[]): Set<number> {
    const rows = this.#database.all<{ id: number }>(
      `SELECT t.id FROM json_each(?) j JOIN memory_turns t ON t.id = j.value WHERE t.forgotten_at IS NULL`,
      JSON.stringify(ids),
    );
    return new Set(rows.map(({ id }) => id));
  }

  markRead(ids: readonly number[]): void {
    this.#database.run(
      'UPDATE memory_turns SET unread = 0 WHERE id IN (SELECT value FROM json_each(?))',
      JSON.stringify(ids),
    );
  }

  /** How many requests of a session nobody has looked through. */
  requestsUnread(sessionId: string): number {
    return this.#count("session_id = ? AND unread = 1 AND role = 'user'", sessionId);
  }

  /** How many rows nobody has looked through. */
  pending(): number {
    return this.#count('unread = 1');
  }

  /** Sessions with unread words that were said since `iso`. */
  sessionsUnread(iso: string): string[] {
    return this.#database
      .all<{ id: string }>(
        'SELECT DISTINCT session_id AS id FROM memory_turns WHERE unread = 1 AND said_at >= ?',
        iso,
      )
      .map(({ id }) => id);
  }

  #count(where: string, ...params: string[]): number {
    return (
      this.#database.get<{ n: number }>(`SELECT count(*) AS n FROM memory_turns WHERE ${where}`, ...params)
        ?.n ?? 0
    );
  }
}

/** Key of words that are known by what they are: the same in the same place is kept once. */
export function keyOfWords(...parts: (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32);
}
