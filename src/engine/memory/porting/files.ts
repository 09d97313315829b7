import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import type { RouteParsed } from '../../../shared/contract.ts';
import { AppError, messageOf } from '../../../shared/errors.ts';
import { readCapped } from '../../platform/files.ts';
import type { FileFacts, Incoming } from './incoming.ts';
import { parseLines, readLoose, readMarkdown } from './lists.ts';
import { mem0Items, readMem0 } from './mem0.ts';
import { readOriginal } from './original.ts';
import { isOwn, readOwn } from './own.ts';

type Format = RouteParsed<'memory.import'>['format'];

const MOST_BYTES = 512 * 1024 * 1024;
const SQLITE = 'SQLite format 3\0';

/** All records of a file, of whatever store it comes from. AppError names the file and what is wrong with it. */
export function readMemories(path: string, format: Format, now: string): Incoming[] {
  const writtenAt = checked(path);
  const isSqlite = beginning(path) === SQLITE;
  if (format === 'original' || (format === 'auto' && isSqlite)) return readOriginal(path, now);
  if (isSqlite) throw wrong(path, 'is a SQLite database', 'Import it as `original`.');
  const file: FileFacts = {
    path,
    text:
      readCapped(path, MOST_BYTES)
        ?.toString('utf8')
        .replace(/^\uFEFF/, '') ?? '',
    writtenAt,
  };
  if (file.text.trim() === '') throw wrong(path, 'is empty', 'There is nothing to import.');
  if (file.text.includes('\0'))
    throw wrong(path, 'is no text', 'Memories are read from SQLite, JSON, JSONL and Markdown.');
  const found = read(file, format);
  if (found.every(({ type }) => type === 'skipped'))
    throw wrong(
      path,
      'has no memories',
      found[0]?.type === 'skipped' ? `${found[0].line}: ${found[0].reason}` : 'Its list is empty.',
    );
  return found;
}

function read(file: FileFacts, format: Format): Incoming[] {
  switch (format) {
    case 'markdown':
      return readMarkdown(file);
    case 'mem0':
      return fromMem0(file);
    case 'jsonl':
      return fromLines(file);
    default:
      return fromWhatever(file);
  }
}

function fromWhatever(file: FileFacts): Incoming[] {
  const extension = extname(file.path).toLowerCase();
  if (extension === '.md' || extension === '.markdown') return readMarkdown(file);
  if (/^\s*[[{"]/.test(file.text)) {
    const value = parsed(file.text);
    if (value === undefined) return fromLines(file);
    const items = mem0Items(value);
    if (items) return readMem0(items, file.writtenAt);
    return fromValue(value, file);
  }
  return readMarkdown(file);
}

function fromMem0(file: FileFacts): Incoming[] {
  const value = parsed(file.text);
  const items = mem0Items(value);
  if (items) return readMem0(items, file.writtenAt);
  if (value !== undefined)
    throw wrong(
      file.path,
      'is no export of mem0',
      'It is expected to hold a list, or `results`, of objects with `memory`.',
    );
  const { values, bad } = parseLines(file);
  return [
    ...bad,
    ...readMem0(
      values.map((line) => line.value),
      file.writtenAt,
    ),
  ];
}

function fromLines(file: FileFacts): Incoming[] {
  const whole = parsed(file.text);
  if (Array.isArray(whole)) return fromValue(whole, file);
  const { values, bad } = parseLines(file);
  const [first, ...rest] = values;
  return [...(first && isOwn(first.value) ? readOwn(rest) : readLoose(values, file.writtenAt)), ...bad];
}

function fromValue(value: unknown, file: FileFacts): Incoming[] {
  if (isOwn(value)) return [];
  const list = Array.isArray(value) ? value : [value];
  return readLoose(
    list.map((item, at) => ({ line: `entry ${at + 1}`, value: item as unknown })),
    file.writtenAt,
  );
}

/** Undefined where it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** When the file was written, ISO. */
function checked(path: string): string {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw wrong(path, 'is no file', 'Name the file itself.');
    return stats.mtime.toISOString();
  } catch (error) {
    if (error instanceof AppError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new AppError('NOT_FOUND', `There is no file ${path}.`, { field: 'path' });
    throw new AppError('STORE_UNREADABLE', `${path} cannot be read: ${messageOf(error)}`, {
      hint: 'Check its owner and permissions.',
      field: 'path',
      cause: error,
    });
  }
}

function beginning(path: string): string {
  const handle = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(SQLITE.length);
    return bytes.toString('latin1', 0, readSync(handle, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(handle);
  }
}

function wrong(path: string, what: string, hint: string): AppError {
  return new AppError('BAD_INPUT', `${path} ${what}.`, { hint, field: 'path' });
}
