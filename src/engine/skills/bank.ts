import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeAtomic } from '../platform/files.ts';
import { hashOf, readSkillText, SKILL_FILE, skillFolders } from './folder.ts';

/**
 * What was put into the library from the bank: folder → hash of the SKILL.md that was written, or null where the
 * user already had a folder of that name. A folder that is listed here is never created again.
 */
export type Seeded = Record<string, string | null>;
export const seededSchema = z.record(z.string(), z.string().nullable());

/**
 * Brings new skills of the bank into the library and refreshes those that nobody edited. Existing files, edited
 * files and deletions of the user win. Each skill arrives whole (a folder that is renamed into place), so a crash
 * leaves nothing half; a crash before the result is stored is made good by the next run.
 */
export function seed(bank: string, dir: string, seeded: Seeded): Seeded {
  const next: Seeded = { ...seeded };
  for (const folder of skillFolders(bank)) {
    const source = join(bank, folder, SKILL_FILE);
    if (!existsSync(source)) continue;
    const content = readFileSync(source);
    const hash = hashOf(content);
    const target = join(dir, folder, SKILL_FILE);
    const current = existsSync(target) ? hashOf(readFileSync(target)) : null;
    const before = seeded[folder];
    if (before === undefined) {
      if (current !== null || existsSync(join(dir, folder))) next[folder] = current === hash ? hash : null;
      else {
        copyIn(join(bank, folder), dir, folder);
        next[folder] = hash;
      }
    } else if (before !== null && before !== hash && current === before) {
      writeAtomic(target, content, 0o644);
      next[folder] = hash;
    } else if (before !== null && current === hash) next[folder] = hash;
  }
  return next;
}

/** A built-in skill that its user edited, and that has a newer text in the bank. */
export interface BankUpdate {
  /** Folder in bank and library. */
  folder: string;
  /** The user's text as it stands. */
  mine: string;
  /** The bank's newer text. */
  theirs: string;
}

/** What the bank has newer for skills that were edited: never written by itself, only offered. */
export function bankUpdates(bank: string, dir: string, seeded: Seeded): BankUpdate[] {
  return skillFolders(bank).flatMap((folder) => {
    const before = seeded[folder];
    const theirs = readSkillText(join(bank, folder, SKILL_FILE));
    const mine = readSkillText(join(dir, folder, SKILL_FILE));
    if (!before || theirs === null || mine === null) return [];
    const isNew = hashOf(theirs) !== before && hashOf(theirs) !== hashOf(mine);
    return isNew && hashOf(mine) !== before ? [{ folder, mine, theirs }] : [];
  });
}

/** Puts a folder into the library in one step. The name must be free. */
export function placeFolder(dir: string, folder: string, fill: (staging: string) => void): void {
  const staging = join(dir, `.new-${randomBytes(6).toString('hex')}`);
  try {
    mkdirSync(staging, { recursive: true });
    fill(staging);
    renameSync(staging, join(dir, folder));
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw error;
  }
}

/** Removes what a crash left of `placeFolder`. */
export function sweepStaging(dir: string): void {
  for (const name of readdirSync(dir))
    if (/^\.new-[0-9a-f]{12}$/.test(name)) rmSync(join(dir, name), { recursive: true, force: true });
}

function copyIn(source: string, dir: string, folder: string): void {
  placeFolder(dir, folder, (staging) => copyTree(source, staging));
}

/** By hand: `fs.cp` cannot read out of an Electron archive. */
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyTree(source, target);
    else if (entry.isFile()) writeFileSync(target, readFileSync(source), { mode: 0o644 });
  }
}
