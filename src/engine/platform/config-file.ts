import { statSync } from 'node:fs';
import { watch } from 'chokidar';
import { type Config, DEFAULT_CONFIG } from '../../shared/config.ts';
import { describeConfig, findKey, type KeyInfo } from '../../shared/config-keys.ts';
import type { ConfigEntry, ConfigProblem } from '../../shared/contract.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Clock, SecretStore } from '../ports.ts';
import { isText, knownKey, parseValue, toEntry } from './config-entry.ts';
import { LastGoodConfig, MAX_CONFIG_BYTES } from './config-last-good.ts';
import { type ConfigText, decodeConfig, editConfigText, parseConfigText } from './config-text.ts';
import { getAt, type Resolved, resolveConfig, signInNames } from './config-values.ts';
import { isOpen, makePrivate, readCapped, writeAtomic } from './files.ts';
import type { Logger } from './logger.ts';

export interface ConfigFileDeps {
  /** The YAML file, absolute. */
  path: string;
  /** Where the copy of the last good file is kept, absolute. */
  lastGood: string;
  secrets: SecretStore;
  env: Readonly<Record<string, string | undefined>>;
  /** Flags of this run by dotted path; never written. */
  overrides: Readonly<Record<string, unknown>>;
  log: Logger;
}

type Read =
  | { text: string; bom: boolean; parsed: ConfigText }
  | { missing: true }
  | { broken: ConfigProblem };

/** Longest time that a change goes unnoticed. */
const LOOK_MS = 2000;
const SIGN_IN = /^auth\.[\w-]+\.(key|token)$/;
const HEADER = '# Settings of MetaClaw. `metaclaw config show` lists every key.\n';

/**
 * The user's `config.yaml`: what holds now, what is wrong with it, and careful edits. A file that cannot be read
 * is reported with line and column and left alone, while the last good configuration goes on.
 */
export class ConfigFile {
  readonly #deps: ConfigFileDeps;
  readonly #lastGood: LastGoodConfig;
  readonly #listeners = new Set<(config: Config) => void>();
  #resolved: Resolved = { config: DEFAULT_CONFIG, problems: [], overriddenBy: new Map() };
  #goodValues: Record<string, unknown> | null = null;
  #loaded = false;
  /** Stamp of the file as it was last read. */
  #seen = '';

  constructor(deps: ConfigFileDeps) {
    this.#deps = deps;
    this.#lastGood = new LastGoodConfig(deps.lastGood, deps.log);
  }

  /** The configuration that holds: file, environment and flags put together, secrets filled in. */
  get current(): Config {
    return this.#resolved.config;
  }

  /** What is wrong with the file and the environment, errors first. */
  problems(): ConfigProblem[] {
    return [...this.#resolved.problems].sort(
      (a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'),
    );
  }

  /** Reads the file (again) and tells listeners when something changed. Never throws for what is in it. */
  load(): void {
    this.#seen = this.#stamp();
    const before = JSON.stringify(this.#resolved.config);
    // Each is logged once, not on every reading.
    const known = new Set(this.#resolved.problems.map(({ message }) => message));
    const read = this.#read();
    if ('broken' in read) {
      if (this.#loaded && this.#goodValues !== null) {
        this.#resolved = { ...this.#resolved, problems: [read.broken] };
      } else {
        const copy = this.#lastGood.values();
        const resolved = this.#resolve(copy ?? {}, () => null);
        const went =
          copy === null ? 'The defaults are used.' : `The last good copy is used (${this.#deps.lastGood}).`;
        this.#resolved = {
          ...resolved,
          problems: [{ ...read.broken, message: `${read.broken.message} ${went}` }],
        };
      }
      const { line, column, message } = this.#resolved.problems[0] as ConfigProblem;
      if (!known.has(message)) this.#deps.log.error({ line, column }, message);
    } else if ('missing' in read) {
      this.#resolved = this.#resolve({}, () => null);
      this.#goodValues = {};
    } else {
      this.#resolved = this.#resolve(read.parsed.values, read.parsed.locate);
      this.#resolved.problems.push(...read.parsed.warnings);
      this.#protect();
      if (this.#resolved.problems.every((problem) => problem.severity === 'warning')) {
        this.#goodValues = read.parsed.values;
        this.#lastGood.keep(read.text);
      }
      for (const { line, message } of this.problems())
        if (!known.has(message)) this.#deps.log.warn({ line }, message);
    }
    const first = !this.#loaded;
    this.#loaded = true;
    if (!first && before !== JSON.stringify(this.#resolved.config))
      for (const listener of this.#listeners) listener(this.#resolved.config);
  }

  /** Called after each change of what holds, whoever made it. Returns the disposer. */
  onChange(listener: (config: Config) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Notices edits by others (an editor, another process), as a rule at once. Watching has gaps, such as a file that
   * comes while the watcher is being set up, so the file is also looked at now and then. Returns the disposer.
   */
  watch(clock: Clock): () => Promise<void> {
    const look = () => {
      if (this.#stamp() !== this.#seen) this.load();
    };
    const watcher = watch(this.#deps.path, {
      ignoreInitial: true,
      awaitWriteFinish: { stabilityThreshold: 60, pollInterval: 20 },
    });
    watcher.on('all', look);
    watcher.on('error', (error) => this.#deps.log.warn({ err: error }, 'the config file cannot be watched'));
    let cancel = () => {};
    const lookAgain = () => {
      cancel = clock.after(LOOK_MS, () => {
        look();
        lookAgain();
      });
    };
    lookAgain();
    return () => {
      cancel();
      return watcher.close();
    };
  }

  /** Every key with its value; secrets are masked. Old keys only when they are in use. */
  entries(): ConfigEntry[] {
    return describeConfig()
      .map((key) => ({ key, entry: this.#entry(key) }))
      .filter(({ key, entry }) => !key.legacy || !entry.isDefault)
      .map(({ entry }) => entry);
  }

  /** One key. Throws CONFIG_KEY_UNKNOWN, naming the nearest. */
  entry(path: string): ConfigEntry {
    return this.#entry(knownKey(path));
  }

  /**
   * Writes one key. Text from a command line is coerced by the key's own type, so a model named `123` stays text.
   * A secret goes to the secret store, and the file gets `secret:<path>`. Null means `unset`. Throws
   * CONFIG_KEY_UNKNOWN, or CONFIG_INVALID when the value does not fit or the file is broken (nothing is written).
   */
  set(path: string, value: unknown): ConfigEntry {
    const key = knownKey(path);
    if (value === null || value === undefined) return this.unset(path);
    const read = this.#editable();
    const parsed = parseValue(key, value);
    const written = key.secret ? this.#storeSecret(path, String(parsed)) : parsed;
    this.#write(read, path, written);
    return this.#entry(key);
  }

  /** Takes one key out of the file, so that its default holds; a stored secret is forgotten too. */
  unset(path: string): ConfigEntry {
    // Keys that are unknown to us may be taken out as well.
    const key = findKey(path);
    const read = this.#editable();
    if (key === null && getAt('missing' in read ? {} : read.parsed.values, path) === undefined)
      knownKey(path);
    if (key?.secret && this.#deps.secrets.get(path) !== null) this.#deps.secrets.clear(path);
    if (!('missing' in read)) this.#write(read, path, undefined);
    return this.#entry(key ?? knownKey(path));
  }

  /**
   * Keeps a secret by name: a key of the config, or a sign-in (`auth.<provider>.key`, `auth.<provider>.token`).
   * Null forgets it. Throws BAD_INPUT for other names.
   */
  setSecret(name: string, value: string | null): void {
    if (SIGN_IN.test(name)) {
      if (value === null) this.#deps.secrets.clear(name);
      else this.#deps.secrets.set(name, value);
      this.load();
      return;
    }
    if (!knownKey(name).secret)
      throw new AppError('BAD_INPUT', `${name} is not a secret.`, {
        hint: `metaclaw config ${name} VALUE`,
        field: name,
      });
    if (value === null) this.unset(name);
    else this.set(name, value);
  }

  /**
   * Puts the key of the provider that is chosen now where it waits for that provider alone: before another is chosen,
   * which must not be shown it.
   */
  setAsideKey(): void {
    const read = this.#editable();
    const written = 'missing' in read ? undefined : getAt(read.parsed.values, 'llm.api_key');
    if (typeof written !== 'string' || written === '') return;
    const { provider, api_base } = this.current.llm;
    const key = written.startsWith('secret:')
      ? this.#deps.secrets.get(written.slice('secret:'.length))
      : written;
    if (key !== null) this.#deps.secrets.set(signInNames(provider, api_base, 'key')[0] as string, key);
    this.unset('llm.api_key');
  }

  /** Paths of secrets whose value stands in the file itself. */
  plainSecrets(): string[] {
    const read = this.#read();
    if (!('parsed' in read)) return [];
    const { values } = read.parsed;
    const agents = Object.keys((getAt(values, 'agents') as object | undefined) ?? {});
    return [
      ...describeConfig()
        .filter((key) => key.secret)
        .map((key) => key.path),
      ...agents.map((agent) => `agents.${agent}.llm.api_key`),
    ].filter((path) => {
      const value = getAt(values, path);
      return value !== undefined && value !== null && value !== '' && !String(value).startsWith('secret:');
    });
  }

  #storeSecret(path: string, value: string): string {
    if (value.startsWith('secret:')) return value;
    if (value === '') {
      this.#deps.secrets.clear(path);
      return '';
    }
    this.#deps.secrets.set(path, value);
    return `secret:${path}`;
  }

  #write(read: Exclude<Read, { broken: ConfigProblem }>, path: string, value: unknown): void {
    const before = 'missing' in read ? HEADER : read.text;
    const after = editConfigText(before, path.split('.'), value);
    const check = parseConfigText(after, isText);
    const there = 'values' in check ? getAt(check.values, path) : undefined;
    if (!('values' in check) || JSON.stringify(there) !== JSON.stringify(value))
      throw new AppError(
        'CONFIG_INVALID',
        `${path} cannot be written without harm to the rest of the file.`,
        {
          hint: `Edit ${this.#deps.path} by hand.`,
          field: path,
        },
      );
    if (after !== before || 'missing' in read)
      writeAtomic(this.#deps.path, ('missing' in read ? false : read.bom) ? `\ufeff${after}` : after);
    this.load();
  }

  #editable(): Exclude<Read, { broken: ConfigProblem }> {
    const read = this.#read();
    if (!('broken' in read)) return read;
    const { message, line, column } = read.broken;
    const where = line === null ? '' : `, line ${line}, column ${column}`;
    throw new AppError('CONFIG_INVALID', `${this.#deps.path}${where}: ${message}`, {
      hint: 'Nothing was written. Mend the file first, then try again.',
    });
  }

  #read(): Read {
    let bytes: Buffer | null;
    try {
      bytes = readCapped(this.#deps.path, MAX_CONFIG_BYTES);
    } catch (error) {
      return {
        broken: {
          severity: 'error',
          path: null,
          message: messageOf(error),
          line: null,
          column: null,
          hint: null,
        },
      };
    }
    if (bytes === null) return { missing: true };
    const decoded = decodeConfig(bytes);
    if ('message' in decoded) return { broken: decoded };
    const cut = this.#lastGood.isCutTo(decoded.text);
    if (cut !== null) return { broken: cut };
    const parsed = parseConfigText(decoded.text, isText);
    return 'message' in parsed ? { broken: parsed } : { ...decoded, parsed };
  }

  #resolve(values: Record<string, unknown>, locate: ConfigText['locate']): Resolved {
    const { env, overrides, secrets } = this.#deps;
    return resolveConfig({ values, locate, env, overrides, secrets, lastGood: this.#goodValues });
  }

  #entry(key: KeyInfo): ConfigEntry {
    return toEntry(key, this.#resolved);
  }

  /** A file that holds keys, as those of the original do, is for its owner alone. */
  #protect(): void {
    try {
      if (isOpen(this.#deps.path) && this.plainSecrets().length > 0 && makePrivate(this.#deps.path))
        this.#deps.log.warn('The config file holds keys and could be read by others; it is yours alone now.');
    } catch (error) {
      // Not our file, or a read-only disk: doctor says so.
      this.#deps.log.warn({ err: error }, 'others can read the config file, and that cannot be changed');
    }
  }

  #stamp(): string {
    try {
      const { mtimeMs, size, ino } = statSync(this.#deps.path);
      return `${mtimeMs}:${size}:${ino}`;
    } catch {
      return 'missing';
    }
  }
}
