import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Cli, createCli, freePort, isAlive } from '../../support/cli.ts';

// Each step starts real processes, which a busy machine makes slow.
vi.setConfig({ testTimeout: 60_000 });

describe('metaclaw start, status and stop', () => {
  let cli: Cli;
  beforeEach(() => {
    cli = createCli();
  });
  afterEach(() => cli.close());

  const answers = async (port: number) => {
    try {
      return (await fetch(`http://127.0.0.1:${port}/healthz`)).ok;
    } catch {
      return false;
    }
  };

  it('runs a daemon that answers when start returns, says so, and is gone when stop returns', async () => {
    const port = await freePort();
    const started = await cli.run(['start', '--daemon', '--mode', 'skills_only', '--port', String(port)]);
    expect(started).toMatchObject({ code: 0, stderr: '' });
    expect(await answers(port)).toBe(true);
    const { pid } = cli.runtime();
    expect(started.stdout).toContain(`PID=${pid}`);
    expect(started.stdout).toMatch(/metaclaw\.log[\s\S]*metaclaw status[\s\S]*metaclaw stop/);
    expect(statSync(cli.path('runtime.json')).mode & 0o777).toBe(0o600);
    expect(statSync(cli.path('control-token')).mode & 0o777).toBe(0o600);
    // Flags hold for the run and are never written.
    expect(existsSync(cli.path('config.yaml'))).toBe(false);

    const [status, document] = await Promise.all([cli.run(['status']), cli.run(['status', '--json'])]);
    expect(status.code).toBe(0);
    for (const word of [`pid ${pid}`, `:${port}/v1`, 'skills_only']) expect(status.stdout).toContain(word);
    const json = JSON.parse(document.stdout);
    expect(json).toMatchObject({
      running: true,
      pid,
      mode: 'skills_only',
      proxy: { state: 'running', port },
    });

    const stopped = await cli.run(['stop']);
    expect(stopped).toMatchObject({ code: 0, stderr: '' });
    expect(stopped.stdout).toContain(String(pid));
    expect(isAlive(pid)).toBe(false);
    expect(await answers(port)).toBe(false);
    expect(existsSync(cli.path('runtime.json'))).toBe(false);
    const [after, again] = await Promise.all([cli.run(['status']), cli.run(['stop'])]);
    expect(after.code).toBe(3);
    expect(again).toMatchObject({ code: 0, stdout: 'MetaClaw is not running.\n' });
  });

  it('starts without a config, says what is missing, and ends with 0 on SIGTERM', async () => {
    const child = cli.spawn(['start', '--port', '0']);
    await vi.waitUntil(() => child.output().includes('metaclaw setup'), { timeout: 10_000 });
    expect(child.output()).toMatch(/MetaClaw is ready\. OpenAI base URL: http:\/\/127\.0\.0\.1:\d+\/v1/);
    child.kill('SIGTERM');
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(0);
    expect(existsSync(cli.path('runtime.json'))).toBe(false);
  });

  it('is asked through its control port when it is the tray application', async () => {
    await cli.run(['start', '-d', '--port', '0']);
    const runtime = cli.runtime();
    writeFileSync(cli.path('runtime.json'), JSON.stringify({ ...runtime, kind: 'app' }));
    expect((await cli.run(['start'])).stderr).toContain('the tray application');
    const stopped = await cli.run(['stop']);
    expect(stopped.code).toBe(0);
    expect(isAlive(runtime.pid)).toBe(false);
    // A signal would have been logged by the program in the same way; only `host.quit` reaches an app by its own route.
    expect(readFileSync(cli.path('logs', 'daemon-metaclaw.log'), 'utf8')).toContain('MetaClaw has stopped.');
  });

  it('starts again at once after kill -9, also without its log folder', async () => {
    const { pid } = await cli.host();
    process.kill(pid, 'SIGKILL');
    await vi.waitUntil(() => !isAlive(pid));
    rmSync(cli.path('logs'), { recursive: true });
    const again = await cli.run(['start', '-d', '--port', '0']);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(cli.runtime().pid).not.toBe(pid);
    expect(existsSync(cli.path('logs', 'metaclaw.log'))).toBe(true);
  });

  it('cleans what a dead host left, and status says so once', async () => {
    writeFileSync(
      cli.path('runtime.json'),
      JSON.stringify({
        pid: 4_190_001,
        identity: 'x:1',
        kind: 'daemon',
        version: '0.1.0',
        startedAt: '',
        proxy: null,
        controlPort: null,
      }),
    );
    const first = await cli.run(['status', '--json']);
    expect(first.code).toBe(3);
    expect(JSON.parse(first.stdout).sentence).toContain('stale');
    expect((await cli.run(['status'])).stdout).not.toContain('stale');
  });
});
