import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import type { SkillProblem } from '../../shared/model.ts';
import type { Logger } from '../platform/logger.ts';
import type { Clock } from '../ports.ts';
import { skillFolders, watchSkills } from './folder.ts';

/** Where a skill's folder is: its name, and its place in the order of folders, 0 for the library itself. */
export interface Spot {
  folder: string;
  place: number;
}

export interface RootsDeps {
  /** The library's own folder. */
  dir: string;
  clock: Clock;
  log: Logger;
  /** A folder in one of the places came, changed or went. */
  changed: (folder: string, place: number) => void;
  /** A folder is there that could not be read before, or one is gone. */
  moved: () => void;
}

/** How often is looked for a folder that was not there. */
const LOOK_AGAIN_MS = 5000;

/** The folders of other tools, in order of priority after the library: which there are, and the watching of all. */
export class Roots {
  readonly #deps: RootsDeps;
  #dirs: readonly string[];
  readonly #missing = new Map<string, SkillProblem>();
  readonly #watched = new Map<string, () => Promise<void>>();
  #cancel: () => void = () => {};

  constructor(deps: RootsDeps, dirs: readonly string[]) {
    this.#deps = deps;
    this.#dirs = this.#others(dirs);
  }

  /** The library's folder, then the others. */
  get places(): string[] {
    return [this.#deps.dir, ...this.#dirs];
  }

  /** Folders that cannot be read. */
  problems(): SkillProblem[] {
    return [...this.#missing.values()];
  }

  /** True when the folders are others now, or some that were missing are to be looked for again. */
  set(dirs: readonly string[]): boolean {
    const wanted = this.#others(dirs);
    const isSame = wanted.length === this.#dirs.length && wanted.every((dir, n) => dir === this.#dirs[n]);
    this.#dirs = wanted;
    return !isSame;
  }

  /** What there is to read. A folder of another tool may be missing; that is said and keeps nothing else from working. */
  spots(): Spot[] {
    this.#missing.clear();
    return this.#dirs.flatMap((dir, at) => {
      try {
        return skillFolders(dir).map((folder) => ({ folder, place: at + 1 }));
      } catch (error) {
        const message = `This folder of skills.roots cannot be read: ${messageOf(error)}`;
        this.#missing.set(dir, { path: dir, message });
        return [];
      }
    });
  }

  /**
   * Watches the library and every other folder that can be read, lets those go that are no longer named, and looks for
   * the missing ones now and then.
   */
  async watch(): Promise<void> {
    this.#cancel();
    const { dir: library } = this.#deps;
    if (!isReadable(library))
      this.#missing.set(library, { path: library, message: 'The skills folder is gone.' });
    const wanted = new Set(this.places.filter((dir) => !this.#missing.has(dir)));
    for (const [dir, unwatch] of this.#watched)
      if (!wanted.has(dir)) {
        this.#watched.delete(dir);
        await unwatch();
      }
    for (const dir of wanted) if (!this.#watched.has(dir)) this.#watched.set(dir, await this.#watch(dir));
    this.#lookAgain();
  }

  async stop(): Promise<void> {
    this.#cancel();
    await Promise.all([...this.#watched.values()].map((unwatch) => unwatch()));
    this.#watched.clear();
  }

  #watch(dir: string): Promise<() => Promise<void>> {
    const { clock, log, changed } = this.#deps;
    const notice = (folder: string) => {
      const place = this.places.indexOf(dir);
      if (place >= 0) changed(folder, place);
    };
    return watchSkills(realpathSync(dir), clock, {
      onFolder: notice,
      onGone: () => this.#gone(dir),
      onTrouble: (error) =>
        log.warn({ err: error, dir }, 'changes of the skills folder may be noticed only after a restart'),
    });
  }

  /** A folder that was watched is no more: its watcher hears nothing of another one of that name. */
  #gone(dir: string): void {
    const { log } = this.#deps;
    const unwatch = this.#watched.get(dir);
    if (unwatch === undefined) return;
    this.#watched.delete(dir);
    unwatch().catch((error: unknown) => log.debug({ err: error, dir }, 'a watcher was not closed'));
    this.#deps.moved();
  }

  #lookAgain(): void {
    this.#cancel();
    if (this.#missing.size === 0) return;
    this.#cancel = this.#deps.clock.after(LOOK_AGAIN_MS, () => {
      if ([...this.#missing.keys()].some(isReadable)) this.#deps.moved();
      else this.#lookAgain();
    });
  }

  #others(dirs: readonly string[]): string[] {
    return [...new Set(dirs)].filter((dir) => resolve(dir) !== resolve(this.#deps.dir));
  }
}

function isReadable(dir: string): boolean {
  try {
    skillFolders(dir);
    return true;
  } catch {
    return false;
  }
}
