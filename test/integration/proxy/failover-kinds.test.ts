import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';
import { type RawReply, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

type Json = Record<string, unknown>;

let lab: ProxyLab;
let second: ScriptedUpstream;
let third: ScriptedUpstream;
const more: (() => Promise<void>)[] = [];

beforeEach(async () => {
  lab = await startProxyLab({ model: 'm1' });
  second = await startUpstream({ apiKey: 'sk-2' });
  third = await startUpstream({ apiKey: 'sk-3' });
  second.script(() => ({ text: 'from the second', chunk: 0 }));
  third.script(() => 'from the third');
});
afterEach(async () => {
  for (const close of more.splice(0)) await close();
  await Promise.all([lab.close(), second.close(), third.close()]);
});

function fallBack(...fallbacks: Json[]): void {
  const complete = fallbacks.map((fallback) => ({
    provider: 'custom',
    wire: 'openai',
    api_key: '',
    ...fallback,
  }));
  Object.assign(lab.config.llm, { fallbacks: complete });
}
const two = (over: Json = {}) => ({ api_base: second.url, api_key: 'sk-2', model_id: 'm2', ...over });
const three = (over: Json = {}) => ({ api_base: third.url, api_key: 'sk-3', model_id: 'm3', ...over });

const PATHS = {
  openai: '/v1/chat/completions',
  anthropic: '/v1/messages',
  responses: '/v1/responses',
} as const;
type Client = keyof typeof PATHS;
const CLIENTS = Object.keys(PATHS) as Client[];

function ask(client: Client = 'openai', body: Json = {}) {
  const words = client === 'responses' ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] };
  const whole = { model: 'm1', ...words, ...(client === 'anthropic' ? { max_tokens: 50 } : {}), ...body };
  return rawRequest(
    lab.port,
    post(PATHS[client], JSON.stringify(whole), { 'anthropic-version': '2023-06-01' }),
  );
}

function says(status: number, error: unknown, headers: Record<string, string> = {}): RawReply {
  return { status, body: error as Json, headers };
}

describe('whose fault a refusal is, by status and code', () => {
  it.each<[string, RawReply, string | null]>([
    [
      'OpenAI, quota',
      says(429, {
        error: { message: 'You exceeded your quota', type: 'insufficient_quota', code: 'insufficient_quota' },
      }),
      'payment',
    ],
    [
      'OpenAI, hard limit',
      says(400, { error: { message: 'Billing hard limit', code: 'billing_hard_limit_reached' } }),
      'payment',
    ],
    [
      'DeepSeek, balance',
      says(402, { error: { message: 'Insufficient Balance', code: 'invalid_request_error' } }),
      'payment',
    ],
    [
      'DeepSeek, model',
      says(400, { error: { message: 'Model Not Exist', type: 'invalid_request_error' } }),
      'model',
    ],
    [
      'Mistral, model',
      says(400, { object: 'error', message: 'Invalid model: x', type: 'invalid_model', code: '1500' }),
      'model',
    ],
    [
      'OpenRouter, model',
      says(400, { error: { message: 'foo/bar is not a valid model ID', code: 400 } }),
      'model',
    ],
    [
      'Ollama, model',
      says(404, { error: { message: 'model "x" not found, try pulling it first' } }),
      'model',
    ],
    [
      'Azure, deployment',
      says(404, { error: { code: 'DeploymentNotFound', message: 'no such deployment' } }),
      'model',
    ],
    [
      'Google, key',
      says(403, [{ error: { code: 403, status: 'PERMISSION_DENIED', message: 'no' } }] as unknown),
      'key',
    ],
    ['Cloudflare', { status: 524, body: '<html>timeout</html>' }, 'down'],
    [
      'Anthropic, overloaded with a time',
      says(
        529,
        { type: 'error', error: { type: 'overloaded_error', message: 'x' } },
        { 'retry-after': '30' },
      ),
      'down',
    ],
    ['a time-out of a gateway', { status: 408, body: '' }, 'down'],
    [
      'OpenRouter, moderation',
      says(403, {
        error: { code: 403, message: 'flagged', metadata: { reasons: ['x'], flagged_input: 'hi' } },
      }),
      null,
    ],
    ['Azure, filter', says(400, { error: { code: 'content_filter', message: 'filtered' } }), null],
    ['Qwen, inspection', says(400, { error: { code: 'data_inspection_failed', message: 'no' } }), null],
    ['for legal reasons', { status: 451, body: '' }, null],
    ['too large', says(413, { error: { message: 'too large' } }), null],
    [
      'a window that is too small',
      says(400, {
        error: {
          code: 'context_length_exceeded',
          message: '429 tokens over; model "x" not found in cache; rate limit',
        },
      }),
      null,
    ],
    [
      'a quote of a model name',
      says(400, { error: { message: 'Say: model "x" not found, then stop' } }),
      null,
    ],
  ])('%s', async (_, reply, reason) => {
    fallBack(two());
    lab.upstream.script(() => reply);
    const answer = await ask();
    if (reason === null) {
      expect(answer.status).toBe(reply.status);
      expect(second.chats).toHaveLength(0);
      expect(lab.provider.detours()).toEqual([]);
      return;
    }
    expect([answer.status, answer.headers['x-metaclaw-model']]).toEqual([200, 'm2']);
    const words = {
      payment: 'wants to be paid',
      model: 'does not know the model',
      key: 'refuses the key',
      down: 'does not answer',
    };
    expect(lab.provider.detours().join()).toContain(words[reason as keyof typeof words]);
  });
});

describe('waiting', () => {
  it('an overloaded provider is asked again when it says so, not sooner', async () => {
    lab.upstream.reply(says(529, {}, { 'retry-after': '1' }));
    const answer = await ask();
    expect(answer.status).toBe(200);
    const [first, again] = lab.upstream.chats;
    expect((again?.receivedAt ?? 0) - (first?.receivedAt ?? 0)).toBeGreaterThanOrEqual(950);
  });

  it.each([
    ['seconds', { 'retry-after': '3' }],
    ['milliseconds', { 'retry-after-ms': '2500', 'retry-after': '1' }],
    ['a date', { 'retry-after': new Date(Date.now() + 3600_000).toUTCString() }],
  ])('one that asks for long is not waited for: %s', async (_, headers) => {
    lab.upstream.script(() =>
      says(529, { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }, headers),
    );
    const answer = await ask('anthropic');
    expect(answer.status).toBe(529);
    expect(answer.headers).toMatchObject(headers);
    expect(lab.upstream.chats).toHaveLength(1);
  });

  it.each([
    ['seconds', '3600'],
    ['a date', new Date(Date.now() + 3600_000).toUTCString()],
  ])('a provider is left alone for as long as it asked: %s', async (_, value) => {
    fallBack(two());
    lab.upstream.script(() => says(429, { error: { message: 'slow' } }, { 'retry-after': value }));
    await ask();
    await ask();
    expect([lab.upstream.chats.length, second.chats.length]).toEqual([1, 2]);
  });

  it('one busy moment parks nobody', async () => {
    fallBack(two());
    lab.upstream.reply(says(529, {}), says(529, {}));
    expect((await ask()).body).toContain('from the second');
    expect(lab.provider.detours()).toEqual([]);
    expect((await ask()).body).toContain('scripted upstream');
  });

  it('a client that leaves meanwhile ends it: nobody is asked again', async () => {
    fallBack(two());
    lab.upstream.script(() => says(529, {}, { 'retry-after': '2' }));
    const abort = new AbortController();
    const left = fetch(`${lab.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: 'm1', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }),
      signal: abort.signal,
    }).catch(() => 'left');
    await lab.upstream.until(({ chats }) => chats[0]?.state === 'answered');
    abort.abort();
    expect(await left).toBe('left');
    await expect
      .poll(() => lab.sessions.list({ limit: 1 }).turns[0]?.status, { timeout: 1000 })
      .not.toBe('pending');
    expect([lab.upstream.chats.length, second.chats.length]).toEqual([1, 0]);
  });
});

describe('an error inside a good answer', () => {
  const hidden = (error: Json): RawReply => ({ status: 200, body: { error } });
  const table = CLIENTS.flatMap((client) => [false, true].map((stream) => ({ client, stream })));

  it.each(table)(
    'gives way like any other (client of $client, streamed: $stream)',
    async ({ client, stream }) => {
      fallBack(two());
      lab.upstream.script(() => hidden({ message: 'Provider is overloaded', code: 503 }));
      const answer = await ask(client, stream ? { stream: true } : {});
      expect([answer.status, answer.headers['x-metaclaw-model']]).toEqual([200, 'm2']);
      expect(answer.body).toContain('from the second');
    },
  );

  it.each<[Json, number]>([
    [{ message: 'no credit', code: 402 }, 402],
    [{ message: 'slow down', code: '429' }, 429],
    [{ message: 'it broke', code: 'server_error' }, 502],
  ])('is told as one: %j', async (error, status) => {
    lab.upstream.script(() => hidden(error));
    const answer = await ask();
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body).error.message).toBe(error.message);
    expect(lab.sessions.list({ limit: 1 }).turns[0]).toMatchObject({ status: 'failed' });
  });

  it('an answer that only begins like one goes on as it is, byte for byte', async () => {
    const body = `{ "error": {"message": "part failed"}, "model":"m1","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}] }`;
    lab.upstream.script(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body }));
    const answer = await ask();
    expect([answer.status, answer.body]).toEqual([200, body]);
  });

  it('a refusal of the request’s form teaches there too', async () => {
    lab.upstream.script(({ json }) =>
      'seed' in json ? hidden({ message: 'Unknown parameter: seed', code: 400 }) : 'fine',
    );
    const answer = await ask('openai', { seed: 1 });
    expect([answer.status, answer.headers['x-metaclaw-dropped']]).toEqual([200, 'seed']);
  });
});

describe('what a fallback cannot hold', () => {
  const IMAGE = {
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
      },
    ],
  };

  it('one that refuses the request gives way to the next', async () => {
    fallBack(two(), three());
    lab.upstream.script(() => says(503, {}));
    second.script(() =>
      says(400, { error: { message: 'this model takes no images', type: 'invalid_request_error' } }),
    );
    const answer = await ask('openai', IMAGE);
    expect([answer.status, answer.headers['x-metaclaw-model']]).toEqual([200, 'm3']);
    expect(JSON.stringify(third.last.json)).toContain('iVBORw0KGgo=');
  });

  it('when none can hold it, the first failure is told, and the headers name its provider', async () => {
    fallBack(two());
    lab.upstream.script(() => says(503, { error: { message: 'first is down', type: 'server_error' } }));
    second.script(() => says(400, { error: { message: 'no images', type: 'invalid_request_error' } }));
    const answer = await ask('openai', IMAGE);
    expect([answer.status, answer.headers['x-metaclaw-model']]).toEqual([503, 'm1']);
    expect(answer.body).toContain('first is down');
  });

  it('what the other wire has no words for is refused there, and asked of the next', async () => {
    fallBack(two({ wire: 'anthropic' }), three());
    lab.upstream.script(() => says(503, {}));
    const answer = await ask('openai', { n: 2 });
    expect([answer.status, answer.headers['x-metaclaw-model']]).toEqual([200, 'm3']);
    expect(second.chats).toHaveLength(0);
  });

  it('what it is not told is listed', async () => {
    fallBack(two({ wire: 'anthropic' }));
    lab.upstream.script(() => says(503, {}));
    const answer = await ask('openai', { presence_penalty: 0.5, seed: 3 });
    expect(answer.status).toBe(200);
    expect(String(answer.headers['x-metaclaw-dropped']).split(',').sort()).toEqual([
      'presence_penalty',
      'seed',
    ]);
  });

  it('private words stay with a model of this computer', () => {
    const remote = { api_base: 'https://api.example.com', api_key: 'k', model_id: 'far' };
    fallBack(remote, two());
    const first = lab.provider.resolve('m1', '');
    const models = (isPrivate: boolean) => lab.provider.chain(first, '', isPrivate).map(({ model }) => model);
    expect(models(true)).toEqual(['m1', 'm2']);
    expect(models(false)).toEqual(['m1', 'far', 'm2']);
    lab.config.llm.api_base = 'https://api.example.org';
    expect(lab.provider.chain(lab.provider.resolve('m1', ''), '', true)).toHaveLength(3);
  });
});

describe('a fallback on any wire answers any client', () => {
  const table = CLIENTS.flatMap((client) =>
    CLIENTS.flatMap((wire) => [false, true].map((stream) => ({ client, wire, stream }))),
  );
  it.each(table)(
    'client of $client, fallback of $wire, streamed: $stream',
    async ({ client, wire, stream }) => {
      fallBack(two({ wire }));
      lab.upstream.script(() => ({ status: 500, body: 'oops' }));
      const answer = await ask(client, stream ? { stream: true } : {});
      expect([answer.status, answer.headers['x-metaclaw-model']]).toEqual([200, 'm2']);
      expect(second.last.kind).toBe(wire);
      expect(answer.body).toContain('from the second');
    },
  );
});

describe('nobody answers', () => {
  async function deadPort(behave: (server: Server) => void): Promise<number> {
    const server = createServer();
    behave(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    more.push(() => new Promise((resolve) => server.close(() => resolve())));
    return (server.address() as { port: number }).port;
  }
  const SHAPES = {
    openai: { error: { message: expect.any(String), type: expect.any(String) } },
    anthropic: { type: 'error', error: { type: expect.any(String), message: expect.any(String) } },
    responses: { error: { message: expect.any(String) } },
  } as const;

  const kinds: [string, () => Promise<string>, RegExp][] = [
    ['refused', async () => 'http://127.0.0.1:9', /Nothing answers at 127\.0\.0\.1:9/],
    [
      'an unknown name',
      async () => 'http://nowhere.invalid:81',
      /name of nowhere\.invalid:81 could not be resolved/,
    ],
    [
      'no TLS',
      async () => `https://127.0.0.1:${lab.upstream.port}`,
      /No secure connection to 127\.0\.0\.1:\d+/,
    ],
    [
      'cut off',
      async () =>
        `http://127.0.0.1:${await deadPort((server) => server.on('connection', (socket) => socket.destroy()))}`,
      /127\.0\.0\.1:\d+ closed the connection/,
    ],
  ];
  const table = kinds.flatMap(([name, base, words]) =>
    CLIENTS.map((client) => ({ name, base, words, client })),
  );
  it.each(table)(
    '$name: told in the shape of $client, with host and port',
    async ({ base, words, client }) => {
      lab.config.llm.api_base = await base();
      const answer = await ask(client);
      expect([502, 504]).toContain(answer.status);
      const told = JSON.parse(answer.body);
      expect(told).toMatchObject(SHAPES[client]);
      expect(told.error.message).toMatch(words);
      expect(answer.body).not.toMatch(/\bat .*\.ts|sk-up/);
      fallBack(two());
      expect((await ask(client)).headers['x-metaclaw-model']).toBe('m2');
    },
  );
});
