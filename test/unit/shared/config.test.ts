import { describe, expect, it } from 'vitest';
import { configSchema, DEFAULT_CONFIG } from '../../../src/shared/config.ts';
import {
  describeConfig,
  editDistance,
  envName,
  findKey,
  nearestKey,
} from '../../../src/shared/config-keys.ts';
import { effectiveMode, isLoopback, listenAddress } from '../../../src/shared/config-rules.ts';

describe('config schema', () => {
  it('tolerates the spellings that files of the original hold', () => {
    const config = configSchema.parse({
      mode: 'auto',
      skills: null,
      llm: { model_id: 123, api_key: null },
      proxy: { port: '31001' },
      memory: { enabled: 'false', use_embeddings: 'yes', manual_trigger: 0 },
      scheduler: { sleep_start: 1380, sleep_end: '7:05' },
      openrouter: { fallback_models: 'a, b' },
    });
    expect(config.mode).toBe('madmax');
    expect(config.skills).toEqual(DEFAULT_CONFIG.skills);
    expect(config.llm.model_id).toBe('123');
    expect(config.llm.api_key).toBe('');
    expect(config.proxy.port).toBe(31_001);
    expect(config.memory).toMatchObject({ enabled: false, use_embeddings: true, manual_trigger: false });
    expect(config.scheduler).toMatchObject({ sleep_start: '23:00', sleep_end: '7:05' });
    expect(config.openrouter.fallback_models).toEqual(['a', 'b']);
  });

  it('gives an agent only what is its own: no default of ours may shadow llm.*', () => {
    expect(
      configSchema.parse({ agents: { openclaw: { llm: { model_id: 'x' } }, hermes: null } }).agents,
    ).toEqual({
      openclaw: { llm: { model_id: 'x' } },
      hermes: {},
    });
  });

  it('has unambiguous environment names, so that METACLAW_… names exactly one key', () => {
    const names = describeConfig().map((key) => envName(key.path));
    expect(new Set(names).size).toBe(names.length);
  });

  it('marks every key whose name says that it is a secret', () => {
    const open = describeConfig().filter((key) => /api_key$|token$/.test(key.path) && !key.secret);
    expect(open.map((key) => key.path)).toEqual([]);
  });
});

describe('nearestKey', () => {
  it.each([
    ['llm.apikey', 'llm.api_key'],
    ['proxy.prot', 'proxy.port'],
    ['memroy.enabled', 'memory.enabled'],
    ['llm.api-key', 'llm.api_key'],
    ['port', 'proxy.port'],
    ['moed', 'mode'],
    ['skill', 'skills'],
  ])('%s → %s', (typo, meant) => expect(nearestKey(typo)).toBe(meant));

  it('does not guess when nothing is near', () => expect(nearestKey('zebra.crossing')).toBeNull());

  it('counts a swap of neighbours once', () => {
    expect(editDistance('prot', 'port')).toBe(1);
    expect(editDistance('', 'abc')).toBe(3);
    expect(editDistance('same', 'same')).toBe(0);
  });
});

describe('findKey', () => {
  it('knows the keys of one agent', () => {
    expect(findKey('agents.openclaw.llm.api_key')).toMatchObject({ secret: true, kind: 'text' });
    expect(findKey('agents.openclaw.private')).toMatchObject({ kind: 'boolean' });
    expect(findKey('agents.openclaw.llm.colour')).toBeNull();
    expect(findKey('constructor')).toBeNull();
  });
});

describe('effectiveMode', () => {
  const with_ = (change: object) => configSchema.parse(change);
  it('says why training is off, and is quiet when nothing differs', () => {
    expect(effectiveMode(with_({ mode: 'skills_only' }))).toEqual({ mode: 'skills_only', reason: null });
    expect(effectiveMode(with_({}))).toEqual({
      mode: 'skills_only',
      reason: 'off',
    });
    expect(effectiveMode(with_({ mode: 'rl', rl: { enabled: true } }), true).reason).toBe('key');
    expect(effectiveMode(with_({ mode: 'rl', rl: { enabled: true, api_key: 'k', model: 'm' } })).mode).toBe(
      'skills_only',
    );
    expect(
      effectiveMode(with_({ mode: 'rl', rl: { enabled: true, api_key: 'k', model: 'm' } }), true),
    ).toEqual({
      mode: 'rl',
      reason: null,
    });
  });
});

describe('listenAddress', () => {
  it('keeps an open address without a key on loopback, and says so', () => {
    const open = listenAddress(configSchema.parse({ proxy: { host: '0.0.0.0' } }));
    expect(open.host).toBe('127.0.0.1');
    expect(open.warning).toContain('0.0.0.0');
    expect(listenAddress(configSchema.parse({ proxy: { host: '0.0.0.0', api_key: 'k' } }))).toMatchObject({
      host: '0.0.0.0',
      warning: null,
    });
    expect(listenAddress(DEFAULT_CONFIG)).toEqual({ host: '127.0.0.1', port: 30_000, warning: null });
  });

  it('is not fooled by names that begin like loopback', () => {
    expect(isLoopback('127.0.0.1.evil.example')).toBe(false);
    expect(isLoopback('127.8.9.1')).toBe(true);
    expect(isLoopback('::1')).toBe(true);
  });
});
