import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../../src/engine/platform/logger.ts';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';
import { UsageLedger } from '../../../src/engine/usage/index.ts';
import { type Config, configSchema } from '../../../src/shared/config.ts';
import type { Usage } from '../../../src/shared/model.ts';

const zone = process.env.TZ;
let database: Database;
let now: number;
let config: Config;
let ledger: UsageLedger;

beforeEach(() => {
  database = openDatabase(':memory:').database;
  now = Date.UTC(2026, 10, 15, 12);
  config = configSchema.parse({});
  ledger = new UsageLedger({
    database,
    clock: { now: () => now, after: () => () => {} },
    log: silentLogger(),
    config: () => config,
    backgroundModel: () => null,
    onRecorded: () => {},
  });
});
afterEach(() => {
  database.close();
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

function call(at: string, host: string, model: string, usage: Partial<Usage> = {}): void {
  now = Date.parse(at);
  ledger.record({
    purpose: 'evolver',
    sessionId: null,
    upstream: 'custom',
    host,
    model,
    httpStatus: 200,
    usage: {
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      estimated: false,
      ...usage,
    },
  });
}
const total = async (from: string, to = from) => (await ledger.summary({ from, to, by: 'model' })).total.own;

it('a day is the local one, also when the clock changes', async () => {
  process.env.TZ = 'Europe/Paris';
  for (const at of [
    '2026-10-24T21:59:59Z',
    '2026-10-24T22:00:00Z',
    '2026-10-25T22:59:59Z',
    '2026-10-25T23:00:00Z',
  ])
    call(at, 'h', 'm', { inputTokens: 1 });
  const { rows } = await ledger.summary({ from: '2026-10-24', to: '2026-10-26', by: 'day' });
  expect(rows.map(({ key, own }) => [key, own.calls])).toEqual([
    ['2026-10-24', 1],
    ['2026-10-25', 2],
    ['2026-10-26', 1],
  ]);
});

it('a cap lasts until the next local midnight, an hour longer when the clock is set back', () => {
  process.env.TZ = 'Europe/Paris';
  config = configSchema.parse({ usage: { daily_cap: 10 } });
  call('2026-10-24T22:30:00Z', 'h', 'm', { inputTokens: 10 });
  expect(ledger.cap()).toMatchObject({ state: 'reached', until: '2026-10-25T23:00:00.000Z' });
  now = Date.parse('2026-10-25T22:59:59Z');
  expect(ledger.heldUntil()).toBe(Date.parse('2026-10-25T23:00:00Z'));
  now += 1000;
  expect(ledger.cap()).toMatchObject({ state: 'open', spent: 0 });
  expect(ledger.heldUntil()).toBeNull();
});

it('prices are those of the day and of each prompt’s length', async () => {
  process.env.TZ = 'UTC';
  const M = 1_000_000;
  call('2026-10-06T12:00:00Z', 'api.anthropic.com', 'claude-sonnet-5-5', { cacheReadTokens: M });
  call('2026-10-07T12:00:00Z', 'api.anthropic.com', 'claude-sonnet-5-5', { cacheReadTokens: M });
  expect((await total('2026-10-06')).costUsd).toBeCloseTo(0.2, 10);
  expect((await total('2026-10-07')).costUsd).toBeCloseTo(0.1, 10);
  expect((await total('2026-10-06', '2026-10-07')).costUsd).toBeCloseTo(0.3, 10);

  const haiku = 'claude-haiku-5-5';
  call('2026-11-01T12:00:00Z', 'api.anthropic.com', haiku, { inputTokens: 100_000 });
  call('2026-11-01T13:00:00Z', 'api.anthropic.com', haiku, { inputTokens: 100_000, cacheReadTokens: 1 });
  expect((await total('2026-11-01')).costUsd).toBeCloseTo(0.01 + 0.05 + 0.05 / M, 10);
});

it('a gateway that tells what it took is believed, others are not', async () => {
  process.env.TZ = 'UTC';
  call('2026-11-02T12:00:00Z', 'openrouter.ai', 'a/b', { inputTokens: 10, reportedCost: 0.25 });
  expect(await total('2026-11-02')).toMatchObject({ costUsd: 0.25, unpriced: 0 });
  call('2026-11-03T12:00:00Z', 'elsewhere.example', 'a/b', { inputTokens: 10, reportedCost: 0.25 });
  expect(await total('2026-11-03')).toMatchObject({ costUsd: 0, unpriced: 1 });
});

it('a money cap holds when something of the day cannot be counted, whatever comes next', () => {
  process.env.TZ = 'UTC';
  call('2026-11-04T12:00:00Z', 'elsewhere.example', 'mystery', { inputTokens: 10 });
  config = configSchema.parse({ usage: { daily_cap: '$5' } });
  expect(ledger.cap()).toMatchObject({ state: 'unpriced', model: 'mystery' });
  const next = { purpose: 'evolver' as const, upstream: 'openai', host: 'api.openai.com', model: 'gpt-5.2' };
  expect(() => ledger.admit(next)).toThrow('what mystery costs is not known');
  expect(() => ledger.admit({ ...next, purpose: 'provider-test' })).not.toThrow();
  config = configSchema.parse({ usage: { daily_cap: '$5', prices: { mystery: { input: 1, output: 1 } } } });
  expect(() => ledger.admit(next)).not.toThrow();
});

it('what is written for an hour costs more than what is written for minutes', async () => {
  process.env.TZ = 'UTC';
  const usage = { cacheWriteTokens: 1_000_000, cacheHourTokens: 400_000 };
  call('2026-11-06T12:00:00Z', 'api.anthropic.com', 'claude-sonnet-5', usage);
  expect((await total('2026-11-06')).costUsd).toBeCloseTo(0.6 * 2.5 + 0.4 * 4, 10);
});

it('days that are over are read once, and again when something was taken out of them', async () => {
  process.env.TZ = 'UTC';
  call('2026-11-07T12:00:00Z', 'api.openai.com', 'gpt-5.2', { inputTokens: 1 });
  call('2026-11-07T13:00:00Z', 'api.openai.com', 'gpt-5.2', { inputTokens: 2 });
  now = Date.parse('2026-11-20T12:00:00Z');
  expect((await total('2026-11-07')).inputTokens).toBe(3);
  expect((await total('2026-11-07')).inputTokens).toBe(3);
  config = configSchema.parse({ usage: { prices: { 'gpt-5.2': { input: 1_000_000, output: 1 } } } });
  expect((await total('2026-11-07')).costUsd).toBeCloseTo(3, 10);
  database.run('DELETE FROM own_calls WHERE id = 1');
  expect((await total('2026-11-07')).inputTokens).toBe(2);
});

it('a ledger that cannot be written breaks no call', () => {
  database.get('PRAGMA query_only = ON');
  expect(() => call('2026-11-05T12:00:00Z', 'h', 'm')).not.toThrow();
});
