import { InvalidArgumentError } from 'commander';
import { createTwoFilesPatch } from 'diff';
import type { Call } from '../../shared/contract.ts';
import { type Context, withCalls } from '../context.ts';

/** Runs with the calls of whoever has the library. */
export function withLibrary(context: Context, use: (call: Call) => Promise<void>): Promise<void> {
  return withCalls(context, use, { library: true });
}

/** A unified diff without its two lines of file names; empty when the texts are the same. */
export function patchOf(before: string, after: string): string {
  if (before === after) return '';
  const patch = createTwoFilesPatch('', '', ended(before), ended(after), '', '', { context: 2 });
  return patch.slice(patch.indexOf('@@')).trimEnd();
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** The number of a version, as `skills history` lists them. */
export function versionNumber(text: string): number {
  const version = Number(text);
  if (!Number.isInteger(version) || version < 1)
    throw new InvalidArgumentError('The number of a version is expected; see metaclaw skills history.');
  return version;
}
