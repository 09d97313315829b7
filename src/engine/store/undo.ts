import { randomUUID } from 'node:crypto';
import type { Undo } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { Clock } from '../ports.ts';
import type { Database } from './database.ts';

const LIFE_MS = 24 * 60 * 60 * 1000;

/** What a feature needs to take one kind of change back. Throws AppError when the world has moved on. */
export type UndoHandler = (payload: unknown) => void;

/**
 * Keeps what can be taken back for 24 hours, in SQLite, so that an undo survives a restart. Features offer undos and
 * register how each kind is taken back; `undo.apply` comes here alone.
 */
export class UndoLog {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #handlers = new Map<string, UndoHandler>();

  constructor(deps: { database: Database; clock: Clock }) {
    this.#database = deps.database;
    this.#clock = deps.clock;
  }

  /** Registers how changes of `kind` are taken back. */
  handle(kind: string, handler: UndoHandler): void {
    this.#handlers.set(kind, handler);
  }

  /** Remembers a change; call it in the transaction that makes the change. `payload` must survive JSON. */
  offer(kind: string, label: string, payload: unknown): Undo {
    const now = this.#clock.now();
    const undo: Undo = { token: randomUUID(), label, expiresAt: new Date(now + LIFE_MS).toISOString() };
    this.#database.run('DELETE FROM undo WHERE expires_at < ?', new Date(now).toISOString());
    this.#database.run(
      'INSERT INTO undo (token, kind, payload, label, expires_at) VALUES (?, ?, ?, ?, ?)',
      undo.token,
      kind,
      JSON.stringify(payload),
      label,
      undo.expiresAt,
    );
    return undo;
  }

  /** Rewrites what is kept of one kind of change, as when a part of it must be gone for good; null drops it. */
  revise(kind: string, revise: (payload: unknown) => unknown): void {
    const rows = this.#database.all<{ token: string; payload: string }>(
      'SELECT token, payload FROM undo WHERE kind = ?',
      kind,
    );
    for (const { token, payload } of rows) {
      const revised = revise(JSON.parse(payload));
      if (revised === null) this.#database.run('DELETE FROM undo WHERE token = ?', token);
      else this.#database.run('UPDATE undo SET payload = ? WHERE token = ?', JSON.stringify(revised), token);
    }
  }

  /** Takes a change back, once. NOT_FOUND when the token is unknown, used or expired. */
  apply(token: string): void {
    const row = this.#database.get<{ kind: string; payload: string; expires_at: string }>(
      'SELECT kind, payload, expires_at FROM undo WHERE token = ?',
      token,
    );
    const handler = row ? this.#handlers.get(row.kind) : undefined;
    if (!row || !handler || Date.parse(row.expires_at) < this.#clock.now())
      throw new AppError('NOT_FOUND', 'This can no longer be undone.', {
        hint: 'An undo works once and for 24 hours.',
      });
    this.#database.tx(() => {
      handler(JSON.parse(row.payload));
      this.#database.run('DELETE FROM undo WHERE token = ?', token);
    });
  }
}
