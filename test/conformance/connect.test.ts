import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { connectHost, type HostClient } from '../../src/cli/client.ts';
import type { AgentId } from '../../src/shared/connections.ts';
import { startUpstream } from '../support/upstream.ts';
import { type Home, makeHome, NOWHERE } from './support/clients/home.ts';
import { TIME_LIMIT_MS } from './support/clients/kind.ts';
import { MODEL } from './support/lab.ts';
import { runProgram } from './support/process.ts';
import { programs } from './support/programs.ts';

interface Agent {
  id: AgentId;
  binary: string;
  missing: string | null;
  /** Command line behind the program's name on PATH. */
  program: readonly string[];
  file: string;
  /** Settings of a user who has it already. */
  before: string;
  /** One question to it. */
  ask: readonly string[];
  env?: Record<string, string>;
}

const AGENTS: readonly Agent[] = [
  {
    id: 'claude-code',
    binary: 'claude',
    missing: programs.missing('claude'),
    program: [programs.claude],
    file: '.claude/settings.json',
    before: '{\n  "env": { "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1" }\n}\n',
    ask: ['claude', '-p', 'Say hello.', '--output-format', 'json', '--max-turns', '1'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_ERROR_REPORTING: '1' },
  },
  {
    id: 'codex',
    binary: 'codex',
    missing: programs.missing('codex'),
    program: [programs.codex],
    file: '.codex/config.toml',
    before:
      '# mine\napproval_policy = "never" # keep\nsandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n\n[model_providers.other]\nname = "Other"\nbase_url = "http://127.0.0.1:9/v1"\n\n[analytics]\nenabled = false\n',
    ask: ['codex', 'exec', '--skip-git-repo-check', 'Say hello.'],
  },
  {
    id: 'opencode',
    binary: 'opencode',
    missing: programs.missing('opencode'),
    program: [programs.opencode],
    file: '.config/opencode/opencode.json',
    before: '{\n  "autoupdate": false,\n  "share": "disabled",\n  "model": "anthropic/claude"\n}\n',
    ask: ['opencode', 'run', 'Say', 'hello.'],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    },
  },
  {
    id: 'openclaw',
    binary: 'openclaw',
    missing: programs.missing('openclaw') ?? programs.missing('node24'),
    program: [programs.node24, programs.openclaw],
    file: '.openclaw/openclaw.json',
    before:
      "// mine\n{\n  telemetry: { enabled: false },\n  update: { checkOnStart: false },\n  agents: { defaults: { model: { primary: 'openai/gpt-5', fallbacks: [] }, skipBootstrap: true } },\n}\n",
    ask: ['openclaw', 'agent', '--local', '--agent', 'main', '--message', 'Say hello.', '--json'],
    env: { OPENCLAW_TELEMETRY_ENDPOINT: `${NOWHERE}/none` },
  },
];

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

// Would catch settings that the real agent does not read, or that it cannot start with, and an undo that leaves it
// pointing at a proxy that is gone.
describe('connected by MetaClaw itself', () => {
  for (const agent of AGENTS) {
    const { id, missing, file, before } = agent;
    it.skipIf(missing !== null)(missing === null ? id : `${id} (skipped: ${missing})`, async () => {
      const user = await makeHome();
      closers.push(() => user.remove());
      const { host, metaclaw } = await start(user, agent);
      const settings = join(user.home, file);
      await mkdir(dirname(settings), { recursive: true });
      await writeFile(settings, before);

      const connected = await metaclaw('agents', 'connect', id, '--yes');
      if (connected.code !== 0) throw new Error(JSON.stringify(connected, null, 1));
      expect(connected.stdout).toContain('is connected');

      const [name = '', ...args] = agent.ask;
      const said = await runProgram([join(user.home, 'bin', name), ...args], {
        env: { ...user.env, ...agent.env },
        cwd: user.workspace,
        timeoutMs: TIME_LIMIT_MS,
      });
      if (said.code !== 0) throw new Error(JSON.stringify(said, null, 1));
      const { turns } = await host.call('turns.list', { kind: 'main', limit: 10 });
      expect(turns.map((turn) => [turn.agent, turn.status])).toContainEqual([id, 'answered']);
      expect((await host.call('agents.list', {})).find((one) => one.id === id)).toMatchObject({
        state: 'connected',
        version: expect.stringMatching(/^\d/),
        lastRequestAt: expect.any(String),
      });

      const disconnected = await metaclaw('agents', 'disconnect', id);
      if (disconnected.code !== 0) throw new Error(JSON.stringify(disconnected, null, 1));
      const after = await readFile(settings, 'utf8');
      expect(after).not.toContain('metaclaw');
      if (id === 'openclaw')
        expect(JSON.parse(after)).toMatchObject({
          agents: { defaults: { model: { primary: 'openai/gpt-5' } } },
        });
      else expect(after).toBe(before);
    });
  }
});

async function start(
  user: Home,
  { binary, program, env }: Agent,
): Promise<{ host: HostClient; metaclaw: (...args: string[]) => ReturnType<typeof runProgram> }> {
  const upstream = await startUpstream({ models: [MODEL] });
  closers.push(() => upstream.close());
  await mkdir(join(user.home, 'bin'));
  const path = join(user.home, 'bin', binary);
  await writeFile(path, `#!/bin/sh\nexec ${program.map((part) => `'${part}'`).join(' ')} "$@"\n`);
  await chmod(path, 0o755);
  const state = join(user.home, '.metaclaw');
  await mkdir(state, { mode: 0o700 });
  const config = {
    mode: 'skills_only',
    proxy: { api_key: 'proxy-key' },
    llm: { provider: 'custom', api_base: upstream.url, api_key: 'sk-test', model_id: MODEL },
  };
  await writeFile(join(state, 'config.yaml'), stringify(config), { mode: 0o600 });
  const all = {
    ...user.env,
    ...env,
    PATH: `${join(user.home, 'bin')}:${user.env.PATH}`,
    METACLAW_HOME: state,
  };
  const metaclaw = (...args: string[]) =>
    runProgram([process.execPath, 'out/main/cli.cjs', ...args], { env: all, timeoutMs: 240_000 });
  const started = await metaclaw('start', '--daemon', '--port', '0');
  if (started.code !== 0) throw new Error(started.stderr);
  closers.push(() => metaclaw('stop'));
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  const host = await connectHost(state, version);
  if (host === null) throw new Error('MetaClaw does not run.');
  closers.push(() => host.close());
  return { host, metaclaw };
}
