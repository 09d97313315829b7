import { z } from 'zod';
import { parseCap, spellCap } from './usage.ts';

/** What screens, CLI and docs need to know of a key beside its type. */
export interface KeyMeta {
  label: string;
  help: string;
  /** Write-only: masked in every output, kept in the secret store when set through MetaClaw. */
  secret?: boolean;
  /** A change holds only after the proxy restarts. */
  restart?: boolean;
  /** Read and kept for files of the original; nothing here uses it (the help says why). */
  legacy?: boolean;
}

type Meta = Omit<KeyMeta, 'label' | 'help'>;

/** One key: null and absent mean the default. */
export function key<S extends z.ZodType>(
  schema: S,
  fallback: z.output<S>,
  label: string,
  help: string,
  meta: Meta = {},
) {
  const inner = schema.default(fallback as Exclude<z.output<S>, undefined>);
  return z.preprocess((value) => value ?? undefined, inner).meta({ label, help, ...meta });
}

/** A value without a default: null and absent are both absent. */
export function absent<S extends z.ZodType>(schema: S) {
  return z.preprocess((value) => value ?? undefined, schema.optional());
}

/** A value inside a list's item: null and absent mean the default. */
export function plain<S extends z.ZodType>(schema: S, fallback: z.output<S>) {
  return z.preprocess(
    (value) => value ?? undefined,
    schema.default(fallback as Exclude<z.output<S>, undefined>),
  );
}

/** An empty mapping for null. */
export function nothing<S extends z.ZodType>(schema: S) {
  return z.preprocess((value) => value ?? {}, schema);
}

/** A mapping of keys; unknown keys are kept (and reported by the loader). */
export function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value) => value ?? {}, z.looseObject(shape));
}

const TRUE_WORDS = ['true', 'yes', 'on', '1'];
const FALSE_WORDS = ['false', 'no', 'off', '0'];
export const bool = z.preprocess((value) => {
  const word = typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase() : null;
  if (word !== null && TRUE_WORDS.includes(word)) return true;
  if (word !== null && FALSE_WORDS.includes(word)) return false;
  return value;
}, z.boolean('expected true or false'));

/** Yes, no, or what the provider is known for. */
export const flag = z.preprocess(
  (value) => (typeof value === 'boolean' ? String(value) : value),
  z.enum(['auto', 'true', 'false']),
);

export function number(schema: z.ZodNumber) {
  return z.preprocess(
    (value) =>
      typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value))
        ? Number(value)
        : value,
    schema,
  );
}
export const int = (min: number, max = Number.MAX_SAFE_INTEGER) => number(z.number().int().min(min).max(max));
/** Model ids and keys that YAML read as numbers are text. */
export const text = z.preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string());
export const list = z.preprocess(
  (value) =>
    typeof value === 'string'
      ? value
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean)
      : value,
  z.array(text),
);
/** `HH:MM`; YAML 1.1 reads an unquoted 23:00 as 1380 minutes. */
export const clockTime = z.preprocess(
  (value) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= 1440) return value;
    return `${String(Math.floor(value / 60)).padStart(2, '0')}:${String(value % 60).padStart(2, '0')}`;
  },
  z.string().regex(/^([01]?\d|2[0-3]):[0-5]\d$/, 'expected a time like 23:00'),
);

/** Tokens as a number, money as `$2`; people may write `200k tokens` and `2 usd`. */
export const dailyCap = z.preprocess(
  (value) => {
    const cap = typeof value === 'string' ? parseCap(value) : null;
    return cap === null ? value : spellCap(cap);
  },
  z.union([z.number().min(0), z.string().regex(/^\$[\d.]+$/)]),
);

const PRICES_WANTED = 'expected a map like {my-model: {input: 0.5, output: 2}} with numbers from 0 up';
const price = number(z.number(PRICES_WANTED).min(0, PRICES_WANTED));
/** Dollars per million tokens, by model. */
export const prices = z.record(
  z.string(),
  z.looseObject(
    { input: price, output: price, cached_input: absent(price), cache_write: absent(price) },
    PRICES_WANTED,
  ),
  PRICES_WANTED,
);

export const SECRET = { secret: true } as const;
export const RESTART = { restart: true } as const;
export const LEGACY = { legacy: true } as const;
