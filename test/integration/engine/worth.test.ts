import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const ASK = 'A flaky test fails only in CI, what now?';
let upstream: ScriptedUpstream;
let test: TestEngine;

beforeEach(async () => {
  upstream = await startUpstream({ models: ['m'] });
});
afterEach(async () => {
  await test.close();
  await upstream.close();
});

async function open(learning: object): Promise<void> {
  test = await startEngine({
    llm: { provider: 'custom', api_base: `${upstream.url}/v1`, api_key: 'k', model_id: 'm' },
    learning,
    skills: { auto_evolve: false },
  });
}

async function send(
  session: string,
  texts: string[],
  headers: Record<string, string> = {},
): Promise<Headers> {
  const messages = texts.map((content, n) => ({ role: n % 2 === 0 ? 'user' : 'assistant', content }));
  const response = await fetch(`${test.openai}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-metaclaw-session': session, ...headers },
    body: JSON.stringify({ model: 'm', messages }),
  });
  await response.text();
  return response.headers;
}

/** Memories may be there as well. */
const carries = (headers: Headers) =>
  headers.get('x-metaclaw-injected')?.split(',').includes('hunt-a-flaky-test') === true;

const skill = async () =>
  (await test.engine.call('skills.list', {})).skills.find(({ name }) => name === 'hunt-a-flaky-test');

it('a skill is carried at first; withheld later, it stays out of the whole session, the report says so, and both kinds of sessions are compared', async () => {
  await open({ holdout: 0.5 });
  let held = 0;
  for (let n = 0; n < 12; n += 1) {
    const first = await send(`s${n}`, [ASK]);
    const isHeld = !carries(first);
    if (n < 5) expect(isHeld).toBe(false);
    if (isHeld) held += 1;
    const next = isHeld
      ? 'No, that is wrong. The flaky test fails only in CI.'
      : 'Perfect, that flaky test in CI is fixed.';
    const second = await send(`s${n}`, [ASK, 'ok', next], { 'x-session-done': 'true' });
    expect(!carries(second)).toBe(isHeld);
    const { injection } = await test.engine.call('turns.get', { id: first.get('x-metaclaw-turn') ?? '' });
    const reasons = injection.leftOut
      .filter(({ id }) => id === 'hunt-a-flaky-test')
      .map(({ reason }) => reason);
    expect(reasons).toEqual(isHeld ? ['holdout'] : []);
  }
  await vi.waitUntil(async () => {
    const worth = (await skill())?.worth;
    return (worth?.with.sessions ?? 0) + (worth?.without.sessions ?? 0) === 12;
  }, 10_000);
  expect((await skill())?.worth).toMatchObject({
    with: { sessions: 12 - held, good: held === 12 ? null : 1 },
    without: { sessions: held, good: held === 0 ? null : 0 },
  });
});

it('POST /v1/feedback labels a turn once, is not forwarded, and decides how the turn went', async () => {
  await open({ holdout: 0 });
  const turn = (await send('s1', [ASK], { 'x-session-done': 'true' })).get('x-metaclaw-turn') ?? '';
  const post = async (body: unknown) => {
    const response = await fetch(`${test.openai}/feedback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, json: await response.json() };
  };
  expect(
    await post({ turn_id: turn, label: 'bad', text: 'key sk-ant-api03-AbCdEf1234567890AbCdEf1234567890' }),
  ).toEqual({
    status: 200,
    json: { object: 'feedback', turn_id: turn, session_id: 's1', label: 'bad' },
  });
  const feedback = async () => (await test.engine.call('turns.get', { id: turn })).feedback;
  const first = await feedback();
  expect(first).toMatchObject({ label: 'bad', text: expect.not.stringContaining('AbCdEf') });
  await post({ turn_id: turn, label: 'down', text: 'key sk-ant-api03-AbCdEf1234567890AbCdEf1234567890' });
  expect(await feedback()).toEqual(first);
  await vi.waitUntil(async () => (await skill())?.worth?.with.good === 0, 10_000);
  // A session stands for its newest turn; a later word takes the place of an earlier one.
  await post({ session_id: 's1', score: 1 });
  expect(await feedback()).toMatchObject({ label: 'good', text: '' });
  await vi.waitUntil(async () => (await skill())?.worth?.with.good === 1, 10_000);
  await post({ turn_id: turn, label: 'none' });
  expect(await feedback()).toBeNull();
  expect((await post({ turn_id: 'nope', label: 'good' })).status).toBe(404);
  expect((await post({ label: 'good' })).status).toBe(400);
  expect((await post({ turn_id: turn, label: 'meh' })).status).toBe(400);
  expect((await post({ turn_id: turn })).status).toBe(400);
  expect(upstream.requests.filter(({ path }) => path.includes('feedback'))).toEqual([]);
});

it('a skill with a scope enters only there, by agent and by the workspace that the client names', async () => {
  await open({ holdout: 0 });
  const injected = async (session: string, headers: Record<string, string>) =>
    (await send(session, [ASK], headers)).get('x-metaclaw-injected') ?? '';
  await test.engine.call('skills.setScope', { name: 'hunt-a-flaky-test', agents: ['Codex '], projects: [] });
  expect(await injected('a1', { 'x-metaclaw-agent': 'codex' })).toContain('hunt-a-flaky-test');
  expect(await injected('a2', { 'x-metaclaw-agent': 'openclaw' })).not.toContain('hunt-a-flaky-test');
  const { undo } = await test.engine.call('skills.setScope', {
    name: 'hunt-a-flaky-test',
    agents: [],
    projects: ['harbor-api'],
  });
  await test.restart();
  expect(await injected('p1', { 'x-workspace-id': 'harbor-api' })).toContain('hunt-a-flaky-test');
  expect(await injected('p2', { 'x-workspace-id': 'other' })).not.toContain('hunt-a-flaky-test');
  expect(await injected('p3', {})).not.toContain('hunt-a-flaky-test');
  await test.engine.call('undo.apply', { token: undo.token });
  expect((await skill())?.scope).toEqual({ agents: ['codex'], projects: [] });
  await expect(
    test.engine.call('skills.setScope', { name: 'nope', agents: [], projects: [] }),
  ).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
