import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, WIRES, type Wire } from '../../support/ask.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';
import type { Reply } from '../../support/upstream.ts';

const labs = {} as Record<Wire, ProxyLab>;
beforeAll(async () => {
  for (const wire of WIRES) labs[wire] = await startProxyLab({ wire, inject: 'ADDED '.repeat(100) });
});
afterEach(() => {
  for (const lab of Object.values(labs)) {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  }
});
afterAll(async () => {
  for (const lab of Object.values(labs)) await lab.close();
});

const SAID = { model: 'served', messages: [{ role: 'user', content: 'Some words to count. '.repeat(20) }] };
const COUNT = '/v1/messages/count_tokens';
const count = (wire: Wire, body: unknown = SAID, headers = {}) =>
  rawRequest(labs[wire].port, post(COUNT, JSON.stringify(body), headers));

describe.each(WIRES)('H13: counting before a %s upstream', (wire) => {
  it('counts what the session carries because of us, and generates nothing', async () => {
    const session = { 'x-metaclaw-session': `counts-${wire}` };
    const before = JSON.parse((await count(wire, SAID, session)).body).input_tokens;
    const turn = JSON.stringify({ ...SAID, max_tokens: 9 });
    await rawRequest(labs[wire].port, post('/v1/messages', turn, session));
    const after = JSON.parse((await count(wire, SAID, session)).body).input_tokens;
    expect(after - before).toBeGreaterThan(90);
    expect(labs[wire].upstream.chats).toHaveLength(1);
  });

  it('refuses what has no messages', async () => {
    for (const body of [{}, { model: 'served', messages: [] }]) {
      const answer = await count(wire, body);
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toMatchObject({
        type: 'error',
        error: { type: 'invalid_request_error' },
      });
    }
  });
});

describe('a provider that counts', () => {
  const gzip: Reply = (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"input_tokens":77,"more":1}'));
  };
  it.each<[string, Reply, number, object]>([
    ['compresses', gzip, 200, { input_tokens: 77, more: 1 }],
    ['answers no JSON', { status: 200, body: '<html>' }, 200, { input_tokens: expect.any(Number) }],
    [
      'answers something else',
      { status: 200, body: { tokens: 5 } },
      200,
      { input_tokens: expect.any(Number) },
    ],
    ['does not know the path', { status: 404, body: 'nope' }, 200, { input_tokens: expect.any(Number) }],
    [
      'refuses its key',
      { status: 401, body: { error: { message: 'wrong key: sk-up' } } },
      401,
      {
        error: {
          type: 'authentication_error',
          message: expect.stringMatching(/^The provider custom .* \*\*\*$/),
        },
      },
    ],
  ])('%s', async (_, reply, status, body) => {
    labs.anthropic.upstream.always('count_tokens', reply);
    const answer = await count('anthropic');
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject(body);
  });
});

describe('a kept response', () => {
  it('cannot be cancelled once it is complete, and knows its methods', async () => {
    const { port } = labs.openai;
    const { id } = JSON.parse((await rawRequest(port, ask('responses', false))).body);
    const path = `/v1/responses/${id}`;
    expect(await rawRequest(port, post(`${path}/cancel`, ''))).toMatchObject({ status: 400 });
    expect(await rawRequest(port, post(path, '{}'))).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, DELETE' },
    });
    expect(await rawRequest(port, post('/v1/responses/resp_none/cancel', ''))).toMatchObject({ status: 404 });
  });
});
