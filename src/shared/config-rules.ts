import type { Config } from './config.ts';
import type { Mode } from './model.ts';

/** Keys that moved: an old name counts where the file does not give the new one. */
export const LEGACY_ALIASES: readonly (readonly [from: string, to: string])[] = [
  ['rl.tinker_api_key', 'rl.api_key'],
  ['rl.tinker_base_url', 'rl.base_url'],
  ['openclaw_env_data_dir', 'rl.openclaw_env_data_dir'],
  ['bedrock_region', 'llm.bedrock_region'],
  ['memory.auto_upgrade_enabled', 'memory.adaptive'],
  ['memory.top_k', 'memory.max_injected_units'],
  ['memory.max_tokens', 'memory.max_injected_tokens'],
];

/** What `overriddenBy` says of a flag; otherwise it names an environment variable. */
export const BY_FLAG = 'a flag of this run';

/** What training lacks: its switch, a backend, `rl.api_key`, `rl.model`. */
export type TrainingGap = 'off' | 'backend' | 'key' | 'model';

/**
 * The mode that is in force. `rl` and `madmax` need training to be switched on, a key and a backend; without them
 * the LLM answers as in `skills_only`, and `reason` says what is missing.
 */
export function effectiveMode(
  config: Config,
  trainingBuiltIn = false,
): { mode: Mode; reason: TrainingGap | null } {
  if (config.mode === 'skills_only') return { mode: 'skills_only', reason: null };
  const missing = !config.rl.enabled
    ? 'off'
    : !trainingBuiltIn
      ? 'backend'
      : config.rl.api_key === ''
        ? 'key'
        : config.rl.model === ''
          ? 'model'
          : null;
  return missing === null ? { mode: config.mode, reason: null } : { mode: 'skills_only', reason: missing };
}

/** True for addresses and names that only this computer reaches, with or without the brackets of IPv6. */
export function isLoopback(host: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127(?:\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(?:\.\d{1,3}){3}\]?)$/i.test(
    host,
  );
}

/**
 * Where the proxy listens. The original wrote `0.0.0.0` into every file, so an open address without a key is not
 * the user's wish: such a file binds loopback, and `warning` says so.
 */
export function listenAddress(config: Config): { host: string; port: number; warning: string | null } {
  const { port, api_key } = config.proxy;
  const given = config.proxy.host.trim();
  const host = given === '' || given === 'localhost' ? '127.0.0.1' : given;
  if (isLoopback(host) || api_key !== '') return { host, port, warning: null };
  return {
    host: '127.0.0.1',
    port,
    warning: `proxy.host is ${host}, but no proxy.api_key is set: the proxy listens on 127.0.0.1 only.`,
  };
}
