import { describe, expect, it } from 'vitest';
import { LIST_PRICES } from '../../../src/engine/usage/prices.ts';
import { costAt, priceOf } from '../../../src/engine/usage/pricing.ts';
import { configSchema } from '../../../src/shared/config.ts';

const own = (prices: unknown = {}) => configSchema.parse({ usage: { prices } }).usage.prices;
const price = (
  served: { upstream?: string; host?: string | null; model: string },
  { prompt = 0, day = '2026-12-01', prices }: { prompt?: number; day?: string; prices?: unknown } = {},
) => priceOf({ upstream: 'custom', host: 'api.openai.com', ...served }, prompt, day, own(prices));

describe('the provider’s list', () => {
  it.each(['gpt-5.2', 'gpt-5.2-2025-12-11'])('knows %s', (model) => {
    expect(price({ model })).toMatchObject({ input: 1.75, cachedInput: 0.175, output: 14 });
  });

  it('holds at that provider only, and for that model only', () => {
    expect(price({ model: 'gpt-5.2', host: 'gateway.example' })).toBeNull();
    expect(price({ model: 'gpt-5.2', host: null })).toBeNull();
    expect(price({ model: 'gpt-5.2-pro' })).toBeNull();
    expect(price({ model: 'gpt-5.2:turbo' })).toBeNull();
  });

  it('is the one of the day', () => {
    const model = { host: 'api.anthropic.com', model: 'claude-sonnet-5-5' };
    expect(price(model, { day: '2026-10-06' })?.cachedInput).toBe(0.2);
    expect(price(model, { day: '2026-10-07' })?.cachedInput).toBe(0.1);
  });

  it('asks more for long prompts, and says nothing where that is not known', () => {
    const google = { host: 'generativelanguage.googleapis.com', model: 'gemini-2.5-pro' };
    expect(price(google, { prompt: 200_000 })?.input).toBe(1.25);
    expect(price(google, { prompt: 200_001 })?.input).toBe(2.5);
    const sonnet = { host: 'api.anthropic.com', model: 'claude-sonnet-4-5-20250929' };
    expect(price(sonnet, { prompt: 200_001 })).toBeNull();
  });

  it('is plausible: caches are never dearer than fresh prompts, answers never cheaper, no rule stands twice', () => {
    for (const { input, cachedInput, output, cacheWrite } of LIST_PRICES) {
      expect(cachedInput).toBeLessThan(input);
      expect(cacheWrite).toBeGreaterThanOrEqual(input);
      expect(output).toBeGreaterThan(input);
    }
    const rules = LIST_PRICES.map(({ host, model, since }) => `${host} ${model} ${since}`);
    expect(new Set(rules).size).toBe(rules.length);
  });
});

describe('a server of one’s own', () => {
  it.each(['127.0.0.1:11434', 'localhost:11434', '192.168.1.20:11434', 'gpu-box:11434'])(
    'is free at %s',
    (host) => {
      expect(price({ upstream: 'ollama', host, model: 'qwen3' })).toMatchObject({ input: 0, output: 0 });
    },
  );

  it('is not what stands elsewhere, passes on to a service, or may be a gateway to one', () => {
    expect(price({ upstream: 'ollama', host: 'ollama.com', model: 'qwen3' })).toBeNull();
    expect(price({ upstream: 'ollama', host: '127.0.0.1:11434', model: 'gpt-oss:120b-cloud' })).toBeNull();
    expect(price({ upstream: 'custom', host: '127.0.0.1:4000', model: 'gpt-5.2' })).toBeNull();
  });
});

describe('usage.prices', () => {
  it('goes before the list and before free servers', () => {
    const prices = {
      'gpt-5.2': { input: 1, output: 2 },
      'qwen*': { input: 3, output: 4, cached_input: 0.5 },
    };
    expect(price({ model: 'gpt-5.2' }, { prices })).toEqual({
      input: 1,
      output: 2,
      cachedInput: 1,
      cacheWrite: 1,
      cacheHour: 1,
    });
    const local = { upstream: 'ollama', host: 'localhost:1', model: 'qwen3' };
    expect(price(local, { prices })).toMatchObject({ input: 3, cachedInput: 0.5 });
  });

  it('takes the exact name, then the longest beginning', () => {
    const prices = Object.fromEntries(
      ['*', 'a*', 'ab*', 'abc'].map((name, input) => [name, { input, output: 9 }]),
    );
    const inputOf = (model: string) => price({ model }, { prices })?.input;
    expect(['x', 'ax', 'abx', 'abc'].map(inputOf)).toEqual([0, 1, 2, 3]);
  });

  it.each([[{ m: 3 }], [{ m: { input: 1 } }], [{ m: { input: -1, output: 1 } }], ['cheap']])(
    'refuses %j',
    (prices) => {
      expect(() => own(prices)).toThrow(/expected a map like/);
    },
  );
});

it('counts each kind of token at its own price', () => {
  const usage = {
    inputTokens: 1_000_000,
    cacheReadTokens: 2_000_000,
    cacheWriteTokens: 100_000,
    outputTokens: 10_000,
  };
  const claude = price({ host: 'api.anthropic.com', model: 'claude-sonnet-5' });
  expect(claude && costAt(claude, usage)).toBeCloseTo(2 + 0.4 + 0.25 + 0.1, 10);
});
