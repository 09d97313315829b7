import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { SkillWorth } from '../../shared/model.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { readSetting, writeSetting } from '../store/settings.ts';

const SALT = 'learning.holdout.salt';
/** Sessions that carry a skill before it is ever withheld: whoever just got one sees it at work. */
const FIRST_CARRIED = 5;
/** Sessions on each side from which on a difference is named at all. */
const FEWEST = 5;
/** Sessions from which on a skill that makes no difference is said to make none. */
const MANY_WITH = 30;
const MANY_WITHOUT = 10;
const NO_DIFFERENCE = 0.03;
/** Of 95 %. */
const Z = 1.96;

interface Group {
  sessions: number;
  /** Mean over sessions of their share of good requests. */
  good: number;
}

interface Row {
  skill: string;
  version: number;
  withheld: number;
  sessions: number;
  good: number;
}

/**
 * Measures what skills are worth: in a share of sessions a skill that fits is withheld, and how those sessions went is
 * compared with how the others went. A session counts once, however long it is, since its requests are no independent
 * trials; and only from the turn on at which the skill fitted, in the skill's newest version.
 */
export class WorthBook {
  readonly #database: Database;
  readonly #clock: Clock;
  #salt = '';
  /** Sessions that carried a skill, by its name. */
  readonly #carried = new Map<string, number>();
  #measured: ReadonlyMap<string, SkillWorth> | null = null;

  constructor(deps: { database: Database; clock: Clock }) {
    this.#database = deps.database;
    this.#clock = deps.clock;
  }

  load(): void {
    for (const { skill, sessions } of this.#database.all<{ skill: string; sessions: number }>(
      'SELECT skill, count(*) AS sessions FROM skill_trials WHERE withheld = 0 GROUP BY skill',
    ))
      this.#carried.set(skill, sessions);
    this.#salt = readSetting(this.#database, SALT, z.string(), '');
    if (this.#salt !== '') return;
    this.#salt = randomBytes(16).toString('hex');
    writeSetting(this.#database, SALT, this.#salt);
  }

  /**
   * Whether a session does without a skill that does not stand in it yet. Drawn by a hash, so that it is the same on
   * every turn of the session and after a restart, and nothing has to be written for it.
   */
  isWithheld(sessionId: string, skill: string, share: number): boolean {
    if (share <= 0 || (this.#carried.get(skill) ?? 0) < FIRST_CARRIED) return false;
    const digest = createHash('sha256').update(`${this.#salt}\n${sessionId}\n${skill}`).digest();
    return digest.readUInt32BE(0) / 2 ** 32 < share;
  }

  /** Remembers which skills a session carried or did without; the first turn of each counts. */
  record(
    turn: { turnId: string; sessionId: string },
    trials: readonly { skill: string; version: number; withheld: boolean }[],
  ): void {
    const at = new Date(this.#clock.now()).toISOString();
    for (const { skill, version, withheld } of trials) {
      const added = this.#database.run(
        `INSERT OR IGNORE INTO skill_trials (skill, session_id, version, withheld, turn_id, at)
         VALUES (?, ?, ?, ?, ?, ?)`,
        skill,
        turn.sessionId,
        version,
        withheld ? 1 : 0,
        turn.turnId,
        at,
      );
      if (added === 1 && !withheld) this.#carried.set(skill, (this.#carried.get(skill) ?? 0) + 1);
    }
  }

  /** Sessions were rated, or texts changed: what was measured is asked for anew. */
  forget(): void {
    this.#measured = null;
  }

  /** What is known of each skill that ever fitted a rated session, by name; `versionOf` is its newest version. */
  measure(versionOf: (name: string) => number): ReadonlyMap<string, SkillWorth> {
    if (this.#measured) return this.#measured;
    const rows = this.#database.all<Row>(
      `SELECT skill, version, withheld, count(*) AS sessions, avg(share) AS good FROM (
         SELECT t.skill, t.version, t.withheld, t.session_id, avg(o.good) AS share
         FROM skill_trials t JOIN outcomes o ON o.session_id = t.session_id AND o.turn_id >= t.turn_id
         GROUP BY t.skill, t.session_id
       ) GROUP BY skill, version, withheld`,
    );
    const groups = new Map<string, { with: Group; without: Group }>();
    for (const { skill, version, withheld, sessions, good } of rows) {
      if (version !== versionOf(skill)) continue;
      const entry = groups.get(skill) ?? {
        with: { sessions: 0, good: 0 },
        without: { sessions: 0, good: 0 },
      };
      entry[withheld === 1 ? 'without' : 'with'] = { sessions, good };
      groups.set(skill, entry);
    }
    this.#measured = new Map(
      [...groups].map(([skill, entry]) => [skill, worthOf(entry.with, entry.without)]),
    );
    return this.#measured;
  }
}

/** Compares two groups of sessions. The interval is Newcombe’s for a difference of shares, on Wilson’s for each. */
export function worthOf(carried: Group, withheld: Group): SkillWorth {
  const base = {
    with: { sessions: carried.sessions, good: carried.sessions === 0 ? null : carried.good },
    without: { sessions: withheld.sessions, good: withheld.sessions === 0 ? null : withheld.good },
  };
  if (carried.sessions < FEWEST || withheld.sessions < FEWEST) return { ...base, effect: null, advice: null };
  const difference = carried.good - withheld.good;
  const [lowWith, highWith] = wilson(carried);
  const [lowWithout, highWithout] = wilson(withheld);
  const low = difference - Math.hypot(carried.good - lowWith, highWithout - withheld.good);
  const high = difference + Math.hypot(highWith - carried.good, withheld.good - lowWithout);
  const isLongTried = carried.sessions >= MANY_WITH && withheld.sessions >= MANY_WITHOUT;
  const advice = high < 0 ? 'hurts' : isLongTried && high < NO_DIFFERENCE ? 'no-help' : null;
  return { ...base, effect: { difference, low, high }, advice };
}

/** Wilson’s score interval of a share. */
function wilson({ sessions: n, good: p }: Group): [low: number, high: number] {
  const z2 = Z * Z;
  const middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
