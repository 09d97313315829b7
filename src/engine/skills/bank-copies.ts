import { createTwoFilesPatch } from 'diff';
import { AppError } from '../../shared/errors.ts';
import type { Logger } from '../platform/logger.ts';
import type { Database } from '../store/database.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import { bankUpdates, type Seeded, seed, seededSchema } from './bank.ts';
import { hashOf, type LoadedFile } from './folder.ts';

const SEEDED = 'skills.seeded';

export interface BankCopiesDeps {
  /** Folder of the built-in skills, read-only. */
  bank: string;
  /** Folder of the library. */
  dir: string;
  database: Database;
  log: Logger;
}

/** The built-in skills as they stand in the library: which ones are as the bank had them, and what is newer there. */
export class BankCopies {
  readonly #deps: BankCopiesDeps;
  #seeded: Seeded = {};

  constructor(deps: BankCopiesDeps) {
    this.#deps = deps;
  }

  /** Copies what is new in the bank into the library. A bank that cannot be read is logged and changes nothing. */
  bringIn(): void {
    const { bank, dir, database, log } = this.#deps;
    try {
      this.#seeded = seed(bank, dir, this.#seeded);
      writeSetting(database, SEEDED, this.#seeded);
    } catch (error) {
      log.warn({ err: error, bank }, 'built-in skills were not brought in');
    }
  }

  load(): void {
    this.#seeded = readSetting(this.#deps.database, SEEDED, seededSchema, {});
  }

  /** True for a file of the library that still says what the bank said. */
  isUnedited({ folder, hash }: LoadedFile): boolean {
    return this.#seeded[folder] === hash;
  }

  /** What the bank has newer for built-in skills that were edited, as a unified diff from the user's text. */
  updates(): { name: string; diff: string }[] {
    const { bank, dir } = this.#deps;
    return bankUpdates(bank, dir, this.#seeded).map(({ folder, mine, theirs }) => ({
      name: folder,
      diff: createTwoFilesPatch(`${folder} (yours)`, `${folder} (bank)`, mine, theirs),
    }));
  }

  /** Hands the bank's newer text to `write` and notes that it was taken. NOT_FOUND when there is none. */
  take<T>(name: string, write: (text: string) => T): T {
    const { bank, dir, database } = this.#deps;
    const update = bankUpdates(bank, dir, this.#seeded).find(({ folder }) => folder === name);
    if (!update)
      throw new AppError('NOT_FOUND', `The bank has nothing newer for ${JSON.stringify(name)}.`, {
        hint: 'See metaclaw skills bank.',
      });
    return database.tx(() => {
      const result = write(update.theirs);
      this.#seeded = { ...this.#seeded, [name]: hashOf(update.theirs) };
      writeSetting(database, SEEDED, this.#seeded);
      return result;
    });
  }
}
