import { createHash } from 'node:crypto';
import { cpSync, lstatSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { messageOf } from '../../shared/errors.ts';
import { readCapped } from '../platform/files.ts';
import type { Clock } from '../ports.ts';
import { parseSkill, type SkillFile } from './skill-file.ts';

export const SKILL_FILE = 'SKILL.md';
const MAX_BYTES = 512 * 1024;
/**
 * Editors save in several steps; a file is read when it has been quiet for so long. Longer than the 50 ms in which
 * chokidar drops a second change of a file.
 */
const QUIET_MS = 80;

/** One `<folder>/SKILL.md` as last read. */
export interface LoadedFile {
  /** Name of the folder. */
  folder: string;
  path: string;
  /** SHA-256 of the bytes; empty when they could not be read. */
  hash: string;
  updatedAtMs: number;
  skill: SkillFile | null;
  problem: string | null;
}

export function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Names of the folders that may hold a skill, in path order. Dot folders (trash, git, half-written) are none. */
export function skillFolders(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
    .map((entry) => entry.name)
    .sort();
}

/** Reads one skill; null when the folder holds none. Never throws: what is wrong is the file's problem. */
export function loadSkill(dir: string, folder: string): LoadedFile | null {
  const path = join(dir, folder, SKILL_FILE);
  const broken = (problem: string): LoadedFile => ({
    folder,
    path,
    hash: '',
    updatedAtMs: 0,
    skill: null,
    problem,
  });
  try {
    if (!isInside(dir, path))
      return broken('It is a link to a place outside the skills folder and is not followed.');
    const bytes = readCapped(path, MAX_BYTES);
    if (bytes === null) return null;
    const text = decode(bytes);
    const base = { folder, path, hash: hashOf(bytes), updatedAtMs: statSync(path).mtimeMs };
    if (text === null) return { ...base, skill: null, problem: 'It is not UTF-8 text.' };
    return { ...base, ...parseSkill(text) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return isDangling(dir, folder)
        ? broken('It is a link that leads nowhere.')
        : misnamed(dir, folder, broken);
    return broken(`It cannot be read: ${messageOf(error)}`);
  }
}

/** The whole file as text, or null when it is gone. */
export function readSkillText(path: string): string | null {
  const bytes = readCapped(path, MAX_BYTES);
  return bytes === null ? null : decode(bytes);
}

/** Moves a skill away; across file systems that is a copy and a removal. */
export function moveFolder(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    cpSync(from, to, { recursive: true, errorOnExist: true, force: false });
    rmSync(from, { recursive: true });
  }
}

interface WatchListeners {
  onFolder: (folder: string) => void;
  onGone: () => void;
  onTrouble: (error: unknown) => void;
}

/**
 * Calls `onFolder` for each folder whose SKILL.md came, changed or went, and `onGone` when the watched folder itself
 * went, after which nothing more comes. Resolves when it watches.
 */
export async function watchSkills(
  dir: string,
  clock: Clock,
  { onFolder, onGone, onTrouble }: WatchListeners,
): Promise<() => Promise<void>> {
  const waiting = new Map<string, () => void>();
  const notice = (path: string) => {
    const [folder] = relative(dir, path).split(sep);
    if (folder === undefined || folder === '' || folder.startsWith('.')) return;
    waiting.get(folder)?.();
    waiting.set(
      folder,
      clock.after(QUIET_MS, () => {
        waiting.delete(folder);
        try {
          onFolder(folder);
        } catch (error) {
          onTrouble(error);
        }
      }),
    );
  };
  const watcher: FSWatcher = watch(dir, {
    ignoreInitial: true,
    depth: 1,
    followSymlinks: false,
    ignorePermissionErrors: true,
    ignored: (path, stats) => path !== dir && isIgnored(dir, path, stats?.isFile() === true),
  });
  for (const event of ['add', 'change', 'unlink', 'addDir', 'unlinkDir'] as const) watcher.on(event, notice);
  watcher.on('unlinkDir', (path) => {
    if (relative(dir, path) === '') onGone();
  });
  await new Promise<void>((resolve) => {
    watcher.once('ready', resolve);
    watcher.on('error', (error) => {
      onTrouble(error);
      resolve();
    });
  });
  return async () => {
    for (const cancel of waiting.values()) cancel();
    waiting.clear();
    await watcher.close();
  };
}

function isIgnored(dir: string, path: string, isFile: boolean): boolean {
  const parts = relative(dir, path).split(sep);
  if (parts[0]?.startsWith('.')) return true;
  return isFile && parts.length > 1 && parts[1] !== SKILL_FILE;
}

function isInside(dir: string, path: string): boolean {
  const root = realpathSync(dir);
  return realpathSync(path).startsWith(root + sep);
}

/** A skill of somebody whose disk does not tell `skill.md` from `SKILL.md`. */
function misnamed(dir: string, folder: string, broken: (problem: string) => LoadedFile): LoadedFile | null {
  try {
    const other = readdirSync(join(dir, folder)).find(
      (name) => name.toUpperCase() === SKILL_FILE.toUpperCase(),
    );
    return other === undefined
      ? null
      : broken(`Its file is named ${other}; the name has to be ${SKILL_FILE}.`);
  } catch {
    return null;
  }
}

function isDangling(dir: string, folder: string): boolean {
  for (const path of [join(dir, folder), join(dir, folder, SKILL_FILE)])
    try {
      if (lstatSync(path).isSymbolicLink()) return true;
    } catch {
      return false;
    }
  return false;
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
