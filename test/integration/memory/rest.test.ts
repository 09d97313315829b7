import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';

let lab: TestEngine;

beforeAll(async () => {
  lab = await startEngine({
    memory: { extractor: 'rules' },
    agents: { hermit: { memory_scope: 'own' } },
  });
});
beforeEach(() => lab.engine.call('memory.wipe', { now: true }));
afterAll(() => lab.close());

type Json = Record<string, unknown>;

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${lab.openai}/memory${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? null : JSON.parse(text)) as Json,
  };
}

async function add(content: string, more: Json = {}, headers: Record<string, string> = {}): Promise<string> {
  const { status, body } = await ask('POST', '', { content, ...more }, headers);
  expect(status, JSON.stringify(body)).toBe(201);
  return String(body.memory_id);
}

const contents = (list: unknown) => (list as { content: string }[]).map(({ content }) => content);

it('adds, shows, changes, lists and deletes memories', async () => {
  const id = await add('We deploy on Fridays', { type: 'project_state', tags: ['ops'] });
  const shown = await ask('GET', `/${id}`);
  expect(shown.body).toMatchObject({
    memory_id: id,
    scope_id: 'default',
    type: 'project_state',
    content: 'We deploy on Fridays',
    summary: '',
    entities: [],
    topics: [],
    tags: ['ops'],
    pinned: false,
    expires_at: '',
    status: 'active',
  });
  for (const time of ['created_at', 'updated_at']) expect(Date.parse(String(shown.body[time]))).not.toBeNaN();

  const base = String(shown.body.updated_at);
  const changed = await ask('PATCH', `/${id}`, { content: 'We deploy on Mondays', pinned: true, base });
  expect(changed.body).toMatchObject({ content: 'We deploy on Mondays', pinned: true });
  expect((await ask('PATCH', `/${id}`, { content: 'Too late', base: '2020-01-01T00:00:00Z' })).status).toBe(
    409,
  );

  const second = await add('The cat is called Pixel');
  const page = await ask('GET', '?limit=1');
  expect(page.body).toMatchObject({ object: 'list', total: 2, has_more: true });
  const rest = await ask('GET', `?limit=1&cursor=${encodeURIComponent(String(page.body.next_cursor))}`);
  expect([...contents(page.body.data), ...contents(rest.body.data)].sort()).toEqual([
    'The cat is called Pixel',
    'We deploy on Mondays',
  ]);
  expect(rest.body).toMatchObject({ has_more: false, next_cursor: null });
  expect(contents((await ask('GET', '?type=project_state')).body.data)).toEqual(['We deploy on Mondays']);
  expect(contents((await ask('GET', '?q=cat')).body.data)).toEqual(['The cat is called Pixel']);

  expect((await ask('DELETE', `/${second}`)).body).toMatchObject({
    memory_id: second,
    deleted: true,
    purged: false,
  });
  expect(contents((await ask('GET', '')).body.data)).toEqual(['We deploy on Mondays']);
  expect((await ask('POST', `/${second}/restore`)).body).toMatchObject({ restored: 1 });
  expect((await ask('DELETE', `/${second}?now`)).body).toMatchObject({ purged: true });
  expect((await ask('GET', `/${second}`)).status).toBe(404);
  expect((await ask('DELETE', `/${second}`)).status).toBe(404);
});

it('searches with reasons, flat and under unit', async () => {
  await add('We use PostgreSQL 16 in production');
  await add('The cat is called Pixel');
  const { body } = await ask('GET', '/search?q=which+postgresql&limit=5');
  const [hit] = body as unknown as Json[];
  expect(hit).toMatchObject({ content: 'We use PostgreSQL 16 in production', matched_terms: ['postgresql'] });
  expect(hit?.unit).toMatchObject({ content: 'We use PostgreSQL 16 in production' });
  expect(hit?.score).toBeGreaterThan(0);
  expect(body).toHaveLength(1);
});

it('answers every route of the original, also those that could not be reached there', async () => {
  const id = await add('We use PostgreSQL 16');
  expect((await ask('GET', '/stats')).body).toMatchObject({ active: 1, active_by_type: { semantic: 1 } });
  expect((await ask('GET', '/health')).body).toMatchObject({ passed: true });
  expect((await ask('GET', '/summary')).body).toMatchObject({
    scopes: [{ scope_id: 'default', active: 1 }],
    total_active: 1,
  });
  expect((await ask('GET', '/feedback-analysis')).body).toMatchObject({ total: 1, used: 0, most_used: [] });
  expect((await ask('GET', '/operator-report')).body).toMatchObject({
    stats: { active: 1 },
    health: { passed: true },
    action_plan: { actions: [] },
  });
  expect((await ask('POST', '/action-plan')).body).toMatchObject({ actions: [], action_count: 0 });
  expect((await ask('POST', '/maintenance')).body).toMatchObject({ superseded: 0, expired: 0 });
  expect((await ask('GET', '/stats?scope=user:nobody')).body).toMatchObject({
    scope_id: 'user:nobody',
    active: 0,
  });
  // The agent's own address leads to the same routes.
  const viaAgent = await fetch(lab.openai.replace('/v1', `/a/codex/v1/memory/${id}`));
  expect(viaAgent.status).toBe(200);
});

it('keeps turns that a program tells of, and reads them when asked', async () => {
  const turn = { prompt_text: 'I prefer tabs over spaces.', response_text: 'Noted.' };
  const told = { session_id: 's-1', turn, scope_id: 'user:alice|session:s-1' };
  expect((await ask('POST', '/buffer_turn', told)).body).toEqual({ flushed: false, added: null });
  expect((await ask('POST', '/buffer_turn', { ...told, turn: { ...turn, prompt_text: '' } })).status).toBe(
    200,
  );
  expect((await ask('GET', '/summary')).body).toMatchObject({
    scopes: [{ scope_id: 'user:alice', turns: 2 }],
  });
  const drained = await ask('POST', '/ingest', {});
  expect(drained.body).toMatchObject({ buffered_turns: 1, sessions: [{ session_id: 's-1', turns: 1 }] });
  expect(drained.body.added).toBeGreaterThan(0);
  expect((await ask('POST', '/ingest', {})).body).toEqual({ added: 0, buffered_turns: 0, sessions: [] });
  expect((await ask('POST', '/flush_session', { session_id: 's-1', final: true })).body).toEqual({
    added: 0,
  });
  expect(contents((await ask('GET', '?scope=user:alice')).body.data)).toContainEqual(
    expect.stringContaining('tabs'),
  );
});

it('flushes by itself when enough turns have come together', async () => {
  const flushed: unknown[] = [];
  for (let n = 0; n < 5; n += 1) {
    const turn = { prompt_text: `Fact ${n}: server ${n} listens on port ${3000 + n}.`, response_text: 'Ok.' };
    flushed.push((await ask('POST', '/buffer_turn', { session_id: 's-2', turn })).body.flushed);
  }
  expect(flushed).toEqual([false, false, false, false, true]);
});

it('shows a caller only what is its user’s', async () => {
  const alice = { 'x-user-id': 'alice' };
  const own = await add('Alice keeps bees', {}, alice);
  const bobs = await add('Bob keeps goats', {}, { 'x-user-id': 'bob' });
  const nobodys = await add('The house has a garden with goats');
  const inWorkspace = await add('Bees are in the api repo', {}, { ...alice, 'x-workspace-id': 'api' });

  expect(contents((await ask('GET', '', undefined, alice)).body.data).sort()).toEqual([
    'Alice keeps bees',
    'Bees are in the api repo',
  ]);
  expect((await ask('GET', '/search?q=goats', undefined, alice)).body).toEqual([]);
  expect((await ask('GET', '/stats', undefined, alice)).body).toMatchObject({ active: 2 });
  expect((await ask('GET', '/summary', undefined, alice)).body).toMatchObject({ total_active: 2 });
  for (const id of [bobs, nobodys]) {
    expect((await ask('GET', `/${id}`, undefined, alice)).status).toBe(404);
    expect((await ask('PATCH', `/${id}`, { content: 'x' }, alice)).status).toBe(404);
    expect((await ask('DELETE', `/${id}?now=1`, undefined, alice)).status).toBe(404);
  }
  expect((await ask('GET', '?scope=user:bob', undefined, alice)).status).toBe(403);
  expect((await ask('POST', '', { content: 'x', scope: 'user:bob' }, alice)).status).toBe(403);
  expect((await ask('GET', `/${own}`, undefined, alice)).status).toBe(200);
  const other = { ...alice, 'x-workspace-id': 'web' };
  expect((await ask('GET', `/${inWorkspace}`, undefined, other)).status).toBe(404);
  expect((await ask('GET', `/${own}`, undefined, other)).status).toBe(200);

  const turn = { prompt_text: 'My name is Bob.', response_text: 'Hi.' };
  await ask('POST', '/buffer_turn', { session_id: 'bob-1', turn }, { 'x-user-id': 'bob' });
  expect((await ask('POST', '/ingest', {}, alice)).body).toMatchObject({ sessions: [] });
});

it('lets a named scope and an agent of its own stand alone', async () => {
  await add('The house has goats');
  await add('The api has goats', { scope: 'workspace:api' });
  const asApi = { 'x-memory-scope': 'workspace:api' };
  expect(contents((await ask('GET', '', undefined, asApi)).body.data)).toEqual(['The api has goats']);
  expect(contents((await ask('GET', '/search?q=goats', undefined, asApi)).body)).toEqual([
    'The api has goats',
  ]);
  expect(contents((await ask('GET', '/search?q=goats&scope=workspace:api')).body)).toEqual([
    'The api has goats',
  ]);
  expect(
    contents((await ask('GET', '/search?q=goats', undefined, { 'x-workspace-id': 'api' })).body).sort(),
  ).toEqual(['The api has goats', 'The house has goats']);

  const hermit = lab.openai.replace('/v1', '/a/hermit/v1/memory');
  const own = await fetch(hermit, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'The hermit has goats' }),
  });
  expect(await own.json()).toMatchObject({ scope_id: 'agent:hermit' });
  expect(contents(((await (await fetch(hermit)).json()) as Json).data)).toEqual(['The hermit has goats']);
  expect(contents(await (await fetch(`${hermit}/search?q=goats`)).json())).toEqual(['The hermit has goats']);
  expect(contents((await ask('GET', '/search?q=goats')).body)).toEqual(['The house has goats']);
});

it('refuses what is wrong with one clear sentence, and passes nothing on to the provider', async () => {
  for (const [method, path, body, status] of [
    ['GET', '/0b5c9f2e-0000-4000-8000-000000000000', undefined, 404],
    ['GET', '/no-such-thing/at-all', undefined, 404],
    ['PUT', '', {}, 405],
    ['DELETE', '', undefined, 405],
    ['POST', '', '{', 400],
    ['POST', '', { content: '   ' }, 400],
    ['POST', '', { content: 'x', typo: 1 }, 400],
    ['POST', '', { content: 'x', type: 'dream' }, 400],
    ['POST', '/buffer_turn', { turn: {} }, 400],
    ['POST', '/ingest', { turns: [{ prompt_text: 'x' }] }, 400],
    ['GET', '?limit=0', undefined, 400],
    ['GET', '/search', undefined, 400],
  ] as const) {
    const reply = await ask(method, path, body);
    expect(reply.status, `${method} ${path}`).toBe(status);
    expect((reply.body.error as Json).message, `${method} ${path}`).toMatch(/\S/);
  }
  expect((await ask('PUT', '', {})).headers.get('allow')).toBe('GET, POST');
});

it('is off with memory, and closed without the key', async () => {
  await lab.engine.call('config.set', { path: 'memory.enabled', value: false });
  const off = await ask('GET', '/stats');
  expect([off.status, (off.body.error as Json).code]).toEqual([503, 'not_running']);
  await lab.engine.call('config.set', { path: 'memory.enabled', value: true });
  await lab.engine.call('secrets.set', { name: 'proxy.api_key', value: 'door-key' });
  expect((await ask('GET', '/stats')).status).toBe(401);
  expect((await ask('GET', '/stats', undefined, { authorization: 'Bearer door-key' })).status).toBe(200);
  await lab.engine.call('secrets.clear', { name: 'proxy.api_key' });
  expect((await ask('GET', '/stats', undefined, { origin: 'https://evil.example' })).status).toBe(403);
});

it('writes nothing down in private mode or where the caller says so', async () => {
  const turn = { prompt_text: 'I prefer tabs over spaces.', response_text: 'Noted.' };
  const refusals: Record<string, string>[] = [
    { 'x-metaclaw-private': 'on' },
    { 'x-metaclaw-memory': 'off' },
    { 'x-metaclaw-learn': 'off' },
  ];
  for (const headers of refusals) {
    const told = await ask('POST', '/buffer_turn', { session_id: 's-3', turn }, headers);
    expect(told.body).toEqual({ flushed: false, added: null });
  }
  expect((await lab.engine.call('memory.stats', {})).turns).toBe(0);
});
