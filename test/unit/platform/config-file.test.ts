import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '../../../src/engine/platform/clock.ts';
import { ConfigFile, type ConfigFileDeps } from '../../../src/engine/platform/config-file.ts';
import { editConfigText } from '../../../src/engine/platform/config-text.ts';
import { silentLogger } from '../../../src/engine/platform/logger.ts';
import { FileSecretStore } from '../../../src/engine/platform/secrets.ts';
import { describeConfig } from '../../../src/shared/config-keys.ts';

describe('config file', () => {
  let home: string;
  let path: string;
  let secrets: FileSecretStore;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'metaclaw-config-'));
    path = join(home, 'config.yaml');
    secrets = new FileSecretStore(join(home, 'secrets.json'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const open = (change: Partial<ConfigFileDeps> = {}) => {
    const file = new ConfigFile({
      path,
      lastGood: join(home, 'last-good.yaml'),
      secrets,
      env: {},
      overrides: {},
      log: silentLogger(),
      ...change,
    });
    file.load();
    return file;
  };
  const write = (text: string | Uint8Array) => writeFileSync(path, text);
  const text = () => readFileSync(path, 'utf8');
  const errors = (file: ConfigFile) => file.problems().filter((problem) => problem.severity === 'error');

  describe('files of the original', () => {
    it.skipIf(process.platform === 'win32')('are taken from the eyes of others when they hold a key', () => {
      const modeOf = (content: string) => {
        write(content);
        chmodSync(path, 0o644);
        open();
        return statSync(path).mode & 0o777;
      };
      expect(modeOf('llm:\n  model_id: m\n')).toBe(0o644);
      expect(modeOf('llm:\n  api_key: secret:llm.api_key\n')).toBe(0o644);
      expect(modeOf('llm:\n  api_key: sk-of-the-original\n')).toBe(0o600);
    });

    it('touches no other line when a key is added: an unquoted `no` that became "no" is true to the original', () => {
      const before =
        'rl:\n  enabled: no   # not yet\n\n# night\nscheduler:\n  sleep_start: 23:00\nskills:\n    dir: |\n      ~/s\n';
      write(before);
      const file = open();
      file.set('rl.batch_size', 8);
      file.set('skills.top_k', 5);
      file.set('llm.model_id', 'off');
      expect(text()).toBe(
        'rl:\n  enabled: no   # not yet\n  batch_size: 8\n\n# night\nscheduler:\n  sleep_start: 23:00\nskills:\n    dir: |\n      ~/s\n    top_k: 5\nllm:\n  model_id: "off"\n',
      );
    });

    it('loads the newest as it is', () => {
      copyFileSync('test/fixtures/config/original-0.4.yaml', path);
      const before = text();
      const file = open();
      expect(errors(file)).toEqual([]);
      expect(file.problems().map((problem) => problem.path)).toEqual(['proxy.host']);
      expect(file.current).toMatchObject({
        mode: 'madmax',
        max_context_tokens: 50_000,
        llm: { api_key: 'sk-original-llm-0001', model_id: 'moonshotai/Kimi-K2.5' },
        skills: { retrieval_mode: 'template', task_specific_top_k: 10 },
        rl: { evolver_model: '123' },
        memory: { enabled: false, adaptive: true },
        scheduler: { sleep_start: '23:00', sleep_end: '07:00', idle_threshold_minutes: 30 },
        wechat: { enabled: false },
      });
      expect(text()).toBe(before);
    });

    it('loads one of 0.3.3 as it is, old names included', () => {
      copyFileSync('test/fixtures/config/original-0.3.3.yaml', path);
      const file = open();
      expect(errors(file)).toEqual([]);
      expect(file.problems()).toEqual([
        expect.objectContaining({ severity: 'warning', path: 'my_own_note', line: expect.any(Number) }),
      ]);
      expect(file.current).toMatchObject({
        llm: { model_id: '007' },
        openrouter: { fallback_models: ['a/b', '1e5'] },
        proxy: { host: '0.0.0.0', api_key: 'proxy-key' },
        rl: { api_key: 'sk-neutral', base_url: 'https://tinker.example/', openclaw_env_data_dir: '~/tasks' },
        memory: { max_injected_units: 4, max_injected_tokens: 500 },
      });
      file.set('proxy.port', '31002');
      expect(text()).toBe(
        readFileSync('test/fixtures/config/original-0.3.3.yaml', 'utf8').replace(
          'port: 30000',
          'port: 31002',
        ),
      );
    });
  });

  describe('a broken file', () => {
    it('is named with line and column, the last good config goes on, and it is never overwritten', () => {
      write('llm:\n  model_id: good\n');
      const file = open();
      const broken = 'llm:\n  model_id: good\n   api_key: [sk-leak\n';
      write(broken);
      file.load();
      expect(errors(file)[0]).toMatchObject({ line: expect.any(Number), column: expect.any(Number) });
      expect(JSON.stringify(file.problems())).not.toContain('sk-leak');
      expect(file.current.llm.model_id).toBe('good');
      expect(() => file.set('mode', 'rl')).toThrow(/line \d+, column \d+/);
      expect(() => file.unset('mode')).toThrow(/line \d+/);
      expect(text()).toBe(broken);
      const next = open();
      expect(next.current.llm.model_id).toBe('good');
      expect(errors(next)[0]?.message).toContain('last good copy');
      expect(text()).toBe(broken);
    });

    it.each([
      ['"', 'llm:\n  provider: custom\n  model_id: "good\n  api_base: http://x\n'],
      ["'", "llm:\n  provider: custom\n  model_id: 'good\n  api_base: http://x"],
    ])('is named where a %s opens that nothing closes, not where the file ends', (_, broken) => {
      write(broken);
      expect(errors(open())[0]).toMatchObject({
        line: 3,
        column: 13,
        message: expect.stringContaining('quote that opens here'),
      });
    });

    it.each([
      ['a list', '- a\n- b\n'],
      ['bare words', 'hello\n'],
      ['an unknown alias', 'llm: *nobody\n'],
      ['two documents', 'mode: rl\n---\nmode: madmax\n'],
    ])('%s is an error with a place', (_, content) => {
      write(content);
      const file = open();
      expect(errors(file)[0]?.line).toBeGreaterThan(0);
      expect(() => file.set('mode', 'rl')).toThrow();
      expect(text()).toBe(content);
    });

    it('in the code page of Chinese Windows is named as such, with the line', () => {
      // "你好" in GBK
      write(
        Buffer.concat([
          Buffer.from('mode: rl\nllm:\n  model_id: '),
          Buffer.from([0xc4, 0xe3, 0xba, 0xc3]),
          Buffer.from('\n'),
        ]),
      );
      const file = open();
      expect(errors(file)[0]).toMatchObject({ line: 3, message: expect.stringMatching(/not UTF-8.*936/) });
      expect(() => file.set('mode', 'rl')).toThrow(/UTF-8/);
    });

    it('in UTF-16 is named as such', () => {
      write(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('mode: rl\n', 'utf16le')]));
      expect(errors(open())[0]?.message).toContain('UTF-16');
    });

    it('emptied or cut by a power loss starts with the last good copy', () => {
      const good = `mode: rl\nllm:\n  model_id: precious-model\n  api_base: https://x.example/v1\n`;
      write(good);
      open();
      for (const cut of ['', good.slice(0, 36), '\0'.repeat(4096)]) {
        write(cut);
        const file = open();
        expect(errors(file)).toHaveLength(1);
        expect(file.current.llm.model_id).toBe('precious-model');
        expect(() => file.set('mode', 'madmax')).toThrow();
        expect(text()).toBe(cut);
      }
    });
  });

  describe('single wrong values', () => {
    it('are reported with their line, and take nothing else down', () => {
      write('proxy:\n  port: eighty\nmode: sometimes\nllm:\n  model_id: m\nrl: 3\n');
      const file = open();
      expect(errors(file).map(({ path, line }) => [path, line])).toEqual(
        expect.arrayContaining([
          ['proxy.port', 2],
          ['mode', 3],
          ['rl', 6],
        ]),
      );
      expect(file.current).toMatchObject({ mode: 'madmax', proxy: { port: 30_000 }, llm: { model_id: 'm' } });
      file.set('proxy.port', 31_000);
      expect(file.current.proxy.port).toBe(31_000);
    });

    it('keep the last good value while the program runs', () => {
      write('record:\n  bodies: false\n');
      const file = open();
      write('record:\n  bodies: flase\n');
      file.load();
      expect(file.current.record.bodies).toBe(false);
      expect(errors(file)[0]?.message).toContain('true or false');
    });

    it('never show a secret', () => {
      write('llm:\n  api_key: [sk-in-a-list]\n');
      expect(JSON.stringify(open().problems())).not.toContain('sk-in-a-list');
    });
  });

  it('names unknown keys with the nearest one, keeps them, and warns of keys given twice', () => {
    write('llm:\n  modle_id: x\n  api_base: a\n  api_base: b\n');
    const file = open();
    expect(errors(file)).toEqual([]);
    expect(file.problems()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ path: 'llm.modle_id', line: 2, hint: 'Is llm.model_id meant?' }),
        expect.objectContaining({ path: 'llm.api_base', line: 4 }),
      ]),
    );
    expect(file.current.llm.api_base).toBe('b');
    file.set('llm.api_base', 'c');
    expect(file.current.llm.api_base).toBe('c');
    expect(text()).toContain('modle_id: x');
  });

  it('reads a byte order mark and keeps it', () => {
    write('\ufeffmode: rl\n');
    const file = open();
    expect(file.current.mode).toBe('rl');
    file.set('mode', 'madmax');
    expect(text()).toBe('\ufeffmode: madmax\n');
  });

  describe('set', () => {
    it('keeps comments, order, quoting, unknown keys and line ends', () => {
      const before = [
        '# my config',
        'llm: # the brain',
        "    api_base: 'https://a.example/v1'   # home",
        '    model_id: "old"',
        'x-mine: {a: 1, b: [2, 3]}',
        '',
        '# the end',
        '',
      ].join('\r\n');
      write(before);
      const file = open();
      file.set('llm.api_base', 'https://b.example/v1');
      file.set('llm.model_id', '123');
      expect(text()).toBe(before.replace('https://a', 'https://b').replace('"old"', '"123"'));
      file.set('proxy.port', '31003');
      for (const line of ['# my config', '# the brain', '# home', '# the end', 'x-mine:'])
        expect(text()).toContain(line);
      expect(text().replace(/\r\n/g, '')).not.toContain('\n');
      expect(parse(text())).toMatchObject({
        proxy: { port: 31_003 },
        llm: { model_id: '123' },
        'x-mine': { b: [2, 3] },
      });
    });

    it('coerces by the type of the key, not by what the text looks like', () => {
      const file = open();
      for (const id of [
        '123',
        '007',
        '1e5',
        'true',
        'null',
        '~',
        '23:00',
        'yes',
        '0x1F',
        ' spaced ',
        'a: b # c',
        '"q"',
        '模型',
      ])
        expect(file.set('llm.model_id', id).value).toBe(id);
      expect(file.set('skills.enabled', 'no').value).toBe(false);
      expect(file.set('proxy.port', '31004').value).toBe(31_004);
      expect(file.set('llm.models', 'a, 1e5').value).toEqual(['a', '1e5']);
      expect(
        file.set('scheduler.sleep_windows', '[{start: "22:00", end: "06:00", days: [sat]}]').value,
      ).toEqual([{ start: '22:00', end: '06:00', days: ['sat'] }]);
      expect(file.set('scheduler.sleep_start', '22:30').value).toBe('22:30');
      expect(text()).toMatch(/sleep_start: ["']22:30["']/);
      expect(file.set('mode', 'auto').value).toBe('madmax');
      expect(text()).not.toContain('auto');
      expect(file.set('max_context_tokens', '5000').value).toBe(5000);
    });

    it('refuses what does not fit and writes nothing', () => {
      write('mode: rl\n');
      const file = open();
      for (const [key, value, says] of [
        ['proxy.port', 'eighty', /number/],
        ['proxy.port', '', /number/],
        ['proxy.port', '70000', /at most 65535/],
        ['mode', 'fast', /skills_only, rl, madmax/],
        ['skills.enabled', 'maybe', /true or false/],
        ['llm.apikey', 'x', /no key/],
        ['llm', 'x', /section/],
        ['__proto__.x', 'x', /no key/],
      ] as const)
        expect(() => file.set(key, value)).toThrow(says);
      expect(text()).toBe('mode: rl\n');
    });

    it('fills a section that is null, absent or in flow style', () => {
      for (const before of [
        'llm:\nmode: rl\n',
        'mode: rl\n',
        'llm: {provider: kimi}\nmode: rl\n',
        '# only a comment\n',
        '',
      ]) {
        rmSync(path, { force: true });
        rmSync(join(home, 'last-good.yaml'), { force: true });
        write(before);
        const file = open();
        file.set('llm.model_id', 'a, b} c');
        expect(file.current.llm.model_id).toBe('a, b} c');
        file.set('llm.model_id', 'x, y] z');
        expect(file.current.llm.model_id).toBe('x, y] z');
        expect(parse(text()).llm.model_id).toBe('x, y] z');
        if (before.startsWith('#')) expect(text()).toContain('# only a comment');
      }
    });

    it('puts a secret into the store and a reference into the file, 0600 both', () => {
      const file = open();
      const entry = file.set('llm.api_key', 'sk-very-secret');
      expect(JSON.stringify([entry, file.entries()])).not.toContain('sk-very-secret');
      expect(entry).toMatchObject({ isSet: true, secret: true });
      expect(text()).toContain('api_key: secret:llm.api_key');
      expect(text()).not.toContain('sk-very-secret');
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(file.current.llm.api_key).toBe('sk-very-secret');
      expect(open().current.llm.api_key).toBe('sk-very-secret');
      file.unset('llm.api_key');
      expect(secrets.names()).toEqual([]);
      expect(file.current.llm.api_key).toBe('');
    });

    it('works for one agent', () => {
      const file = open();
      file.set('agents.openclaw.llm.api_key', 'sk-agent');
      file.set('agents.openclaw.llm.model_id', '123');
      expect(file.current.agents.openclaw?.llm).toEqual({ api_key: 'sk-agent', model_id: '123' });
      expect(text()).not.toContain('sk-agent');
      expect(JSON.stringify(file.entries())).not.toContain('sk-agent');
    });

    it('writes through a symbolic link', () => {
      mkdirSync(join(home, 'dotfiles'));
      writeFileSync(join(home, 'dotfiles', 'mc.yaml'), 'mode: rl\n');
      symlinkSync(join(home, 'dotfiles', 'mc.yaml'), path);
      open().set('mode', 'madmax');
      expect(readFileSync(join(home, 'dotfiles', 'mc.yaml'), 'utf8')).toBe('mode: madmax\n');
    });

    it('never harms the rest, whatever is set wherever (property)', () => {
      const base = readFileSync('test/fixtures/config/original-0.3.3.yaml', 'utf8');
      const keys = describeConfig().filter((key) => key.kind === 'text' || key.kind === 'number');
      fc.assert(
        fc.property(
          fc.constantFrom(...keys),
          fc.string({ unit: 'grapheme' }),
          fc.integer({ min: 1, max: 60 }),
          (key, word, n) => {
            const value = key.kind === 'number' ? n : word;
            const after = editConfigText(base, key.path.split('.'), value);
            const expected = parse(base) as Record<string, unknown>;
            const got = parse(after) as Record<string, unknown>;
            const at = (root: unknown) =>
              key.path.split('.').reduce<unknown>((node, name) => (node as never)?.[name], root);
            expect(at(got)).toEqual(value);
            for (const name of Object.keys(expected))
              if (name !== key.path.split('.')[0]) expect(got[name]).toEqual(expected[name]);
            for (const comment of ['# written by the wizard', '# Ollama']) expect(after).toContain(comment);
            const removed = editConfigText(after, key.path.split('.'), undefined);
            expect(at(parse(removed))).toBeUndefined();
          },
        ),
        { numRuns: 150 },
      );
    });
  });

  it.each(['\u2003', 'x\u00a0', '\u3000', ' ', 'a \u2028'])('keeps the space that %j ends in', (value) => {
    for (const base of ['llm:\n  model_id: x\n', 'llm:\n  api_base: y\n'])
      expect(parse(editConfigText(base, ['llm', 'model_id'], value))).toMatchObject({
        llm: { model_id: value },
      });
  });

  it('unset takes only its own lines', () => {
    write('# top\nllm:\n  # the model\n  model_id: x # why\n  api_base: y\nmode: rl\n');
    const file = open();
    file.unset('llm.model_id');
    expect(text()).toBe('# top\nllm:\n  # the model\n  api_base: y\nmode: rl\n');
    file.unset('mode');
    expect(file.current.mode).toBe('madmax');
    file.unset('mode');
    expect(() => file.unset('nonsense')).toThrow(/no key/);
  });

  describe('layers', () => {
    it('lets the environment win over the file and a flag over both, and writes neither', () => {
      write('mode: rl\nproxy:\n  port: 1111\n');
      const file = open({
        env: {
          METACLAW_MODE: 'skills_only',
          METACLAW_PROXY_PORT: '2222',
          METACLAW_LLM_API_KEY: 'sk-env',
          METACLAW_LLM_APIKEY: 'x',
        },
        overrides: { mode: 'madmax' },
      });
      expect(file.current).toMatchObject({
        mode: 'madmax',
        proxy: { port: 2222 },
        llm: { api_key: 'sk-env' },
      });
      expect(file.entry('proxy.port').overriddenBy).toBe('METACLAW_PROXY_PORT');
      expect(file.entry('mode').overriddenBy).toBe('a flag of this run');
      expect(file.problems()).toEqual([expect.objectContaining({ hint: 'Is METACLAW_LLM_API_KEY meant?' })]);
      file.set('llm.model_id', 'm');
      expect(text()).toBe('mode: rl\nproxy:\n  port: 1111\nllm:\n  model_id: m\n');
    });

    it('names the variable that holds a wrong value', () => {
      expect(errors(open({ env: { METACLAW_PROXY_PORT: 'x' } }))[0]?.message).toContain(
        'METACLAW_PROXY_PORT',
      );
    });

    it('says when a referenced secret is gone', () => {
      write('llm:\n  api_key: secret:llm.api_key\n');
      const file = open();
      expect(file.current.llm.api_key).toBe('');
      expect(errors(file)[0]?.message).toContain('nothing is stored');
    });

    it('uses a pasted key or token of the chosen provider', () => {
      secrets.set('auth.kimi.key', 'k1');
      secrets.set('auth.kimi.token', 't1');
      write('llm:\n  provider: kimi\n');
      const file = open();
      expect(file.current.llm.api_key).toBe('k1');
      file.set('llm.auth_method', 'oauth_token');
      expect(file.current.llm.api_key).toBe('t1');
    });
  });

  it('works without a file, and creates it on the first set only', () => {
    const file = open();
    expect(file.problems()).toEqual([]);
    expect(existsSync(path)).toBe(false);
    file.set('mode', 'rl');
    expect(parse(text())).toEqual({ mode: 'rl' });
  });

  it.each(['there', 'not there yet'])(
    'notices an edit by someone else, and an atomic replace: %s',
    async (how) => {
      if (how === 'there') write('mode: rl\n');
      const file = open();
      const heard: string[] = [];
      file.onChange((config) => heard.push(config.mode));
      const stop = file.watch(systemClock());
      try {
        // Before the watcher stands.
        write('mode: skills_only\n');
        await vi.waitUntil(() => heard.includes('skills_only'), { timeout: 5000 });
        open().set('mode', 'madmax');
        await vi.waitUntil(() => heard.includes('madmax'), { timeout: 5000 });
      } finally {
        await stop();
      }
    },
  );
});
