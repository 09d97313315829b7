import { afterEach, describe, expect, it } from 'vitest';
import { type ProxyLab, type ProxyLabOptions, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';
import { startUpstream } from '../../support/upstream.ts';

type Json = Record<string, unknown>;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function lab(options: ProxyLabOptions = {}): Promise<ProxyLab> {
  const started = await startProxyLab({ model: 'm', ...options });
  closers.push(() => started.close());
  return started;
}

const PATHS = {
  openai: '/v1/chat/completions',
  anthropic: '/v1/messages',
  responses: '/v1/responses',
} as const;
type Client = keyof typeof PATHS;
const CLIENTS = Object.keys(PATHS) as Client[];

function ask({ port }: ProxyLab, client: Client, body: Json = {}, headers: Record<string, string> = {}) {
  const words = client === 'responses' ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] };
  const limit = client === 'anthropic' ? { max_tokens: 50 } : {};
  return rawRequest(
    port,
    post(PATHS[client], JSON.stringify({ model: 'm', ...words, ...limit, ...body }), {
      ...(client === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {}),
      ...headers,
    }),
  );
}

describe('OpenRouter’s own settings', () => {
  const openrouter = {
    app_name: 'My app',
    app_url: 'https://app.example',
    route: 'price',
    fallback_models: 'b/two, c/three',
    data_policy: 'deny',
  };
  async function routed(): Promise<ProxyLab> {
    const started = await lab({ upstream: { strict: false }, config: { openrouter } });
    Object.assign(started.config.llm, {
      provider: 'openrouter',
      api_base: started.upstream.url,
      api_key: 'sk-up',
      model_id: 'a/one',
    });
    return started;
  }

  it.each(CLIENTS)('reach it from a client of %s', async (client) => {
    const current = await routed();
    expect((await ask(current, client)).status).toBe(200);
    const { json, headers } = current.upstream.last;
    expect(json.provider).toEqual({ sort: 'price', data_collection: 'deny' });
    expect(json.models).toEqual(['a/one', 'b/two', 'c/three']);
    expect(headers).toMatchObject({ 'x-title': 'My app', 'http-referer': 'https://app.example' });
  });

  it('give way to what a client says itself, but for what the user forbids', async () => {
    const current = await routed();
    const provider = { sort: 'throughput', order: ['x'], data_collection: 'allow' };
    await ask(current, 'openai', { provider, models: ['z/own'] });
    expect(current.upstream.last.json).toMatchObject({
      provider: { sort: 'throughput', order: ['x'], data_collection: 'deny' },
      models: ['z/own'],
    });
  });

  it('are for OpenRouter alone, and none is none', async () => {
    const other = await lab({ config: { openrouter } });
    Object.assign(other.config.llm, { api_base: other.upstream.url, api_key: 'sk-up' });
    await ask(other, 'openai');
    expect(Object.keys(other.upstream.last.json)).toEqual(['model', 'messages']);
    const plain = await lab();
    Object.assign(plain.config.llm, { provider: 'openrouter' });
    await ask(plain, 'openai');
    expect(Object.keys(plain.upstream.last.json)).toEqual(['model', 'messages']);
    expect(plain.upstream.last.headers['x-title']).toBe('MetaClaw');
  });
});

describe('addresses', () => {
  it('a query and a sign-in of the address go with every request', async () => {
    const { upstream, config, ...rest } = await lab({ upstream: { strict: false } });
    const current = { upstream, config, ...rest } as ProxyLab;
    const open = await startUpstream();
    closers.push(() => open.close());
    config.llm.api_base = `${open.url.replace('//', '//me:p%40ss@')}/openai/deployments/x/chat/completions?api-version=2026-01-01`;
    config.llm.api_key = '';
    await ask(current, 'openai');
    expect(open.last).toMatchObject({
      path: '/openai/deployments/x/chat/completions',
      query: 'api-version=2026-01-01',
      headers: { authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}` },
    });
    config.llm.api_key = 'sk-x';
    await ask(current, 'openai');
    expect(open.last.headers.authorization).toBe('Bearer sk-x');
  });
});

describe('keys', () => {
  it.each(CLIENTS)('one with a line break inside is named, not sent (client of %s)', async (client) => {
    const current = await lab();
    current.config.llm.api_key = 'sk-first\nsk-second';
    const answer = await ask(current, client);
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('The key of custom holds a space or a line break.');
    expect(answer.body).not.toContain('sk-first');
    expect(current.upstream.requests).toHaveLength(0);
  });

  it('the line break behind one is nothing', async () => {
    const current = await lab();
    current.config.llm.api_key = ' sk-up\r\n';
    expect((await ask(current, 'openai')).status).toBe(200);
  });

  it('one of typographic quotes is named as well', async () => {
    const current = await lab();
    current.config.llm.api_key = '“sk-up”';
    const answer = await ask(current, 'openai');
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.stringContaining('a character that keys do not have'),
    ]);
  });

  it.each(CLIENTS)(
    'a subscription token is a bearer token under its beta (H18; client of %s)',
    async (client) => {
      const current = await lab({ wire: 'anthropic', upstream: { apiKey: 'sk-ant-oat01-x' } });
      current.config.llm.api_key = 'sk-ant-oat01-x';
      const answer = await ask(current, client, {}, { 'anthropic-beta': 'a-1, b-2' });
      expect(answer.status, answer.body).toBe(200);
      const { headers } = current.upstream.last;
      expect(headers.authorization).toBe('Bearer sk-ant-oat01-x');
      expect(headers['x-api-key']).toBeUndefined();
      const betas = String(headers['anthropic-beta']).split(',');
      expect(betas).toEqual(
        client === 'anthropic' ? ['a-1', 'b-2', 'oauth-2025-04-20'] : ['oauth-2025-04-20'],
      );
    },
  );
});

describe('the caller’s own credentials', () => {
  async function passing(wire: 'openai' | 'anthropic', key: string, config: Json = {}): Promise<ProxyLab> {
    const current = await lab({ wire, upstream: { apiKey: key }, config: {} });
    Object.assign(current.config.llm, {
      wire,
      api_base: current.upstream.url,
      auth_method: 'passthrough',
      api_key: 'sk-ours',
    });
    Object.assign(current.config.proxy, config);
    return current;
  }

  it.each<[Client, 'openai' | 'anthropic', Record<string, string>, Json]>([
    ['openai', 'openai', { authorization: 'Bearer sk-mine' }, { authorization: 'Bearer sk-mine' }],
    ['anthropic', 'anthropic', { 'x-api-key': 'sk-mine' }, { 'x-api-key': 'sk-mine' }],
    ['anthropic', 'anthropic', { authorization: 'Bearer sk-mine' }, { authorization: 'Bearer sk-mine' }],
    ['anthropic', 'openai', { 'x-api-key': 'sk-mine' }, { authorization: 'Bearer sk-mine' }],
    ['openai', 'anthropic', { authorization: 'Bearer sk-mine' }, { 'x-api-key': 'sk-mine' }],
    ['responses', 'anthropic', { authorization: 'Bearer sk-mine' }, { 'x-api-key': 'sk-mine' }],
  ])('client of %s, provider of %s: %j', async (client, wire, headers, wanted) => {
    const current = await passing(wire, 'sk-mine');
    const answer = await ask(current, client, {}, headers);
    expect(answer.status, answer.body).toBe(200);
    const { authorization, 'x-api-key': key } = current.upstream.last.headers;
    expect(JSON.parse(JSON.stringify({ authorization, 'x-api-key': key }))).toEqual(wanted);
    expect(JSON.stringify(current.database.all('SELECT * FROM turns'))).not.toContain('sk-mine');
  });

  it.each([
    ['x-api-key', 'sk-ant-oat01-mine'],
    ['authorization', 'Bearer sk-ant-oat01-mine'],
  ])('a subscription token in %s is passed on as a bearer token', async (name, value) => {
    const current = await passing('anthropic', 'sk-ant-oat01-mine');
    expect((await ask(current, 'anthropic', {}, { [name]: value })).status).toBe(200);
    expect(current.upstream.last.headers.authorization).toBe('Bearer sk-ant-oat01-mine');
    expect(current.upstream.last.headers['x-api-key']).toBeUndefined();
  });

  it('the key of this proxy is none of them', async () => {
    const current = await passing('anthropic', 'sk-mine', { api_key: 'proxy-key' });
    const both = { authorization: 'Bearer proxy-key', 'x-api-key': 'sk-mine' };
    expect((await ask(current, 'anthropic', {}, both)).status).toBe(200);
    expect(JSON.stringify(current.upstream.last.headers)).not.toContain('proxy-key');
    expect((await ask(current, 'anthropic', {}, { 'x-api-key': 'proxy-key' })).status).toBe(401);
    expect(JSON.stringify(current.upstream.last.headers)).not.toContain('proxy-key');
  });

  it('an agent with a key or an address of its own does not pass them on, unless it is told to', async () => {
    const current = await passing('openai', 'sk-agent');
    const elsewhere = await startUpstream();
    closers.push(() => elsewhere.close());
    Object.assign(current.config.agents, {
      keyed: { llm: { api_key: 'sk-agent' } },
      apart: { llm: { api_base: elsewhere.url } },
      told: { llm: { api_base: elsewhere.url, auth_method: 'passthrough' } },
    });
    const mine = { authorization: 'Bearer sk-mine' };
    expect((await ask(current, 'openai', {}, { ...mine, 'x-metaclaw-agent': 'keyed' })).status).toBe(200);
    await ask(current, 'openai', {}, { ...mine, 'x-metaclaw-agent': 'apart' });
    expect(elsewhere.last.headers.authorization).toBeUndefined();
    await ask(current, 'openai', {}, { ...mine, 'x-metaclaw-agent': 'told' });
    expect(elsewhere.last.headers.authorization).toBe('Bearer sk-mine');
  });
});
