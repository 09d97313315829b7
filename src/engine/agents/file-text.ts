import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError, messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../platform/files.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const WRITE_BITS = 0o222;

/** A file of another program's settings. */
export interface FileText {
  text: string;
  mode: number;
}

/** Reads it; null when there is none. CONFIG_INVALID when it is no UTF-8 text, or too large to be settings. */
export function readFileText(path: string): FileText | null {
  try {
    const { size, mode } = statSync(path);
    if (size > MAX_BYTES) throw refused(path, `is ${size} bytes long, too long for settings`);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
    return { text, mode: mode & 0o777 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    if (error instanceof AppError) throw error;
    throw refused(
      path,
      error instanceof TypeError ? 'is not UTF-8 text' : `cannot be read: ${messageOf(error)}`,
    );
  }
}

/**
 * Replaces the text, whole or not at all; a symbolic link stays one. A new file is for its owner alone, since it may
 * hold a key. FORBIDDEN when the file was made read-only.
 */
export function writeFileText(path: string, text: string, mode: number | null): void {
  const target = isLink(path) ? realpathSync(path) : path;
  if (mode !== null && (mode & WRITE_BITS) === 0)
    throw new AppError('FORBIDDEN', `${path} is read-only; nothing was changed.`, {
      field: path,
      hint: `Make it writable first: chmod u+w '${path}'`,
    });
  mkdirSync(dirname(target), { recursive: true });
  writeAtomic(target, text, mode ?? 0o600);
}

export function removeFile(path: string): void {
  rmSync(path, { force: true });
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function refused(path: string, why: string): AppError {
  return new AppError('CONFIG_INVALID', `${path} ${why}.`, {
    field: path,
    hint: 'Nothing in it was changed.',
  });
}
