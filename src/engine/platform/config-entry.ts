import { parse } from 'yaml';
import { findKey, isSection, type KeyInfo, nearestKey } from '../../shared/config-keys.ts';
import type { ConfigEntry, ConfigProblem } from '../../shared/contract.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import { expectation, getAt, type Resolved } from './config-values.ts';

const MASK = '••••••••';

/** The key of a dotted path. Throws CONFIG_KEY_UNKNOWN, naming the nearest, or BAD_INPUT for a section. */
export function knownKey(path: string): KeyInfo {
  const key = findKey(path);
  if (key !== null) return key;
  if (isSection(path))
    throw new AppError('BAD_INPUT', `${path} is a section, not a key.`, {
      hint: `See its keys: metaclaw config show ${path}`,
      field: path,
    });
  const near = nearestKey(path);
  throw new AppError('CONFIG_KEY_UNKNOWN', `There is no key ${JSON.stringify(path)}.`, {
    hint: near === null ? 'metaclaw config show lists every key.' : `Is ${near} meant?`,
    field: path,
  });
}

/** True for keys that hold text, in which YAML must not see numbers or booleans. */
export function isText(path: readonly string[]): boolean {
  const key = findKey(path.join('.'));
  return (
    key !== null &&
    (key.kind === 'text' || key.kind === 'list') &&
    !/^scheduler\.sleep_(start|end)$/.test(key.path)
  );
}

/** What a user gave for a key, coerced by the key's own type. Throws CONFIG_INVALID. */
export function parseValue(key: KeyInfo, value: unknown): unknown {
  let input = value;
  if (key.kind === 'object' && typeof value === 'string') {
    try {
      input = parse(value);
    } catch (error) {
      throw new AppError('CONFIG_INVALID', `${key.path}: ${messageOf(error).split('\n')[0]}`, {
        field: key.path,
      });
    }
  }
  const result = key.schema.safeParse(input);
  if (result.success) return result.data;
  throw new AppError(
    'CONFIG_INVALID',
    `${key.path}: ${expectation(key, result.error.issues[0]?.message ?? '')}.`,
    { hint: key.help, field: key.path },
  );
}

/** A key with its value as screens and commands may show it: secrets are masked. */
export function toEntry(key: KeyInfo, { config, overriddenBy }: Resolved): ConfigEntry {
  const raw = getAt(config, key.path) ?? key.default;
  const isSet = raw !== '' && raw !== undefined && raw !== null;
  return {
    path: key.path,
    label: key.label,
    help: key.help,
    value: key.secret ? (isSet ? MASK : '') : maskInside(raw),
    default: key.default,
    isDefault: JSON.stringify(raw) === JSON.stringify(key.default),
    secret: key.secret,
    isSet,
    restart: key.restart,
    overriddenBy: overriddenBy.get(key.path) ?? null,
  };
}

/** A problem with its place in the file. */
export function placed({ message, line, column }: ConfigProblem): string {
  if (line === null) return message;
  return `line ${line}${column === null ? '' : `, column ${column}`}: ${message}`;
}

/** A problem with its place and what to do about it, as one remark. */
export function withFix(problem: ConfigProblem): string {
  return problem.hint === null ? placed(problem) : `${placed(problem)} ${problem.hint}`;
}

/** Secrets inside a value that is an object as a whole, e.g. `agents`. */
function maskInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskInside);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      /key|token|secret|password/i.test(name) && typeof inner === 'string' && inner !== ''
        ? MASK
        : maskInside(inner),
    ]),
  );
}
