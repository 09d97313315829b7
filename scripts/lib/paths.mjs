// @ts-check
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout that these scripts belong to. */
export const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));

/**
 * Where downloads for development live: outside the checkout, so that a second clone finds them.
 * @param {NodeJS.ProcessEnv} [env]
 */
export function cacheDir(env = process.env) {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'metaclaw-dev');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'metaclaw-dev');
  if (process.platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'metaclaw-dev');
  return join(homedir(), '.cache', 'metaclaw-dev');
}
