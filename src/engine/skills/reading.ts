import type { SkillProblem } from '../../shared/model.ts';
import type { Logger } from '../platform/logger.ts';
import type { Clock } from '../ports.ts';
import { skillFolders } from './folder.ts';
import { Roots, type Spot } from './roots.ts';
import { Shelf } from './shelf.ts';
import { Slices } from './slices.ts';

export interface ReadingDeps {
  /** The library's own folder. */
  dir: string;
  /** Folders of other tools, absolute, in order of priority. */
  roots?: readonly string[];
  clock: Clock;
  log: Logger;
  /** Takes what stands in some folders, all at once. */
  take: (spots: readonly Spot[]) => void;
  /** A folder is not as it was read. */
  changed: (folder: string, place: number) => void;
  /** Names that may stand for another file now, or for none. */
  lost: (names: readonly string[]) => void;
  /** All is read. */
  done: () => void;
}

/** Folders that are looked at in one go. */
const AT_ONCE = 100;

/** Reads the library and the folders of other tools, beside the first turns where there is much, and then follows them. */
export class Reading {
  readonly shelf: Shelf;
  readonly #deps: ReadingDeps;
  readonly #roots: Roots;
  #slices: Slices<Spot>;
  /** Null until all was read once. */
  #following: Promise<void> | null = null;
  #isStopped = false;

  constructor(deps: ReadingDeps) {
    this.#deps = deps;
    this.#roots = new Roots({ ...deps, moved: () => void this.#readRootsNext() }, deps.roots ?? []);
    this.shelf = new Shelf(this.#roots.places);
    this.#slices = this.#newSlices();
  }

  /** Folders that cannot be read, and that not all is read yet. */
  problems(): SkillProblem[] {
    const { left } = this.#slices;
    const reading =
      left > 0 ? [{ path: this.#deps.dir, message: `${left} skills are still being read.` }] : [];
    return [...this.#roots.problems(), ...reading];
  }

  /** Resolves when the first are read; with few skills those are all. Throws when the library cannot be read. */
  async start(): Promise<void> {
    const { dir, log } = this.#deps;
    const own = skillFolders(dir).map((folder) => ({ folder, place: 0 }));
    this.#following = Promise.resolve();
    await this.#slices.start([...own, ...this.#roots.spots()], (error) =>
      log.error({ err: error, dir }, 'the rest of the skills was not read'),
    );
  }

  /** Resolves when every skill has been read. */
  async finished(): Promise<void> {
    await this.#slices.finished();
  }

  /** Takes other folders for those of other tools; resolves when theirs are read. */
  async follow(roots: readonly string[]): Promise<void> {
    if (this.#roots.set(roots)) await this.#readRootsNext();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#slices.stop();
    await this.#following;
    await this.#roots.stop();
  }

  #readRootsNext(): Promise<void> {
    const { log } = this.#deps;
    const next = this.#following?.then(() => this.#readRoots());
    if (next === undefined) return Promise.resolve();
    this.#following = next.catch((error: unknown) =>
      log.error({ err: error }, 'the folders of skills.roots were not read'),
    );
    return this.#following;
  }

  async #readRoots(): Promise<void> {
    await this.finished();
    if (this.#isStopped) return;
    this.#deps.lost(this.shelf.setPlaces(this.#roots.places));
    this.#slices = this.#newSlices();
    await this.#slices.start(this.#roots.spots(), (error) =>
      this.#deps.log.error({ err: error }, 'the rest of skills.roots was not read'),
    );
    await this.finished();
  }

  #newSlices(): Slices<Spot> {
    const { clock, take, done } = this.#deps;
    return new Slices<Spot>({
      clock,
      take,
      done: async () => {
        done();
        await this.#roots.watch();
        await this.#takeWhatChanged();
      },
    });
  }

  /** What changed after it was read and before it was watched: with thousands of skills that is half a minute. */
  async #takeWhatChanged(): Promise<void> {
    const { log, changed } = this.#deps;
    for (const [place, dir] of this.#roots.places.entries())
      try {
        let looked = 0;
        for (const folder of this.shelf.changedIn(place)) {
          if (folder !== null) changed(folder, place);
          looked += 1;
          if (looked % AT_ONCE === 0) await new Promise((resume) => setImmediate(resume));
          if (this.#isStopped) return;
        }
      } catch (error) {
        log.debug({ err: error, dir }, 'a folder of skills was not looked through again');
      }
  }
}
