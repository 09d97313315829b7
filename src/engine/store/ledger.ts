import { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import type { Clock } from '../ports.ts';
import type { Database } from './database.ts';
import { readSetting, writeSetting } from './settings.ts';

const KEY = 'usage.today';
const schema = z.object({ day: z.string(), tokens: z.number() });

/** Counts the tokens of our own calls (evolver, later judge and extractor) per local day. The chat is not counted. */
export class UsageLedger {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(deps: { database: Database; clock: Clock }) {
    this.#database = deps.database;
    this.#clock = deps.clock;
  }

  spentToday(): number {
    const { day, tokens } = readSetting(this.#database, KEY, schema, { day: '', tokens: 0 });
    return day === this.#today() ? tokens : 0;
  }

  add(tokens: number): void {
    writeSetting(this.#database, KEY, { day: this.#today(), tokens: this.spentToday() + tokens });
  }

  /** Throws CANCELLED when the day's cap (`usage.daily_cap`) is used up. */
  check(cap: number | null): void {
    if (cap !== null && this.spentToday() >= cap)
      throw new AppError('CANCELLED', `Today’s ${cap} tokens for learning are used up (usage.daily_cap).`, {
        hint: 'Learning goes on tomorrow; the chat is not affected.',
      });
  }

  #today(): string {
    const now = new Date(this.#clock.now());
    const two = (n: number) => String(n).padStart(2, '0');
    return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  }
}
