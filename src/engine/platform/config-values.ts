import { type Config, configSchema } from '../../shared/config.ts';
import {
  describeConfig,
  envName,
  findKey,
  isSection,
  type KeyInfo,
  nearestKey,
} from '../../shared/config-keys.ts';
import { BY_FLAG, LEGACY_ALIASES, listenAddress } from '../../shared/config-rules.ts';
import type { ConfigProblem } from '../../shared/contract.ts';
import { messageOf } from '../../shared/errors.ts';
import type { SecretStore } from '../ports.ts';

type Values = Record<string, unknown>;
type Locate = (path: readonly string[]) => { line: number; column: number } | null;

export interface Layers {
  /** What the file says. */
  values: Values;
  locate: Locate;
  env: Readonly<Record<string, string | undefined>>;
  /** Flags of this run, by dotted path. */
  overrides: Readonly<Record<string, unknown>>;
  secrets: SecretStore;
  /** Raw values that stand in for single wrong ones. */
  lastGood: Values | null;
}

export interface Resolved {
  config: Config;
  problems: ConfigProblem[];
  /** Dotted path → environment variable or flag that set it. */
  overriddenBy: ReadonlyMap<string, string>;
}

const SECRET_REFERENCE = /^secret:([\w.-]+)$/;
/** Names in the environment that are settings of the program, not keys. */
const PROGRAM_ENV = ['METACLAW_HOME', 'METACLAW_LOG', 'METACLAW_DEBUG', 'METACLAW_E2E'];

/**
 * Puts the layers together: file, old names, environment, flags, secrets. A wrong value never takes the others
 * down: it is reported, and the last good value (or the default) stands in for it.
 */
export function resolveConfig(layers: Layers): Resolved {
  const values = structuredClone(layers.values);
  const problems = unknownKeys(values, layers.locate);
  const overriddenBy = new Map<string, string>();

  for (const key of describeConfig()) {
    const name = envName(key.path);
    const given = layers.env[name];
    if (given === undefined || PROGRAM_ENV.includes(name)) continue;
    setAt(values, key.path, given);
    overriddenBy.set(key.path, name);
  }
  problems.push(...unknownEnv(layers.env));
  for (const [path, value] of Object.entries(layers.overrides)) {
    setAt(values, path, value);
    overriddenBy.set(path, BY_FLAG);
  }
  for (const [from, to] of LEGACY_ALIASES) {
    const old = getAt(values, from);
    if (!isBlank(old) && isBlank(getAt(values, to))) setAt(values, to, old);
  }
  problems.push(...resolveSecrets(values, layers.secrets));
  const parsed = parseLeniently(values, layers, overriddenBy);
  problems.push(...parsed.problems);
  problems.push(...useSignIn(parsed.config, layers.secrets));
  const { warning } = listenAddress(parsed.config);
  if (warning !== null)
    problems.push({
      ...place(layers.locate, 'proxy.host'),
      severity: 'warning',
      message: warning,
      hint: 'Set proxy.host to 127.0.0.1, or set proxy.api_key to open the port on purpose.',
    });
  return { config: parsed.config, problems, overriddenBy };
}

/** The value at a dotted path; undefined when there is none. */
export function getAt(values: unknown, path: string): unknown {
  let value: unknown = values;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Values)[name];
  }
  return value;
}

function setAt(values: Values, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() as string;
  let target = values;
  for (const name of names) {
    const inner = Object.hasOwn(target, name) ? target[name] : undefined;
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) target = inner as Values;
    else target = target[name] = {};
  }
  if (value === undefined) delete target[last];
  else target[last] = value;
}

function parseLeniently(
  values: Values,
  layers: Layers,
  overriddenBy: Map<string, string>,
): { config: Config; problems: ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const mended = new Set<string>();
  for (;;) {
    const result = configSchema.safeParse(values);
    if (result.success) return { config: result.data, problems };
    for (const issue of result.error.issues) {
      const path = keyOf(issue.path.map(String));
      const first = !mended.has(path);
      mended.add(path);
      if (first)
        problems.push(wrongValue(path, issue, getAt(values, path), layers.locate, overriddenBy.get(path)));
      const standIn = first && layers.lastGood !== null ? getAt(layers.lastGood, path) : undefined;
      setAt(values, path, standIn);
    }
  }
}

/** The known key that an issue is about; else its first section. */
function keyOf(path: readonly string[]): string {
  for (let n = path.length; n > 0; n -= 1) {
    const prefix = path.slice(0, n).join('.');
    if (findKey(prefix) !== null) return prefix;
  }
  return path.length > 0 && isSection(path.join('.')) ? path.join('.') : (path[0] ?? '');
}

function wrongValue(
  path: string,
  issue: { message: string; path: PropertyKey[] },
  value: unknown,
  locate: Locate,
  overriddenBy: string | undefined,
): ConfigProblem {
  const key = findKey(path);
  const where = overriddenBy === undefined ? place(locate, path) : { path, line: null, column: null };
  return {
    ...where,
    severity: 'error',
    message: `${path}${overriddenBy === undefined ? '' : ` (from ${overriddenBy})`}: ${expectation(key, issue.message)}${key?.secret ? '' : `; it is ${brief(value)}`}.`,
    hint: 'The last good value, or the default, is used instead.',
  };
}

/** What a key takes, in words. */
export function expectation(key: KeyInfo | null, message: string): string {
  if (key === null) return 'a section of `key: value` lines is expected';
  if (key.kind === 'choice') return `one of ${key.choices.join(', ')} is expected`;
  if (key.kind === 'boolean') return 'true or false is expected';
  if (key.path === 'max_context_tokens') return 'auto or a whole number is expected';
  if (key.path === 'usage.daily_cap')
    return 'tokens like 200000 or 200k, or money like $2 or 2 usd, is expected';
  const small = /expected number to be (>=?)(-?[\d.]+)/.exec(message);
  const large = /expected number to be (<=?)(-?[\d.]+)/.exec(message);
  if (small) return `a number of at least ${small[2]} is expected`;
  if (large) return `a number of at most ${large[2]} is expected`;
  if (key.kind === 'number')
    return /int/.test(message) ? 'a whole number is expected' : 'a number is expected';
  if (/^expected /.test(message)) return `${message.slice('expected '.length)} is expected`;
  return `a ${key.kind} is expected`;
}

function unknownKeys(values: Values, locate: Locate, prefix = ''): ConfigProblem[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (findKey(path) !== null) return [];
    if (isSection(path))
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? unknownKeys(value as Values, locate, path)
        : [];
    const near = nearestKey(path);
    return [
      {
        ...place(locate, path),
        severity: 'warning' as const,
        message: `${path} is not a key that MetaClaw knows; it is kept and has no effect.`,
        hint: near === null ? null : `Is ${near} meant?`,
      },
    ];
  });
}

/** Only names that are nearly right: other programs may use the prefix too. */
function unknownEnv(env: Layers['env']): ConfigProblem[] {
  const known = new Set([...describeConfig().map((key) => envName(key.path)), ...PROGRAM_ENV]);
  return Object.keys(env)
    .filter((name) => name.startsWith('METACLAW_') && !known.has(name))
    .flatMap((name) => {
      const bare = name.slice('METACLAW_'.length).replaceAll('_', '').toLowerCase();
      const near = describeConfig().find((key) => key.path.replace(/[._]/g, '') === bare);
      if (!near) return [];
      return [
        {
          severity: 'warning' as const,
          path: null,
          message: `The environment variable ${name} has no effect.`,
          line: null,
          column: null,
          hint: `Is ${envName(near.path)} meant?`,
        },
      ];
    });
}

/** Replaces `secret:NAME` wherever a secret may stand. */
function resolveSecrets(values: Values, secrets: SecretStore): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const walk = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, value] of Object.entries(node)) {
      const inner = path === '' ? name : `${path}.${name}`;
      const reference = typeof value === 'string' ? SECRET_REFERENCE.exec(value)?.[1] : undefined;
      if (reference === undefined) {
        walk(value, inner);
        continue;
      }
      const found = lookUp(secrets, reference);
      (node as Values)[name] = found.value ?? '';
      if (found.value === null)
        problems.push({
          severity: 'error',
          path: inner,
          message:
            found.message ??
            `${inner} is kept in the secret store, but nothing is stored there under ${reference}.`,
          line: null,
          column: null,
          hint: `Set it again: metaclaw config set ${inner}`,
        });
    }
  };
  walk(values, '');
  return problems;
}

/** A key or token that was pasted with `metaclaw auth` counts for the provider it was pasted for. */
function useSignIn(config: Config, secrets: SecretStore): ConfigProblem[] {
  const { provider, auth_method, api_base } = config.llm;
  if (auth_method === 'passthrough' || (auth_method === 'api_key' && config.llm.api_key !== '')) return [];
  const kind = auth_method === 'oauth_token' ? 'token' : 'key';
  for (const name of signInNames(provider, api_base, kind)) {
    const found = lookUp(secrets, name);
    if (found.message !== null)
      return [
        {
          severity: 'error',
          path: 'llm.api_key',
          message: found.message,
          line: null,
          column: null,
          hint: null,
        },
      ];
    if (found.value === null) continue;
    config.llm.api_key = found.value;
    break;
  }
  return [];
}

/**
 * Under which names the secret store may have the key or token of a provider, the closest first. `custom` is a
 * different provider at each host, so that what belongs to one host is not sent to another.
 */
export function signInNames(provider: string, baseUrl: string, kind: 'key' | 'token'): string[] {
  const host = /^(?:[a-z][\w+.-]*:\/\/)?([^/:?#]+)/i.exec(baseUrl.trim())?.[1];
  const own = provider === 'custom' && host !== undefined ? [`custom-${host}`] : [];
  return [...own, provider].map((name) => `auth.${name.replace(/[^\w-]/g, '-')}.${kind}`);
}

function lookUp(secrets: SecretStore, name: string): { value: string | null; message: string | null } {
  try {
    return { value: secrets.get(name), message: null };
  } catch (error) {
    return { value: null, message: messageOf(error) };
  }
}

function place(locate: Locate, path: string): Pick<ConfigProblem, 'path' | 'line' | 'column'> {
  const at = locate(path.split('.'));
  return { path, line: at?.line ?? null, column: at?.column ?? null };
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
