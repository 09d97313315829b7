import { afterEach, describe, expect, it } from 'vitest';
import { composeInjection } from '../../../src/engine/inject/index.ts';
import { addToSystem, type ProxyLab, type ProxyLabOptions, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';

const LIMITS = { skillTokens: 1200, memoryUnits: 6, memoryTokens: 800, roomTokens: 100_000 };

describe('bodies and addresses that no SDK sends', () => {
  let lab: ProxyLab;
  const start = async (options: ProxyLabOptions) => {
    lab = await startProxyLab(options);
  };
  afterEach(() => lab.close());

  const wires = [
    { wire: 'openai' as const, path: '/v1/messages', shape: { type: 'error' } },
    { wire: 'anthropic' as const, path: '/v1/chat/completions', shape: {} },
  ];

  // A byte order mark broke the translation (500), although the same body passed on its own wire.
  it.each(wires)('translates a body behind a byte order mark to $wire', async ({ wire, path }) => {
    await start({ wire });
    const body = JSON.stringify({
      model: 'm',
      max_tokens: 90,
      messages: [{ role: 'user', content: 'Why is it so?' }],
    });
    const answer = await rawRequest(lab.port, post(path, `\uFEFF${body}`));
    expect(answer.status).toBe(200);
    expect(JSON.stringify(lab.upstream.last.json.messages)).toContain('Why is it so?');
  });

  // What the skim cannot see inside strings was reported as a fault of ours, with a 500 that clients retry.
  it.each(
    wires.flatMap((wire) =>
      ['a\nb', 'a\\qb', 'a\u0000b'].map((content) => ({ ...wire, content, shown: JSON.stringify(content) })),
    ),
  )(
    'refuses broken JSON inside of strings, $shown, on its way to $wire',
    async ({ wire, path, shape, content }) => {
      await start({ wire });
      const body = `{"model":"m","max_tokens":90,"messages":[{"role":"user","content":"${content}"}]}`;
      const answer = await rawRequest(lab.port, post(path, body));
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toMatchObject({
        ...shape,
        error: { type: 'invalid_request_error', message: expect.stringContaining('not valid JSON') },
      });
      expect(lab.upstream.requests).toEqual([]);
    },
  );

  // Only some providers have us look into an answer of the history; there it was a 500.
  it('refuses broken JSON inside of strings where earlier reasoning is looked up', async () => {
    await start({ model: 'deepseek-x' });
    const messages = '[{"role":"assistant","content":"a\nb"},{"role":"user","content":"Go on."}]';
    const answer = await rawRequest(
      lab.port,
      post('/v1/chat/completions', `{"model":"m","messages":${messages}}`, {
        'x-metaclaw-session': 'odd',
      }),
    );
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).error.message).toContain('not valid JSON');
    expect(lab.upstream.requests).toEqual([]);
    expect(lab.errors).toEqual([]);
  });

  // Finding the place of an earlier addition failed on a string that nobody else had to read: a 500.
  it('passes on what only a look for our own additions cannot read', async () => {
    const block = { text: 'NOTE\n\n', items: [], anchor: { index: 0, digest: 'of a message that is gone' } };
    await start({
      compose: (turn) => ({
        ...addToSystem(turn, null),
        ...(turn.seq > 1 ? composeInjection(turn.injection, turn.facts, [], LIMITS) : {}),
        injection: { system: null, messages: [block] },
      }),
    });
    const say = (messages: string) => {
      const body = `{"model":"served","messages":[${messages}{"role":"user","content":"Why is it so?"}]}`;
      return rawRequest(lab.port, post('/v1/chat/completions', body, { 'x-metaclaw-session': 'odd' }));
    };
    expect((await say('')).status).toBe(200);
    const odd = '{"role":"assistant","content":"a\tb"},';
    expect((await say(odd)).status).not.toBe(500);
    expect(lab.upstream.requests).toHaveLength(2);
    expect(lab.upstream.last.rawBody.toString()).toContain(odd);
  });

  const get = (address: string) =>
    rawRequest(lab.port, `GET ${address} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);

  // The answer named the model "", since that was what had been asked for.
  it.each(['openai', 'anthropic', 'responses'] as const)(
    'a %s client that names no model hears which one answered',
    async (wire) => {
      await start({ wire });
      const path = { openai: 'chat/completions', anthropic: 'messages', responses: 'responses' }[wire];
      const said = [{ role: 'user', content: 'Why?' }];
      for (const stream of [false, true]) {
        const body = wire === 'responses' ? { input: said } : { max_tokens: 90, messages: said };
        const answer = await rawRequest(lab.port, post(`/v1/${path}`, JSON.stringify({ ...body, stream })));
        expect(answer.status).toBe(200);
        expect(new Set(answer.body.match(/"model": ?"[^"]*"/g))).toEqual(new Set(['"model":"served"']));
      }
    },
  );

  // Dot segments reached any path of the provider's host, with the configured key.
  it.each(['/v1/../admin', '/v1/files/%2e%2e/%2E./admin', '/a/x/v1/../../admin', '/v1/..\\admin'])(
    'keeps %s within the API',
    async (address) => {
      await start({});
      expect((await get(address)).status).toBeGreaterThanOrEqual(400);
      expect(lab.upstream.requests).toEqual([]);
      expect((await get('/v1/files/..%2fnotes..txt')).status).toBe(200);
    },
  );

  // A broken escape in an address was a 500 with a stack in the log.
  it('refuses a broken percent escape', async () => {
    await start({});
    expect((await get('/v1/files/%ff')).status).toBe(400);
    expect(lab.errors).toEqual([]);
  });
});
