import { z } from 'zod';
import type { Database } from '../store/database.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import { hashOf } from './folder.ts';

const GENERATION = 'skills.generation';
const FINGERPRINT = 'skills.fingerprint';

/** Counts the changes of what can be injected, also of those made while nothing ran. */
export class Generation {
  readonly #database: Database;
  readonly #stamps = new Map<string, bigint>();
  /** The sum of the stamps, in any order, so that a change costs one hash. */
  #fingerprint = 0n;
  #value = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  get value(): number {
    return this.#value;
  }

  load(): void {
    this.#value = readSetting(this.#database, GENERATION, z.number().int(), 0);
  }

  /** What a name stands for now; null for nothing that could be injected. */
  stamp(name: string, hash: string | null): void {
    const before = this.#stamps.get(name) ?? 0n;
    const now = hash === null ? 0n : BigInt(`0x${hashOf(`${name} ${hash}`)}`);
    this.#fingerprint ^= before ^ now;
    if (now === 0n) this.#stamps.delete(name);
    else this.#stamps.set(name, now);
  }

  /** Rises by one when the stamps are not what they last were, also across restarts. Call once all is stamped. */
  settle(): void {
    const fingerprint = this.#fingerprint.toString(16);
    if (readSetting(this.#database, FINGERPRINT, z.string(), '') === fingerprint) return;
    this.#value += 1;
    this.#database.tx(() => {
      writeSetting(this.#database, FINGERPRINT, fingerprint);
      writeSetting(this.#database, GENERATION, this.#value);
    });
  }
}
