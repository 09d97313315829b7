import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** A screen with a window manager, a tray host and a session bus, and how to end it. */
export interface Desktop {
  readonly display: string;
  readonly stop: () => Promise<void>;
}

const size = { width: 1280, height: 800 };
const trayHeight = 32;

/**
 * Starts a desktop of its own on a free display number, so that tests neither see nor disturb the one at hand,
 * and points this process's environment at it.
 */
export async function startDesktop(): Promise<Desktop> {
  const started: ChildProcess[] = [];
  const stop = async () => {
    for (const child of started.reverse()) await end(child);
  };
  try {
    const { server, display } = await startServer();
    started.push(server);
    process.env.DISPLAY = display;
    delete process.env.WAYLAND_DISPLAY;
    started.push(launch('openbox', []));
    await poll('a window manager', async () =>
      (await output('xprop', ['-root', '_NET_SUPPORTING_WM_CHECK'])).includes('window id'),
    );
    const edge = [
      '--edge',
      'top',
      '--align',
      'left',
      '--widthtype',
      'request',
      '--height',
      String(trayHeight),
    ];
    started.push(launch('trayer', [...edge, '--SetDockType', 'true', '--expand', 'true']));
    await poll('a tray host', async () => (await readTray()) !== undefined);
    // Playwright turns static imports into require, which an ES module does not bear.
    const { startSessionBus } = await import('../../scripts/lib/session-bus.mjs');
    const bus = await startSessionBus();
    if (bus === undefined) throw new Error('dbus-daemon could not be started');
    process.env.DBUS_SESSION_BUS_ADDRESS = bus.address;
    return {
      display,
      stop: async () => {
        bus.stop();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Counts the icons that the tray host holds now. */
export async function trayIconCount(): Promise<number> {
  return (await readTray())?.icons.length ?? 0;
}

/** Waits for a tray icon and clicks it with a real pointer: 1 is the main button, 3 opens its menu. */
export async function clickTray(button: 1 | 3 = 1, index = 0): Promise<void> {
  const icon = await poll('a tray icon', async () => (await readTray())?.icons[index]);
  await clickAt(icon.x + Math.floor(icon.width / 2), icon.y + Math.floor(icon.height / 2), button);
}

/** Moves the pointer and clicks, for native menus that no browser driver sees. */
async function clickAt(x: number, y: number, button: 1 | 2 | 3 = 1): Promise<void> {
  await exec('xdotool', ['mousemove', String(x), String(y)]);
  await exec('xdotool', ['click', String(button)]);
}

/** Sends keys to whatever has the keyboard, native menus included, such as pressKeys('Down', 'Return'). */
export async function pressKeys(...keys: readonly string[]): Promise<void> {
  for (const key of keys) await exec('xdotool', ['key', key]);
}

/** Photographs the whole screen: tray, native menus and notifications included. */
export async function screenshot(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await exec('scrot', ['--overwrite', file]);
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Finds the tray host and its icons in the window tree: they are the named windows below its panel. */
async function readTray(): Promise<{ readonly icons: readonly Box[] } | undefined> {
  const lines = (await output('xwininfo', ['-root', '-tree'])).split('\n');
  const start = lines.findIndex((line) => line.includes('("panel" "trayer")'));
  if (start === -1) return undefined;
  const icons: Box[] = [];
  for (const line of lines.slice(start + 1)) {
    if (indent(line) <= indent(lines[start] ?? '')) break;
    // 0x800007 "electron": ("electron" "Electron")  24x30+0+0  +1+1
    const match = /\("[^"]+" .*\)\s+(\d+)x(\d+)\+\S+\s+\+(\d+)\+(\d+)$/.exec(line);
    if (!match) continue;
    const [width = 0, height = 0, x = 0, y = 0] = match.slice(1).map(Number);
    icons.push({ x, y, width, height });
  }
  return { icons: icons.sort((a, b) => a.x - b.x) };
}

function indent(line: string): number {
  return line.length - line.trimStart().length;
}

function startServer(): Promise<{ server: ChildProcess; display: string }> {
  return new Promise((done, fail) => {
    const screen = `${size.width}x${size.height}x24`;
    const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', screen, '-nolisten', 'tcp'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    server.once('error', (error) => fail(new Error(`Xvfb could not be started: ${error.message}`)));
    server.once('exit', (code) => fail(new Error(`Xvfb ended with code ${code}`)));
    server.stdio[3]?.once('data', (data: Buffer) => done({ server, display: `:${data.toString().trim()}` }));
  });
}

function launch(command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { stdio: 'ignore' });
  // The poll for its effect reports a missing command.
  child.once('error', () => {});
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill();
  const timer = setTimeout(() => child.kill('SIGKILL'), 3_000);
  await ended;
  clearTimeout(timer);
}

async function output(command: string, args: string[]): Promise<string> {
  try {
    return (await exec(command, args)).stdout;
  } catch {
    return '';
  }
}

async function poll<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  limitMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`${what} did not appear within ${limitMs / 1000} s`);
    await wait(50);
  }
}
