import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { type Cli, createCli } from '../../support/cli.ts';
import { startUpstream } from '../../support/upstream.ts';
import { CLAUDE, installVendorPrograms } from '../../support/vendor-programs.ts';

// Each step starts real processes, which a busy machine makes slow.
vi.setConfig({ testTimeout: 60_000 });

describe('metaclaw setup --yes', () => {
  let cli: Cli;
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  beforeEach(async () => {
    cli = createCli();
    upstream = await startUpstream({ apiKey: 'sk-right', models: ['m-1', 'm-2'] });
  });
  afterEach(async () => {
    await upstream.close();
    await cli.close();
  });
  const flags = () => [
    'setup',
    '--yes',
    '--provider',
    'custom',
    '--api-base',
    `${upstream.url}/v1`,
    '--model',
    'm-1',
  ];

  it('tests, saves, and keeps every other key on a second run', async () => {
    writeFileSync(
      cli.path('config.yaml'),
      '# kept\nmemory:\n  scope: work\nproxy:\n  max_body_mb: 7\nx: 1\n',
    );
    const first = await cli.run(
      [...flags(), '--api-key-env', 'MY_KEY', '--port', '31234', '--mode', 'skills_only'],
      {
        env: { MY_KEY: 'sk-right' },
      },
    );
    expect(first).toMatchObject({ code: 0 });
    expect(first.all).not.toContain('sk-right');
    expect(existsSync(cli.path('skills/review-a-diff/SKILL.md'))).toBe(true);
    const text = readFileSync(cli.path('config.yaml'), 'utf8');
    expect(text).toContain('# kept');
    expect(parse(text)).toMatchObject({
      mode: 'skills_only',
      memory: { scope: 'work' },
      proxy: { max_body_mb: 7, port: 31_234 },
      llm: { model_id: 'm-1', api_key: 'secret:llm.api_key' },
      x: 1,
    });
    const second = await cli.run(['setup', '--yes', '--model', 'm-2']);
    expect(second.code).toBe(0);
    expect(parse(readFileSync(cli.path('config.yaml'), 'utf8'))).toEqual({
      ...parse(text),
      llm: { ...parse(text).llm, model_id: 'm-2' },
    });
  });

  it('saves nothing when the live test fails, says why and what to do; --no-test saves', async () => {
    const wrong = await cli.run([...flags(), '--api-key-env', 'MY_KEY'], { env: { MY_KEY: 'sk-wrong' } });
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toMatch(/key\s+FAILED[\s\S]*→/);
    expect(wrong.all).not.toContain('sk-wrong');
    expect(existsSync(cli.path('config.yaml'))).toBe(false);
    expect((await cli.run([...flags(), '--no-test'])).code).toBe(0);
    expect(readFileSync(cli.path('config.yaml'), 'utf8')).toContain('m-1');
  });

  it('takes a key that was pasted before, and the mode auto as madmax', async () => {
    await cli.run(['auth', 'paste-key', '--provider', 'openai'], { input: 'sk-pasted\n' });
    const args = ['setup', '--yes', '--provider', 'openai', '--no-test', '--mode', 'auto'];
    expect(await cli.run(args)).toMatchObject({ code: 0 });
    expect(readFileSync(cli.path('config.yaml'), 'utf8')).not.toContain('auto');
  });

  it('sets up a program that is signed in here, tests it for real, and says who is signed in', async () => {
    const vendor = installVendorPrograms(['claude', 'codex']);
    try {
      const answer = [...CLAUDE.begin, CLAUDE.text('ready'), ...CLAUDE.end('ready')];
      vendor.script('claude', { lines: answer });
      vendor.script('codex', { signedIn: false });
      const env = { PATH: vendor.env.PATH ?? '', HOME: vendor.home, ANTHROPIC_API_KEY: 'sk-ant-of-the-user' };
      const missing = await cli.run(['setup', '--yes', '--provider', 'gemini-cli'], { env });
      expect(missing).toMatchObject({ code: 1, stdout: expect.stringContaining('npm install -g') });
      const out = await cli.run(['setup', '--yes', '--provider', 'codex-cli'], { env });
      expect(out).toMatchObject({ code: 1, stdout: expect.stringMatching(/key\s+FAILED.*not signed in/) });
      expect(existsSync(cli.path('config.yaml'))).toBe(false);
      const done = await cli.run(['setup', '--yes', '--provider', 'claude-cli'], { env });
      expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('Claude Code answered.') });
      expect(parse(readFileSync(cli.path('config.yaml'), 'utf8'))).toEqual({
        llm: { provider: 'claude-cli', model_id: 'default' },
      });
      const status = await cli.run(['auth', 'status'], { env });
      expect(status.stdout).toMatch(/claude-cli\s+Claude Code 2\.1\.332\s+signed in/);
      expect(status.stdout).toMatch(/codex-cli\s+Codex 9\.8\.7\s+not signed in/);
      const json = JSON.parse((await cli.run(['auth', 'status', '--json'], { env })).stdout);
      expect(json.programs).toHaveLength(2);
      const checks = JSON.parse((await cli.run(['doctor', '--json'], { env })).stdout) as unknown;
      expect(JSON.stringify(checks)).toContain('Claude Code answered.');
    } finally {
      vendor.remove();
    }
  });

  it('says what is missing instead of asking where there is no terminal', async () => {
    const provider = (...args: string[]) => cli.run(['setup', '--yes', '--provider', ...args]);
    const [bare, yes, nobody, openai, unset] = await Promise.all([
      cli.run(['setup']),
      cli.run(['setup', '--yes']),
      provider('nobody'),
      provider('openai'),
      provider('openai', '--api-key-env', 'NOT_THERE'),
    ]);
    expect(bare.stderr).toContain('--yes');
    expect(yes.stderr).toContain('--provider');
    expect(nobody.stderr).toContain('openrouter');
    expect(openai.stderr).toContain('OPENAI_API_KEY');
    expect(unset).toMatchObject({ code: 1, stderr: expect.stringContaining('NOT_THERE') });
  });
});
