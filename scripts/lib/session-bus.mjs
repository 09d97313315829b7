// @ts-check
import { spawn } from 'node:child_process';

/**
 * Starts a session bus where the desktop has none: the tray and notifications talk on it.
 * @param {{ detached?: boolean }} [options] detached: away from the terminal's Ctrl-C, for an application that still
 *   needs the bus while it shuts down
 * @returns {Promise<{ address: string, stop: () => void } | undefined>} undefined where there is no bus to start
 */
export function startSessionBus({ detached = false } = {}) {
  return new Promise((done) => {
    const bus = spawn('dbus-daemon', ['--session', '--nofork', '--nopidfile', '--print-address=1'], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached,
    });
    bus.once('error', () => done(undefined));
    bus.once('exit', () => done(undefined));
    bus.stdout.setEncoding('utf8').once('data', (text) => {
      bus.stdout.destroy();
      bus.unref();
      done({ address: String(text).trim(), stop: () => void bus.kill() });
    });
  });
}
