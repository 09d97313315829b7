import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Cli, createCli } from '../../support/cli.ts';

// Each step starts real processes, which a busy machine makes slow.
vi.setConfig({ testTimeout: 60_000 });

describe('metaclaw beside others', () => {
  let cli: Cli;
  let holder: Server | null = null;
  let stranger: ChildProcess | null = null;
  beforeEach(() => {
    cli = createCli();
  });
  afterEach(async () => {
    holder?.close();
    holder = null;
    stranger?.kill('SIGKILL');
    stranger = null;
    await cli.close();
  });

  const occupy = async () => {
    const server = createServer().listen(0, '127.0.0.1');
    holder = server;
    await new Promise((resolve) => server.once('listening', resolve));
    return (server.address() as AddressInfo).port;
  };

  it('refuses a second start, naming kind, pid and port of the first', async () => {
    await cli.run(['start', '-d', '--port', '0']);
    const { pid, proxy } = cli.runtime();
    for (const args of [['start'], ['start', '--daemon']]) {
      const second = await cli.run(args);
      expect(second.code).toBe(1);
      expect(second.stderr).toContain(`MetaClaw already runs: the daemon (pid ${pid}, port ${proxy?.port}).`);
      expect(second.stderr).not.toMatch(/ {4}at /);
    }
    expect(cli.runtime().pid).toBe(pid);
  });

  it('lets one of two simultaneous starts win', async () => {
    const both = await Promise.all([
      cli.run(['start', '-d', '--port', '0']),
      cli.run(['start', '-d', '--port', '0']),
    ]);
    expect(both.map((result) => result.code).sort()).toEqual([0, 1]);
    const loser = both.find((result) => result.code === 1);
    expect(loser?.stderr).toContain('already runs');
    expect((await cli.run(['status'])).code).toBe(0);
  });

  it('names the process that holds the port, in the foreground and as a daemon', async () => {
    const port = await occupy();
    const here = await cli.run(['start', '--port', String(port)]);
    expect(here.code).toBe(1);
    expect(here.stderr).toContain(String(port));
    expect(here.stderr).toContain(String(process.pid));
    expect(here.stdout).not.toContain('ready');
    const log = cli.path('my.log');
    const daemon = await cli.run(['start', '-d', '--port', String(port), '--log-file', log]);
    expect(daemon.code).toBe(1);
    for (const part of ['code 1', log, String(process.pid)]) expect(daemon.stderr).toContain(part);
    expect(readFileSync(log, 'utf8')).toContain(String(port));
    expect(existsSync(cli.path('runtime.json'))).toBe(false);
  });

  it('never signals a stranger that was given the pid of a dead host, and is not blocked by it', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    stranger = child;
    const leave = () =>
      writeFileSync(
        cli.path('runtime.json'),
        JSON.stringify({
          pid: child.pid,
          identity: 'another-boot:7',
          kind: 'daemon',
          version: '0.1.0',
          startedAt: '',
          proxy: null,
          controlPort: null,
        }),
      );
    leave();
    expect(await cli.run(['stop'])).toMatchObject({ code: 0, stdout: expect.stringContaining('stale') });
    leave();
    expect((await cli.run(['start', '-d', '--port', '0'])).code).toBe(0);
    expect((await cli.run(['stop'])).code).toBe(0);
    expect(child.exitCode).toBeNull();
    expect(child.signalCode).toBeNull();
  });

  it('does not crash when its reader goes away', async () => {
    const child = spawn(
      'sh',
      [
        '-c',
        `"$0" "$1" config show | head -n 1; exit 0`,
        process.execPath,
        process.env.METACLAW_TEST_CLI ?? 'out/main/cli.cjs',
      ],
      {
        env: { ...process.env, METACLAW_HOME: cli.home },
      },
    );
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    await new Promise((resolve) => child.once('close', resolve));
    expect(stderr).toBe('');
  });

  it('tells bad usage from failure by its exit code', async () => {
    expect((await cli.run(['start', '--port', 'x'])).code).toBe(2);
    expect((await cli.run(['start', '--mode', 'fast'])).code).toBe(2);
    expect((await cli.run(['nonsense'])).code).toBe(2);
    expect((await cli.run(['start', '-c', cli.path('missing.yaml')])).code).toBe(1);
    expect(await cli.run(['--version'])).toMatchObject({ code: 0, stdout: '0.1.0\n' });
  });
});
