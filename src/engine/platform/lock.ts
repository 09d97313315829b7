import { accessSync, constants, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { lock } from 'proper-lockfile';
import { exec } from 'tinyexec';
import { z } from 'zod';
import { AppError, messageOf } from '../../shared/errors.ts';
import { readCapped, writeAtomic } from './files.ts';
import { statePaths } from './paths.ts';

const runtimeSchema = z.object({
  pid: z.number().int().positive(),
  /** Identity of the process beside its pid (see `processIdentity`); pids are reused. */
  identity: z.string().nullable(),
  kind: z.enum(['app', 'daemon']),
  version: z.string(),
  startedAt: z.string(),
  proxy: z.object({ host: z.string(), port: z.number().int() }).nullable(),
  controlPort: z.number().int().nullable(),
  /** A command that has the folder for a moment, not a host. */
  brief: z.boolean().optional(),
});

/** Who owns a state folder, as written to `runtime.json`. */
export type RuntimeInfo = z.infer<typeof runtimeSchema>;

/** What stands in the state folder: nobody, a live owner, or what a dead one left. */
export type HostState =
  | { state: 'none' }
  | { state: 'stale'; pid: number | null }
  | { state: 'running'; info: RuntimeInfo };

/** Ownership of a state folder by this process. */
export interface HostLock {
  /** Tells others where to reach us. */
  update(change: Partial<Pick<RuntimeInfo, 'proxy' | 'controlPort'>>): void;
  /** Gives the folder up; a file that is no longer ours stays. */
  release(): void;
}

/** A command is gone in moments, except for one that tests a slow provider. */
const BRIEF_WAIT_MS = 10_000;

/**
 * Takes the state folder for this process. Rejects with ALREADY_RUNNING, naming kind, pid and port, when a live
 * host owns it; what a dead host left is taken over, and the end of a brief command is waited for. Of two processes
 * that try at once exactly one wins: reading, judging and writing happen under a short mutual lock that expires by
 * itself.
 */
export async function acquireHost(
  home: string,
  kind: 'app' | 'daemon',
  version: string,
  { brief = false, waitMs = BRIEF_WAIT_MS }: { brief?: boolean; waitMs?: number } = {},
): Promise<HostLock> {
  const { runtime } = statePaths(home);
  const identity = await processIdentity(process.pid);
  const deadline = performance.now() + waitMs;
  for (;;) {
    const unlock = await mutex(home);
    try {
      const found = await readHost(home);
      if (found.state !== 'running') return moveIn(runtime, { kind, version, identity, brief });
      if (!found.info.brief || performance.now() > deadline) throw alreadyRunning(found.info);
    } finally {
      await unlock();
    }
    await sleep(50);
  }
}

/** Writes this process down as the owner. */
function moveIn(
  runtime: string,
  owner: { kind: 'app' | 'daemon'; version: string; identity: string | null; brief: boolean },
): HostLock {
  const { brief, ...who } = owner;
  let info: RuntimeInfo = {
    pid: process.pid,
    ...who,
    startedAt: new Date().toISOString(),
    proxy: null,
    controlPort: null,
    ...(brief ? { brief } : {}),
  };
  const write = () => writeAtomic(runtime, `${JSON.stringify(info, null, 2)}\n`);
  write();
  return {
    update(change) {
      info = { ...info, ...change };
      write();
    },
    release() {
      const current = readRuntime(runtime);
      if (current !== null && current.pid === info.pid && current.identity === info.identity)
        rmSync(runtime, { force: true });
    },
  };
}

/** Looks who owns the state folder. Reads only; never signals. */
export async function readHost(home: string): Promise<HostState> {
  const { runtime } = statePaths(home);
  const info = readRuntime(runtime);
  if (info === null)
    return readCapped(runtime, 65_536) === null ? { state: 'none' } : { state: 'stale', pid: null };
  return (await isSameProcess(info)) ? { state: 'running', info } : { state: 'stale', pid: info.pid };
}

/** Removes what a dead host left; a live host's file stays. True when something was removed. */
export async function clearStaleHost(home: string): Promise<boolean> {
  if ((await readHost(home)).state !== 'stale') return false;
  const unlock = await mutex(home);
  try {
    // A new host may have moved in meanwhile.
    if ((await readHost(home)).state !== 'stale') return false;
    rmSync(statePaths(home).runtime, { force: true });
    return true;
  } finally {
    await unlock();
  }
}

/** The error for a state folder that has an owner. */
export function alreadyRunning(info: RuntimeInfo): AppError {
  if (info.brief)
    return new AppError('ALREADY_RUNNING', `Another metaclaw command is at work (pid ${info.pid}).`, {
      hint: 'Try again when it has ended.',
    });
  const who = info.kind === 'app' ? 'the tray application' : 'the daemon';
  const where = info.proxy === null ? '' : `, port ${info.proxy.port}`;
  return new AppError('ALREADY_RUNNING', `MetaClaw already runs: ${who} (pid ${info.pid}${where}).`, {
    hint:
      info.kind === 'app'
        ? 'Quit it from its tray menu, or run `metaclaw stop`.'
        : 'Stop it with `metaclaw stop`.',
  });
}

/**
 * True when the process that wrote `info` still lives: same pid and same start. An unknown start counts as the same,
 * except on Linux, where a host of ours always knows its own.
 */
export async function isSameProcess(info: Pick<RuntimeInfo, 'pid' | 'identity'>): Promise<boolean> {
  if (!isAlive(info.pid)) return false;
  const now = await processIdentity(info.pid);
  if (process.platform === 'linux' && info.identity === null && now !== null) return false;
  return now === null || info.identity === null ? isAlive(info.pid) : now === info.identity;
}

/**
 * What tells a process from a later one with the same pid: boot and start time. Null where the system does not say.
 * Linux: field 22 of /proc/<pid>/stat, see proc(5), with the boot id. Elsewhere: `ps`, or PowerShell on Windows.
 */
export async function processIdentity(pid: number): Promise<string | null> {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      // The second field is the program's name in brackets and may hold blanks and brackets itself.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z' || fields[0] === 'X') return 'dead';
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()}:${fields[19]}`;
    }
    const [command, args] =
      process.platform === 'win32'
        ? ['powershell', ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`]]
        : ['env', ['LC_ALL=C', 'ps', '-o', 'lstart=', '-p', String(pid)]];
    const { stdout, exitCode } = await exec(command as string, args as string[], { timeout: 5000 });
    const text = stdout.trim();
    return exitCode === 0 && text !== '' ? text : null;
  } catch {
    return null;
  }
}

/** Whether a pid is in use; one that we may not signal is. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readRuntime(path: string): RuntimeInfo | null {
  const bytes = readCapped(path, 65_536);
  if (bytes === null) return null;
  try {
    return runtimeSchema.parse(JSON.parse(bytes.toString('utf8')));
  } catch {
    return null;
  }
}

/** Held for milliseconds. One left by a killed process expires after two seconds. */
async function mutex(home: string): Promise<() => Promise<void>> {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    // At once: waiting for the lock would not make the folder writable.
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    return await lock(home, {
      lockfilePath: `${statePaths(home).runtime}.lock`,
      realpath: false,
      stale: 2000,
      retries: { retries: 60, minTimeout: 50, maxTimeout: 150 },
      onCompromised: () => {},
    });
  } catch (error) {
    throw new AppError('STORE_UNREADABLE', `The state folder ${home} cannot be used: ${messageOf(error)}`, {
      hint: 'Check that it is writable, or set METACLAW_HOME to another folder.',
      cause: error,
    });
  }
}
