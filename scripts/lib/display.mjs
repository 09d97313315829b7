// @ts-check
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Tells whether a window can be shown, and why not; DISPLAY may outlive the server that it names.
 * @param {{ platform: NodeJS.Platform, env: NodeJS.ProcessEnv, socketExists: (name: string) => boolean }} facts
 * @returns {{ shown: true } | { shown: false, reason: string }}
 */
export function findDisplay({ platform, env, socketExists }) {
  if (platform === 'darwin' || platform === 'win32') return { shown: true };
  if (env.WAYLAND_DISPLAY) {
    const socket = env.WAYLAND_DISPLAY.startsWith('/')
      ? env.WAYLAND_DISPLAY
      : join(env.XDG_RUNTIME_DIR ?? '/run/user/0', env.WAYLAND_DISPLAY);
    if (socketExists(socket)) return { shown: true };
  }
  if (!env.DISPLAY) return { shown: false, reason: 'no display' };
  const local = /^(?:unix)?:(\d+)/.exec(env.DISPLAY);
  if (local && !socketExists(`/tmp/.X11-unix/X${local[1]}`)) {
    return { shown: false, reason: `no X server answers on DISPLAY=${env.DISPLAY}` };
  }
  return { shown: true };
}

/**
 * Looks for a socket in the file system and among the abstract ones, where an X server may keep it.
 * @param {string} name
 */
export function socketExists(name) {
  if (existsSync(name)) return true;
  try {
    return readFileSync('/proc/net/unix', 'utf8').includes(`@${name}\n`);
  } catch {
    return false;
  }
}
