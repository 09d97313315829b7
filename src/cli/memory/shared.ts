import { InvalidArgumentError, Option } from 'commander';
import type { Call } from '../../shared/contract.ts';
import { startOfDay } from '../../shared/days.ts';
import { AppError } from '../../shared/errors.ts';
import { MEMORY_KINDS, type MemoryUnit, parseScope, scopeName } from '../../shared/memory.ts';
import { localTime, oneLine } from '../text.ts';

/** `--scope`, as clients name it. */
export function scopeOption(description = 'whose, e.g. user:alice|workspace:api'): Option {
  return new Option('--scope <scope>', description).argParser(parseScope);
}

export function kindOption(): Option {
  return new Option('--kind <kind>', 'what it is').choices(MEMORY_KINDS);
}

/** A whole number of results. */
export function parseLimit(most: number): (text: string) => number {
  return (text) => {
    const limit = Number(text);
    if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit;
    throw new InvalidArgumentError(`A whole number from 1 to ${most} is expected.`);
  };
}

/** A day, from whose beginning on this computer's clock; or a whole time. `none` is null. */
export function parseExpiry(text: string): string | null {
  if (text === 'none') return null;
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? startOfDay(text) : Date.parse(text);
  if (Number.isNaN(ms))
    throw new InvalidArgumentError(
      'A day such as 2027-01-31 is expected, or a time such as 2027-01-31T18:00Z.',
    );
  return new Date(ms).toISOString();
}

/**
 * Whole ids for what the user typed: the beginning of an id is enough where only one memory begins so. `t` and a
 * number is something that was said. Throws NOT_FOUND for the first that fits none or several.
 */
export async function findIds(call: Call, given: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of given) ids.push(/^t\d+$/.test(text) ? text : await findId(call, text));
  return [...new Set(ids)];
}

/** The whole id of one memory. */
export async function findId(call: Call, text: string): Promise<string> {
  const found = /^[0-9a-f-]{1,36}$/i.test(text) ? await call('memory.find', { prefix: text }) : [];
  const [id] = found;
  if (id !== undefined && found.length === 1) return id;
  throw new AppError(
    'NOT_FOUND',
    id === undefined
      ? `There is no memory whose id begins with ${JSON.stringify(text)}.`
      : `${found.length === 10 ? 'Many' : found.length} memories have ids that begin with ${JSON.stringify(text)}.`,
    { hint: id === undefined ? 'See metaclaw memory list.' : 'Give more of the id.', field: 'id' },
  );
}

export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** One memory as a line of a list. */
export function unitRow(unit: MemoryUnit): string[] {
  return [
    shortId(unit.id),
    [unit.pinned ? 'pinned' : '', unit.status === 'active' ? '' : unit.status].filter(Boolean).join(' '),
    unit.kind,
    localTime(unit.observedAt).slice(0, 10),
    scopeName(unit.scope),
    oneLine(unit.content),
  ];
}

/** `1 memory`, `2 memories`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

export function memories(number: number): string {
  return count(number, 'memory', 'memories');
}
