import type { SkillProblem } from '../../shared/model.ts';
import { type LoadedFile, loadSkill, SKILL_FILE } from './folder.ts';

/** The library's files as last read, and the names that they claim: of several with one name the first by path counts. */
export class Shelf {
  readonly #dir: string;
  /** By folder name. */
  readonly #files = new Map<string, LoadedFile>();
  /** Folders that claim a name, in path order. */
  readonly #claims = new Map<string, string[]>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Reads one folder, alone. `names` may stand for another file from now on, or for none; `file`: what is there now. */
  read(folder: string): { file: LoadedFile | null; names: Set<string>; changed: boolean } {
    const before = this.#files.get(folder);
    const file = loadSkill(this.#dir, folder);
    const names = new Set<string>();
    if (before?.skill) {
      names.add(before.skill.name);
      this.#claim(before.skill.name, (folders) => folders.filter((other) => other !== folder));
    }
    if (file) this.#files.set(folder, file);
    else this.#files.delete(folder);
    if (file?.skill) {
      names.add(file.skill.name);
      this.#claim(file.skill.name, (folders) => [...folders, folder].sort());
    }
    return { file, names, changed: before?.hash !== file?.hash || before?.problem !== file?.problem };
  }

  /** Names that a usable file has. */
  names(): IterableIterator<string> {
    return this.#claims.keys();
  }

  /** The file that a name stands for. */
  fileOf(name: string): LoadedFile | null {
    const [folder] = this.#claims.get(name) ?? [];
    return folder === undefined ? null : (this.#files.get(folder) ?? null);
  }

  /** Files that cannot be used, or lost their name to another, in path order. */
  problems(): SkillProblem[] {
    const problems: SkillProblem[] = [];
    for (const { path, problem, skill, folder } of this.#files.values()) {
      if (problem !== null) problems.push({ path, message: problem });
      const winner = skill ? this.fileOf(skill.name)?.folder : folder;
      if (winner !== folder)
        problems.push({
          path,
          message: `The name ${skill?.name} is already used by ${winner}/${SKILL_FILE}; this one is not used.`,
        });
    }
    return problems.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #claim(name: string, change: (folders: string[]) => string[]): void {
    const folders = change(this.#claims.get(name) ?? []);
    if (folders.length > 0) this.#claims.set(name, folders);
    else this.#claims.delete(name);
  }
}
