import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** Every path that MetaClaw owns, in one table; all absolute. */
export interface StatePaths {
  home: string;
  config: string;
  /** Copy of the last config that loaded without an error; what a start falls back to. */
  lastGoodConfig: string;
  /** Secrets of hosts without an OS keychain. */
  secrets: string;
  database: string;
  /** Who owns the folder right now (`RuntimeInfo` as JSON). */
  runtime: string;
  /** Bearer token of the control port, new on each start. */
  controlToken: string;
  logs: string;
  /** What a detached daemon prints. */
  daemonLog: string;
}

/** The state folder: `METACLAW_HOME`, or `~/.metaclaw`. */
export function stateHome(env: Readonly<Record<string, string | undefined>>): string {
  const given = env.METACLAW_HOME?.trim();
  return given ? resolve(expandHome(given)) : join(homedir(), '.metaclaw');
}

/**
 * The table for one state folder. A config file elsewhere (`start -c FILE`) gets a last-good copy of its own, so
 * that one file never stands in for another.
 */
export function statePaths(home: string, configFile?: string): StatePaths {
  const config = configFile ?? join(home, 'config.yaml');
  const foreign = config !== join(home, 'config.yaml');
  const mark = foreign ? `-${createHash('sha256').update(config).digest('hex').slice(0, 12)}` : '';
  return {
    home,
    config,
    lastGoodConfig: join(home, `config${mark}.last-good.yaml`),
    secrets: join(home, 'secrets.json'),
    database: join(home, 'state.db'),
    runtime: join(home, 'runtime.json'),
    controlToken: join(home, 'control-token'),
    logs: join(home, 'logs'),
    daemonLog: join(home, 'logs', 'daemon-metaclaw.log'),
  };
}

/** Replaces a leading `~`. */
export function expandHome(path: string): string {
  if (path === '~') return homedir();
  return /^~[\\/]/.test(path) ? join(homedir(), path.slice(2)) : path;
}

/**
 * A path as the config spells it. `~/.metaclaw/…` means the state folder wherever that is, so that the defaults of
 * the original follow `METACLAW_HOME`; a relative path is relative to the state folder.
 */
export function resolveConfigPath(home: string, value: string): string {
  const inside = /^~[\\/]\.metaclaw(?:[\\/](.*))?$/.exec(value);
  if (inside) return join(home, inside[1] ?? '');
  const path = expandHome(value);
  return isAbsolute(path) ? path : resolve(home, path);
}
