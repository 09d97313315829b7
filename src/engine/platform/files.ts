import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import writeFileAtomicly from 'write-file-atomic';
import { AppError, messageOf } from '../../shared/errors.ts';

/** Windows has no such mark, and no pipes in folders. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Owner only: for files that hold secrets or what was said. */
const PRIVATE = 0o600;

/**
 * Writes a whole file or nothing: temporary file, flush, rename. Creates the folder (owner only), follows a
 * symbolic link to its target, and sets `mode` on an existing file too.
 */
export function writeAtomic(path: string, data: string | Uint8Array, mode: number = PRIVATE): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileAtomicly.sync(path, typeof data === 'string' ? data : Buffer.from(data), { mode });
  } catch (error) {
    throw new AppError('STORE_UNREADABLE', `${path} cannot be written: ${messageOf(error)}`, {
      hint: 'Check that the folder is writable and that the disk is not full.',
      cause: error,
    });
  }
}

/**
 * The file's bytes, or null when there is none. A file larger than `maxBytes` is an error, never a cut; so is a pipe or
 * a device, which could let its reader wait for ever.
 */
export function readCapped(path: string, maxBytes: number): Buffer | null {
  let handle: number;
  try {
    handle = openSync(path, READ_WITHOUT_WAITING);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unreadable(path, error);
  }
  try {
    const stats = fstatSync(handle);
    const { size } = stats;
    if (!stats.isFile())
      throw new AppError('STORE_UNREADABLE', `${path} is no plain file.`, { hint: 'Put a file there.' });
    if (size > maxBytes)
      throw new AppError('STORE_UNREADABLE', `${path} is ${size} bytes long; at most ${maxBytes} are read.`, {
        hint: 'Is this the right file?',
      });
    const bytes = Buffer.alloc(size);
    let read = 0;
    while (read < size) {
      const more = readSync(handle, bytes, read, size - read, read);
      if (more === 0) break;
      read += more;
    }
    return bytes.subarray(0, read);
  } catch (error) {
    throw error instanceof AppError ? error : unreadable(path, error);
  } finally {
    closeSync(handle);
  }
}

/** Moves a damaged file out of the way, beside itself, and returns its new path: nothing is ever overwritten. */
export function setAside(path: string): string {
  const stamp = new Date().toISOString().replace(/[:.]/g, '-');
  let target = `${path}.damaged-${stamp}`;
  for (let n = 2; existsSync(target); n += 1) target = `${path}.damaged-${stamp}-${n}`;
  renameSync(path, target);
  return target;
}

/** Takes group and world permissions off a file; true when there were any. Does nothing on Windows. */
export function makePrivate(path: string): boolean {
  if (process.platform === 'win32' || !isOpen(path)) return false;
  chmodSync(path, PRIVATE);
  return true;
}

/** True when others than the owner may read or write the file. */
export function isOpen(path: string): boolean {
  return process.platform !== 'win32' && existsSync(path) && (statSync(path).mode & 0o077) !== 0;
}

function unreadable(path: string, cause: unknown): AppError {
  return new AppError('STORE_UNREADABLE', `${path} cannot be read: ${messageOf(cause)}`, {
    hint: 'Check its owner and permissions.',
    cause,
  });
}
