import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { RouteOutput, Undo } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import { writeAtomic } from '../platform/files.ts';
import { estimateTokens } from '../platform/tokens.ts';
import type { Database } from '../store/database.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import type { UndoLog } from '../store/undo.ts';
import { placeFolder } from './bank.ts';
import { hashOf, type LoadedFile, moveFolder, readSkillText, SKILL_FILE } from './folder.ts';
import { type Authorship, OUTSIDE, type SkillHistory } from './history.ts';
import { joinSkill, lineOf, parseSkill, type SkillFile, withBody, withField } from './skill-file.ts';

/** What changing the library needs of the book that reads it. */
export interface EditsDeps {
  /** Folder of the library, absolute. */
  dir: string;
  database: Database;
  undo: UndoLog;
  history: SkillHistory;
  /** The file that a name stands for; null when there is none. */
  fileOf: (name: string) => LoadedFile | null;
  /** The library's file in the folder of that name, when it cannot be used. */
  brokenOf: (name: string) => LoadedFile | null;
  isWritable: (file: LoadedFile) => boolean;
  /** Adds a whole new skill, or nothing. */
  write: (name: string, content: string, by: Authorship) => void;
  /** Moves a skill into the trash and returns where it is now. */
  remove: (name: string, by: Authorship) => string;
  /** Reads one changed folder again; what it finds is a version by `by`. */
  take: (folder: string, by: Authorship) => void;
  changed: () => void;
}

const LOCKS = 'skills.locked';
const UNDO_TEXT = 'skill.text';
const UNDO_LOCK = 'skill.locked';
const USER: Authorship = { author: 'user' };
/** Most files and bytes of a skill that is brought in from elsewhere. */
const MOST_FILES = 200;
/** What a skill should stay under. */
const GOOD_TOKENS = 250;
const MOST_BYTES = 5 * 1024 * 1024;

const textChange = z.object({
  name: z.string(),
  folder: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  trashed: z.string().nullable(),
});
/** What is needed to take a change of a skill's text back; survives JSON. Hashes are null where there was no skill. */
export type TextChange = z.infer<typeof textChange>;

/** Changes of the library by its user and by accepted proposals: each is a version, and each can be taken back. */
export class SkillEdits {
  readonly #deps: EditsDeps;
  #locked: ReadonlySet<string> = new Set();

  constructor(deps: EditsDeps) {
    this.#deps = deps;
    deps.undo.handle(UNDO_TEXT, (payload) => this.takeBack(textChange.parse(payload)));
    deps.undo.handle(UNDO_LOCK, (payload) => {
      const { name, locked } = z.object({ name: z.string(), locked: z.boolean() }).parse(payload);
      this.#setLock(name, locked);
    });
  }

  load(): void {
    this.#locked = new Set(readSetting(this.#deps.database, LOCKS, z.array(z.string()), []));
  }

  isLocked(name: string): boolean {
    return this.#locked.has(name);
  }

  /** Adds a whole new skill as its user wrote it; the name is the file's own. */
  add(content: string): { name: string; undo: Undo } {
    const { skill, problem } = parseSkill(content);
    if (problem !== null) throw new AppError('SKILL_INVALID', problem, { field: 'content' });
    const { name } = skill;
    return this.#deps.database.tx(() => {
      const change = { name, folder: name, before: null, after: hashOf(content), trashed: null };
      const undo = this.#offer(`Added: ${name}`, change);
      this.#deps.write(name, content, USER);
      return { name, undo };
    });
  }

  /**
   * Puts a new text in the place of a skill's. NOT_FOUND, FORBIDDEN (locked, or another program's), SKILL_INVALID, or
   * CONFLICT when the file is no longer the one that `base` (its hash) names.
   */
  edit(
    name: string,
    content: string,
    options: { base?: string | undefined; by?: Authorship } = {},
  ): { version: number; hash: string; undo: Undo } {
    return this.#deps.database.tx(() => {
      const change = this.#replace(name, content, options);
      const undo = this.#offer(`Changed: ${name}`, change);
      return { version: this.#deps.history.latest(name)?.version ?? 0, hash: change.after ?? '', undo };
    });
  }

  /** What is wrong with a text before it is saved. `name` is the one that it has to keep; a new skill's must be free. */
  check(content: string, name?: string): RouteOutput<'skills.check'> {
    const parsed = parseSkill(content);
    if (parsed.skill === null)
      return { problem: parsed.problem, remarks: [], lines: [parsed.line], tokens: 0 };
    const { skill } = parsed;
    const tokens = estimateTokens(skill.body);
    const remarks: string[] = [];
    const lines: number[] = [];
    const remark = (text: string, key: string) => {
      remarks.push(text);
      lines.push(lineOf(skill.parts, key));
    };
    if (tokens > GOOD_TOKENS)
      remark(
        `The text has ${tokens} tokens; what is longer than ${GOOD_TOKENS} crowds out other skills.`,
        'body',
      );
    if (skill.triggers.length === 0)
      remark(
        'It has no metadata.triggers: phrases of a user that call for it, separated by semicolons.',
        'metadata',
      );
    if (skill.description.length < 20)
      remark('The description is short: say when the skill is to be used.', 'description');
    const problem = this.#nameProblem(skill.name, name);
    if (problem !== null) lines.unshift(lineOf(skill.parts, 'name'));
    return { problem, remarks, lines, tokens };
  }

  #nameProblem(own: string, name: string | undefined): string | null {
    if (name !== undefined)
      return own === name ? null : `The text names itself ${own}; it has to stay ${name}.`;
    return this.#deps.fileOf(own) ? `There is already a skill named ${own}.` : null;
  }

  /** As `edit`, but what changes is the description and the Markdown; every other byte of the file stays. */
  rewrite(name: string, to: { description: string; body: string }, by: Authorship): TextChange {
    const file = this.#writable(name);
    if (!file.skill) throw missing(name);
    const { parts, description } = file.skill;
    const described =
      to.description === description ? parts : withField(parts, ['description'], to.description);
    const content = joinSkill(withBody(described, to.body));
    const written = parseSkill(content).skill;
    if (written?.description !== to.description)
      throw new AppError(
        'SKILL_INVALID',
        `The description of ${name} cannot be replaced in its front matter.`,
        {
          hint: `Change ${file.path} by hand.`,
          field: 'description',
        },
      );
    return this.#deps.database.tx(() => this.#replace(name, content, { base: file.hash, by }));
  }

  #replace(
    name: string,
    content: string,
    { base, by = USER }: { base?: string | undefined; by?: Authorship },
  ): TextChange {
    const file = this.#writable(name);
    const { skill, problem } = parseSkill(content);
    if (problem !== null) throw new AppError('SKILL_INVALID', problem, { field: 'content' });
    if (skill.name !== name)
      throw new AppError(
        'SKILL_INVALID',
        `The text names itself ${JSON.stringify(skill.name)}, not ${name}.`,
        {
          hint: 'A skill keeps its name; add a new one under another name.',
          field: 'name',
        },
      );
    const now = readSkillText(file.path);
    const before = now === null ? null : hashOf(now);
    if (now === null || (base !== undefined && base !== before))
      throw new AppError('CONFLICT', `The skill ${name} has been changed since.`, {
        hint: 'Look at the newer text, then change that.',
        field: 'base',
      });
    // What came meanwhile and was not noticed yet is a version too.
    this.#deps.take(file.folder, OUTSIDE);
    writeAtomic(file.path, content, 0o644);
    this.#deps.take(file.folder, by);
    return { name, folder: file.folder, before, after: hashOf(content), trashed: null };
  }

  /** Moves a skill into the trash. */
  remove(name: string): { undo: Undo } {
    const file = this.#writable(name);
    return this.#deps.database.tx(() => {
      const trashed = this.#deps.remove(name, USER);
      const change = { name, folder: file.folder, before: file.hash, after: null, trashed };
      return { undo: this.#offer(`Removed: ${name}`, change) };
    });
  }

  /** The text of one version. NOT_FOUND when there is none, or the version is a removal. */
  textOf(name: string, version: number): string {
    const { history } = this.#deps;
    const hash = history.hashOf(name, version);
    const text = hash ? history.text(hash) : null;
    if (text === null)
      throw new AppError('NOT_FOUND', `There is no text of ${name} in version ${version}.`, {
        hint: `See metaclaw skills history ${name}.`,
      });
    return text;
  }

  /** An earlier text by its hash; null when it was never a version. */
  skillOf(hash: string): SkillFile | null {
    const text = this.#deps.history.text(hash);
    return text === null ? null : parseSkill(text).skill;
  }

  /** Brings the text of an earlier version back, as a new version; also for a skill that is gone. */
  restore(name: string, version: number): { version: number; undo: Undo } {
    const { history, database } = this.#deps;
    const text = this.textOf(name, version);
    const by: Authorship = { author: 'user', note: `Restored version ${version}` };
    if (this.#deps.fileOf(name)) {
      const { version: now, undo } = this.edit(name, text, { by });
      return { version: now, undo };
    }
    const broken = this.#deps.brokenOf(name);
    if (broken !== null) return this.#mend(name, broken, text, by);
    return database.tx(() => {
      const change = { name, folder: name, before: null, after: hashOf(text), trashed: null };
      const undo = this.#offer(`Restored: ${name}`, change);
      this.#deps.write(name, text, by);
      return { version: history.latest(name)?.version ?? 0, undo };
    });
  }

  /** Writes over a file that cannot be used; its text is kept for the undo. */
  #mend(name: string, broken: LoadedFile, text: string, by: Authorship): { version: number; undo: Undo } {
    const { history, database } = this.#deps;
    const before = lstatSync(broken.path).isFile() ? readSkillText(broken.path) : null;
    if (before === null)
      throw new AppError('CONFLICT', `${broken.path} is in the way and is not written over.`, {
        hint: 'Move it elsewhere, then restore again.',
      });
    return database.tx(() => {
      const change = {
        name,
        folder: broken.folder,
        before: history.keep(before),
        after: hashOf(text),
        trashed: null,
      };
      const undo = this.#offer(`Restored: ${name}`, change);
      writeAtomic(broken.path, text, 0o644);
      this.#deps.take(broken.folder, by);
      return { version: history.latest(name)?.version ?? 0, undo };
    });
  }

  lock(name: string, locked: boolean): { undo: Undo } {
    if (!this.#deps.fileOf(name)) throw missing(name);
    return this.#deps.database.tx(() => {
      const before = this.isLocked(name);
      this.#setLock(name, locked);
      const label = `${locked ? 'Locked' : 'Unlocked'}: ${name}`;
      return { undo: this.#deps.undo.offer(UNDO_LOCK, label, { name, locked: before }) };
    });
  }

  /**
   * Copies skills in from a folder: one skill, or a folder of them, with their supporting files. Nothing that is
   * there is overwritten; what was left out says why.
   */
  import(path: string): { added: string[]; skipped: { path: string; reason: string }[] } {
    const added: string[] = [];
    const skipped: { path: string; reason: string }[] = [];
    for (const folder of skillFoldersAt(path)) {
      const reason = this.#importOne(folder, (name) => added.push(name));
      if (reason !== null) skipped.push({ path: folder, reason });
    }
    return { added, skipped };
  }

  /** Copies skills, or all, into a folder as other agents read them. Nothing that is there is overwritten. */
  export(
    names: readonly string[],
    to: string,
  ): { exported: string[]; skipped: { path: string; reason: string }[] } {
    const exported: string[] = [];
    const skipped: { path: string; reason: string }[] = [];
    for (const name of names) {
      const file = this.#deps.fileOf(name);
      if (!file) throw missing(name);
      const target = join(to, file.folder);
      if (existsSync(target))
        skipped.push({ path: target, reason: 'There is something of that name already.' });
      else {
        copyPlain(join(file.path, '..'), target);
        exported.push(name);
      }
    }
    return { exported, skipped };
  }

  #importOne(folder: string, onAdded: (name: string) => void): string | null {
    const text = readSkillText(join(folder, SKILL_FILE));
    if (text === null) return 'It holds no SKILL.md in UTF-8.';
    const { skill, problem } = parseSkill(text);
    if (problem !== null) return problem;
    const { dir, fileOf, isWritable, take } = this.#deps;
    const there = fileOf(skill.name);
    if ((there && isWritable(there)) || existsSync(join(dir, skill.name)))
      return `There is already a skill or folder named ${skill.name}.`;
    const size = sizeOf(folder);
    if (size.files > MOST_FILES || size.bytes > MOST_BYTES)
      return `It has ${size.files} files and ${size.bytes} bytes; at most ${MOST_FILES} and ${MOST_BYTES} are brought in.`;
    mkdirSync(dir, { recursive: true });
    placeFolder(dir, skill.name, (staging) => copyPlain(folder, staging));
    take(skill.name, { author: 'user', note: `Imported from ${basename(folder)}` });
    onAdded(skill.name);
    return null;
  }

  /** Puts back what was there before a change. CONFLICT when the text is no longer the one that the change made. */
  takeBack({ name, folder, before, after, trashed }: TextChange): void {
    const { history, fileOf, isWritable, dir } = this.#deps;
    const found = fileOf(name);
    const now = found && isWritable(found) ? found : null;
    if ((now?.hash ?? null) !== after)
      throw new AppError('CONFLICT', `The skill ${name} has been changed since.`, {
        hint: `See metaclaw skills history ${name}.`,
      });
    const by: Authorship = { author: 'user', note: 'Undone' };
    if (before === null) {
      this.#deps.remove(name, by);
      return;
    }
    const target = join(dir, folder);
    if (now === null && trashed !== null && existsSync(trashed) && !existsSync(target)) {
      moveFolder(trashed, target);
      this.#deps.take(folder, by);
      return;
    }
    const text = history.text(before);
    if (text === null) throw new AppError('NOT_FOUND', `The earlier text of ${name} is gone.`);
    if (now === null) this.#deps.write(name, text, by);
    else {
      writeAtomic(now.path, text, 0o644);
      this.#deps.take(now.folder, by);
    }
  }

  #writable(name: string): LoadedFile {
    const file = this.#deps.fileOf(name);
    if (!file) throw missing(name);
    if (!this.#deps.isWritable(file))
      throw new AppError('FORBIDDEN', `The skill ${name} belongs to another program and is only read.`, {
        hint: `Import ${file.path} to have a copy of your own.`,
      });
    if (this.isLocked(name))
      throw new AppError('FORBIDDEN', `The skill ${name} is locked.`, {
        hint: `Unlock it first: metaclaw skills unlock ${name}.`,
      });
    return file;
  }

  #setLock(name: string, locked: boolean): void {
    const next = new Set(this.#locked);
    if (locked) next.add(name);
    else next.delete(name);
    this.#locked = next;
    writeSetting(this.#deps.database, LOCKS, [...next].sort());
    this.#deps.changed();
  }

  #offer(label: string, change: TextChange): Undo {
    return this.#deps.undo.offer(UNDO_TEXT, label, change);
  }
}

/** The path itself when it is a skill, else the folders in it that are. */
function skillFoldersAt(path: string): string[] {
  const folder = basename(path) === SKILL_FILE ? join(path, '..') : path;
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new AppError('NOT_FOUND', `There is no folder ${path}.`, { field: 'path' });
  if (existsSync(join(folder, SKILL_FILE))) return [folder];
  const inside = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, SKILL_FILE)))
    .map((entry) => join(folder, entry.name))
    .sort();
  if (inside.length === 0)
    throw new AppError('NOT_FOUND', `There is no ${SKILL_FILE} in ${path}, nor in a folder in it.`, {
      field: 'path',
    });
  return inside;
}

function sizeOf(folder: string): { files: number; bytes: number } {
  let files = 0;
  let bytes = 0;
  // The oldest runtime reads no folder recursively.
  const folders = [folder];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isFile()) continue;
      files += 1;
      bytes += statSync(path).size;
      if (files > MOST_FILES || bytes > MOST_BYTES) return { files, bytes };
    }
  }
  return { files, bytes };
}

/** Files and folders only: a link may lead out of the skill. */
function copyPlain(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (source) => !lstatSync(source).isSymbolicLink() });
}

function missing(name: string): AppError {
  return new AppError('NOT_FOUND', `There is no skill named ${JSON.stringify(name)}.`);
}
