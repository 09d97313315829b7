import { afterEach, describe, expect, it } from 'vitest';
import { type ProxyLab, type ProxyLabOptions, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';

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

  const get = (address: string) =>
    rawRequest(lab.port, `GET ${address} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);

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
