import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { RouteParsed } from '../shared/contract.ts';
import type { ConfigFile } from './platform/config-file.ts';
import type { Database } from './store/database.ts';
import { readSetting, writeSetting } from './store/settings.ts';

const DONE = 'setup.done';

export interface SetupDeps {
  configFile: ConfigFile;
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

  /** Writes provider, address, wire and model; the key only when a new one was given. */
  saveProvider(choice: RouteParsed<'setup.saveProvider'>): void {
    const { configFile } = this.#deps;
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

  /** An empty or default answer takes the key out of the file rather than writing what holds anyway. */
  #put(path: string, value: string): void {
    const { configFile } = this.#deps;
    if (value === '' || value === configFile.entry(path).default) configFile.unset(path);
    else configFile.set(path, value);
  }
}
