import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { embeddingAnswer } from '../../support/upstream-embeddings.ts';

const SKILL = (name: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\nBody of ${name}.\n`;

let chat: ScriptedUpstream;
let vectors: ScriptedUpstream;
let lab: TestEngine;

beforeEach(async () => {
  chat = await startUpstream();
  vectors = await startUpstream({ embeddingSize: 256 });
});
afterEach(async () => {
  await lab.close();
  await chat.close();
  await vectors.close();
});

const start = async (config: Record<string, unknown> = {}) => {
  lab = await startEngine({
    mode: 'skills_only',
    llm: { provider: 'custom', api_base: chat.url, model_id: 'm', api_key: 'k' },
    embeddings: { model: 'nomic-embed-text', api_base: `${vectors.url}/v1` },
    ...config,
    memory: { extractor: 'rules', ...(config.memory as object | undefined) },
  });
};
const until = async (check: () => Promise<boolean> | boolean) => {
  for (let n = 0; n < 300 && !(await check()); n += 1)
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await check()).toBe(true);
};
const ask = async (content: string, headers: Record<string, string> = {}) => {
  const client = new OpenAI({ apiKey: 'any', maxRetries: 0, baseURL: lab.openai });
  const { response } = await client.chat.completions
    .create({ model: 'm', messages: [{ role: 'user', content }] }, { headers })
    .withResponse();
  const injected = response.headers.get('x-metaclaw-injected')?.split(',') ?? [];
  return { injected, turn: response.headers.get('x-metaclaw-turn') ?? '' };
};
const inputs = () => vectors.requests.flatMap(({ json }) => (json?.input as string[]) ?? []);
const hasVectors = (text: string) => until(() => inputs().some((input) => input.includes(text)));
/** The question's vector is there, however slow this computer is just now. */
const prime = (text: string) => lab.engine.call('skills.search', { text });

describe('skills and an embeddings endpoint', () => {
  it.each(['hybrid', 'embedding'] as const)(
    'in the mode %s find what shares no word with the question, and say so',
    async (retrieval_mode) => {
      await start({ skills: { retrieval_mode } });
      await lab.engine.call('skills.add', {
        content: SKILL('kennel-rules', 'Puppy canine hound beagle dog.'),
      });
      await hasVectors('kennel rules: Puppy');
      await until(async () =>
        (await prime('a beagle hound')).some(
          ({ name, reason }) => name === 'kennel-rules' && /meaning/.test(reason),
        ),
      );
      await prime('My canine barks');
      const { injected, turn } = await ask('My canine barks');
      expect(injected).toContain('kennel-rules');
      const { injection } = await lab.engine.call('turns.get', { id: turn });
      expect(injection.items[0]?.reason).toMatch(/meaning: 0\.\d\d/);
      expect((await prime('Gardening tulips tomorrow')).filter(({ entered }) => entered)).toEqual([]);
      expect((await ask('hello')).injected).toEqual([]);
    },
  );

  it('go on by words while the endpoint is slow, broken or gone, and no turn waits', async () => {
    await start();
    await lab.engine.call('skills.add', { content: SKILL('kennel-rules', 'Puppy canine hound beagle dog.') });
    await hasVectors('kennel rules: Puppy');
    vectors.always('embeddings', () => {});
    const begun = Date.now();
    expect((await ask('Why is this test so flaky in CI?')).injected).toContain('hunt-a-flaky-test');
    expect(Date.now() - begun).toBeLessThan(2000);
    vectors.always('embeddings', { status: 500, body: 'no' });
    expect((await ask('Is the next test flaky too?')).injected).toContain('hunt-a-flaky-test');
    await vectors.close();
    expect((await ask('And is this test flaky?')).injected).toContain('hunt-a-flaky-test');
    expect((await lab.engine.call('memory.stats', {})).embeddings).toMatch(/by words/);
  });

  it('send nothing of private, bypassed or switched-off turns', async () => {
    await start();
    const secret = 'My private canine barks';
    await ask(secret, { 'x-metaclaw-private': 'on' });
    await ask(secret, { 'x-metaclaw-skills': 'off', 'x-metaclaw-memory': 'off' });
    await lab.engine.call('config.set', { path: 'private', value: true });
    await ask(secret);
    const before = inputs().length;
    await lab.engine.call('memory.add', { content: 'The hound is called Argos.' });
    expect((await lab.engine.call('memory.stats', {})).embeddings).toMatch(/Private mode/);
    expect(inputs().length).toBe(before);
    await lab.engine.call('config.set', { path: 'private', value: false });
    await hasVectors('Argos');
    await lab.engine.call('config.set', { path: 'bypass', value: true });
    await ask(secret);
    await lab.engine.call('config.set', { path: 'bypass', value: false });
    await ask('Another canine');
    await hasVectors('Another canine');
    expect(inputs().some((input) => input.includes('private canine'))).toBe(false);
  });

  it('keep the daily cap, and go on by words beyond it', async () => {
    await start({ usage: { daily_cap: 1 } });
    vectors.always('embeddings', (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(embeddingAnswer(request.json, 256)));
    });
    let n = 0;
    await until(async () => {
      n += 1;
      await ask(`Why is test number ${n} so flaky in CI?`);
      return /used up today/.test((await lab.engine.call('memory.stats', {})).embeddings);
    });
    const calls = vectors.requests.length;
    expect((await ask('Is the other test flaky?')).injected).toContain('hunt-a-flaky-test');
    expect(vectors.requests.length).toBe(calls);
    const { rows } = await lab.engine.call('usage.summary', { by: 'purpose' });
    expect(rows.find(({ key }) => key === 'embeddings')?.own.calls).toBe(calls);
  });
});

describe('memories and an embeddings endpoint', () => {
  it('are embedded, unless that is switched off; a forgotten one loses its vector', async () => {
    await start();
    const { id } = await lab.engine.call('memory.add', { content: 'The hound is called Argos.' });
    await hasVectors('Argos');
    expect((await lab.engine.call('memory.stats', {})).embeddings).toMatch(/nomic-embed-text/);
    await lab.engine.call('config.set', { path: 'memory.use_embeddings', value: false });
    await lab.engine.call('memory.add', { content: 'The cat is called Penelope.' });
    await lab.engine.call('skills.add', { content: SKILL('kennel-rules', 'Puppy canine hound beagle dog.') });
    await hasVectors('kennel rules');
    expect(inputs().some((input) => input.includes('Penelope'))).toBe(false);
    expect((await lab.engine.call('memory.stats', {})).embeddings).toMatch(/use_embeddings is off/);
    const forgotten = await lab.engine.call('memory.forget', { ids: [id], now: true });
    expect(forgotten.forgotten).toBe(1);
  });
});
