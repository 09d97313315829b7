import type { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';
import type { JsonObject } from './types.ts';

/** True for a plain JSON object, not for arrays or null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A count from the wire; anything else than a non-negative finite number is "not told". */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** JSON.parse that answers undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `messages[2].content[0].text` from a path of keys. */
function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, key) => {
    if (typeof key === 'number') return `${name}[${key}]`;
    return name === '' ? String(key) : `${name}.${String(key)}`;
  }, '');
}

/** Reads a part of a client's request; a mismatch becomes BAD_INPUT that names the field, never a TypeError. */
export function read<T>(schema: z.ZodType<T>, value: unknown, path: readonly PropertyKey[] = []): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = deepest(result.error.issues[0]);
  const field = fieldName([...path, ...issue.path]) || 'body';
  throw new AppError('BAD_INPUT', `${field}: ${issue.message}`, { field });
}

/** Of a value that may have several forms, the complaint that lies deepest is about the form that was meant. */
function deepest(issue: z.core.$ZodIssue | undefined): { path: PropertyKey[]; message: string } {
  if (issue === undefined) return { path: [], message: 'not understood' };
  if (issue.code !== 'invalid_union') return issue;
  for (const branch of issue.errors) {
    const inner = deepest(branch[0]);
    if (inner.path.length > 0) return { path: [...issue.path, ...inner.path], message: inner.message };
  }
  return issue;
}

/** Refuses what the other dialect cannot express. */
export function refuse(message: string, path: readonly PropertyKey[]): never {
  const field = fieldName(path);
  throw new AppError('NOT_TRANSLATABLE', message, {
    field,
    hint: 'Use a provider that speaks the dialect of this client, or leave this part of the request out.',
  });
}

/** Numbers whose zero is what holds without them. */
const ZERO_IS_NOTHING = new Set(['presence_penalty', 'frequency_penalty', 'top_logprobs']);

/** True when leaving the value out changes what was asked; null, false and empty values say nothing. */
function saysSomething(key: string, value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (value === 0) return !ZERO_IS_NOTHING.has(key);
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return true;
}

/** Collects names of what could not be translated, each once. */
export class DroppedNames {
  readonly #names = new Set<string>();

  add(name: string): void {
    this.#names.add(name);
  }

  /** Adds every key of `object` that is not in `known` and says something. */
  addUnknown(object: JsonObject, known: ReadonlySet<string>, prefix = ''): void {
    for (const [key, value] of Object.entries(object)) {
      if (!known.has(key) && saysSomething(key, value)) this.add(prefix + key);
    }
  }

  list(): string[] {
    return [...this.#names];
  }
}
