import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { SkillProblem } from '../../shared/model.ts';
import { type LoadedFile, loadSkill, SKILL_FILE, skillFolders } from './folder.ts';
import type { Spot } from './roots.ts';

/**
 * The skill files of all places as last read, and the names that they claim: of several with one name the one in the
 * earliest place counts, and there the first by path.
 */
export class Shelf {
  #dirs: readonly string[];
  /** By path of the folder. */
  readonly #files = new Map<string, LoadedFile>();
  /** Who claims a name, the one that it stands for first. */
  readonly #claims = new Map<string, Spot[]>();

  /** `dirs`: the library's folder, then those that are only read, in order of priority. */
  constructor(dirs: readonly string[]) {
    this.#dirs = dirs;
  }

  /**
   * Puts other places after the library, all of them unread. Returns the names that a file of the old ones claimed:
   * they may stand for another file now, or for none.
   */
  setPlaces(dirs: readonly string[]): string[] {
    const [library] = this.#dirs;
    this.#dirs = dirs;
    for (const key of [...this.#files.keys()]) if (dirname(key) !== library) this.#files.delete(key);
    const lost = [...this.#claims].flatMap(([name, spots]) =>
      spots.some(({ place }) => place > 0) ? [name] : [],
    );
    for (const name of lost) this.#claim(name, (spots) => spots.filter(({ place }) => place === 0));
    return lost;
  }

  /** Reads one folder, alone. `names` may stand for another file from now on, or for none; `file`: what is there now. */
  read(folder: string, place = 0): { file: LoadedFile | null; names: Set<string>; changed: boolean } {
    const dir = this.#dirs[place] as string;
    const key = join(dir, folder);
    const before = this.#files.get(key);
    const file = loadSkill(dir, folder);
    const names = new Set<string>();
    if (before?.skill) {
      names.add(before.skill.name);
      this.#claim(before.skill.name, (spots) =>
        spots.filter((other) => other.place !== place || other.folder !== folder),
      );
    }
    if (file) this.#files.set(key, file);
    else this.#files.delete(key);
    if (file?.skill) {
      names.add(file.skill.name);
      this.#claim(file.skill.name, (spots) => [...spots, { place, folder }].sort(byPriority));
    }
    return { file, names, changed: before?.hash !== file?.hash || before?.problem !== file?.problem };
  }

  /** Looks at one folder of a place after the other: its name where its file is not as it was read, else null. */
  *changedIn(place: number): Generator<string | null> {
    const dir = this.#dirs[place] as string;
    const there = new Set(existsSync(dir) ? skillFolders(dir) : []);
    for (const folder of there) {
      const path = join(dir, folder);
      const before = this.#files.get(path)?.updatedAtMs ?? null;
      yield before === changedAt(join(path, SKILL_FILE)) ? null : folder;
    }
    for (const [path, { folder }] of this.#files)
      if (dirname(path) === dir && !there.has(folder)) yield folder;
  }

  /** Names that a usable file has. */
  names(): IterableIterator<string> {
    return this.#claims.keys();
  }

  /** The file that a name stands for. */
  fileOf(name: string): LoadedFile | null {
    const [spot] = this.#claims.get(name) ?? [];
    return spot ? (this.#files.get(join(this.#dirs[spot.place] as string, spot.folder)) ?? null) : null;
  }

  /** The library's file in a folder, when it cannot be used. */
  brokenIn(folder: string): (LoadedFile & { problem: string }) | null {
    const file = this.#files.get(join(this.#dirs[0] as string, folder));
    return file?.problem ? { ...file, problem: file.problem } : null;
  }

  /** Files that cannot be used, or lost their name to another, in path order. */
  problems(): SkillProblem[] {
    const problems: SkillProblem[] = [];
    for (const file of this.#files.values()) {
      const { path, problem, skill } = file;
      if (problem !== null) problems.push({ path, message: problem });
      if (!skill) continue;
      const winner = this.fileOf(skill.name);
      if (winner && winner !== file)
        problems.push({
          path,
          message: `The name ${skill.name} is already used by ${nameFrom(file, winner)}; this one is not used.`,
        });
    }
    return problems.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #claim(name: string, change: (spots: Spot[]) => Spot[]): void {
    const spots = change(this.#claims.get(name) ?? []);
    if (spots.length > 0) this.#claims.set(name, spots);
    else this.#claims.delete(name);
  }
}

/** In milliseconds; null when there is no such file. */
function changedAt(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

/** Short for a neighbour, whole for a file elsewhere. */
function nameFrom(file: LoadedFile, other: LoadedFile): string {
  const root = dirname(dirname(file.path));
  return dirname(dirname(other.path)) === root ? relative(root, other.path) : other.path;
}

function byPriority(a: Spot, b: Spot): number {
  return a.place - b.place || (a.folder < b.folder ? -1 : 1);
}
