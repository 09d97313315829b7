import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { MIGRATIONS } from '../../../src/engine/store/migrations.ts';
import type { UsageRow } from '../../../src/shared/usage.ts';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let lab: TestEngine;
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  await lab.close();
  await upstream.close();
});

const PRICES = { dear: { input: 10, output: 50, cached_input: 1, cache_write: 12.5 } };

async function start(config: Record<string, unknown> = {}): Promise<void> {
  const { llm, ...rest } = config;
  lab = await startEngine({
    llm: { provider: 'custom', api_base: upstream.url, api_key: 'sk', model_id: 'dear', ...(llm as object) },
    usage: { prices: PRICES },
    skills: { auto_accept: 'ask' },
    // What is counted here are the calls of learning skills.
    memory: { extractor: 'rules' },
    ...rest,
  });
}

const openai = () => new OpenAI({ baseURL: lab.openai, apiKey: 'any', maxRetries: 0 });
const ask = (content = 'Tell me about the weather in the mountains.', headers: Record<string, string> = {}) =>
  openai().chat.completions.create({ model: 'dear', messages: [{ role: 'user', content }] }, { headers });

const summary = (by: 'day' | 'model' | 'purpose' | 'agent' = 'day') =>
  lab.engine.call('usage.summary', { by });
const relayed = async () => (await summary()).total.relayed;
const rowOf = async (by: 'model' | 'purpose' | 'agent', key: string): Promise<UsageRow | undefined> =>
  (await summary(by)).rows.find((row) => row.key === key);
const newest = async () => {
  const { turns } = await lab.engine.call('turns.list', { limit: 1 });
  return lab.engine.call('turns.get', { id: turns[0]?.id ?? '' });
};

describe('relayed calls', () => {
  it('are counted with their cache and cost, in lists and at the turn', async () => {
    await start({ llm: { wire: 'anthropic' } });
    upstream.reply({ text: 'Fine.', usage: { input: 1000, output: 10, cacheRead: 600, cacheWrite: 100 } });
    await ask();
    const cost = (300 * 10 + 600 * 1 + 100 * 12.5 + 10 * 50) / 1e6;
    const { relayed: sums } = (await summary()).total;
    expect(sums).toMatchObject({
      calls: 1,
      refused: 0,
      uncounted: 0,
      estimated: 0,
      inputTokens: 300,
      cacheReadTokens: 600,
      cacheWriteTokens: 100,
      outputTokens: 10,
      unpriced: 0,
    });
    expect(sums.costUsd).toBeCloseTo(cost, 10);
    expect((await newest()).costUsd).toBeCloseTo(cost, 10);
    expect((await summary()).total.own.calls).toBe(0);
  });

  it.each(['openai', 'anthropic'] as const)('streams too, over an %s provider', async (wire) => {
    await start({ llm: { wire, api_base: upstream.url } });
    upstream.reply({ text: 'Fine.', usage: { input: 50, output: 5, cacheRead: 40 } });
    const client = new Anthropic({
      baseURL: lab.anthropic,
      apiKey: 'any',
      maxRetries: 0,
    });
    const stream = client.messages.stream({
      model: 'dear',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Tell me about the weather.' }],
    });
    await stream.finalMessage();
    expect(await relayed()).toMatchObject({
      calls: 1,
      inputTokens: 10,
      cacheReadTokens: 40,
      outputTokens: 5,
      estimated: 0,
    });
  });

  it('keep what a provider says of its cache and its price beside the usual counts', async () => {
    await start({ llm: { wire: 'anthropic' } });
    const usage = {
      input_tokens: 3,
      output_tokens: 4,
      cache_creation_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 },
    };
    const content = [{ type: 'text', text: 'Fine.' }];
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'dear',
      content,
      stop_reason: 'end_turn',
    };
    upstream.reply({ status: 200, body: { ...message, usage } });
    await ask();
    expect((await newest()).usage).toMatchObject({ cacheWriteTokens: 100, cacheHourTokens: 60 });
    await lab.engine.call('config.set', { path: 'llm.wire', value: 'openai' });
    for (const [is_byok, cost] of [
      [false, 0.25],
      [true, undefined],
    ]) {
      const counts = { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11, cost: 0.25, is_byok };
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Fine.' }, finish_reason: 'stop' }];
      upstream.reply({ status: 200, body: { id: 'c', object: 'chat.completion', choices, usage: counts } });
      await ask();
      expect((await newest()).usage?.reportedCost).toBe(cost);
    }
  });

  it('know what was added by MetaClaw', async () => {
    await start();
    await ask('One test is flaky: it fails now and then without a change. How do I hunt the flaky test?');
    const turn = await newest();
    expect(turn.injection.tokens).toBeGreaterThan(0);
    expect((await relayed()).addedTokens).toBe(turn.injection.tokens);
  });

  it('without a count are estimated, and say so', async () => {
    await start();
    upstream.reply({ text: 'x'.repeat(400), usage: null });
    await ask('y'.repeat(4000));
    const sums = await relayed();
    expect(sums).toMatchObject({ calls: 1, estimated: 1, outputTokens: 100, unpriced: 0 });
    expect(sums.inputTokens).toBeGreaterThan(1000);
    expect(sums.inputTokens).toBeLessThan(1300);
  });

  // Anthropic's first event counts the prompt and says 1 for an answer that it has not written yet.
  it.each(['openai', 'anthropic'] as const)(
    'that the client cuts off count what had come (%s)',
    async (wire) => {
      await start({ llm: { wire, api_base: upstream.url } });
      const text = 'word '.repeat(200);
      upstream.reply({ text, usage: { input: 500, output: 300 }, wire: { after: 40, ending: 'stall' } });
      const abort = new AbortController();
      const stream = await openai().chat.completions.create(
        { model: 'dear', stream: true, messages: [{ role: 'user', content: 'Tell me.' }] },
        { signal: abort.signal },
      );
      let heard = 0;
      for await (const chunk of stream) {
        heard += chunk.choices[0]?.delta.content?.length ?? 0;
        if (heard > 100) break;
      }
      abort.abort();
      await expect.poll(async () => (await newest()).status).toBe('aborted');
      const sums = await relayed();
      expect(sums).toMatchObject({ calls: 1, estimated: 1, uncounted: 0 });
      expect(sums.outputTokens).toBeGreaterThanOrEqual(Math.floor(heard / 4));
      if (wire === 'anthropic') expect(sums.inputTokens).toBe(500);
      else expect(sums.inputTokens).toBeGreaterThan(10);
    },
  );

  it('that the client left before a word came still had their prompt read', async () => {
    await start();
    upstream.reply({ text: 'never', wire: { headersDelayMs: 60_000 } });
    const abort = new AbortController();
    const pending = openai().chat.completions.create(
      { model: 'dear', messages: [{ role: 'user', content: 'y'.repeat(400) }] },
      { signal: abort.signal },
    );
    await upstream.until(({ requests }) => requests.length > 0);
    abort.abort();
    await expect(pending).rejects.toThrow();
    await expect.poll(async () => (await newest()).status).toBe('aborted');
    const sums = await relayed();
    expect(sums).toMatchObject({ calls: 1, estimated: 1, outputTokens: 0 });
    expect(sums.inputTokens).toBeGreaterThan(100);
  });

  it('that are refused or reach nobody cost nothing', async () => {
    await start();
    upstream.reply({ status: 400, body: { error: { message: 'no' } } });
    await expect(ask()).rejects.toThrow('no');
    expect(await relayed()).toMatchObject({ calls: 1, refused: 1, uncounted: 0, costUsd: 0, unpriced: 0 });
    expect((await newest()).costUsd).toBe(0);
  });

  it('belong to the provider that answered, after a failover', async () => {
    const second = await startUpstream();
    const fallbacks = [{ provider: 'custom', api_base: second.url, model_id: 'cheap' }];
    await start({
      llm: { fallbacks },
      usage: { prices: { ...PRICES, cheap: { input: 1, output: 1 } } },
    });
    upstream.script(() => ({ status: 500, body: { error: { message: 'down' } } }));
    second.reply({ text: 'Fine.', usage: { input: 100, output: 10 } });
    await ask();
    expect((await summary('model')).rows).toMatchObject([
      { key: 'cheap', relayed: { calls: 1, inputTokens: 100 } },
    ]);
    expect((await newest()).costUsd).toBeCloseTo(110 / 1e6, 10);
    await second.close();
  });

  it('of a model without a price have no cost, until its price is set', async () => {
    await start({ usage: {} });
    upstream.reply({ text: 'Fine.', usage: { input: 100, output: 10 } });
    await ask();
    expect(await relayed()).toMatchObject({ calls: 1, costUsd: 0, unpriced: 1 });
    expect((await newest()).costUsd).toBeNull();
    await lab.engine.call('config.set', { path: 'usage.prices', value: { 'd*': { input: 1, output: 1 } } });
    expect((await newest()).costUsd).toBeCloseTo(110 / 1e6, 10);
  });

  it('that are private or pass by leave no number', async () => {
    await start();
    await ask('a secret', { 'x-metaclaw-private': 'on' });
    await lab.engine.call('proxy.bypass', { on: true });
    await ask();
    expect((await summary()).total.relayed.calls).toBe(0);
  });

  it('are told apart by agent, purpose and day', async () => {
    await start();
    await ask('first', { 'x-metaclaw-agent': 'openclaw' });
    await ask('second', { 'x-metaclaw-agent': 'hermes', 'x-turn-type': 'side' });
    expect((await rowOf('agent', 'openclaw'))?.relayed.calls).toBe(1);
    expect((await rowOf('purpose', 'chat'))?.relayed.calls).toBe(1);
    expect((await rowOf('purpose', 'side'))?.relayed.calls).toBe(1);
    const days = await summary();
    expect(days.rows).toHaveLength(7);
    expect(days.rows.at(-1)?.relayed.calls).toBe(2);
    expect(days.rows[0]?.relayed.calls).toBe(0);
  });

  it('of a state folder from before the ledger are in it', async () => {
    await start();
    await lab.engine.stop();
    const path = join(lab.home, 'state.db');
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    const migrations = MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex((sql) => sql.includes('CREATE VIEW calls')),
    );
    const { database } = openDatabase(path, { migrations });
    const at = new Date().toISOString();
    database.run(
      "INSERT INTO sessions (id, agent, client, source, started_at, last_at) VALUES ('s', 'a', 'loopback', 'body', ?, ?)",
      at,
      at,
    );
    const usage = {
      inputTokens: 5,
      outputTokens: 6,
      cacheReadTokens: 7,
      cacheWriteTokens: 8,
      estimated: false,
    };
    database.run(
      "INSERT INTO turns (id, session_id, seq, kind, agent, dialect, upstream, requested_model, model, status, started_at, injection, added_tokens, usage) VALUES ('t', 's', 1, 'main', 'a', 'openai', 'openai', 'm', 'gpt-5.2', 'answered', ?, '{}', 4, ?)",
      at,
      JSON.stringify(usage),
    );
    database.close();
    await lab.restart();
    // Where it was served is not known, so what it cost is not either.
    expect(await relayed()).toMatchObject({
      calls: 1,
      inputTokens: 5,
      outputTokens: 6,
      cacheReadTokens: 7,
      cacheWriteTokens: 8,
      addedTokens: 4,
      unpriced: 1,
    });
  });

  it('a stretch of days must be one', async () => {
    await start();
    const stretch = (from: string, to: string) => lab.engine.call('usage.summary', { from, to, by: 'day' });
    await expect(stretch('2026-02-02', '2026-02-01')).rejects.toMatchObject({ code: 'BAD_INPUT' });
    await expect(stretch('2020-01-01', '2026-02-01')).rejects.toMatchObject({ code: 'BAD_INPUT' });
    expect((await stretch('2026-02-01', '2026-02-01')).rows).toHaveLength(1);
  });
});

describe('our own calls', () => {
  const CORRECTION =
    'No. From now on always measure before you change any code, and measure again afterwards.';
  /** A session that teaches something; the evolver is asked when it has ended. */
  const teach = async (session: string) => {
    const headers = { 'x-metaclaw-session': session, 'x-session-done': 'true' };
    await openai().chat.completions.create(
      {
        model: 'dear',
        messages: [
          { role: 'user', content: 'The report is slow. What should I change first?' },
          { role: 'assistant', content: 'Rewrite the query.' },
          { role: 'user', content: `${CORRECTION} (${session})` },
        ],
      },
      { headers },
    );
  };
  const asked = () => upstream.chats.filter(({ json }) => json.model === 'evolver').length;
  const evolver = { evolver_model: 'evolver' };
  const EVOLVER = { evolver: { input: 100, output: 100 } };
  const script = () =>
    upstream.script(({ json }) => ({
      text: json.model === 'evolver' ? '[]' : 'Fine.',
      usage: { input: 9_990, output: 10 },
    }));
  const learned = async (calls: number) =>
    expect.poll(async () => (await rowOf('purpose', 'evolver'))?.own.calls ?? 0).toBe(calls);
  const queued = async () => (await lab.engine.call('app.snapshot', {})).learning.queued;

  it('are in the ledger with what they were for, also over a restart', async () => {
    await start({ rl: evolver, usage: { prices: { ...PRICES, ...EVOLVER } } });
    script();
    await teach('s1');
    await learned(1);
    await lab.restart();
    const row = await rowOf('model', 'evolver');
    expect(row?.own).toMatchObject({ calls: 1, inputTokens: 9_990, outputTokens: 10, unpriced: 0 });
    expect(row?.own.costUsd).toBeCloseTo(1, 10);
    expect(row?.relayed.calls).toBe(0);
  });

  it('count also when the answer is of no use, and when it is a refusal', async () => {
    await start({ rl: evolver });
    upstream.script(({ json }) =>
      json.model === 'evolver' ? { text: '', usage: { input: 70, output: 3 } } : 'Fine.',
    );
    await teach('s1');
    await learned(1);
    expect((await rowOf('model', 'evolver'))?.own).toMatchObject({ inputTokens: 70, outputTokens: 3 });
    upstream.script(({ json }) => (json.model === 'evolver' ? { status: 500, body: 'broken' } : 'Fine.'));
    await lab.engine.call('config.set', { path: 'log.level', value: 'debug' });
    await learned(2);
    expect((await rowOf('model', 'evolver'))?.own).toMatchObject({ calls: 2, refused: 1, inputTokens: 70 });
  });

  it('the provider test is one of them', async () => {
    await start();
    upstream.reply({ text: 'ready', usage: { input: 12, output: 1 } });
    const test = await lab.engine.call('setup.testProvider', {
      provider: 'custom',
      baseUrl: upstream.url,
      model: 'dear',
    });
    expect(test.ok).toBe(true);
    expect((await rowOf('purpose', 'provider-test'))?.own).toMatchObject({ calls: 1, inputTokens: 12 });
  });

  it.each([
    ['tokens', '10k tokens', '10,000 tokens'],
    ['money', '$1', '$1.00'],
  ])(
    'stop when the cap in %s is used up; agents are answered, and a higher cap lets them go on',
    async (_, cap, words) => {
      await start({ rl: evolver, usage: { daily_cap: cap, prices: { ...PRICES, ...EVOLVER } } });
      script();
      await teach('s1');
      await learned(1);
      await teach('s2');
      await expect.poll(queued).toBe(1);
      expect(asked()).toBe(1);
      const status = await lab.engine.call('app.status', {});
      expect(status.detail).toContain(`Learning has used up today’s ${words}.`);
      const doctor = await lab.engine.call('doctor.run', {});
      expect(doctor.find(({ id }) => id === 'cap')).toMatchObject({ state: 'warning' });
      // What a person asks for is done.
      expect(doctor.find(({ id }) => id === 'provider-answers')).toMatchObject({ state: 'ok' });
      // A new start forgets nothing.
      await lab.restart();
      expect((await summary()).cap).toMatchObject({ state: 'reached' });
      expect((await ask()).choices[0]?.message.content).toBe('Fine.');
      expect(asked()).toBe(1);

      await lab.engine.call('config.set', { path: 'usage.daily_cap', value: cap === '$1' ? '$50' : '500k' });
      await learned(2);
      expect((await lab.engine.call('app.status', {})).detail).toBeNull();
    },
  );

  it('under a cap in money nothing is asked of a model whose price is unknown', async () => {
    await start({ rl: evolver, usage: { daily_cap: '$5', prices: PRICES } });
    script();
    await teach('s1');
    await expect.poll(queued).toBe(1);
    expect((await summary()).cap).toMatchObject({ state: 'unpriced', model: 'evolver' });
    expect((await lab.engine.call('app.status', {})).detail).toContain('what evolver costs is not known');
    expect(asked()).toBe(0);
    await lab.engine.call('config.set', { path: 'usage.prices', value: { ...PRICES, ...EVOLVER } });
    await learned(1);
    expect((await summary()).cap).toMatchObject({ state: 'open' });
  });
});
