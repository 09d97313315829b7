import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DoctorDeps, runDoctor } from '../../src/engine/doctor.ts';
import { statePaths } from '../../src/engine/platform/paths.ts';
import { type Config, configSchema } from '../../src/shared/config.ts';

describe('doctor', () => {
  let home: string;
  let config: Config;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'metaclaw-doctor-'));
    mkdirSync(join(home, 'skills', 'one'), { recursive: true });
    writeFileSync(join(home, 'skills', 'one', 'SKILL.md'), 'x');
    config = configSchema.parse({ proxy: { port: 0 }, llm: { provider: 'kimi', model_id: 'k' } });
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const run = async (change: Partial<DoctorDeps> = {}) => {
    const checks = await runDoctor({
      paths: statePaths(home),
      config: () => config,
      problems: () => [],
      plainSecrets: () => [],
      secrets: { describe: () => ({ kind: 'file', detail: 'a file' }) },
      databaseTrouble: () => null,
      proxy: () => ({ state: 'stopped' }),
      providerConfigured: () => true,
      testProvider: async () => ({
        ok: true,
        models: [],
        steps: [{ id: 'answer', state: 'ok', detail: 'hello', ms: 1, fix: null }],
      }),
      cap: () => null,
      clock: { now: () => Date.now(), after: () => () => {} },
      ...change,
    });
    return Object.fromEntries(checks.map((check) => [check.id, check]));
  };

  it('is all well on a sound installation', async () => {
    expect(Object.values(await run()).filter((check) => check.state !== 'ok')).toEqual([]);
  });

  it('says of everything that is not well what to do', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    config = configSchema.parse({ proxy: { port: (server.address() as AddressInfo).port, host: '0.0.0.0' } });
    writeFileSync(join(home, 'secrets.json'), '{}');
    chmodSync(join(home, 'secrets.json'), 0o644);
    writeFileSync(join(home, 'config.yaml'), '', { mode: 0o600 });
    utimesSync(join(home, 'config.yaml'), new Date(), new Date(Date.now() + 86_400_000));
    rmSync(join(home, 'skills'), { recursive: true });
    const checks = await run({
      problems: () => [
        { severity: 'error', path: null, message: 'bad', line: 3, column: 1, hint: 'mend it' },
      ],
      plainSecrets: () => ['llm.api_key'],
      databaseTrouble: () => 'malformed',
      portOwner: async () => 'python (pid 7)',
      testProvider: async () => ({
        ok: false,
        models: [],
        steps: [{ id: 'key', state: 'failed', detail: 'refused', ms: 1, fix: 'another key' }],
      }),
    });
    server.close();
    const bad = Object.values(checks).filter((check) => check.state !== 'ok');
    expect(bad.map((check) => check.id).sort()).toEqual(
      [
        'clock',
        'config',
        'database',
        'exposure',
        'permissions',
        'port',
        'provider-answers',
        'secrets',
        'skills',
      ].sort(),
    );
    expect(bad.filter((check) => !check.fix)).toEqual([]);
    expect(checks.port?.detail).toContain('python (pid 7)');
    expect(checks.config?.detail).toContain('line 3');
  });

  it('speaks of every key that stands in the file in plain text', async () => {
    const one = await run({ plainSecrets: () => ['llm.api_key'] });
    expect(one.secrets).toMatchObject({
      detail: expect.stringContaining('llm.api_key stands in'),
      fix: expect.stringMatching(/^Move it /),
    });
    const two = await run({ plainSecrets: () => ['llm.api_key', 'rl.api_key'] });
    expect(two.secrets).toMatchObject({
      detail: expect.stringContaining('rl.api_key stand in'),
      fix: expect.stringMatching(/^Move each /),
    });
  });

  it('tells of a daily cap, and how to go on when it holds', async () => {
    const until = '2026-12-02T00:00:00.000Z';
    const open = await run({
      cap: () => ({ cap: { unit: 'tokens', amount: 5000 }, spent: 1200, until, state: 'open' }),
    });
    expect(open.cap).toMatchObject({ state: 'ok', detail: 'Learning has used 1,200 of 5,000 tokens today.' });
    const usd = { unit: 'usd', amount: 2 } as const;
    const reached = await run({ cap: () => ({ cap: usd, spent: 2.5, until, state: 'reached' }) });
    expect(reached.cap).toMatchObject({ state: 'warning', fix: expect.stringContaining('usage.daily_cap') });
    const unpriced = await run({ cap: () => ({ cap: usd, spent: 0, until, state: 'unpriced', model: 'm' }) });
    expect(unpriced.cap).toMatchObject({
      state: 'warning',
      fix: expect.stringContaining(`usage.prices '{"m":`),
    });
  });

  it('goes on when one check breaks, and does not ask a provider that is not set', async () => {
    const checks = await run({
      databaseTrouble: () => {
        throw new Error('boom');
      },
      providerConfigured: () => false,
      testProvider: async () => {
        throw new Error('asked');
      },
    });
    expect(checks.database).toMatchObject({ state: 'problem', detail: 'boom' });
    expect(checks['provider-answers']?.state).toBe('skipped');
    expect(checks.clock?.state).toBe('ok');
  });
});
