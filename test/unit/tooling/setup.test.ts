import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isDebianLike, missingPackages } from '../../../scripts/lib/debian.mjs';
import { findDisplay } from '../../../scripts/lib/display.mjs';
import { withLock } from '../../../scripts/lib/lock.mjs';
import { fingerprint, isInstalledByHand, nodeIsNewEnough, readStamp } from '../../../scripts/lib/setup.mjs';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'metaclaw-setup-'));
  mkdirSync(join(base, 'src', 'deep'), { recursive: true });
  writeFileSync(join(base, 'src', 'deep', 'a.ts'), 'a');
  writeFileSync(join(base, 'src', 'b.ts'), 'b');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('the staleness stamp', () => {
  const take = () => fingerprint(base, ['src', 'config.ts']);

  it('stays the same while nothing changes', () => expect(take()).toBe(take()));

  // Each would leave an old build running after an edit.
  it.each([
    ['a file is edited', () => writeFileSync(join(base, 'src', 'deep', 'a.ts'), 'longer')],
    ['a file is touched', () => utimesSync(join(base, 'src', 'b.ts'), 1, 1)],
    ['a file is added', () => writeFileSync(join(base, 'src', 'c.ts'), '')],
    ['a file is removed', () => rmSync(join(base, 'src', 'b.ts'))],
    ['a missing input appears', () => writeFileSync(join(base, 'config.ts'), '')],
  ])('changes when %s', (_what, change) => {
    const before = take();
    change();
    expect(take()).not.toBe(before);
  });

  it('is never equal to a stamp that does not exist', () => {
    expect(readStamp(join(base, 'none'))).not.toBe(take());
  });
});

describe('dependencies installed by hand', () => {
  it('count when npm finished after the lock file last changed', () => {
    const lock = join(base, 'package-lock.json');
    const record = join(base, 'node_modules', '.package-lock.json');
    mkdirSync(join(base, 'node_modules'));
    writeFileSync(lock, '');
    expect(isInstalledByHand(base)).toBe(false);
    writeFileSync(record, '');
    utimesSync(lock, 10, 10);
    utimesSync(record, 20, 20);
    expect(isInstalledByHand(base)).toBe(true);
    // A pull that brings another lock file.
    utimesSync(lock, 30, 30);
    expect(isInstalledByHand(base)).toBe(false);
  });
});

describe('the Node version', () => {
  it.each([
    ['20.19.0', true],
    ['20.20.2', true],
    ['22.1.0', true],
    ['20.18.3', false],
    ['18.20.0', false],
  ])('%s is new enough: %s', (version, ok) => expect(nodeIsNewEnough(version)).toBe(ok));
});

describe('a lock', () => {
  it('lets one at a time through', async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((done) => setTimeout(done, 20));
      inside -= 1;
    };
    const file = join(base, 'x.lock');
    await Promise.all([withLock(file, 'work', work), withLock(file, 'work', work)]);
    expect(most).toBe(1);
  });

  // A start that was killed in the middle must not block all later ones.
  it('is taken over from a process that has died', async () => {
    const file = join(base, 'x.lock');
    writeFileSync(file, '999999999');
    await expect(withLock(file, 'work', async () => 'done')).resolves.toBe('done');
  });
});

describe('the display', () => {
  const look = (
    env: NodeJS.ProcessEnv,
    sockets: readonly string[] = [],
    platform: NodeJS.Platform = 'linux',
  ) => findDisplay({ platform, env, socketExists: (name) => sockets.includes(name) }).shown;

  it('is there when its socket is', () => {
    expect(look({ DISPLAY: ':7' }, ['/tmp/.X11-unix/X7'])).toBe(true);
    expect(look({ WAYLAND_DISPLAY: 'wayland-0', XDG_RUNTIME_DIR: '/run/u' }, ['/run/u/wayland-0'])).toBe(
      true,
    );
    expect(look({ DISPLAY: 'localhost:10.0' })).toBe(true);
    expect(look({}, [], 'darwin')).toBe(true);
  });

  // A DISPLAY left over from a closed session would crash Electron instead of running headless.
  it('is not there without one', () => {
    expect(look({})).toBe(false);
    expect(look({ DISPLAY: ':7' })).toBe(false);
    expect(look({ WAYLAND_DISPLAY: 'wayland-0' })).toBe(false);
  });
});

describe('Debian packages', () => {
  it('count as installed under their newer names too', () => {
    const installed = new Set(['libgtk-3-0t64', 'xvfb']);
    expect(missingPackages(['libgtk-3-0', 'xvfb', 'trayer'], installed)).toEqual(['trayer']);
  });

  it('are looked for on Debian and its relatives only', () => {
    expect(isDebianLike('NAME="Debian"\nID=debian\n')).toBe(true);
    expect(isDebianLike('ID=linuxmint\nID_LIKE="ubuntu debian"\n')).toBe(true);
    expect(isDebianLike('ID=fedora\nHOME_URL="https://example.org/debian"\n')).toBe(false);
  });
});
