import type { Database } from '../store/database.ts';
import type { Changes } from './changes.ts';
import type { UnitRow } from './rows.ts';
import { hashOf, type UnitStore } from './units.ts';

interface SummariesDeps {
  database: Database;
  changes: Changes;
  units: Pick<UnitStore, 'add'>;
}

/** The one summary of each session, rewritten as the session goes on; what it said before stays in its history. */
export class Summaries {
  readonly #deps: SummariesDeps;

  constructor(deps: SummariesDeps) {
    this.#deps = deps;
  }

  /** What a session's summary says; null where there is none. */
  textOf(sessionId: string): string | null {
    return this.#of(sessionId)?.content ?? null;
  }

  /** Writes a session's summary; call it in a transaction. What the user wrote or forgot stays so. */
  keep(summary: {
    sessionId: string;
    scope: number;
    /** Rows of memory_turns that it is about. */
    sources: readonly number[];
    text: string;
    by: 'rules' | 'llm';
    observedAt: string;
  }): void {
    const { changes, units } = this.#deps;
    const { sessionId, scope, sources, text, by, observedAt } = summary;
    const row = this.#of(sessionId);
    if (row === null) {
      units.add({
        kind: 'working_summary',
        content: text,
        scope,
        origin: by,
        observedAt,
        sources,
        importance: 0.6,
        confidence: 0.8,
      });
      return;
    }
    if (row.status !== 'active' || row.content === text || this.#isUsersOwn(row.id)) return;
    const patch = { content: text, hash: hashOf(text), updated_at: changes.now() };
    changes.patch([row.id], patch, { what: 'edited', by, detail: row.content });
    for (const source of sources) changes.addSource(row.id, source);
  }

  /** The newest one, in whatever state. */
  #of(sessionId: string): UnitRow | null {
    return this.#deps.database.get<UnitRow>(
      `SELECT u.* FROM memory_turns t
       JOIN memory_sources s ON s.turn = t.id
       JOIN memory_units u ON u.id = s.unit AND u.kind = 'working_summary'
       WHERE t.session_id = ? ORDER BY u.id DESC LIMIT 1`,
      sessionId,
    );
  }

  #isUsersOwn(id: number): boolean {
    const last = this.#deps.database.get<{ by: string }>(
      "SELECT by FROM memory_events WHERE unit = ? AND what IN ('added', 'edited') ORDER BY id DESC LIMIT 1",
      id,
    );
    return last?.by === 'user';
  }
}
