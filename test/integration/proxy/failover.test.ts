import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEngine } from '../../support/engine.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';
import { errorReply, type RawReply, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let second: ScriptedUpstream;
let lab: ProxyLab;
const more: (() => Promise<void>)[] = [];

beforeEach(async () => {
  second = await startUpstream({ apiKey: 'sk-second' });
});
afterEach(async () => {
  for (const close of more.splice(0)) await close();
  await lab.close();
  await second.close();
});

async function start(wire: 'openai' | 'anthropic' = 'openai', secondWire = 'openai'): Promise<void> {
  lab = await startProxyLab({ model: 'm1', wire });
  Object.assign(lab.config.llm, {
    fallbacks: [
      { provider: 'custom', wire: secondWire, api_base: second.url, api_key: 'sk-second', model_id: 'm2' },
    ],
  });
  second.script(() => 'from the second');
}

function ask(body: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  const whole = { model: 'm1', messages: [{ role: 'user', content: 'hi' }], ...body };
  return rawRequest(lab.port, post('/v1/chat/completions', JSON.stringify(whole), headers));
}

function failing(status: number, body: Record<string, unknown> = {}, headers = {}): RawReply {
  return { status, body: { error: { message: 'no', ...body } }, headers };
}

describe('the next provider answers', () => {
  it.each([
    ['its rate limit is reached', failing(429, {}, { 'retry-after': '30' })],
    ['it wants to be paid', failing(402)],
    ['its quota is used up', failing(429, { code: 'insufficient_quota' })],
    ['it refuses the key', failing(401)],
    ['it does not know the model', failing(404, { code: 'model_not_found' })],
    ['it breaks', failing(500)],
    ['its gateway breaks', { status: 502, body: '<html>Bad gateway</html>' }],
    [
      'its credit is used up',
      failing(400, {
        type: 'invalid_request_error',
        message: 'Your credit balance is too low to access the Anthropic API.',
      }),
    ],
  ])('%s', async (_, reply) => {
    await start();
    lab.upstream.script(() => reply);
    const answer = await ask();
    expect(answer.status, answer.body).toBe(200);
    expect(answer.body).toContain('from the second');
    // The client asked for m1 and is told m1; the headers and the record say who it really was.
    expect(JSON.parse(answer.body).model).toBe('m1');
    expect(answer.headers['x-metaclaw-model']).toBe('m2');
    expect(second.last.json.model).toBe('m2');
    expect(lab.sessions.list({ limit: 1 }).turns[0]).toMatchObject({ model: 'm2', status: 'answered' });
  });

  it('a fallback without a usable address is passed over', async () => {
    await start();
    const broken = { ...lab.config.llm.fallbacks[0], api_base: 'ftp://nowhere' };
    Object.assign(lab.config.llm, { fallbacks: [broken, ...lab.config.llm.fallbacks] });
    lab.upstream.script(() => failing(500));
    expect((await ask()).body).toContain('from the second');
  });

  it('nobody is there at all; streamed', async () => {
    await start();
    await lab.upstream.close();
    const answer = await ask({ stream: true });
    expect(answer.body).toContain('[DONE]');
    expect(second.chats).toHaveLength(1);
  });

  it('it speaks the other dialect', async () => {
    await start('openai', 'anthropic');
    lab.upstream.script(() => failing(503));
    const answer = await ask({ stream: true });
    expect(answer.body).toContain('[DONE]');
    expect(second.last.kind).toBe('anthropic');
  });

  it('the first is left alone for as long as it asked, and is asked again after a change of its key', async () => {
    await start();
    lab.upstream.script(() => failing(429, {}, { 'retry-after': '3600' }));
    await ask();
    const answer = await ask();
    expect(answer.body).toContain('from the second');
    expect(lab.upstream.chats).toHaveLength(1);
    expect(lab.provider.detours()).toEqual([expect.stringContaining('rate limit')]);
    lab.config.llm.api_key = 'sk-new';
    await ask();
    expect(lab.upstream.requests).toHaveLength(2);
  });

  it('a 429 that names no time pauses nothing (H05)', async () => {
    await start();
    lab.upstream.reply(failing(429));
    expect((await ask()).body).toContain('from the second');
    expect((await ask()).body).toContain('scripted upstream');
    expect(lab.provider.detours()).toEqual([]);
  });

  it('all of them fail: the first one’s words are told', async () => {
    await start();
    lab.upstream.script(() => failing(429, { message: 'first says slow down' }, { 'retry-after': '30' }));
    second.script(() => failing(500, { message: 'second is broken' }));
    const answer = await ask();
    expect(answer.status).toBe(429);
    expect(answer.headers['retry-after']).toBe('30');
    expect(answer.body).toContain('first says slow down');
    expect(lab.sessions.list({ limit: 1 }).turns[0]).toMatchObject({ model: 'm1', status: 'failed' });
  });
});

describe('no other provider is asked', () => {
  // The original's classifier took each of these for a rate limit, a missing model or a bad key.
  it.each([
    'token count 14290 exceeds the limit',
    'The file does not exist',
    'the session in your message has expired',
    'unauthorized is not a valid value for role',
  ])('a request that is itself at fault: %s', async (message) => {
    await start();
    lab.upstream.script(() => errorReply(400, false, 'invalid_request_error', message));
    const answer = await ask();
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).error.message).toBe(message);
    expect(second.chats).toHaveLength(0);
    expect(lab.provider.detours()).toEqual([]);
  });

  it('once the answer has begun (S48)', async () => {
    await start();
    lab.upstream.reply({ text: 'one two three', wire: { after: 2, ending: 'reset' } });
    const answer = await ask({ stream: true });
    expect(answer.body).toContain('"error"');
    expect(answer.body).not.toContain('[DONE]');
    expect(second.chats).toHaveLength(0);
  });

  it('when the client left meanwhile (S45)', async () => {
    await start();
    lab.upstream.reply((_, response) => {
      setTimeout(() => response.writeHead(529).end(), 150);
    });
    const abort = new AbortController();
    const asked = fetch(`${lab.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm1', messages: [{ role: 'user', content: 'hi' }] }),
      signal: abort.signal,
    }).catch(() => 'left');
    await lab.upstream.until(({ chats }) => chats.length === 1);
    abort.abort();
    expect(await asked).toBe('left');
    await lab.upstream.until(({ last }) => last.state === 'caller-left');
    expect(second.chats).toHaveLength(0);
    expect(lab.upstream.chats).toHaveLength(1);
  });

  it('with credentials of the caller’s that are refused', async () => {
    await start();
    lab.config.llm.auth_method = 'passthrough';
    const answer = await ask({}, { authorization: 'Bearer sk-mine' });
    expect(answer.status).toBe(401);
    expect(second.chats).toHaveLength(0);
  });

  it('the caller’s credentials never go to a second provider', async () => {
    await start();
    lab.config.llm.auth_method = 'passthrough';
    lab.upstream.script(() => failing(503));
    const answer = await ask({}, { authorization: 'Bearer sk-up' });
    expect(answer.body).toContain('from the second');
    expect(JSON.stringify(second.last.headers)).not.toContain('sk-up');
  });

  it('for an agent that has a provider of its own', async () => {
    await start();
    Object.assign(lab.config.agents, { own: { llm: { api_base: lab.upstream.url, api_key: 'sk-up' } } });
    lab.upstream.script(() => failing(500));
    expect((await ask({}, { 'x-metaclaw-agent': 'own' })).status).toBe(500);
    expect(second.chats).toHaveLength(0);
  });
});

it('status says who is passed over, and stops saying it when that one is back', async () => {
  await start();
  const first = await startUpstream();
  more.push(() => first.close());
  const engine = await startEngine({
    llm: {
      provider: 'deepseek',
      api_base: first.url,
      api_key: 'k',
      model_id: 'm1',
      fallbacks: [{ provider: 'custom', api_base: second.url, api_key: 'sk-second', model_id: 'm2' }],
    },
  });
  more.push(() => engine.close());
  const port = Number(new URL(engine.openai).port);
  const send = () =>
    rawRequest(
      port,
      post(
        '/v1/chat/completions',
        JSON.stringify({ model: 'm1', messages: [{ role: 'user', content: 'x' }] }),
      ),
    );
  first.reply(failing(503, {}, { 'retry-after': '1' }));
  expect((await send()).headers['x-metaclaw-upstream']).toBe('custom');
  expect(engine.engine.snapshot().warnings.join()).toContain('deepseek is passed over');
  await expect
    .poll(async () => (await send()).headers['x-metaclaw-upstream'], { timeout: 4000, interval: 200 })
    .toBe('deepseek');
  expect(engine.engine.snapshot().warnings.join()).not.toContain('deepseek');
});
