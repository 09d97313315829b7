import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ProviderInput, Upstream } from '../../../src/engine/upstream/index.ts';
import { type Config, configSchema } from '../../../src/shared/config.ts';
import { openMeter } from '../../support/meter.ts';
import { REAL_CLOCK } from '../../support/proxy.ts';
import { SILENT_LOG } from '../../support/sessions.ts';
import { type RawReply, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let scripted: ScriptedUpstream;
let provider: Upstream;
let meter: ReturnType<typeof openMeter>;
let config: Config;
let deaf: Server;

beforeAll(async () => {
  scripted = await startUpstream({ apiKey: 'sk-good', models: ['model-a', 'model-b'] });
  deaf = createServer(() => {}).listen(0, '127.0.0.1');
  config = configSchema.parse({
    llm: { provider: 'custom', api_base: scripted.url, api_key: 'sk-good', model_id: 'model-a' },
  });
  meter = openMeter();
  provider = new Upstream({ config: () => config, clock: REAL_CLOCK, log: SILENT_LOG, meter });
});
afterEach(() => {
  scripted.reset();
  meter.calls.length = 0;
});
afterAll(async () => {
  await provider.close();
  await scripted.close();
  deaf.closeAllConnections();
  deaf.close();
});

function input(more: Partial<ProviderInput> = {}): ProviderInput {
  return {
    provider: 'custom',
    baseUrl: scripted.url,
    model: 'model-a',
    wire: 'auto',
    apiKey: 'sk-good',
    ...more,
  };
}

describe('the live provider test', () => {
  it.each(['openai', 'anthropic', 'responses'] as const)('passes every step on the %s wire', async (wire) => {
    const result = await provider.test(input({ wire }));
    expect(result).toMatchObject({ ok: true, models: ['model-a', 'model-b'] });
    expect(result.steps.map(({ id, state }) => `${id} ${state}`)).toEqual([
      'address ok',
      'connection ok',
      'key ok',
      'models ok',
      'answer ok',
    ]);
  });

  it('uses the stored key when none is given', async () => {
    expect(await provider.test(input({ apiKey: undefined }))).toMatchObject({ ok: true });
  });

  it('a provider that lists no models is no failure', async () => {
    scripted.always('models', { status: 404, body: 'nothing' });
    const { ok, steps } = await provider.test(input());
    expect(ok).toBe(true);
    expect(steps[3]).toMatchObject({ id: 'models', state: 'skipped' });
  });

  const refuse = (status: number, message: string): RawReply => ({ status, body: { error: { message } } });
  const broken = (kind: 'models' | 'openai', reply: RawReply) => {
    scripted.always(kind, reply);
    return {};
  };

  it.each<[string, () => Partial<ProviderInput>, string, RegExp, RegExp]>([
    ['no address', () => ({ baseUrl: 'not a url' }), 'address', /not an http/, /https:\/\//],
    [
      'a name that does not exist',
      () => ({ baseUrl: 'https://no-such-host.invalid' }),
      'address',
      /could not be resolved/,
      /spelling/,
    ],
    ['a closed port', () => ({ baseUrl: 'http://127.0.0.1:1' }), 'connection', /refused/, /port/],
    [
      'https on a plain port',
      () => ({ baseUrl: `https://127.0.0.1:${scripted.port}` }),
      'connection',
      /secure connection/,
      /https/,
    ],
    ['a wrong key', () => ({ apiKey: 'sk-wrong' }), 'key', /refused the key \(401\)/, /Paste the key again/],
    [
      'no key where one is needed',
      () => ({ provider: 'openai', apiKey: '' }),
      'key',
      /needs? a key|asks for a key/,
      /Paste a key/,
    ],
    ['a forbidden key', () => broken('models', refuse(403, 'region')), 'key', /403/, /region|access/],
    [
      'a website',
      () => broken('models', { status: 200, body: '<html><title>Shop</title></html>' }),
      'models',
      /no API/,
      /\/v1/,
    ],
    ['no credit', () => broken('openai', refuse(402, 'top up')), 'answer', /credit/, /credit/],
    [
      'quota used up, said with a 429',
      () => broken('openai', refuse(429, 'insufficient_quota: check billing')),
      'answer',
      /credit/,
      /credit/,
    ],
    ['a rate limit', () => broken('openai', refuse(429, 'slow down')), 'answer', /rate/, /Wait/],
    [
      'an unknown model',
      () => ({ ...broken('openai', refuse(404, 'no such model')), model: 'typo' }),
      'answer',
      /does not know typo/,
      /model-a/,
    ],
    ['a key that may list but not chat', () => broken('openai', refuse(401, 'no')), 'key', /401/, /key/],
    ['a broken server', () => broken('openai', refuse(500, 'oops')), 'answer', /500.*oops/, /again/],
    [
      'something else than an answer',
      () => broken('openai', { status: 200, body: 'hello' }),
      'answer',
      /shape/,
      /address of the API/,
    ],
    [
      'the other wire',
      () => broken('openai', { status: 200, body: { content: [] } }),
      'answer',
      /shape/,
      /wire to anthropic/,
    ],
  ])('%s: fails at the right step with one fix', async (_name, setUp, step, detail, fix) => {
    const result = await provider.test(input(setUp()));
    expect(result.ok).toBe(false);
    const failed = result.steps.filter(({ state }) => state === 'failed');
    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatchObject({
      id: step,
      detail: expect.stringMatching(detail),
      fix: expect.stringMatching(fix),
    });
    expect(result.steps.map(({ id }) => id)).toEqual(['address', 'connection', 'key', 'models', 'answer']);
    const at = result.steps.findIndex(({ state }) => state === 'failed');
    expect(result.steps.slice(at + 1).every(({ state }) => state === 'skipped')).toBe(true);
    expect(JSON.stringify(result)).not.toContain('sk-good');
  });

  it('a server that never answers is a time-out, not an endless wait', async () => {
    const { port } = deaf.address() as AddressInfo;
    const hasty = new Upstream({
      config: () => config,
      clock: { now: REAL_CLOCK.now, after: (ms, fn) => REAL_CLOCK.after(ms / 100, fn) },
      log: SILENT_LOG,
      meter,
    });
    const result = await hasty.test(input({ baseUrl: `http://127.0.0.1:${port}` }));
    expect(result.steps.find(({ state }) => state === 'failed')).toMatchObject({
      id: 'connection',
      detail: expect.stringContaining('12 seconds'),
    });
    await hasty.close();
  });
});

describe('local servers', () => {
  it('finds what answers like a model server and nothing else', async () => {
    const page = createServer((_request, response) => response.end('<html>')).listen(0, '127.0.0.1');
    const open = await startUpstream({ models: ['llama3'] });
    const found = await provider.detectLocal({
      ollama: open.port,
      lmstudio: (page.address() as AddressInfo).port,
      llamacpp: 1,
      vllm: (deaf.address() as AddressInfo).port,
    });
    expect(found).toEqual([
      { preset: 'ollama', name: 'Ollama', baseUrl: `http://127.0.0.1:${open.port}/v1`, models: ['llama3'] },
    ]);
    page.close();
    await open.close();
  });
});

describe('the model for background work', () => {
  const ask = { system: 'S', user: 'U', maxTokens: 50, temperature: 0.2 };
  const signal = () => new AbortController().signal;

  it.each(['openai', 'anthropic', 'responses'] as const)(
    'asks on the %s wire and reads text and usage',
    async (wire) => {
      config.llm.wire = wire;
      scripted.reply({ reasoning: 'hm', text: 'the answer', usage: { input: 30, output: 4 } });
      const answer = await provider.chatModel('evolver').complete(ask, signal());
      expect(answer).toEqual({ text: 'the answer', model: 'model-a' });
      expect(meter.calls).toEqual([
        {
          purpose: 'evolver',
          sessionId: null,
          upstream: 'custom',
          host: new URL(scripted.url).host,
          model: 'model-a',
          httpStatus: 200,
          usage: {
            inputTokens: 30,
            outputTokens: 4,
            cacheReadTokens: 0,
            cacheWriteTokens: 0,
            estimated: false,
          },
        },
      ]);
      const limit = wire === 'responses' ? 'max_output_tokens' : 'max_tokens';
      expect(scripted.last.json).toMatchObject({ model: 'model-a', [limit]: 50, stream: false });
      config.llm.wire = 'auto';
    },
  );

  it('takes rl.evolver_* where set, the LLM for the rest', async () => {
    const own = await startUpstream({ apiKey: 'sk-evolver' });
    config.rl.evolver_model = 'evolver-model';
    await provider.chatModel('evolver').complete(ask, signal());
    expect(scripted.last.json.model).toBe('evolver-model');
    Object.assign(config.rl, { evolver_api_base: own.url, evolver_api_key: 'sk-evolver' });
    await provider.chatModel('evolver').complete(ask, signal());
    expect(own.last.json.model).toBe('evolver-model');
    Object.assign(config.rl, { evolver_model: '', evolver_api_base: '', evolver_api_key: '' });
    await own.close();
  });

  it('leaves the temperature out for a model that refuses it', async () => {
    scripted.reply({ status: 400, body: { error: { message: "Unsupported value: 'temperature'" } } }, 'fine');
    expect((await provider.chatModel('evolver').complete(ask, signal())).text).toBe('fine');
    expect(scripted.last.json.temperature).toBeUndefined();
  });

  it('asks in the form that refusals taught', async () => {
    const sent = Buffer.from(JSON.stringify({ ...ask, max_tokens: 64_000, messages: [{ role: 'system' }] }));
    const teach = (message: string) => {
      const route = provider.resolve('', '');
      provider.learn(route, 400, JSON.stringify({ error: { message } }), sent)?.remember();
    };
    teach('Range of max_tokens should be [1, 20]');
    teach('temperature is not supported with this model');
    teach('System role not supported');
    await provider.chatModel('evolver').complete({ ...ask, maxTokens: 500 }, signal());
    const { max_tokens, temperature, messages } = scripted.last.json;
    expect([max_tokens, temperature]).toEqual([20, undefined]);
    expect(messages).toEqual([{ role: 'user', content: `${ask.system}\n\n${ask.user}` }]);
    provider.forgetQuirks(null, null);
  });

  it('fails with the provider’s words, and stops when told to', async () => {
    scripted.reply({ status: 500, body: { error: { message: 'out of GPUs' } } });
    await expect(provider.chatModel('evolver').complete(ask, signal())).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      message: expect.stringContaining('out of GPUs'),
    });
    expect(meter.calls.at(-1)).toMatchObject({ httpStatus: 500, usage: null });
    scripted.reply({ text: 'never', wire: { headersDelayMs: 60_000 } });
    const abort = new AbortController();
    const pending = provider.chatModel('evolver').complete(ask, abort.signal);
    await scripted.until(({ last }) => last.state === 'open');
    abort.abort();
    await expect(pending).rejects.toMatchObject({ code: 'CANCELLED' });
    // It was on its way, so its prompt counts.
    expect(meter.calls.at(-1)).toMatchObject({
      httpStatus: null,
      usage: { estimated: true, outputTokens: 0 },
    });
    expect(meter.calls.at(-1)?.usage?.inputTokens).toBeGreaterThan(10);
  });
});

describe('the wire of a route', () => {
  const wireFor = (llm: Record<string, unknown>, dialect?: 'openai' | 'responses') => {
    const own = configSchema.parse({ llm: { model_id: 'm', ...llm } });
    const upstream = new Upstream({ config: () => own, clock: REAL_CLOCK, log: SILENT_LOG, meter });
    return upstream.resolve('m', 'a', dialect).wire;
  };

  it('a Responses client is passed on to OpenAI as it is, and nowhere else unless the user says so', () => {
    expect(wireFor({ provider: 'openai' }, 'responses')).toBe('responses');
    expect(wireFor({ provider: 'openai' }, 'openai')).toBe('openai');
    expect(wireFor({ provider: 'openai', wire: 'openai' }, 'responses')).toBe('openai');
    expect(wireFor({ provider: 'kimi' }, 'responses')).toBe('openai');
    expect(wireFor({ provider: 'anthropic' }, 'responses')).toBe('anthropic');
    expect(wireFor({ api_base: 'http://127.0.0.1:9', wire: 'responses' }, 'openai')).toBe('responses');
    expect(wireFor({ api_base: 'https://h.example/v1/responses' })).toBe('responses');
  });
});

describe('connections', () => {
  it('survive a provider that closes idle connections without a word', async () => {
    let calls = 0;
    const flaky = createServer((_request, response) => {
      calls += 1;
      response.end('{}');
    });
    flaky.keepAliveTimeout = 0;
    await new Promise<void>((resolve) => flaky.listen(0, '127.0.0.1', () => resolve()));
    flaky.on('connection', (socket) => socket.on('end', () => {}));
    const { port } = flaky.address() as AddressInfo;
    config.llm.api_base = `http://127.0.0.1:${port}`;
    const route = provider.resolve('m', 'x');
    const call = async () => {
      const reply = await provider.send(route, {
        path: '/x',
        method: 'POST',
        headers: {},
        body: Buffer.from('{}'),
      });
      await reply.body.bytes();
      return reply.status;
    };
    expect(await call()).toBe(200);
    // The client takes the connection back a turn of the event loop later.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    // The kept connection is cut the moment the next request arrives on it.
    flaky.removeAllListeners('request');
    let cut = false;
    flaky.on('request', (request, response) => {
      if (!cut) {
        cut = true;
        request.socket.destroy();
        return;
      }
      calls += 1;
      response.end('{}');
    });
    expect(await call()).toBe(200);
    expect(calls).toBe(2);
    config.llm.api_base = scripted.url;
    flaky.closeAllConnections();
    flaky.close();
  });
});
