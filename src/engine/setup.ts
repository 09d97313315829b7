import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { RouteParsed } from '../shared/contract.ts';
import type { ConfigFile } from './platform/config-file.ts';
import { signInNames } from './platform/config-values.ts';
import type { SecretStore } from './ports.ts';
import type { Database } from './store/database.ts';
import { readSetting, writeSetting } from './store/settings.ts';
import { checkAddress } from './upstream/index.ts';

const DONE = 'setup.done';

export interface SetupDeps {
  configFile: ConfigFile;
  secrets: Pick<SecretStore, 'get'>;
  database: Database;
  /** A provider can be called as things stand. */
  providerSet: () => boolean;
  hasTurns: () => boolean;
}

/** First run: what the wizard and `metaclaw setup` write, one key at a time, so that everything else in the file stays. */
export class SetupFlow {
  readonly #deps: SetupDeps;

  constructor(deps: SetupDeps) {
    this.#deps = deps;
  }

  state(): { done: boolean; providerSet: boolean; hasTurns: boolean } {
    const { database, providerSet, hasTurns } = this.#deps;
    return {
      done: readSetting(database, DONE, z.boolean(), false),
      providerSet: providerSet(),
      hasTurns: hasTurns(),
    };
  }

  /**
   * The choice with the key that the provider has already, unless a new one was given: the key in use when nothing
   * else was chosen before, or one that was kept for this provider.
   */
  withKey<T extends RouteParsed<'setup.testProvider'>>(choice: T): T {
    if (choice.apiKey !== undefined) return choice;
    const { configFile, secrets } = this.#deps;
    const inUse = this.#replaces(choice.provider) ? '' : configFile.current.llm.api_key;
    const kept = signInNames(choice.provider, choice.baseUrl, 'key').map((name) => secrets.get(name));
    return { ...choice, apiKey: inUse || (kept.find((key) => key !== null) ?? '') };
  }

  /**
   * Writes provider, address, wire and model; the key only when a new one was given. The key of another provider is
   * kept for that one and used no more. Throws CONFIG_INVALID for an address that is none.
   */
  saveProvider(choice: RouteParsed<'setup.saveProvider'>): void {
    const { configFile } = this.#deps;
    if (choice.baseUrl !== '') checkAddress(choice.baseUrl);
    if (this.#replaces(choice.provider)) configFile.setAsideKey();
    configFile.set('llm.provider', choice.provider);
    this.#put('llm.api_base', choice.baseUrl);
    this.#put('llm.wire', choice.wire);
    this.#put('llm.model_id', choice.model);
    if (choice.apiKey !== undefined) this.#put('llm.api_key', choice.apiKey);
  }

  /** Writes the wizard's other answers; an answer that was not given changes nothing. */
  finish(answers: RouteParsed<'setup.finish'>): void {
    const { configFile, database } = this.#deps;
    if (answers.mode !== undefined) configFile.set('mode', answers.mode);
    if (answers.autoAccept !== undefined) configFile.set('skills.auto_accept', answers.autoAccept);
    if (answers.memory !== undefined) configFile.set('memory.enabled', answers.memory);
    if (answers.recordBodies !== undefined) configFile.set('record.bodies', answers.recordBodies);
    if (answers.proxyKey === true && configFile.current.proxy.api_key === '')
      configFile.set('proxy.api_key', `mc-${randomBytes(18).toString('base64url')}`);
    if (answers.proxyKey === false) configFile.unset('proxy.api_key');
    writeSetting(database, DONE, true);
  }

  /** True when another provider was chosen before. */
  #replaces(provider: string): boolean {
    const { llm } = this.#deps.configFile.current;
    const isChosen = llm.provider !== 'custom' || llm.api_base !== '' || llm.model_id !== '';
    return isChosen && llm.provider !== provider;
  }

  /** An empty or default answer takes the key out of the file rather than writing what holds anyway. */
  #put(path: string, value: string): void {
    const { configFile } = this.#deps;
    if (value === '' || value === configFile.entry(path).default) configFile.unset(path);
    else configFile.set(path, value);
  }
}
