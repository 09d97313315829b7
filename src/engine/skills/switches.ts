import { z } from 'zod';
import type { Database } from '../store/database.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import type { SkillFile } from './skill-file.ts';

const SWITCHES = 'skills.switches';

/**
 * Whether skills are on, kept beside the files so that switching one changes no file that may be under version
 * control; `enabled: false` in a file is the default of its switch.
 */
export class SkillSwitches {
  readonly #database: Database;
  #switches: Record<string, boolean> = {};

  constructor(database: Database) {
    this.#database = database;
  }

  load(): void {
    this.#switches = readSetting(this.#database, SWITCHES, z.record(z.string(), z.boolean()), {});
  }

  isOn({ name, enabled }: SkillFile): boolean {
    const own = Object.hasOwn(this.#switches, name) ? this.#switches[name] : undefined;
    return own ?? enabled;
  }

  set({ name, enabled }: SkillFile, on: boolean): void {
    const { [name]: _, ...rest } = this.#switches;
    this.#switches = on === enabled ? rest : { ...rest, [name]: on };
    writeSetting(this.#database, SWITCHES, this.#switches);
  }
}
