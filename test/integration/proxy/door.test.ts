import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { post, type RawAnswer, rawRequest } from '../../support/raw.ts';

const CHAT = '/v1/chat/completions';
const BODY = JSON.stringify({ model: 'served', messages: [{ role: 'user', content: 'hi' }] });
const MESSAGE = JSON.stringify({
  model: 'served',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'hi' }],
});

/** Sends so many megabytes before it reads a byte; rejects when the connection breaks meanwhile. */
function sendAll(port: number, megabytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', reject);
    const piece = Buffer.alloc(1_000_000, 'x');
    const send = (left: number) => {
      if (left > 0) socket.write(piece, () => setTimeout(() => send(left - 1), 20));
      else socket.once('data', (bytes) => resolve(bytes.toString().slice(0, 12)));
    };
    socket.write(
      `POST ${CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${megabytes}000000\r\n\r\n`,
      () => send(megabytes),
    );
  });
}

let lab: ProxyLab;
let anthropic: ProxyLab;
beforeAll(async () => {
  lab = await startProxyLab();
  anthropic = await startProxyLab({ wire: 'anthropic' });
});
afterEach(() => {
  expect([...lab.errors, ...anthropic.errors]).toEqual([]);
  lab.upstream.reset();
  anthropic.upstream.reset();
});
afterAll(async () => {
  await lab.close();
  await anthropic.close();
});

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): string {
  const head = { host: '127.0.0.1', connection: 'close', ...headers };
  return `${method} ${path} HTTP/1.1\r\n${Object.entries(head)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
}

function expectError(
  answer: RawAnswer,
  status: number,
  dialect: 'openai' | 'anthropic',
  type?: string,
): void {
  expect(answer.status).toBe(status);
  const body = JSON.parse(answer.body);
  if (dialect === 'anthropic') {
    expect(body).toMatchObject({
      type: 'error',
      error: { message: expect.any(String) },
      request_id: expect.stringMatching(/^req_/),
    });
    if (type) expect(body.error.type).toBe(type);
  } else {
    expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type']);
    if (type) expect(body.error.type).toBe(type);
  }
  expect(answer.headers['x-request-id']).toBeTruthy();
}

describe('who may come in (H21)', () => {
  it.each([
    'evil.example',
    'evil.example:30000',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
  ])('refuses the host name %s before anything else', async (host) => {
    expectError(await rawRequest(lab.port, post(CHAT, BODY, { host })), 403, 'openai');
    expectError(await rawRequest(lab.port, get('/health', { host })), 403, 'openai');
    expect(lab.upstream.requests).toHaveLength(0);
  });

  it.each(['localhost', 'localhost:1', '127.0.0.1:30000', '[::1]:30000', '127.9.9.9', 'metaclaw.localhost'])(
    'knows %s as this machine',
    async (host) => {
      expect((await rawRequest(lab.port, post(CHAT, BODY, { host }))).status).toBe(200);
    },
  );

  it('refuses every foreign origin and never sends CORS headers', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://localhost:3000']) {
      const answer = await rawRequest(lab.port, post(CHAT, BODY, { origin }));
      expectError(answer, 403, 'openai');
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    lab.upstream.reply({ text: 'ok', headers: { 'access-control-allow-origin': '*', 'set-cookie': 'a=b' } });
    const answer = await rawRequest(lab.port, post(CHAT, BODY));
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(
      (await rawRequest(lab.port, get(CHAT, { origin: 'https://evil.example' }, 'OPTIONS'))).status,
    ).toBe(403);
  });

  it('refuses forms and text, takes JSON and what names no type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      expectError(await rawRequest(lab.port, post(CHAT, BODY, { 'content-type': type })), 415, 'openai');
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'application/vnd.api+json',
      '',
    ])
      expect((await rawRequest(lab.port, post(CHAT, BODY, { 'content-type': type }))).status).toBe(200);
  });

  it('asks for the key when one is set, in any of the three places (H18)', async () => {
    const locked = await startProxyLab({
      config: {
        llm: { provider: 'custom', api_base: lab.upstream.url, api_key: 'sk-up', model_id: 'served' },
        proxy: { port: 0, api_key: 'proxy-key' },
      },
    });
    try {
      for (const headers of [{}, { authorization: 'Bearer wrong' }, { 'x-api-key': 'proxy-ke' }] as Record<
        string,
        string
      >[])
        expectError(
          await rawRequest(locked.port, post(CHAT, BODY, headers)),
          401,
          'openai',
          'authentication_error',
        );
      expectError(
        await rawRequest(locked.port, post('/v1/messages', MESSAGE)),
        401,
        'anthropic',
        'authentication_error',
      );
      expectError(await rawRequest(locked.port, get('/v1/models')), 401, 'openai');
      expectError(await rawRequest(locked.port, post('/v1/embeddings', '{}')), 401, 'openai');
      for (const headers of [
        { authorization: 'Bearer proxy-key' },
        { authorization: 'bearer proxy-key' },
        { 'x-api-key': 'proxy-key' },
      ] as Record<string, string>[])
        expect((await rawRequest(locked.port, post(CHAT, BODY, headers))).status).toBe(200);
      expect((await rawRequest(locked.port, post(`/a/nano/k/proxy-key${CHAT}`, BODY))).status).toBe(200);
      expect((await rawRequest(locked.port, get('/health'))).status).toBe(200);
      // Our own key is for our own door.
      for (const request of lab.upstream.chats)
        expect(request.rawHeaders.join(' ')).not.toContain('proxy-key');
    } finally {
      await locked.close();
    }
  });
});

describe('addresses', () => {
  it.each([
    CHAT,
    '/v1/v1/chat/completions',
    '/chat/completions',
    '/v1/chat/completions/',
    '//v1//chat/completions',
    '/a/claw/v1/chat/completions',
    '/a/claw/k/any-token/v1/chat/completions',
  ])('%s answers OpenAI clients', async (path) => {
    const answer = await rawRequest(lab.port, post(path, BODY));
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body).object).toBe('chat.completion');
    expect(lab.upstream.last.path).toBe(CHAT);
    expect(lab.sessions.list({ limit: 1 }).turns[0]?.agent).toBe(
      path.startsWith('/a/claw') ? 'claw' : 'unknown',
    );
  });

  it.each([
    '/v1/messages',
    '/v1/v1/messages',
    '/messages',
    '/a/claw/v1/messages?beta=true',
    '/a/claw/messages',
  ])('%s answers Anthropic clients', async (path) => {
    const answer = await rawRequest(
      anthropic.port,
      post(path, MESSAGE, { 'anthropic-version': '2023-06-01' }),
    );
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body).type).toBe('message');
    expect(anthropic.upstream.last.query).toBe(path.includes('beta') ? 'beta=true' : '');
  });

  it('H17: probes get an answer', async () => {
    for (const path of ['/', '/health', '/healthz', '/a/claw/health']) {
      expect((await rawRequest(lab.port, get(path))).status).toBe(200);
      expect(await rawRequest(lab.port, get(path, {}, 'HEAD'))).toMatchObject({ status: 200, body: '' });
    }
    // Without `ok` no `metaclaw start --daemon` ever believes that its daemon runs.
    expect(JSON.parse((await rawRequest(lab.port, get('/healthz'))).body)).toMatchObject({ ok: true });
  });

  it('H15: lists models in both shapes, and one by one', async () => {
    const openai = JSON.parse((await rawRequest(lab.port, get('/v1/models'))).body);
    expect(openai).toMatchObject({ object: 'list', data: [{ id: 'served', object: 'model' }] });
    const head = { 'anthropic-version': '2023-06-01' };
    const claude = JSON.parse((await rawRequest(lab.port, get('/a/x/v1/models?limit=1', head))).body);
    expect(claude).toMatchObject({
      has_more: true,
      first_id: 'served',
      data: [{ type: 'model', id: 'served' }],
    });
    const rest = JSON.parse((await rawRequest(lab.port, get('/v1/models?after_id=served', head))).body);
    expect(rest).toMatchObject({ has_more: false, data: [{ id: 'claude-served' }] });
    expect(JSON.parse((await rawRequest(lab.port, get('/v1/models/served'))).body).id).toBe('served');
    expect(JSON.parse((await rawRequest(lab.port, get('/v1/models/claude-served', head))).body).type).toBe(
      'model',
    );
    const missing = await rawRequest(lab.port, get('/v1/models/none/such'));
    expectError(missing, 404, 'openai', 'not_found_error');
    expect(missing.body).toContain('served');
  });

  it('H12: says what is not there and what is not allowed, in the client’s shape', async () => {
    expectError(await rawRequest(lab.port, get('/nowhere')), 404, 'openai');
    expectError(await rawRequest(lab.port, get('/v1/messages')), 405, 'anthropic');
    const refused = await rawRequest(lab.port, get(CHAT));
    expectError(refused, 405, 'openai');
    expect(refused.headers.allow).toBe('POST');
    expectError(await rawRequest(lab.port, post(CHAT, '{"model":')), 400, 'openai', 'invalid_request_error');
    expectError(
      await rawRequest(lab.port, post('/v1/messages', 'null')),
      400,
      'anthropic',
      'invalid_request_error',
    );
  });

  it('H13: counts for Anthropic clients without generating anything', async () => {
    for (const { port, upstream, sessions } of [lab, anthropic]) {
      const before = sessions.list({ limit: 100 }).turns.length;
      const answer = await rawRequest(
        port,
        post('/a/x/v1/messages/count_tokens?beta=true', MESSAGE, { 'anthropic-version': '2023-06-01' }),
      );
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.body).input_tokens).toBeGreaterThan(5);
      expect(upstream.chats).toHaveLength(0);
      expect(sessions.list({ limit: 100 }).turns).toHaveLength(before);
    }
    expect(anthropic.upstream.last).toMatchObject({ kind: 'count_tokens', query: 'beta=true' });
  });

  it('passes everything else under /v1 on untouched, both ways, compression included (H02)', async () => {
    lab.upstream.always('other', (request, response) => {
      response.writeHead(207, {
        'content-type': 'application/x-odd',
        'content-encoding': 'gzip',
        'x-vendor': String(request.headers['x-vendor']),
      });
      response.end(
        gzipSync(
          Buffer.concat([
            Buffer.from(`${request.method} ${request.path}?${request.query} `),
            request.rawBody,
          ]),
        ),
      );
    });
    const response = await fetch(`${lab.url}/a/x/v1/audio/speech?voice=a%20b`, {
      method: 'PUT',
      body: 'raw \u0000 bytes',
      headers: { 'content-type': 'text/odd', 'x-vendor': 'v' },
    });
    expect(response.status).toBe(207);
    expect(response.headers.get('content-type')).toBe('application/x-odd');
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('x-vendor')).toBe('v');
    expect(await response.text()).toBe('PUT /v1/audio/speech?voice=a%20b raw \u0000 bytes');
    expect(lab.upstream.last.headers['content-type']).toBe('text/odd');
    expect(lab.upstream.last.headers.authorization).toBe('Bearer sk-up');
    expect((await fetch(`${lab.url}/v1/files/abc`, { method: 'DELETE' })).status).toBe(207);
    expect(lab.upstream.last.method).toBe('DELETE');
  });
});

describe('bodies', () => {
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('reads %s', async (encoding, compress) => {
    const answer = await rawRequest(lab.port, post(CHAT, compress(BODY), { 'content-encoding': encoding }));
    expect(answer.status).toBe(200);
    expect(lab.upstream.last.rawBody.toString()).toBe(BODY);
    expect(lab.upstream.last.headers['content-encoding']).toBeUndefined();
  });

  it('says which compression it cannot read', async () => {
    const answer = await rawRequest(lab.port, post(CHAT, BODY, { 'content-encoding': 'snappy' }));
    expectError(answer, 415, 'openai');
    expect(answer.body).toContain('snappy');
    expectError(await rawRequest(lab.port, post(CHAT, BODY, { 'content-encoding': 'gzip' })), 400, 'openai');
  });

  it('H23: refuses what is larger than the limit, announced or not, compressed or not', async () => {
    const small = await startProxyLab({
      config: { llm: { api_base: lab.upstream.url, model_id: 'm' }, proxy: { port: 0, max_body_mb: 1 } },
    });
    try {
      const big = JSON.stringify({
        model: 'm',
        messages: [{ role: 'user', content: 'x'.repeat(1_200_000) }],
      });
      expectError(await rawRequest(small.port, post(CHAT, big)), 413, 'openai', 'request_too_large');
      expectError(
        await rawRequest(small.port, post('/v1/messages', big)),
        413,
        'anthropic',
        'request_too_large',
      );
      expectError(
        await rawRequest(small.port, post(CHAT, gzipSync(big), { 'content-encoding': 'gzip' })),
        413,
        'openai',
      );
      const chunked = `POST ${CHAT} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${big.length.toString(16)}\r\n${big}\r\n0\r\n\r\n`;
      expectError(await rawRequest(small.port, chunked), 413, 'openai');
      expect(await sendAll(small.port, 8)).toBe('HTTP/1.1 413');
    } finally {
      await small.close();
    }
    expect(lab.config.proxy.max_body_mb).toBeGreaterThanOrEqual(32);
    const picture = JSON.stringify({
      model: 'served',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(3_000_000)}` } },
          ],
        },
      ],
    });
    expect((await rawRequest(lab.port, post(CHAT, picture))).status).toBe(200);
  });

  it('refuses headers that are too large and requests that are none', async () => {
    expect((await rawRequest(lab.port, get('/health', { 'x-big': 'y'.repeat(70_000) }))).status).toBe(431);
    expect((await rawRequest(lab.port, 'BROKEN\r\n\r\n')).status).toBe(400);
  });
});

describe('the provider fails', () => {
  it('H04: limits keep their headers, and H05: none are invented', async () => {
    const headers = {
      'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT',
      'x-should-retry': 'true',
      'anthropic-ratelimit-requests-reset': 'x',
      'x-ratelimit-limit-tokens': '1',
    };
    lab.upstream.reply(
      {
        status: 429,
        headers,
        body: { error: { message: 'm', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' } },
      },
      { status: 429, body: 'plain words' },
    );
    expect((await rawRequest(lab.port, post(CHAT, BODY))).headers).toMatchObject(headers);
    const bare = await rawRequest(lab.port, post('/v1/messages', MESSAGE));
    expectError(bare, 429, 'anthropic', 'rate_limit_error');
    expect(bare.headers['retry-after']).toBeUndefined();
    expect(bare.body).toContain('plain words');
  });

  it('H06: an overloaded provider is asked again, then its word is passed on', async () => {
    const busy = {
      status: 529,
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    };
    anthropic.upstream.reply(busy, { text: 'ok' });
    expect(
      (await rawRequest(anthropic.port, post('/v1/messages', MESSAGE, { 'anthropic-version': '1' }))).status,
    ).toBe(200);
    anthropic.upstream.reply(busy, busy, busy, busy, busy, busy);
    expectError(await rawRequest(anthropic.port, post(CHAT, BODY)), 503, 'openai', 'overloaded_error');
    const count = anthropic.upstream.requests.length;
    const direct = await rawRequest(
      anthropic.port,
      post('/v1/messages', MESSAGE, { 'anthropic-version': '1' }),
    );
    expect(direct.status).toBe(529);
    expect(JSON.parse(direct.body)).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
    expect(anthropic.upstream.requests.length - count).toBe(3);
  });

  it('H08: a refused key names the provider and never shows the key', async () => {
    for (const status of [401, 403]) {
      lab.upstream.reply({
        status,
        body: { error: { message: 'Incorrect API key provided: sk-up', type: 'x', param: null, code: null } },
      });
      const answer = await rawRequest(lab.port, post(CHAT, BODY));
      expectError(answer, status, 'openai');
      expect(answer.body).toContain('custom');
      expect(answer.body).not.toContain('sk-up');
    }
    expect(lab.provider.trouble()).toMatchObject({ status: 403 });
    await rawRequest(lab.port, post(CHAT, BODY));
    expect(lab.provider.trouble()).toBeNull();
  });

  it('H11: an unreachable provider is a 502 that names host and port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    for (const api_base of [
      `http://127.0.0.1:${port}`,
      'http://no-such-host.invalid',
      `https://127.0.0.1:${lab.upstream.port}`,
    ]) {
      const broken = await startProxyLab({
        config: { llm: { api_base, model_id: 'm' }, proxy: { port: 0 } },
      });
      try {
        const answer = await rawRequest(broken.port, post(CHAT, BODY));
        expectError(answer, 502, 'openai', 'api_error');
        expect(answer.body).toMatch(/127\.0\.0\.1:\d+|no-such-host\.invalid:80/);
        expect(answer.body).not.toMatch(/at .*\.ts/);
        expectError(
          await rawRequest(broken.port, post('/v1/messages', MESSAGE)),
          502,
          'anthropic',
          'api_error',
        );
        expectError(await rawRequest(broken.port, post('/v1/embeddings', '{}')), 502, 'openai');
        expect(broken.sessions.list({ limit: 1 }).turns[0]).toMatchObject({ status: 'failed' });
      } finally {
        await broken.close();
      }
    }
  });

  it('a page instead of an answer, an error inside a 200, a redirect: said, not guessed', async () => {
    lab.upstream.reply(
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<html><title>Sign in</title></html>' },
      { status: 200, body: { error: { message: 'no credit', code: 402 } } },
      { status: 308, headers: { location: 'https://elsewhere.example/v1' } },
      {
        status: 502,
        headers: { 'content-type': 'text/html' },
        body: '<html><title>Bad gateway</title></html>',
      },
    );
    const page = await rawRequest(lab.port, post(CHAT, BODY));
    expectError(page, 502, 'openai');
    expect(page.body).toContain('Sign in');
    expectError(await rawRequest(lab.port, post('/v1/messages', MESSAGE)), 402, 'anthropic');
    const moved = await rawRequest(lab.port, post(CHAT, BODY));
    expectError(moved, 502, 'openai');
    expect(moved.body).toContain('https://elsewhere.example/v1');
    const gateway = await rawRequest(lab.port, post(CHAT, BODY));
    expectError(gateway, 502, 'openai', 'api_error');
    expect(gateway.body).toContain('Bad gateway');
  });

  it('an empty config is a 400 that says what to do, since agents hammer on 5xx', async () => {
    const empty = await startProxyLab({ config: { llm: {}, proxy: { port: 0 } } });
    try {
      const answer = await rawRequest(empty.port, post(CHAT, BODY));
      expectError(answer, 400, 'openai');
      expect(answer.body).toContain('metaclaw setup');
    } finally {
      await empty.close();
    }
  });
});
