import type { Clock } from '../ports.ts';

/** So long reading may hold up the start; the rest is read beside the first turns. */
const START_MS = 250;
const FIRST_SLICE = 50;
const SLICE = 10;

export interface SlicesDeps<T> {
  clock: Clock;
  take: (items: readonly T[]) => void;
  /** Called once, when all is taken. */
  done: () => Promise<void>;
}

/** Takes many things: the first of them at once, the rest in slices too short for a turn to notice. */
export class Slices<T> {
  readonly #deps: SlicesDeps<T>;
  /** How many are yet to be taken. */
  left = 0;
  #rest: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: SlicesDeps<T>) {
    this.#deps = deps;
  }

  /** Resolves when the first have been taken; with few things those are all. `onError`: the rest came to nothing. */
  async start(items: readonly T[], onError: (error: unknown) => void): Promise<void> {
    const { clock, take, done } = this.#deps;
    const until = clock.now() + START_MS;
    let at = 0;
    while (at < items.length && (at === 0 || clock.now() < until)) {
      take(items.slice(at, at + FIRST_SLICE));
      at += FIRST_SLICE;
    }
    this.left = Math.max(0, items.length - at);
    if (this.left === 0) await done();
    else this.#rest = this.#takeRest(items.slice(at)).catch(onError);
  }

  /** Resolves when all is taken, or nothing more will be. */
  finished(): Promise<void> {
    return this.#rest;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#rest;
  }

  async #takeRest(items: readonly T[]): Promise<void> {
    for (let at = 0; at < items.length && !this.#stopped; at += SLICE) {
      this.#deps.take(items.slice(at, at + SLICE));
      this.left = Math.max(0, items.length - at - SLICE);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (!this.#stopped) await this.#deps.done();
  }
}
