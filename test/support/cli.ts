import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { vi } from 'vitest';
import { connectHost } from '../../src/cli/client.ts';
import { readHost } from '../../src/engine/platform/lock.ts';
import type { Snapshot } from '../../src/shared/status.ts';

/** Processes start slowly on a busy machine. */
const WAIT = { timeout: 20_000, interval: 20 };

interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Both streams, for checks that something is printed nowhere. */
  all: string;
}

/** The built program with a throw-away state folder. `close` ends whatever was started and removes the folder. */
export interface Cli {
  readonly home: string;
  run(
    args: readonly string[],
    options?: { input?: string; env?: Record<string, string> },
  ): Promise<CliResult>;
  /** Starts a command without waiting; it is killed by `close`. */
  spawn(args: readonly string[], options?: SpawnOptions): ChildProcess & { output(): string };
  /** A host on a free port that answers: one process, where `start --daemon` itself is not what is tested. */
  host(...args: string[]): Promise<{ pid: number; port: number }>;
  /** What the host says of itself, without a process for the question. */
  snapshot(): Promise<Snapshot>;
  /** What `runtime.json` says. */
  runtime(): { pid: number; kind: string; identity: string; proxy: { port: number } | null };
  path(...names: string[]): string;
  close(): Promise<void>;
}

interface SpawnOptions {
  env?: Record<string, string>;
  stdio?: StdioOptions;
}

export function createCli(): Cli {
  const script = process.env.METACLAW_TEST_CLI ?? resolve('out/main/cli.cjs');
  if (!existsSync(script)) throw new Error(`${script} is not built: run npm run build first`);
  const home = mkdtempSync(join(tmpdir(), 'metaclaw-cli-'));
  const children: ChildProcess[] = [];
  const start = (args: readonly string[], { env = {}, stdio = 'pipe' }: SpawnOptions = {}) => {
    const inherited = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^METACLAW_|_API_KEY$|^LC_|^LANG/.test(name)),
    );
    const child = spawn(process.execPath, [script, ...args], {
      env: { ...inherited, METACLAW_HOME: home, ...env },
      stdio,
    });
    children.push(child);
    return child;
  };
  const cli: Cli = {
    home,
    run: (args, options = {}) =>
      new Promise((done, fail) => {
        const child = start(args, { env: options.env });
        let stdout = '';
        let stderr = '';
        child.stdout?.on('data', (chunk) => {
          stdout += chunk;
        });
        child.stderr?.on('data', (chunk) => {
          stderr += chunk;
        });
        child.once('error', fail);
        child.once('close', (code) => done({ code, stdout, stderr, all: stdout + stderr }));
        child.stdin?.end(options.input ?? '');
      }),
    spawn: (args, options) => {
      const child = start(args, options);
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (chunk) => {
          text += chunk;
        });
      return Object.assign(child, { output: () => text });
    },
    host: async (...args) => {
      const child = cli.spawn(['start', '--port', '0', ...args]);
      await vi.waitUntil(() => child.output().includes('MetaClaw is ready') || child.exitCode !== null, WAIT);
      if (child.exitCode !== null) throw new Error(`The host has ended: ${child.output()}`);
      const { pid, proxy } = cli.runtime();
      return { pid, port: proxy?.port ?? 0 };
    },
    snapshot: async () => {
      const host = await connectHost(home, '0.1.0');
      if (host === null) throw new Error('Nobody owns the state folder.');
      return await host.call('app.snapshot', {}).finally(() => host.close());
    },
    runtime: () => JSON.parse(readFileSync(join(home, 'runtime.json'), 'utf8')),
    path: (...names) => join(home, ...names),
    close: async () => {
      const pids = children.flatMap((child) => (hasEnded(child) ? [] : [child.pid as number]));
      const owner = await readHost(home);
      if (owner.state === 'running') pids.push(owner.info.pid);
      for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
      await vi.waitUntil(() => !pids.some(isAlive), WAIT);
      rmSync(home, { recursive: true, force: true });
    },
  };
  return cli;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Whether a process runs; one that ended and waits for its parent to notice does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = process.platform === 'linux' ? readFileSync(`/proc/${pid}/stat`, 'latin1') : '';
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}
