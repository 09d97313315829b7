import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import JSON5 from 'json5';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';

const id = 'openclaw';
const MINE =
  "// mine\n{ agents: { defaults: { model: { primary: 'openai/gpt', fallbacks: ['openai/x'] }, models: { 'openai/gpt': {}, 'openai/other': {} }, sandbox: { mode: 'non-main' } } }, }\n";

let user: string;
let settings: string;
let lab: TestEngine;

beforeEach(async () => {
  user = await mkdtemp(join(tmpdir(), 'metaclaw-user-'));
  settings = join(user, '.openclaw', 'openclaw.json');
  await mkdir(join(user, '.openclaw'));
  await mkdir(join(user, 'bin'));
  const program = join(user, 'bin', 'openclaw');
  await writeFile(
    program,
    `#!/bin/sh\nexec '${process.execPath}' '${resolve('test/support/children/openclaw.mjs')}' "$@"\n`,
  );
  await chmod(program, 0o755);
  await begin();
});

afterEach(async () => {
  await lab.close();
  await rm(user, { recursive: true, force: true });
});

async function begin(env: Record<string, string> = {}): Promise<void> {
  lab = await startEngine(
    {
      llm: { provider: 'custom', model_id: 'big-model', api_base: 'http://127.0.0.1:9' },
      proxy: { api_key: 'proxy-key' },
    },
    { env: { HOME: user, PATH: join(user, 'bin'), ...env } },
  );
}

const read = async () => {
  const { meta: _, ...values } = JSON5.parse(await readFile(settings, 'utf8')) as Record<string, unknown>;
  return values;
};
const state = async () => (await lab.engine.call('agents.list', {})).find((agent) => agent.id === id);
const provider = (compat: object) => ({
  api: 'openai-completions',
  baseUrl: `${lab.anthropic}/a/openclaw/v1`,
  apiKey: 'proxy-key',
  models: [
    {
      id: 'big-model',
      name: 'big-model',
      input: ['text', 'image'],
      contextWindow: 200000,
      maxTokens: 8192,
      ...compat,
    },
  ],
});

// Would catch settings that OpenClaw refuses, a sandbox that is switched off, fallbacks that are lost, and an undo
// that leaves something behind.
it('changes its settings by its own command, and puts every value back', async () => {
  await writeFile(settings, MINE);
  const before = await read();
  expect(await state()).toMatchObject({ state: 'free', version: '2026.9.6', provider: 'openai/gpt' });

  const plan = await lab.engine.call('agents.plan', { id });
  expect(plan.commands[0]).toMatch(/^openclaw config patch --stdin/);
  expect(plan.files[0]?.diff).toContain('+        "primary": "metaclaw/big-model"');
  expect(await readFile(settings, 'utf8')).toBe(MINE);

  await lab.engine.call('agents.connect', { id, hash: plan.hash });
  expect(await read()).toEqual({
    models: {
      providers: {
        metaclaw: provider({ compat: { sendSessionAffinityHeaders: true, supportsPromptCacheKey: true } }),
      },
    },
    agents: {
      defaults: {
        model: { primary: 'metaclaw/big-model', fallbacks: ['openai/x'] },
        models: { 'openai/gpt': {}, 'openai/other': {}, 'metaclaw/big-model': {} },
        sandbox: { mode: 'non-main' },
      },
    },
  });
  expect(await state()).toMatchObject({ state: 'connected' });
  expect((await lab.engine.call('agents.plan', { id })).done).toBe(true);

  expect(await lab.engine.call('agents.disconnect', { id })).toEqual({ restored: [settings], kept: [] });
  expect(await read()).toEqual(before);
});

it('gives a file that OpenClaw wrote its former bytes back', async () => {
  const own = `${JSON.stringify({ meta: { lastTouchedAt: '2026-01-01T00:00:00.000Z' }, agents: {} }, null, 2)}\n`;
  await writeFile(settings, own);
  await lab.engine.call('agents.connect', { id });
  await lab.engine.call('agents.disconnect', { id });
  expect(await readFile(settings, 'utf8')).toBe(own);
});

// Would catch a key that makes an older version's whole file invalid.
it.each([
  ['supportsPromptCacheKey', { compat: { supportsPromptCacheKey: true } }],
  ['none', {}],
])('asks a version that knows the compat keys %s for no others', async (known, compat) => {
  await lab.close();
  await begin({ FAKE_OPENCLAW_COMPAT: known });
  await lab.engine.call('agents.connect', { id });
  expect(await read()).toMatchObject({ models: { providers: { metaclaw: provider(compat) } } });
});

// Would catch an agent that stays pointed at a proxy that is gone, because it cannot reach its former model now.
it('puts a model back that OpenClaw itself would refuse', async () => {
  await lab.close();
  await begin({ FAKE_OPENCLAW_REACHES: 'metaclaw' });
  await writeFile(settings, MINE);
  const before = await read();
  await lab.engine.call('agents.connect', { id });
  expect(await lab.engine.call('agents.disconnect', { id })).toEqual({ restored: [settings], kept: [] });
  expect(await read()).toEqual(before);
  expect(JSON.parse(await readFile(settings, 'utf8'))).toHaveProperty('meta');
});

it('leaves what was changed since', async () => {
  await writeFile(settings, MINE);
  await lab.engine.call('agents.connect', { id });
  const values = (await read()) as { agents: { defaults: { model: { primary: string } } } };
  values.agents.defaults.model.primary = 'openai/other';
  await writeFile(settings, JSON.stringify({ ...values, meta: {} }));
  expect(await state()).toMatchObject({
    state: 'drifted',
    detail: 'Changed since: agents.defaults.model.primary.',
  });
  const { kept } = await lab.engine.call('agents.disconnect', { id });
  expect(kept).toEqual([`agents.defaults.model.primary in ${settings}`]);
  expect(JSON.stringify(await read())).not.toContain('metaclaw');
});

it('says what is missing where its program is not on the path', async () => {
  await rm(join(user, 'bin', 'openclaw'));
  await writeFile(settings, MINE);
  await expect(lab.engine.call('agents.plan', { id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await readFile(settings, 'utf8')).toBe(MINE);
});

it('says in OpenClaw’s words what it refuses', async () => {
  await writeFile(settings, '{ models: { providers: { odd: { api: "none", models: [] } } } }');
  await expect(lab.engine.call('agents.plan', { id })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('models.providers.odd.api: Invalid option'),
  });
});
