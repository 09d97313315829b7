import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';

export interface SkillUse {
  /** Turns that carried the skill. */
  uses: number;
  /** When the last one was, ISO 8601. */
  last: string;
}

/** Which turns carried which skills. */
export class SkillUses {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor({ database, clock }: { database: Database; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** The same turn counts once. */
  record(turnId: string, names: readonly string[]): void {
    const at = new Date(this.#clock.now()).toISOString();
    this.#database.tx(() => {
      for (const name of names)
        this.#database.run(
          'INSERT OR IGNORE INTO skill_uses (skill, turn_id, at) VALUES (?, ?, ?)',
          name,
          turnId,
          at,
        );
    });
  }

  /** By the skill's name. */
  all(): ReadonlyMap<string, SkillUse> {
    const rows = this.#database.all<SkillUse & { skill: string }>(
      'SELECT skill, COUNT(*) AS uses, MAX(at) AS last FROM skill_uses GROUP BY skill',
    );
    return new Map(rows.map(({ skill, uses, last }) => [skill, { uses, last }]));
  }
}
