import { isDeepStrictEqual } from 'node:util';
import { AppError, messageOf } from '../../../shared/errors.ts';
import { dotenvFormat } from './dotenv.ts';
import type { Change, Json, SettingsFormat, ValueChange } from './format.ts';
import { jsonFormat } from './json.ts';
import { json5Format } from './json5.ts';
import { tomlFormat } from './toml.ts';
import { yamlFormat } from './yaml.ts';

export type FormatName = 'json' | 'json5' | 'yaml' | 'toml' | 'dotenv';

const FORMATS: Readonly<Record<FormatName, SettingsFormat>> = {
  json: jsonFormat,
  json5: json5Format,
  yaml: yamlFormat,
  toml: tomlFormat,
  dotenv: dotenvFormat,
};

/** What was done at a place, so that it can be taken back. */
export type Trace =
  | {
      /** The shallowest place that was not there before; the change's own place when its section was there. */
      path: readonly string[];
      before: Json | undefined;
      /** What we put there; undefined where we took something away. */
      ours: Json | undefined;
    }
  | { path: readonly string[]; item: Json };

/** All values of a file's text. CONFIG_INVALID, naming the file, when it is not of that language. */
export function readSettings(file: string, format: FormatName, text: string): unknown {
  return named(file, () => {
    // Parsers make objects of kinds of their own, which would not be equal to plain ones.
    return structuredClone(FORMATS[format].read(withoutBom(text).text));
  });
}

/**
 * The text with all changes made, and nothing else: what it says afterwards is compared with what it should say. A
 * change that is true already costs no byte. Throws as `readSettings`.
 */
export function editSettings(
  file: string,
  format: FormatName,
  text: string,
  changes: readonly Change[],
): string {
  const { bom, text: body } = withoutBom(text);
  let edited = body;
  let wanted = readSettings(file, format, body);
  for (const change of changes) {
    refuseThroughScalar(file, wanted, change.path);
    const next = withChange(wanted, change);
    if (isDeepStrictEqual(next, wanted)) continue;
    const before = wanted;
    edited = named(file, () => applyOne(FORMATS[format], edited, change, before));
    wanted = next;
  }
  if (!isDeepStrictEqual(readSettings(file, format, edited), wanted))
    throw new AppError('CONFIG_INVALID', `${file} cannot be edited without changing more than was asked.`, {
      field: file,
      hint: `Set ${changes.map(({ path }) => path.join('.')).join(', ')} by hand; nothing was changed.`,
    });
  return bom + edited;
}

function applyOne(format: SettingsFormat, text: string, change: Change, values: unknown): string {
  if ('value' in change) return format.edit(text, change);
  const list = listAt(values, change.path);
  if ('item' in change) {
    if (list === null || list.length === 0)
      return format.edit(text, { path: change.path, value: [change.item] });
    if (format.append) return format.append(text, change.path, change.item);
  } else if (list !== null && format.drop) {
    const index = list.findLastIndex((item) => isDeepStrictEqual(item, change.without));
    return format.drop(text, change.path, index);
  }
  throw new Error('lists of this file are not edited.');
}

/** What has to be remembered to take the changes back from this text, in the order in which they are made. */
export function tracesOf(
  file: string,
  format: FormatName,
  text: string,
  changes: readonly Change[],
): Trace[] {
  const before = readSettings(file, format, text);
  const after = readSettings(file, format, editSettings(file, format, text, changes));
  const traces = new Map<string, Trace>();
  for (const change of changes) {
    let depth = 1;
    while (depth < change.path.length && valueAt(before, change.path.slice(0, depth)) !== undefined)
      depth += 1;
    const path = change.path.slice(0, depth);
    if ('item' in change && listAt(before, change.path) !== null) {
      const { item } = change;
      const had = listAt(before, change.path)?.some((one) => isDeepStrictEqual(one, item));
      if (!had) traces.set(JSON.stringify([change.path, item]), { path: change.path, item });
      continue;
    }
    const ours = valueAt(after, path);
    const was = valueAt(before, path);
    if (!isDeepStrictEqual(was, ours)) traces.set(JSON.stringify(path), { path, before: was, ours });
  }
  return [...traces.values()];
}

/**
 * The changes that take `traces` back from what the file says now. What the user or the agent has changed since is
 * left alone and named in `kept`; inside a section that we made and others added to, only our values go.
 */
export function changesBack(
  values: unknown,
  traces: readonly Trace[],
): { changes: Change[]; kept: string[] } {
  const changes: Change[] = [];
  const kept: string[] = [];
  for (const trace of [...traces].reverse()) takeBack(values, trace, changes, kept);
  return { changes, kept };
}

/** Places of `traces` where something else stands by now. */
export function drifted(values: unknown, traces: readonly Trace[]): string[] {
  return traces
    .filter((trace) =>
      'item' in trace
        ? !listAt(values, trace.path)?.some((one) => isDeepStrictEqual(one, trace.item))
        : !contains(valueAt(values, trace.path), trace.ours),
    )
    .map(({ path }) => path.join('.'));
}

function takeBack(values: unknown, trace: Trace, changes: Change[], kept: string[]): void {
  const { path } = trace;
  if ('item' in trace) {
    const isThere = listAt(values, path)?.some((one) => isDeepStrictEqual(one, trace.item));
    if (isThere) changes.push({ path, without: trace.item });
    return;
  }
  const { before, ours } = trace;
  const now = valueAt(values, path);
  if (isDeepStrictEqual(now, before)) return;
  if (isDeepStrictEqual(now, ours)) {
    changes.push({ path, value: before });
    return;
  }
  if (before === undefined && isSection(now) && isSection(ours)) {
    for (const [name, value] of Object.entries(ours))
      takeBack(values, { path: [...path, name], before: undefined, ours: value }, changes, kept);
    return;
  }
  if (before === undefined && Array.isArray(now) && Array.isArray(ours)) {
    for (const item of ours) takeBack(values, { path, item }, changes, kept);
    return;
  }
  kept.push(path.join('.'));
}

/** True when all that we put is there, whatever else is. */
function contains(now: unknown, ours: Json | undefined): boolean {
  if (isSection(now) && isSection(ours))
    return Object.entries(ours).every(([name, value]) => contains(now[name], value));
  if (Array.isArray(now) && Array.isArray(ours))
    return ours.every((item) => now.some((one) => isDeepStrictEqual(one, item)));
  return isDeepStrictEqual(now, ours);
}

/** The changes as a merge patch (RFC 7396), in which null takes a place away. */
export function mergePatch(changes: readonly ValueChange[]): Json {
  return changes.reduce<Record<string, Json>>(
    (patch, { path, value }) => withValue(patch, path, value ?? null) as Record<string, Json>,
    {},
  );
}

/** The value at a place; undefined where there is none. */
function valueAt(values: unknown, path: readonly string[]): Json | undefined {
  let at: unknown = values;
  for (const name of path) {
    if (!isSection(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at as Json | undefined;
}

function listAt(values: unknown, path: readonly string[]): readonly Json[] | null {
  const at = valueAt(values, path);
  return Array.isArray(at) ? at : null;
}

function refuseThroughScalar(file: string, values: unknown, path: readonly string[]): void {
  for (let depth = 1; depth < path.length; depth += 1) {
    const at = valueAt(values, path.slice(0, depth));
    if (at === undefined || isSection(at)) continue;
    const place = path.slice(0, depth).join('.');
    throw new AppError(
      'CONFIG_INVALID',
      `${place} of ${file} is ${at === null ? 'empty' : 'not a section'}.`,
      {
        field: place,
        hint: `Make it a section or take it out, so that ${path.join('.')} can be set.`,
      },
    );
  }
}

function withChange(values: unknown, change: Change): unknown {
  const list = listAt(values, change.path) ?? [];
  if ('item' in change) {
    const had = list.some((one) => isDeepStrictEqual(one, change.item));
    return had ? values : withValue(values, change.path, [...list, change.item]);
  }
  if ('without' in change) {
    const index = list.findLastIndex((one) => isDeepStrictEqual(one, change.without));
    return index < 0 ? values : withValue(values, change.path, list.toSpliced(index, 1));
  }
  return withValue(values, change.path, change.value);
}

function withValue(
  values: unknown,
  [name = '', ...rest]: readonly string[],
  value: Json | undefined,
): unknown {
  const section = isSection(values) ? values : {};
  const { [name]: now, ...others } = section;
  if (rest.length === 0) return value === undefined ? others : { ...section, [name]: value };
  if (value === undefined && now === undefined) return section;
  return { ...section, [name]: withValue(now, rest, value) };
}

function isSection(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function named<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('CONFIG_INVALID', `${file} cannot be read: ${firstLine(messageOf(error))}`, {
      field: file,
      hint: 'Mend the file, or move it away; nothing in it was changed.',
      cause: error,
    });
  }
}

function withoutBom(text: string): { bom: string; text: string } {
  return text.startsWith('\ufeff') ? { bom: '\ufeff', text: text.slice(1) } : { bom: '', text };
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
