import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { x } from 'tinyexec';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Context } from './context.ts';

/** A text of any length in one line of a list. */
export function oneLine(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > 200 ? `${flat.slice(0, 199)}…` : flat;
}

/** A time as the user's own clock has it, sortable. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** A file's text, or all of standard input for `-`. */
export async function readText({ terminal }: Context, file: string): Promise<string> {
  if (file === '-') return terminal.readAll();
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new AppError('NOT_FOUND', `${file} cannot be read: ${messageOf(error)}`, { field: 'file' });
  }
}

/**
 * The text after the user's editor has ended; `name` is the file's, so that the editor knows its kind. Throws
 * BAD_INPUT with `hint` when there is nobody to edit, CANCELLED when the editor failed.
 */
export async function editText(
  { terminal, env }: Context,
  text: string,
  { name, hint }: { name: string; hint: string },
): Promise<string> {
  const editor = env.VISUAL || env.EDITOR;
  if (!editor || !terminal.interactive)
    throw new AppError('BAD_INPUT', 'There is no editor to open it in.', { hint });
  const folder = mkdtempSync(join(tmpdir(), 'metaclaw-'));
  try {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    const [command = editor, ...flags] = editor.split(/\s+/).filter(Boolean);
    const { exitCode } = await x(command, [...flags, file], { nodeOptions: { stdio: 'inherit' } });
    if (exitCode !== 0)
      throw new AppError('CANCELLED', `${command} ended with ${exitCode}; nothing was changed.`);
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
