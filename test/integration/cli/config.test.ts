import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { type Cli, createCli } from '../../support/cli.ts';

const SECRET = 'sk-do-not-print-7f3a';

// Each step starts real processes, which a busy machine makes slow.
vi.setConfig({ testTimeout: 60_000 });

describe('metaclaw config and auth', () => {
  let cli: Cli;
  beforeEach(() => {
    cli = createCli();
  });
  afterEach(() => cli.close());
  const file = () => readFileSync(cli.path('config.yaml'), 'utf8');

  it('reads, sets and unsets without a host; comments and unknown keys stay', async () => {
    writeFileSync(cli.path('config.yaml'), '# mine\nllm:\n  model_id: old # the one\nmy_key: 1\n');
    expect(await cli.run(['config', 'llm.model_id', '123'])).toMatchObject({
      code: 0,
      stdout: 'Set llm.model_id = 123\n',
    });
    expect(file()).toBe('# mine\nllm:\n  model_id: "123" # the one\nmy_key: 1\n');
    const [id, base] = await Promise.all([
      cli.run(['config', 'llm.model_id']),
      cli.run(['config', 'get', 'llm.api_base']),
    ]);
    expect([id.stdout, base.stdout]).toEqual(['llm.model_id: 123\n', 'llm.api_base: (not set)\n']);
    expect((await cli.run(['config', 'unset', 'llm.model_id'])).code).toBe(0);
    expect(file()).toContain('my_key: 1');
    const [typo, shown] = await Promise.all([
      cli.run(['config', 'set', 'llm.modelid', 'x']),
      cli.run(['config', 'show', '--json']),
    ]);
    expect(typo).toMatchObject({ code: 1, stderr: expect.stringContaining('llm.model_id') });
    expect(JSON.parse(shown.stdout).problems[0].path).toBe('my_key');
  });

  it('never prints a secret, keeps it out of the file, and keeps files to the owner', async () => {
    const outputs = [
      await cli.run(['config', 'llm.api_key', SECRET], { env: { METACLAW_DEBUG: '1' } }),
      await cli.run(['config', 'set', 'rl.api_key'], { input: `${SECRET}\n` }),
      await cli.run(['auth', 'paste-key', '--provider', 'kimi'], { input: `${SECRET}\n` }),
      await cli.run(['auth', 'paste-token'], { input: SECRET }),
      ...(await Promise.all([
        cli.run(['doctor', '--json']),
        cli.run(['config', 'llm.api_key']),
        cli.run(['config', 'show', '--json']),
        cli.run(['config', 'show']),
        cli.run(['auth', 'status']),
        cli.run(['auth', 'status', '--json']),
      ])),
    ];
    for (const { all } of outputs) {
      expect(all).not.toContain(SECRET);
      expect(all).not.toContain(SECRET.slice(-4));
    }
    expect(file()).not.toContain(SECRET);
    expect(parse(file())).toEqual({
      llm: { api_key: 'secret:llm.api_key' },
      rl: { api_key: 'secret:rl.api_key' },
    });
    for (const name of readdirSync(cli.home).filter((name) => /\.(yaml|json|db)$/.test(name)))
      expect([name, statSync(cli.path(name)).mode & 0o077]).toEqual([name, 0]);
    expect(outputs.at(-2)?.stdout).toContain('kimi.key');
    expect((await cli.run(['auth', 'remove', 'kimi'])).code).toBe(0);
    expect((await cli.run(['auth', 'remove', 'kimi'])).code).toBe(1);
  });

  it('refuses to touch a broken file, names the place, and the daemon starts on the last good one', async () => {
    writeFileSync(cli.path('config.yaml'), 'llm:\n  model_id: a\n  api_base: http://127.0.0.1:9/v1\n');
    await cli.run(['config', 'llm.model_id', 'good-model']);
    const broken = `${file()}  bad: [1, 2\n`;
    writeFileSync(cli.path('config.yaml'), broken);
    const refused = await cli.run(['config', 'mode', 'rl']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/line \d+, column \d+/);
    const started = await cli.run(['start', '-d', '--port', '0']);
    expect(started).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/line \d+, column \d+: .*last good copy/),
    });
    const snapshot = await cli.snapshot();
    expect(snapshot.provider.model).toBe('good-model');
    expect(snapshot.warnings.join()).toContain('last good copy');
    expect((await cli.run(['bypass', 'on'])).code).toBe(1);
    expect(file()).toBe(broken);
  });

  it('names a file in the code page of Chinese Windows', async () => {
    writeFileSync(
      cli.path('config.yaml'),
      Buffer.concat([Buffer.from('mode: rl # '), Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), Buffer.from('\n')]),
    );
    expect((await cli.run(['config', 'show'])).stderr).toMatch(/line 1.*UTF-8.*936/);
  });

  it('goes through the running host, which takes the change at once', async () => {
    await cli.host();
    expect((await cli.run(['config', 'llm.model_id', 'fresh'])).code).toBe(0);
    expect((await cli.run(['bypass', 'on'])).code).toBe(0);
    expect((await cli.snapshot()).bypass).toBe(true);
    expect((await cli.run(['auth', 'paste-key', '--provider', 'kimi'], { input: SECRET })).code).toBe(0);
    expect((await cli.run(['auth', 'status'])).stdout).toContain('kimi.key');
    // An edit with an editor counts as well.
    await vi.waitUntil(
      async () => {
        writeFileSync(
          cli.path('config.yaml'),
          `llm:\n  model_id: edited\n  api_base: http://127.0.0.1:9\n# ${Math.random()}\n`,
        );
        return (await cli.snapshot()).provider.model === 'edited';
      },
      { timeout: 10_000, interval: 200 },
    );
  });

  it('takes another config file for one run, with its own last good copy', async () => {
    mkdirSync(cli.path('other'));
    writeFileSync(
      cli.path('other', 'c.yaml'),
      'llm:\n  model_id: from-other\n  api_base: http://127.0.0.1:9\n',
    );
    await cli.host('-c', cli.path('other', 'c.yaml'));
    expect((await cli.snapshot()).provider.model).toBe('from-other');
    expect(readdirSync(cli.home).filter((name) => name.includes('last-good'))).toHaveLength(1);
    expect(readdirSync(cli.home)).not.toContain('config.yaml');
  });
});
