import { chmod, lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentId } from '../../../src/shared/connections.ts';
import { startEngine, type TestEngine } from '../../support/engine.ts';

let user: string;
let lab: TestEngine;

beforeEach(async () => {
  user = await mkdtemp(join(tmpdir(), 'metaclaw-user-'));
  await begin();
});

afterEach(async () => {
  await lab.close();
  await rm(user, { recursive: true, force: true });
});

async function begin(config: Record<string, unknown> = {}): Promise<void> {
  lab = await startEngine(
    { llm: { provider: 'custom', model_id: 'big-model', api_base: 'http://127.0.0.1:9' }, ...config },
    { env: { HOME: user, PATH: join(user, 'bin') } },
  );
}

async function put(path: string, text: string, mode = 0o600): Promise<string> {
  const file = join(user, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await chmod(file, mode);
  return file;
}

const base = () => lab.anthropic;

interface Case {
  id: AgentId;
  file: string;
  before: string;
  /** B: base of the agent's address, without /v1. */
  after: (b: string) => string;
}

const CASES: readonly Case[] = [
  {
    id: 'claude-code',
    file: '.claude/settings.json',
    before:
      '{\n  "model": "opus",\n  "env": {\n    "FOO": "1"\n  },\n  "permissions": { "allow": ["Bash"] }\n}\n',
    after: (b) =>
      `{\n  "model": "opus",\n  "env": {\n    "FOO": "1",\n    "ANTHROPIC_BASE_URL": "${b}",\n    "ANTHROPIC_AUTH_TOKEN": "metaclaw"\n  },\n  "permissions": { "allow": ["Bash"] }\n}\n`,
  },
  {
    id: 'codex',
    file: '.codex/config.toml',
    before:
      '# mine\nmodel = "gpt-5.2" # keep\nprofile = "work"\n\n[profiles.work]\nmodel_provider = "openai"\n\n[profiles.play]\nmodel = "x"\n',
    after: (b) =>
      `# mine\nmodel = "gpt-5.2" # keep\nprofile = "work"\nmodel_provider = "metaclaw"\n\n[profiles.work]\nmodel_provider = "metaclaw"\n\n[profiles.play]\nmodel = "x"\n\n[model_providers]\nmetaclaw = { name = "MetaClaw", base_url = "${b}/v1", wire_api = "responses" }\n`,
  },
  {
    id: 'opencode',
    file: '.config/opencode/opencode.jsonc',
    before:
      '// mine\n{\n  "$schema": "https://opencode.ai/config.json",\n  "model": "anthropic/claude", // keep\n}\n',
    after: (b) =>
      `// mine\n{\n  "$schema": "https://opencode.ai/config.json",\n  "model": "metaclaw/big-model",\n  "provider": {\n    "metaclaw": {\n      "npm": "@ai-sdk/openai-compatible",\n      "name": "MetaClaw",\n      "options": {\n        "baseURL": "${b}/v1",\n        "apiKey": "metaclaw"\n      },\n      "models": {\n        "big-model": {\n          "name": "big-model",\n          "limit": {\n            "context": 200000,\n            "output": 8192\n          }\n        }\n      }\n    }\n  }, // keep\n}\n`,
  },
  {
    id: 'hermes',
    file: '.hermes/config.yaml',
    before:
      '# mine\nmodel:\n  default: claude-opus # best\n  provider: anthropic\ntools:\n- web\n-   shell\n',
    after: (b) =>
      `# mine\nmodel:\n  default: big-model # best\n  provider: custom\n  base_url: ${b}/v1\n  api_key: metaclaw\n  api_mode: chat_completions\n  context_length: 200000\ntools:\n- web\n-   shell\n`,
  },
  {
    id: 'zeroclaw',
    file: '.zeroclaw/config.toml',
    before:
      'schema_version = 3\n\n[agents.default]\nmodel_provider = "openai.main" # keep\nmodel = "x"\n\n[agents.second]\nmodel_provider = "openai.main"\n',
    after: (b) =>
      `schema_version = 3\n\n[agents.default]\nmodel_provider = "custom.metaclaw" # keep\nmodel = "x"\n\n[agents.second]\nmodel_provider = "custom.metaclaw"\n\n[providers]\nmodels = { custom = { metaclaw = { uri = "${b}/v1", model = "big-model", api_key = "metaclaw", wire_api = "chat_completions" } } }\n`,
  },
  {
    id: 'ironclaw',
    file: '.ironclaw/reborn/config.toml',
    before:
      '[llm.default]\nprovider_id = "anthropic"\nmodel = "claude"\napi_key_env = "ANTHROPIC_API_KEY" # the name\n\n[other]\nmodel = "stays"\n',
    after: (b) =>
      `[llm.default]\nprovider_id = "openai_compatible"\nmodel = "big-model"\nbase_url = "${b}/v1"\n\n[other]\nmodel = "stays"\n`,
  },
  {
    id: 'picoclaw',
    file: '.picoclaw/config.json',
    before:
      '{\n  "version": 3,\n  "model_list": [\n    { "model_name": "mine", "model": "gpt", "enabled": true }\n  ],\n  "agents": { "defaults": { "model_name": "mine", "restrict_to_workspace": true } }\n}\n',
    after: (b) =>
      `{\n  "version": 3,\n  "model_list": [\n    {\n      "model_name": "mine",\n      "model": "gpt",\n      "enabled": true\n    },\n    {\n      "model_name": "metaclaw",\n      "provider": "openai",\n      "model": "big-model",\n      "api_base": "${b}/v1",\n      "api_keys": [\n        "metaclaw"\n      ],\n      "enabled": true,\n      "streaming": {\n        "enabled": true\n      }\n    }\n  ],\n  "agents": { "defaults": { "model_name": "metaclaw", "restrict_to_workspace": true } }\n}\n`,
  },
];

describe.each(CASES)('$id', ({ id, file, before, after }) => {
  const state = async () => (await lab.engine.call('agents.list', {})).find((agent) => agent.id === id);

  // Would catch an adapter that writes what the agent does not read, that touches more than it must, or that cannot
  // put back what was there.
  it('is planned without a write, connected, connected again, and put back to the byte', async () => {
    const path = await put(file, before);
    expect(await state()).toMatchObject({ state: 'free', files: [path] });

    const plan = await lab.engine.call('agents.plan', { id });
    expect(plan.files.map((one) => one.path)).toEqual([path]);
    expect(plan.files[0]?.diff).toContain('+');
    expect(await readFile(path, 'utf8')).toBe(before);

    await lab.engine.call('agents.connect', { id, hash: plan.hash });
    const connected = await readFile(path, 'utf8');
    expect(connected).toBe(after(`${base()}/a/${id}`));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await state()).toMatchObject({ state: 'connected', detail: null });

    expect((await lab.engine.call('agents.plan', { id })).done).toBe(true);
    await lab.engine.call('agents.connect', { id });
    expect(await readFile(path, 'utf8')).toBe(connected);

    expect(await lab.engine.call('agents.disconnect', { id })).toEqual({ restored: [path], kept: [] });
    expect(await readFile(path, 'utf8')).toBe(before);
    expect((await state())?.state).toBe('free');
  });

  it('is connected where it had no settings, which leaves none behind', async () => {
    const path = join(user, file.replace(/jsonc$/, 'json'));
    await mkdir(dirname(path), { recursive: true });
    await lab.engine.call('agents.connect', { id });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await state())?.state).toBe('connected');
    await lab.engine.call('agents.disconnect', { id });
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  // Would catch a restore that brings an old file back over what the user has done since.
  it('keeps what was added since, whatever the file looked like', async () => {
    const windows = `\ufeff${before.replaceAll('\n', '\r\n')}`;
    const path = await put(file, windows);
    await lab.engine.call('agents.connect', { id });
    const connected = await readFile(path, 'utf8');
    expect(connected.startsWith('\ufeff')).toBe(true);
    expect(connected.replaceAll('\r\n', '')).not.toContain('\n');
    const comment =
      id === 'picoclaw' || id === 'claude-code' ? '\r\n' : id === 'opencode' ? '// new\r\n' : '# new\r\n';
    await writeFile(path, connected + comment);
    const { kept } = await lab.engine.call('agents.disconnect', { id });
    expect(kept).toEqual([]);
    const restored = await readFile(path, 'utf8');
    expect(restored.endsWith(comment)).toBe(true);
    expect(restored).not.toContain('metaclaw');
  });
});

describe('with care', () => {
  const id = 'codex';
  const text = 'model = "x"\n';

  it('shows agents that are not here as absent', async () => {
    const all = await lab.engine.call('agents.list', {});
    expect(all.map(({ state }) => state)).toEqual(all.map(() => 'absent'));
    await expect(lab.engine.call('agents.disconnect', { id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('finds a program and asks it for its version', async () => {
    await put('bin/codex', '#!/bin/sh\necho "codex-cli 0.171.0"\n', 0o755);
    const found = (await lab.engine.call('agents.list', {}))[0];
    expect(found).toMatchObject({
      id,
      state: 'free',
      version: '0.171.0',
      program: join(user, 'bin', 'codex'),
    });
  });

  // Would catch a plan that was looked at, and another one that is carried out.
  it('refuses a plan whose file has changed since', async () => {
    const path = await put('.codex/config.toml', text);
    const { hash } = await lab.engine.call('agents.plan', { id });
    await writeFile(path, 'model = "y"\n');
    await expect(lab.engine.call('agents.connect', { id, hash })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await readFile(path, 'utf8')).toBe('model = "y"\n');
  });

  it('notices what the agent or the user changed, and leaves it', async () => {
    const path = await put('.codex/config.toml', text);
    await lab.engine.call('agents.connect', { id });
    const changed = (await readFile(path, 'utf8')).replace(
      'model_provider = "metaclaw"',
      'model_provider = "own"',
    );
    await writeFile(path, changed);
    const [found] = await lab.engine.call('agents.list', {});
    expect(found).toMatchObject({ state: 'drifted', detail: 'Changed since: model_provider.' });
    const { kept } = await lab.engine.call('agents.disconnect', { id });
    expect(kept).toEqual([`model_provider in ${path}`]);
    const left = await readFile(path, 'utf8');
    expect(left).toContain('model_provider = "own"');
    expect(left).not.toContain('metaclaw');
  });

  // Would catch a former value that a second connection, to another port or key, takes for the user's own.
  it('goes along with a new key, and still puts the first state back', async () => {
    const path = await put('.codex/config.toml', text);
    await lab.engine.call('agents.connect', { id });
    await lab.engine.call('config.set', { path: 'proxy.api_key', value: 'k/1' });
    expect((await lab.engine.call('agents.plan', { id })).done).toBe(false);
    await lab.engine.call('agents.connect', { id });
    expect(await readFile(path, 'utf8')).toContain('/a/codex/k/k%2F1/v1');
    await lab.engine.call('agents.disconnect', { id });
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('survives a restart of MetaClaw', async () => {
    const path = await put('.codex/config.toml', text);
    await lab.engine.call('agents.connect', { id });
    await lab.restart();
    await lab.engine.call('agents.disconnect', { id });
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('leaves a symbolic link one, and its target where it is', async () => {
    const target = await put('dotfiles/codex.toml', text, 0o644);
    const path = join(user, '.codex', 'config.toml');
    await mkdir(dirname(path));
    await symlink(target, path);
    await lab.engine.call('agents.connect', { id });
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(await readFile(target, 'utf8')).toContain('metaclaw');
    expect((await stat(target)).mode & 0o777).toBe(0o644);
    await lab.engine.call('agents.disconnect', { id });
    expect(await readFile(target, 'utf8')).toBe(text);
  });

  it('changes no read-only file', async () => {
    const path = await put('.codex/config.toml', text, 0o444);
    await expect(lab.engine.call('agents.connect', { id })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      field: path,
    });
    expect(await readFile(path, 'utf8')).toBe(text);
    expect((await lab.engine.call('agents.list', {}))[0]?.state).toBe('free');
  });

  it.each([
    ['broken TOML', 'model = \n'],
    ['another encoding', Buffer.from([0x6d, 0x3d, 0x22, 0xe9, 0x22])],
  ])('names a file with %s and changes nothing', async (_, content) => {
    const path = await put('.codex/config.toml', '');
    await writeFile(path, content);
    await expect(lab.engine.call('agents.plan', { id })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: path,
    });
    expect((await lab.engine.call('agents.list', {}))[0]).toMatchObject({ id, state: 'unsupported' });
  });

  it.each([
    ['picoclaw', '.picoclaw/config.json', '{"version":2,"model_list":[]}', 'version 3 is known'],
    ['zeroclaw', '.zeroclaw/config.toml', 'default_provider = "openai"\n', 'form 3 is known'],
  ] as const)(
    'leaves %s alone where its settings have a form that is not known',
    async (agent, file, content, why) => {
      await put(file, content);
      const found = (await lab.engine.call('agents.list', {})).find((one) => one.id === agent);
      expect(found).toMatchObject({ state: 'unsupported', detail: expect.stringContaining(why) });
      await expect(lab.engine.call('agents.plan', { id: agent })).rejects.toMatchObject({ code: 'CONFLICT' });
    },
  );
});

// Would catch a check that is content with a request of somebody else.
it('hears a request that comes to the agent’s own address', async () => {
  const verify = (seconds: number) => lab.engine.call('agents.verify', { id: 'hermes', seconds });
  await fetch(`${base()}/v1/models`);
  await fetch(`${base()}/a/codex/v1/models`);
  expect((await verify(0)).requestAt).toBeNull();
  const waiting = verify(30);
  await fetch(`${base()}/a/hermes/v1/models`);
  expect((await waiting).requestAt).not.toBeNull();
});
