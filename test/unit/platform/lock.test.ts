import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireHost, clearStaleHost, processIdentity, readHost } from '../../../src/engine/platform/lock.ts';

describe('host lock', () => {
  let home: string;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'metaclaw-lock-'));
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  });
  const stranger = () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    children.push(child);
    return child;
  };
  const leave = (pid: number, identity: string | null, brief = false) =>
    writeFileSync(
      join(home, 'runtime.json'),
      JSON.stringify({
        pid,
        identity,
        kind: 'daemon',
        version: '1',
        startedAt: 'x',
        proxy: { host: '127.0.0.1', port: 31_001 },
        controlPort: 1,
        brief,
      }),
    );

  it('refuses a second owner and names the first', async () => {
    const other = stranger();
    leave(other.pid as number, await processIdentity(other.pid as number));
    await expect(acquireHost(home, 'app', '1')).rejects.toMatchObject({
      code: 'ALREADY_RUNNING',
      message: `MetaClaw already runs: the daemon (pid ${other.pid}, port 31001).`,
    });
  });

  it('lets commands at the same moment take turns, and a host wait for them: none of them fails by bad luck', async () => {
    const command = async () => (await acquireHost(home, 'daemon', '1', { brief: true })).release();
    await Promise.all(Array.from({ length: 5 }, command));
    const last = await acquireHost(home, 'daemon', '1', { brief: true });
    const host = acquireHost(home, 'app', '1');
    last.release();
    (await host).release();
    leave(process.pid, await processIdentity(process.pid), true);
    await expect(acquireHost(home, 'app', '1', { waitMs: 100 })).rejects.toMatchObject({
      code: 'ALREADY_RUNNING',
      message: `Another metaclaw command is at work (pid ${process.pid}).`,
    });
  });

  it('lets exactly one of many simultaneous tries win', async () => {
    const tries = await Promise.allSettled(Array.from({ length: 6 }, () => acquireHost(home, 'daemon', '1')));
    expect(tries.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });

  it('takes over from a dead pid, and from a live stranger that got the same pid, without a signal', async () => {
    leave(2 ** 22 + 12_345, 'gone:1');
    expect(await readHost(home)).toEqual({ state: 'stale', pid: 2 ** 22 + 12_345 });
    const other = stranger();
    leave(other.pid as number, 'some-earlier-boot:42');
    expect((await readHost(home)).state).toBe('stale');
    const lock = await acquireHost(home, 'daemon', '1');
    expect((await readHost(home)).state).toBe('running');
    expect(other.exitCode).toBeNull();
    expect(other.signalCode).toBeNull();
    lock.release();
  });

  it('is not blocked by a runtime file cut in the middle', async () => {
    writeFileSync(join(home, 'runtime.json'), '{"pid": 12');
    expect(await readHost(home)).toEqual({ state: 'stale', pid: null });
    expect(await clearStaleHost(home)).toBe(true);
    expect(await readHost(home)).toEqual({ state: 'none' });
  });

  it('tells ports, and gives up only what is its own', async () => {
    const lock = await acquireHost(home, 'app', '9.9');
    lock.update({ proxy: { host: '127.0.0.1', port: 5 }, controlPort: 6 });
    const found = await readHost(home);
    expect(found).toMatchObject({
      state: 'running',
      info: { kind: 'app', version: '9.9', controlPort: 6, proxy: { port: 5 } },
    });
    leave(1, 'another:1');
    lock.release();
    expect(JSON.parse(readFileSync(join(home, 'runtime.json'), 'utf8')).pid).toBe(1);
    rmSync(join(home, 'runtime.json'));
    const again = await acquireHost(home, 'app', '9.9');
    again.release();
    expect(existsSync(join(home, 'runtime.json'))).toBe(false);
  });
});
