import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileSecretStore } from '../../../src/engine/platform/secrets.ts';

describe('file secret store', () => {
  let dir: string;
  let path: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'metaclaw-secrets-'));
    path = join(dir, 'state', 'secrets.json');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('keeps values over a new store, readable by the owner only', () => {
    new FileSecretStore(path).set('llm.api_key', 'sk-1 “ü”');
    const again = new FileSecretStore(path);
    expect(again.get('llm.api_key')).toBe('sk-1 “ü”');
    expect(again.names()).toEqual(['llm.api_key']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    again.clear('llm.api_key');
    expect(new FileSecretStore(path).get('llm.api_key')).toBeNull();
  });

  it('closes a file that others could read', () => {
    const store = new FileSecretStore(path);
    store.set('a', 'b');
    writeFileSync(path, readFileSync(path), { mode: 0o644 });
    expect(store.get('a')).toBe('b');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('moves a damaged file aside and says so, instead of writing over it', () => {
    const store = new FileSecretStore(path);
    store.set('a', 'precious');
    writeFileSync(path, readFileSync(path).subarray(0, 20));
    expect(store.get('a')).toBeNull();
    store.set('c', 'd');
    const kept = readdirSync(join(dir, 'state')).filter((name) => name.includes('damaged'));
    expect(kept).toHaveLength(1);
    expect(store.describe().detail).toContain('damaged');
    expect(store.get('c')).toBe('d');
  });

  it('does not answer for names of the object prototype', () => {
    expect(new FileSecretStore(path).get('constructor')).toBeNull();
    expect(new FileSecretStore(path).get('__proto__')).toBeNull();
  });
});
