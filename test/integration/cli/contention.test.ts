import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { processIdentity } from '../../../src/engine/platform/lock.ts';
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
    const { pid, port } = await cli.host();
    for (const second of await Promise.all([cli.run(['start']), cli.run(['start', '--daemon'])])) {
      expect(second.code).toBe(1);
      expect(second.stderr).toContain(`MetaClaw already runs: the daemon (pid ${pid}, port ${port}).`);
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
    expect((await cli.snapshot()).proxy.state).toBe('running');
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
    await cli.host();
    expect((await cli.run(['stop'])).code).toBe(0);
    expect(child.exitCode).toBeNull();
    expect(child.signalCode).toBeNull();
  });

  it('keeps a host alive when what it prints cannot be written: a full disk must not take the proxy down', async () => {
    const full = openSync('/dev/full', 'w');
    const child = cli.spawn(['start', '--port', '0'], { stdio: ['ignore', full, full] });
    closeSync(full);
    await vi.waitUntil(() => existsSync(cli.path('runtime.json')) && cli.runtime().proxy !== null, {
      timeout: 20_000,
    });
    // Turns a warning out, which is printed.
    writeFileSync(cli.path('config.yaml'), 'llm: [\n');
    await vi.waitUntil(async () => (await cli.snapshot()).warnings.length > 0, { timeout: 10_000 });
    expect((await fetch(`http://127.0.0.1:${cli.runtime().proxy?.port}/healthz`)).status).toBe(200);
    expect(child.exitCode).toBeNull();
  });

  it('takes a command that has the folder for a moment for no host: nobody refuses to start, or stops it', async () => {
    writeFileSync(
      cli.path('runtime.json'),
      JSON.stringify({
        pid: process.pid,
        identity: await processIdentity(process.pid),
        kind: 'daemon',
        version: '0.1.0',
        startedAt: '',
        proxy: null,
        controlPort: null,
        brief: true,
      }),
    );
    const [status, stop] = await Promise.all([cli.run(['status']), cli.run(['stop'])]);
    expect([status.code, stop.code]).toEqual([3, 0]);
    const starting = cli.run(['start', '-d', '--port', '0']);
    rmSync(cli.path('runtime.json'));
    expect(await starting).toMatchObject({ code: 0, stderr: '' });
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
    const codes = Promise.all(
      [
        ['start', '--port', 'x'],
        ['start', '--mode', 'fast'],
        ['nonsense'],
        ['feedback', 'last', 'fine'],
        ['start', '-c', cli.path('missing.yaml')],
        // A folder would be watched as a whole, and never be a config.
        ['start', '-c', cli.home],
      ].map(async (args) => (await cli.run(args)).code),
    );
    expect(await codes).toEqual([2, 2, 2, 2, 1, 1]);
    expect(await cli.run(['--version'])).toMatchObject({ code: 0, stdout: '0.1.0\n' });
  });
});
