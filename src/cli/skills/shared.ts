import { createTwoFilesPatch } from 'diff';
import type { Call } from '../../shared/contract.ts';
import { type Context, withCalls } from '../context.ts';

/** Runs with the calls of whoever has the library. */
export function withLibrary(context: Context, use: (call: Call) => Promise<void>): Promise<void> {
  return withCalls(context, use, { library: true });
}

/** A text of any length in one line of a list. */
export function oneLine(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > 200 ? `${flat.slice(0, 199)}…` : flat;
}

/** A unified diff without its two lines of file names; empty when the texts are the same. */
export function patchOf(before: string, after: string): string {
  if (before === after) return '';
  const patch = createTwoFilesPatch('', '', ended(before), ended(after), '', '', { context: 2 });
  return patch.slice(patch.indexOf('@@')).trimEnd();
}

/** A time as the user's own clock has it, sortable. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
