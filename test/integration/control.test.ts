import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectHost, type HostClient } from '../../src/cli/client.ts';
import { Bus } from '../../src/engine/bus.ts';
import { type ControlServer, startControl } from '../../src/engine/control.ts';
import { acquireHost, type HostLock } from '../../src/engine/platform/lock.ts';
import { silentLogger } from '../../src/engine/platform/logger.ts';
import { AppError } from '../../src/shared/errors.ts';

describe('control port', () => {
  let home: string;
  let lock: HostLock;
  let control: ControlServer;
  let client: HostClient;
  const bus = new Bus();
  const seen: unknown[] = [];

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'metaclaw-control-'));
    lock = await acquireHost(home, 'daemon', '1.2.3');
    control = await startControl({
      dispatch: async (route, input, caller) => {
        seen.push({ route, input, caller });
        if (route === 'skills.get')
          throw new AppError('NOT_FOUND', 'no such skill', { hint: 'look', field: 'name' });
        if (route === 'doctor.run') throw new Error('a bug with sk-secret');
        return { echo: input };
      },
      bus,
      home,
      version: '1.2.3',
      log: silentLogger(),
    });
    lock.update({ controlPort: control.port });
    client = (await connectHost(home, '1.9.0')) as HostClient;
    seen.length = 0;
  });
  afterEach(async () => {
    await client.close();
    await control.stop();
    lock.release();
    rmSync(home, { recursive: true, force: true });
  });

  const token = () => readFileSync(join(home, 'control-token'), 'utf8').trim();
  const raw = async (
    path: string,
    headers: Record<string, string> = {},
    method: 'POST' | 'GET' = 'POST',
    body = '{}',
  ) => {
    const response = await request(`http://127.0.0.1:${control.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token()}`, 'content-type': 'application/json', ...headers },
      ...(method === 'POST' ? { body } : {}),
    });
    return {
      status: response.statusCode,
      body: (await response.body.json()) as { ok: boolean; error?: { code: string } },
    };
  };

  it('carries calls and coded errors through', async () => {
    expect(await client.call('proxy.bypass', { on: true })).toEqual({ echo: { on: true } });
    expect(seen).toEqual([{ route: 'proxy.bypass', input: { on: true }, caller: 'control' }]);
    await expect(client.call('skills.get', { name: 'x' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'no such skill',
      hint: 'look',
      field: 'name',
    });
    await expect(client.call('doctor.run', {})).rejects.toMatchObject({ code: 'INTERNAL' });
  });

  it('keeps its token readable by the owner only, and takes it away on close', async () => {
    expect(statSync(join(home, 'control-token')).mode & 0o777).toBe(0o600);
    await control.stop();
    expect(() => token()).toThrow();
  });

  it('refuses other hosts, web pages, wrong tokens, forms and junk before any call is made', async () => {
    expect((await raw('/control/app.status', { host: 'evil.example' })).body.error?.code).toBe(
      'HOST_NOT_ALLOWED',
    );
    expect((await raw('/control/app.status', { origin: 'http://127.0.0.1' })).body.error?.code).toBe(
      'ORIGIN_NOT_ALLOWED',
    );
    expect((await raw('/control/app.status', { authorization: 'Bearer no' })).status).toBe(401);
    expect((await raw('/control/app.status', { authorization: '' })).status).toBe(401);
    expect((await raw('/control/app.status', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await raw('/control/app.status', {}, 'POST', '{')).status).toBe(400);
    expect((await raw('/control/app.status', {}, 'POST', `"${'x'.repeat(1024 * 1024)}"`)).status).toBe(413);
    expect((await raw('/control/app.status', {}, 'GET')).status).toBe(405);
    expect((await raw('/elsewhere')).status).toBe(404);
    expect(seen).toEqual([]);
  });

  it('streams events until the reader leaves', async () => {
    const heard: unknown[] = [];
    const stop = new AbortController();
    const reading = client.events(stop.signal, (name, payload) => heard.push([name, payload]));
    await vi.waitUntil(() => {
      bus.emit('invalidate', 'skills');
      return heard.length > 0;
    });
    expect(heard[0]).toEqual(['invalidate', { topic: 'skills' }]);
    stop.abort();
    await reading;
  });

  it('ends event streams when the host stops, so that no reader hangs', async () => {
    const reading = client.events(new AbortController().signal, () => {});
    await vi.waitUntil(() => true);
    await control.stop();
    await Promise.race([
      reading.catch(() => {}),
      new Promise((_, no) => setTimeout(() => no(new Error('hangs')), 3000)),
    ]);
  });

  it('refuses a host of another major version, and finds none where none is', async () => {
    await expect(connectHost(home, '2.0.0')).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await connectHost(join(home, 'nowhere'), '1.0.0')).toBeNull();
  });
});
