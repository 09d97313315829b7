import { z } from 'zod';
import { configSchema } from './config.ts';
import type { KeyMeta } from './config-kinds.ts';

type KeyKind = 'text' | 'number' | 'boolean' | 'choice' | 'list' | 'object';

/** One key of the configuration with all that screens, CLI, docs and the file loader know of it. */
export interface KeyInfo extends KeyMeta {
  /** Dotted path; `*` stands for any name, e.g. `agents.*.llm.model_id`. */
  path: string;
  kind: KeyKind;
  /** The allowed words of a choice. */
  choices: string[];
  default: unknown;
  secret: boolean;
  restart: boolean;
  legacy: boolean;
  /** Parses and coerces one value of this key. */
  schema: z.ZodType;
}

/** Every key of the schema, in the schema's order, without the per-agent ones. */
export function describeConfig(): readonly KeyInfo[] {
  return KEYS;
}

/** The key that stands for a dotted path, per-agent paths included; null when there is none. */
export function findKey(path: string): KeyInfo | null {
  const direct = BY_PATH.get(path);
  if (direct) return direct;
  const perAgent = /^agents\.[^.]+\.(?:llm\.(.+)|(private))$/.exec(path);
  if (!perAgent) return null;
  const twin = perAgent[2] === undefined ? BY_PATH.get(`llm.${perAgent[1]}`) : null;
  if (twin === undefined) return null;
  if (twin !== null) return { ...twin, path, default: undefined, label: `${twin.label} of one agent` };
  return {
    path,
    label: 'Private',
    help: 'Turns of this agent are relayed and never recorded.',
    kind: 'boolean',
    choices: [],
    default: false,
    secret: false,
    restart: false,
    legacy: false,
    schema: (BY_PATH.get('bypass') as KeyInfo).schema,
  };
}

/** True when the path names a section, not a key. */
export function isSection(path: string): boolean {
  return (
    describeConfig().some((key) => key.path.startsWith(`${path}.`)) || /^agents\.[^.]+(\.llm)?$/.test(path)
  );
}

/** The key (or section) that was probably meant, or null when nothing is near. */
export function nearestKey(unknown: string): string | null {
  const names = describeConfig()
    .filter((key) => !key.legacy)
    .map((key) => key.path);
  const sections = [
    ...new Set(names.flatMap((name) => (name.includes('.') ? [name.slice(0, name.lastIndexOf('.'))] : []))),
  ];
  const wanted = unknown.toLowerCase();
  let best: { name: string; distance: number } | null = null;
  for (const name of unknown.includes('.') ? names : [...names, ...sections]) {
    const distance = editDistance(wanted.replace(/-/g, '_'), name);
    if (best === null || distance < best.distance) best = { name, distance };
  }
  if (best !== null && best.distance <= Math.max(2, Math.floor(unknown.length / 4))) return best.name;
  // A bare or misplaced last word, e.g. `api_key` or `llm.port`.
  const word = wanted.slice(wanted.lastIndexOf('.') + 1);
  return names.find((name) => name.endsWith(`.${word}`)) ?? null;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one text to the other. */
export function editDistance(a: string, b: string): number {
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      let cost = Math.min(
        (previous[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (older[j - 2] as number) + 1);
      row.push(cost);
    }
    older = previous;
    previous = row;
  }
  return previous[b.length] as number;
}

/** `METACLAW_LLM_API_KEY` for `llm.api_key`. */
export function envName(path: string): string {
  return `METACLAW_${path.toUpperCase().replaceAll('.', '_')}`;
}

function collect(schema: z.ZodType, prefix: string): KeyInfo[] {
  const object = unwrap(schema);
  if (!(object instanceof z.ZodObject)) return [];
  return Object.entries(object.shape as Record<string, z.ZodType>).flatMap(([name, inner]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const meta = inner.meta() as unknown as KeyMeta | undefined;
    return meta?.label === undefined ? collect(inner, path) : [toInfo(path, meta, inner)];
  });
}

function toInfo(path: string, meta: KeyMeta, schema: z.ZodType): KeyInfo {
  const core = unwrap(schema);
  return {
    path,
    label: meta.label,
    help: meta.help,
    kind: kindOf(core),
    choices: core instanceof z.ZodEnum ? core.options.map(String) : [],
    default: schema.parse(undefined),
    secret: meta.secret ?? false,
    restart: meta.restart ?? false,
    legacy: meta.legacy ?? false,
    schema,
  };
}

function kindOf(core: z.ZodType): KeyKind {
  if (core instanceof z.ZodString) return 'text';
  if (core instanceof z.ZodBoolean) return 'boolean';
  if (core instanceof z.ZodEnum) return 'choice';
  if (core instanceof z.ZodArray)
    return unwrap(core.element as z.ZodType) instanceof z.ZodString ? 'list' : 'object';
  if (core instanceof z.ZodUnion || core instanceof z.ZodNumber) return 'number';
  return 'object';
}

/** What stands below preprocess, default and optional. */
function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPipe) return unwrap(schema.out as z.ZodType);
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional)
    return unwrap(schema.unwrap() as z.ZodType);
  return schema;
}

/** Computed once: the loader asks for every key of a file. */
const KEYS: readonly KeyInfo[] = collect(configSchema, '');
const BY_PATH: ReadonlyMap<string, KeyInfo> = new Map(KEYS.map((key) => [key.path, key]));
