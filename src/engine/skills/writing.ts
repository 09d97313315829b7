import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, messageOf } from '../../shared/errors.ts';
import { placeFolder } from './bank.ts';
import { moveFolder, SKILL_FILE } from './folder.ts';
import { isSkillName, parseSkill } from './skill-file.ts';

/**
 * Writes a whole new skill into a library, or nothing. SKILL_INVALID when the content is no valid SKILL.md of that
 * name, CONFLICT when a folder has the name: a file of the user is never overwritten.
 */
export function writeSkill(dir: string, name: string, content: string): void {
  const { skill, problem } = parseSkill(content);
  if (problem !== null) throw new AppError('SKILL_INVALID', problem, { field: 'content' });
  if (skill.name !== name || !isSkillName(name))
    throw new AppError(
      'SKILL_INVALID',
      `The file names itself ${JSON.stringify(skill.name)}, not ${JSON.stringify(name)}.`,
      { field: 'name' },
    );
  if (existsSync(join(dir, name))) throw taken(name);
  mkdirSync(dir, { recursive: true });
  try {
    placeFolder(dir, name, (staging) =>
      writeFileSync(join(staging, SKILL_FILE), content, { mode: 0o644, flush: true }),
    );
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw taken(name);
    throw new AppError('STORE_UNREADABLE', `The skill ${name} cannot be written: ${messageOf(error)}`, {
      hint: 'Check that the skills folder is writable and that the disk is not full.',
      cause: error,
    });
  }
}

/** Moves a skill's folder into the trash and returns where it is now. */
export function trashSkill(from: string, trash: string, folder: string, nowMs: number): string {
  const stamp = new Date(nowMs).toISOString().replace(/[:.]/g, '-');
  let target = join(trash, `${folder}-${stamp}`);
  for (let n = 2; existsSync(target); n += 1) target = join(trash, `${folder}-${stamp}-${n}`);
  mkdirSync(trash, { recursive: true, mode: 0o700 });
  moveFolder(join(from, folder), target);
  return target;
}

/** The error for a name that another skill or folder has. */
export function taken(name: string): AppError {
  return new AppError('CONFLICT', `There is already a skill or folder named ${name}.`, {
    hint: 'Choose another name; existing files are never overwritten.',
    field: 'name',
  });
}
