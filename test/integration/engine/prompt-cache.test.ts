import { afterEach, describe, expect, it } from 'vitest';
import type { RouteOutput } from '../../../src/shared/contract.ts';
import type { Wire } from '../../support/ask.ts';
import { PAIRS, WIRES } from '../../support/ask.ts';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { PrefixCache } from '../../support/prefix-cache.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const PATHS = { openai: '/v1/chat/completions', anthropic: '/v1/messages', responses: '/v1/responses' };
const SYSTEM = 'You work on a small shop. '.repeat(40);
const TOOLS = {
  openai: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
  anthropic: [{ name: 'look', input_schema: { type: 'object' } }],
  responses: [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: false }],
};
/** One skill enters with the first, others later, some not at all. */
const ASKED = [
  'A flaky test fails only in CI, what now?',
  'thanks, go on',
  'Write a polite email to the landlord.',
  'ok',
  'Which chart should I use for sales by region?',
  'and now?',
];

let open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  open = [];
});

async function provider(): Promise<ScriptedUpstream> {
  const cache = new PrefixCache();
  const upstream = await startUpstream({ models: ['m'] });
  upstream.script((request) => ({ text: 'Understood.', usage: cache.usageOf(request) }));
  open.push(upstream);
  return upstream;
}

async function engineFor(upstream: ScriptedUpstream, wire: Wire, extra: object = {}): Promise<TestEngine> {
  const engine = await startEngine({
    llm: {
      provider: 'custom',
      wire,
      api_base: wire === 'anthropic' ? upstream.url : `${upstream.url}/v1`,
      api_key: 'k',
      model_id: 'm',
    },
    skills: { auto_evolve: false },
    memory: { enabled: false },
    ...extra,
  });
  open.unshift(engine);
  return engine;
}

/** What a client sends with its n-th request; marks for the cache move along, as those of Claude Code do. */
function bodyOf(wire: Wire, n: number): object {
  const said = ASKED.slice(0, n + 1).flatMap((text, at): object[] => {
    const marks = wire === 'anthropic' && at === n ? { cache_control: { type: 'ephemeral' } } : {};
    const content = wire === 'anthropic' ? [{ type: 'text', text, ...marks }] : text;
    const user = { role: 'user', content };
    return at === 0 ? [user] : [{ role: 'assistant', content: 'Understood.' }, user];
  });
  const common = { model: 'm', tools: TOOLS[wire] };
  if (wire === 'responses') return { ...common, instructions: SYSTEM, input: said };
  if (wire === 'openai') return { ...common, messages: [{ role: 'system', content: SYSTEM }, ...said] };
  const system = [{ type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral' } }];
  return { ...common, max_tokens: 100, system, messages: said };
}

async function send(base: string, wire: Wire, n: number, headers: Record<string, string> = {}) {
  const response = await fetch(`${base}${PATHS[wire]}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      'x-api-key': 'k',
      authorization: 'Bearer k',
      'x-metaclaw-session': 'one',
      ...headers,
    },
    body: JSON.stringify(bodyOf(wire, n)),
  });
  const json = await response.json();
  expect(response.status, JSON.stringify(json)).toBe(200);
  return json;
}

// biome-ignore lint/suspicious/noExplicitAny: usage of three dialects
function read({ usage }: any): { prompt: number; hit: number } {
  const hit =
    usage.cache_read_input_tokens ??
    usage.prompt_tokens_details?.cached_tokens ??
    usage.input_tokens_details.cached_tokens;
  const prompt =
    usage.prompt_tokens ??
    usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
  return { prompt, hit };
}

const base = (engine: TestEngine) => engine.openai.replace(/\/v1$/, '');
const prefixes = ({ turns }: RouteOutput<'sessions.cache'>) => turns.map(({ prefix }) => prefix);

describe('the provider’s prompt cache', () => {
  it.each(WIRES)('gives as much as without us, whatever enters and when: %s', async (wire) => {
    const [bare, upstream] = [await provider(), await provider()];
    const engine = await engineFor(upstream, wire);
    let before = 0;
    for (const n of ASKED.keys()) {
      const without = read(await send(bare.url, wire, n));
      const through = read(await send(base(engine), wire, n));
      const added = through.prompt - without.prompt;
      // All but what this turn brought: the client's new words, and a block that entered just now.
      const fresh = without.prompt - without.hit + (added - before);
      expect(through.prompt - through.hit, `turn ${n}`).toBeLessThanOrEqual(fresh + 16);
      before = added;
    }
    expect(before).toBeGreaterThan(1000);
    const report = await engine.engine.call('sessions.cache', { id: 'one' });
    expect(prefixes(report)).toEqual(['first', ...Array.from({ length: 5 }, () => 'kept')]);
    expect(report.broken).toBe(0);
    const last = report.turns.at(-1);
    expect((last?.cacheReadTokens ?? 0) / (last?.promptTokens ?? 1)).toBeGreaterThan(0.9);
    const places = await Promise.all(
      report.turns.map(async ({ turnId }) => engine.engine.call('turns.get', { id: turnId })),
    );
    expect(places.flatMap(({ injection }) => injection.items.map(({ place }) => place))).toEqual(
      expect.arrayContaining(['system', 'message']),
    );
    expect(places.map(({ prefix }) => prefix)).toEqual(prefixes(report));
    const { sessions } = await engine.engine.call('sessions.list', {});
    expect(sessions).toMatchObject([
      { id: 'one', turns: 6, words: ASKED[0], uncounted: 0, promptTokens: report.promptTokens },
    ]);
    expect(sessions[0]?.cacheReadTokens).toBe(report.cacheReadTokens);
  });

  it.each(PAIRS.filter(([client, wire]) => client !== wire))(
    'is kept for a client of %s at a provider of %s',
    async (client, wire) => {
      const engine = await engineFor(await provider(), wire);
      for (const n of ASKED.keys()) await send(base(engine), client, n);
      const report = await engine.engine.call('sessions.cache', { id: 'one' });
      expect(prefixes(report)).toEqual(['first', ...Array.from({ length: 5 }, () => 'kept')]);
    },
  );

  it('is told of as broken where what was added is suddenly missing', async () => {
    const engine = await engineFor(await provider(), 'openai');
    for (const n of [0, 1]) await send(base(engine), 'openai', n);
    await send(base(engine), 'openai', 2, { 'x-metaclaw-skills': 'off' });
    const report = await engine.engine.call('sessions.cache', { id: 'one' });
    expect(prefixes(report)).toEqual(['first', 'kept', 'broken']);
    expect(report.broken).toBe(1);
  });

  it('is told apart from a client that changes its own history, and from a side thread', async () => {
    const engine = await engineFor(await provider(), 'openai');
    const post = (messages: object[]) =>
      fetch(`${engine.openai}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-metaclaw-session': 'one' },
        body: JSON.stringify({ model: 'm', messages }),
      }).then((response) => response.text());
    const system = { role: 'system', content: SYSTEM };
    const user = (content: string) => ({ role: 'user', content });
    const answer = { role: 'assistant', content: 'Understood.' };
    await post([system, user('A flaky test fails only in CI, what now?')]);
    await post([{ role: 'system', content: 'You are a subagent.' }, user('Look around')]);
    await post([system, user('A flaky test fails only in CI, what now?'), answer, user('go on')]);
    await post([system, user('A summary of what was said so far'), answer, user('go on')]);
    expect(prefixes(await engine.engine.call('sessions.cache', { id: 'one' }))).toEqual([
      'first',
      'client',
      'kept',
      'client',
    ]);
  });

  it('cannot be judged without recorded bodies, and its figures are told all the same', async () => {
    const engine = await engineFor(await provider(), 'anthropic', { record: { bodies: false } });
    for (const n of [0, 1]) await send(base(engine), 'anthropic', n);
    const report = await engine.engine.call('sessions.cache', { id: 'one' });
    expect(prefixes(report)).toEqual(['first', 'unknown']);
    expect(report.cacheReadTokens).toBeGreaterThan(0);
    await expect(engine.engine.call('sessions.cache', { id: 'none' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
