import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';

const KEY = 'sk-local-of-the-proxy';

describe.each(['openai', 'responses', 'anthropic'] as const)('beside answers, over %s', (wire) => {
  let lab: ProxyLab;
  let openai: OpenAI;
  let anthropic: Anthropic;
  beforeAll(async () => {
    lab = await startProxyLab({ wire, config: { proxy: { port: 0, api_key: KEY } } });
    openai = new OpenAI({ baseURL: `${lab.url}/v1`, apiKey: KEY, maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: lab.url, apiKey: KEY, maxRetries: 0 });
  });
  afterAll(() => lab.close());

  it('lists models page by page and finds each one, in the shape of each SDK', async () => {
    const names: string[] = [];
    for await (const { id, object } of openai.models.list()) {
      expect(object).toBe('model');
      names.push(id);
    }
    expect(names).toContain('served');
    expect(await openai.models.retrieve('served')).toMatchObject({ id: 'served', object: 'model' });
    const paged: string[] = [];
    for await (const { id, type } of anthropic.models.list({ limit: 1 })) {
      expect(type).toBe('model');
      paged.push(id);
    }
    expect(paged).toEqual(expect.arrayContaining(['served', 'claude-served']));
    expect(await anthropic.models.retrieve('claude-served')).toMatchObject({ type: 'model' });
  });

  it('counts tokens without an answer', async () => {
    const messages = [{ role: 'user' as const, content: 'four words of text' }];
    const counted = await anthropic.messages.countTokens({ model: 'm', messages });
    expect(counted.input_tokens).toBeGreaterThan(3);
    expect(lab.upstream.chats).toHaveLength(0);
  });

  it('takes structured output in its older beta form', async () => {
    lab.upstream.reply('{"city":"Zürich"}');
    await anthropic.beta.messages.create({
      model: 'm',
      max_tokens: 100,
      betas: ['structured-outputs-2025-11-13'],
      messages: [{ role: 'user', content: 'where?' }],
      output_format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
          additionalProperties: false,
        },
      },
    });
    expect(JSON.stringify(lab.upstream.last.json)).toContain('"required":["city"]');
  });

  it('throws an AuthenticationError at either key form that is not the proxy’s', async () => {
    const before = lab.upstream.requests.length;
    const asked = { model: 'm', messages: [{ role: 'user' as const, content: 'x' }] };
    const wrong = { maxRetries: 0, apiKey: 'sk-other' };
    const strangers = [
      [() => new OpenAI({ ...wrong, baseURL: `${lab.url}/v1` }).chat.completions.create(asked), OpenAI],
      [() => new OpenAI({ ...wrong, baseURL: `${lab.url}/v1` }).models.list(), OpenAI],
      [
        () => new Anthropic({ ...wrong, baseURL: lab.url }).messages.create({ ...asked, max_tokens: 9 }),
        Anthropic,
      ],
      [
        () =>
          new Anthropic({
            maxRetries: 0,
            apiKey: null,
            authToken: 'sk-other',
            baseURL: lab.url,
          }).models.list(),
        Anthropic,
      ],
    ] as const;
    for (const [call, { AuthenticationError }] of strangers)
      await expect(call()).rejects.toBeInstanceOf(AuthenticationError);
    expect(lab.upstream.requests).toHaveLength(before);
  });
});
