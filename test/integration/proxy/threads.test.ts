import Anthropic from '@anthropic-ai/sdk';
import { afterEach, expect, it } from 'vitest';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function labOn(wire: 'openai' | 'anthropic' | 'responses'): Promise<ProxyLab> {
  const lab = await startProxyLab({ wire, inject: 'ADDED' });
  closers.push(() => lab.close());
  return lab;
}

function threadOn(lab: ProxyLab, unsupportedRequestBehavior: 'error' | 'continue_unthreaded') {
  const anthropic = new Anthropic({ baseURL: lab.url, apiKey: 'any', maxRetries: 0 });
  return anthropic.beta.messages.thread({
    model: 'm',
    max_tokens: 100,
    system: 'Be brief.',
    unsupportedRequestBehavior,
  });
}

it('a conversation that Anthropic keeps goes on: its instructions stay as they were at its beginning', async () => {
  const lab = await labOn('anthropic');
  const thread = threadOn(lab, 'error');
  await thread.send({ role: 'user', content: 'my first question' });
  expect(lab.upstream.last.json.system).toContain('ADDED');
  lab.upstream.reply('Two.');
  const second = await thread.send({ role: 'user', content: 'and then' });
  expect(second.content).toMatchObject([{ text: 'Two.' }]);
  expect(lab.upstream.last.json).toMatchObject({
    thread: { type: 'continue' },
    messages: [{ role: 'user', content: 'and then' }],
  });
  expect(lab.upstream.last.json.system).toBeUndefined();
  const [turn] = lab.sessions.list({ limit: 1 }).turns;
  expect(turn?.injection).toMatchObject({ items: [], skipped: 'thread' });
});

it.each(['openai', 'responses'] as const)(
  'a provider that speaks %s keeps none, and the SDK is told so in the words by which it sends all of it',
  async (wire) => {
    const lab = await labOn(wire);
    const refused = await threadOn(lab, 'error')
      .send({ role: 'user', content: 'my first question' })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Anthropic.BadRequestError);
    expect(refused).toMatchObject({ errorCode: 'thread_unsupported_request' });
    expect(lab.upstream.requests).toHaveLength(0);

    const thread = threadOn(lab, 'continue_unthreaded');
    await thread.send({ role: 'user', content: 'my first question' });
    await thread.send({ role: 'user', content: 'and then' });
    expect(JSON.stringify(lab.upstream.last.json)).toMatch(/my first question.*scripted upstream.*and then/);
  },
);
