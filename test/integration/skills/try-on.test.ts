import { afterEach, beforeEach, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let test: TestEngine;

beforeEach(async () => {
  upstream = await startUpstream({ models: ['m'] });
  test = await startEngine({
    llm: { provider: 'custom', api_base: `${upstream.url}/v1`, api_key: 'k', model_id: 'm' },
    skills: { auto_evolve: false },
  });
});
afterEach(async () => {
  await test.close();
  await upstream.close();
});

async function send(session: string, messages: unknown[]): Promise<void> {
  const response = await fetch(`${test.openai}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-metaclaw-session': session },
    body: JSON.stringify({ model: 'm', messages }),
  });
  await response.text();
}

const ask = (content: string) => [{ role: 'user', content }];
const skill = (name: string, triggers: string, description = 'Use when sourdough is baked at home.') =>
  `---\nname: ${name}\ndescription: ${description}\nmetadata:\n  triggers: ${triggers}\n---\n\nFold it four times.\n`;
const tryOn = async (content: string, limit = 20) => test.engine.call('skills.tryOn', { content, limit });

it('tells on which of the last turns a text would enter, and leaves the library as it was', async () => {
  await send('a', ask('My sourdough loaf came out flat, why?'));
  await send('b', ask('Rename this variable please.'));
  await send('c', [
    ...ask('My sourdough starter smells, look it up'),
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 't1', type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 't1', content: 'sourdough loaf' },
  ]);
  const before = await test.engine.call('skills.list', {});
  const turns = await tryOn(skill('bake-sourdough', 'sourdough loaf; sourdough starter'));
  expect(turns.map(({ sessionId, entered, before: now }) => [sessionId, entered, now])).toEqual([
    ['b', false, false],
    ['a', true, false],
  ]);
  const [, first] = turns;
  expect(first?.score).toBeGreaterThan(1);
  expect(first?.reason).toContain('sourdough');
  expect(first?.userText).toBe('My sourdough loaf came out flat, why?');
  expect(await test.engine.call('skills.list', {})).toEqual(before);
  expect(await test.engine.call('skills.search', { text: 'sourdough loaf' })).toEqual([]);
});

it('compares an edit with the skill as it is now, which stays the one that enters', async () => {
  await test.engine.call('skills.add', { content: skill('bake-sourdough', 'sourdough loaf') });
  await send('a', ask('My sourdough loaf came out flat, why?'));
  await send('b', ask('The rye ferment on the shelf went grey'));
  const edited = skill('bake-sourdough', 'rye ferment', 'Use when rye ferments.');
  expect((await tryOn(edited)).map(({ sessionId, entered, before }) => [sessionId, entered, before])).toEqual(
    [
      ['b', true, false],
      ['a', false, true],
    ],
  );
  const [hit] = await test.engine.call('skills.search', { text: 'sourdough loaf' });
  expect(hit).toMatchObject({ name: 'bake-sourdough', entered: true });
  expect(await tryOn(edited, 1)).toHaveLength(1);
});

it('works where the skill is off and in template mode, and says what is wrong with a text that is no skill', async () => {
  await test.engine.call('skills.add', { content: skill('bake-sourdough', 'sourdough loaf') });
  await test.engine.call('skills.setEnabled', { name: 'bake-sourdough', enabled: false });
  await send('a', ask('My sourdough loaf came out flat, why?'));
  for (const mode of ['hybrid', 'template']) {
    await test.engine.call('config.set', { path: 'skills.retrieval_mode', value: mode });
    expect(await tryOn(skill('bake-sourdough', 'sourdough loaf'))).toMatchObject([
      { entered: true, before: false },
    ]);
    expect(await test.engine.call('skills.search', { text: 'sourdough loaf' })).toEqual([]);
  }
  await expect(tryOn('no front matter')).rejects.toMatchObject({ code: 'SKILL_INVALID' });
});
