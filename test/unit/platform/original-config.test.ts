import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ConfigFile } from '../../../src/engine/platform/config-file.ts';
import { getAt } from '../../../src/engine/platform/config-values.ts';
import { silentLogger } from '../../../src/engine/platform/logger.ts';
import { FileSecretStore } from '../../../src/engine/platform/secrets.ts';
import { DEFAULT_CONFIG } from '../../../src/shared/config.ts';
import { findKey } from '../../../src/shared/config-keys.ts';

/** Files in which every key of the original has a value that is not our default. */
const FILES = {
  '0.4.1': 'test/fixtures/config/every-key-0.4.1.yaml',
  '0.3.3': 'test/fixtures/config/every-key-0.3.3.yaml',
} as const;

/** What is not taken word by word. */
const READ_AS: Readonly<Record<string, unknown>> = {
  'mode=auto': 'madmax',
  'openrouter.fallback_models=deepseek/deepseek-chat, qwen/qwen3-max': [
    'deepseek/deepseek-chat',
    'qwen/qwen3-max',
  ],
};

/** Old names: the value counts under the new one too. */
const ARRIVES_AT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '0.4.1': { 'rl.tinker_api_key': 'rl.api_key', 'memory.auto_upgrade_enabled': 'memory.adaptive' },
  '0.3.3': { 'memory.top_k': 'memory.max_injected_units', 'memory.max_tokens': 'memory.max_injected_tokens' },
};

const leaves = (node: Record<string, unknown>, prefix = ''): [path: string, value: unknown][] =>
  Object.entries(node).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null
      ? leaves(value as Record<string, unknown>, `${prefix}${name}.`)
      : [[`${prefix}${name}`, value] as [string, unknown]],
  );

describe.each(['0.4.1', '0.3.3'] as const)('a full file of the original %s', (version) => {
  const written = leaves(parse(readFileSync(FILES[version], 'utf8')) as Record<string, unknown>);
  let home: string;
  let file: ConfigFile;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'metaclaw-original-'));
    copyFileSync(FILES[version], join(home, 'config.yaml'));
    file = new ConfigFile({
      path: join(home, 'config.yaml'),
      lastGood: join(home, 'last-good.yaml'),
      secrets: new FileSecretStore(join(home, 'secrets.json')),
      env: {},
      overrides: {},
      log: silentLogger(),
    });
    file.load();
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it.each(written)(
    '%s arrives: a key that is lost, renamed or coerced changes an agent silently',
    (path, value) => {
      const expected = READ_AS[`${path}=${value}`] ?? value;
      const { current } = file;
      expect(findKey(path), path).not.toBeNull();
      expect(getAt(current, path)).toEqual(expected);
      const target = ARRIVES_AT[version]?.[path];
      if (target !== undefined) expect(getAt(current, target)).toEqual(expected);
    },
  );

  it('proves something: nothing but auto, which is our default, could be lost unseen', () => {
    const dull = written.filter(
      ([path, value]) =>
        JSON.stringify(getAt(DEFAULT_CONFIG, path)) === JSON.stringify(READ_AS[`${path}=${value}`] ?? value),
    );
    expect(dull.map(([path]) => path)).toEqual(version === '0.4.1' ? ['mode'] : []);
  });

  it('is loaded without a complaint about a key, left as it is, and taken from the eyes of others', () => {
    // The one of 0.4.1 is open to the network without a key.
    expect(file.problems().map((problem) => [problem.severity, problem.path])).toEqual(
      version === '0.4.1' ? [['warning', 'proxy.host']] : [],
    );
    expect(readFileSync(join(home, 'config.yaml'), 'utf8')).toBe(readFileSync(FILES[version], 'utf8'));
    if (process.platform !== 'win32') expect(statSync(join(home, 'config.yaml')).mode & 0o777).toBe(0o600);
    const secrets = written.filter(([path]) => findKey(path)?.secret).map(([, value]) => value);
    expect(secrets.length).toBeGreaterThan(2);
    for (const secret of secrets) expect(JSON.stringify(file.entries())).not.toContain(secret);
  });
});
