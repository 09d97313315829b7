import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { localUrl } from '../engine/platform/address.ts';
import { alreadyRunning, type RuntimeInfo, readHost } from '../engine/platform/lock.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Context } from './context.ts';
import { pollUntil } from './poll.ts';

const START_MS = 15_000;
const END_MS = 5000;
const LOG_MAX = 5 * 1024 * 1024;

/**
 * Starts `metaclaw start <args>` as a process of its own and returns once its proxy answers the health check. When
 * it ends before, or does not answer in 15 seconds, the error has its exit code, the log's path and its last lines.
 */
export async function startDaemon(
  context: Context,
  args: readonly string[],
  logFile: string,
): Promise<RuntimeInfo> {
  const before = await readHost(context.home);
  if (before.state === 'running' && !before.info.brief) throw alreadyRunning(before.info);
  const { descriptor, from } = openLog(logFile);
  const [node, script] = context.command;
  const child = spawn(node, [script, 'start', ...args], {
    detached: true,
    stdio: ['ignore', descriptor, descriptor],
    env: { ...context.env, METACLAW_RUNTIME_KIND: 'daemon', METACLAW_RUNTIME_LOG_PATH: logFile },
    windowsHide: true,
  });
  closeSync(descriptor);
  const ended = { code: null as number | null, done: false };
  child.once('error', () => Object.assign(ended, { done: true }));
  child.once('exit', (code) => Object.assign(ended, { done: true, code }));
  const info = await pollUntil(START_MS, async () =>
    ended.done ? 'ended' : await healthyHost(context.home, child.pid),
  );
  if (info !== null && info !== 'ended') {
    child.unref();
    return info;
  }
  if (info === null) await endGroup(child.pid, () => ended.done);
  const why =
    ended.done && info !== null
      ? `ended with code ${ended.code ?? 'unknown'}`
      : `did not answer in ${START_MS / 1000} s`;
  throw new AppError(
    'NOT_RUNNING',
    `The daemon ${why}. Its log: ${logFile}\n${tail(logFile, from)}`.trimEnd(),
    {
      hint: 'Run metaclaw doctor, or metaclaw start without --daemon to watch it.',
    },
  );
}

/** True when the proxy's own health check says so. */
export async function isHealthy(proxy: { host: string; port: number }): Promise<boolean> {
  try {
    const response = await fetch(`${localUrl(proxy)}/healthz`, { signal: AbortSignal.timeout(2000) });
    const reply = (await response.json()) as { ok?: unknown } | null;
    return response.status === 200 && reply?.ok === true;
  } catch {
    return false;
  }
}

async function healthyHost(home: string, pid: number | undefined): Promise<RuntimeInfo | null> {
  const host = await readHost(home);
  if (host.state !== 'running' || host.info.pid !== pid || host.info.proxy === null) return null;
  return (await isHealthy(host.info.proxy)) ? host.info : null;
}

/** Our own child and what it started; it leads its process group. */
async function endGroup(pid: number | undefined, isDone: () => boolean): Promise<void> {
  if (pid === undefined || isDone()) return;
  const signal = (name: 'SIGTERM' | 'SIGKILL') => {
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, name);
    } catch {
      // It ended by itself meanwhile.
    }
  };
  signal('SIGTERM');
  if ((await pollUntil(END_MS, async () => (isDone() ? true : null))) === null) signal('SIGKILL');
}

function openLog(path: string): { descriptor: number; from: number } {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() && found.size > LOG_MAX) renameSync(path, `${path}.1`);
    return { descriptor: openSync(path, 'a', 0o600), from: statSync(path).size };
  } catch (error) {
    throw new AppError(
      'STORE_UNREADABLE',
      `The daemon’s log ${path} cannot be written: ${messageOf(error)}`,
      {
        hint: 'Check that its folder is writable, or choose another file: --log-file FILE.',
        cause: error,
      },
    );
  }
}

/** The last lines that this start wrote. */
function tail(path: string, from: number): string {
  // A device, such as /dev/null, has no lines to give.
  if (!statSync(path).isFile()) return '';
  const lines = readFileSync(path).subarray(from).toString('utf8').trimEnd().split('\n');
  return lines
    .slice(-5)
    .map((line) => `  | ${line}`)
    .join('\n');
}
