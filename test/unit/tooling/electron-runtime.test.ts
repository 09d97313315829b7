import { describe, expect, it } from 'vitest';
import { downloadRetryMs, fallback, planRuntime, runtimeEnv } from '../../../scripts/electron-runtime.mjs';

const facts = {
  override: undefined,
  installed: false,
  downloadFailedAgoMs: undefined,
  platform: 'linux',
  arch: 'x64',
};

describe('the choice of an Electron runtime', () => {
  it('obeys an override and tries nothing else', () => {
    expect(planRuntime({ ...facts, override: '/opt/electron', installed: true })).toEqual(['override']);
  });

  it('takes an installed Electron without a download', () => {
    expect(planRuntime({ ...facts, installed: true })).toEqual(['installed']);
  });

  it('prefers the official download to the fallback', () => {
    expect(planRuntime(facts)).toEqual(['download', 'fallback']);
  });

  // Each start on a closed network would otherwise wait for the same failure again.
  it('remembers a failed download for some time', () => {
    expect(planRuntime({ ...facts, downloadFailedAgoMs: 1000 })).toEqual(['fallback']);
    expect(planRuntime({ ...facts, downloadFailedAgoMs: downloadRetryMs + 1 })).toEqual([
      'download',
      'fallback',
    ]);
  });

  it('has a fallback for one platform only', () => {
    expect(planRuntime({ ...facts, platform: 'darwin' })).toEqual(['download']);
    expect(planRuntime({ ...facts, arch: 'arm64', downloadFailedAgoMs: 1000 })).toEqual(['download']);
  });

  it('tells other tools of a runtime that they would not find', () => {
    const runtime = {
      kind: 'fallback',
      executable: '/c/electron',
      dist: '/c',
      version: fallback.electron,
    } as const;
    expect(runtimeEnv(runtime)).toEqual({
      ELECTRON_OVERRIDE_DIST_PATH: '/c',
      ELECTRON_EXEC_PATH: '/c/electron',
    });
  });
});
