import { describe, expect, it } from 'vitest';
import { closure, importedPackages } from '../../../scripts/notices.mjs';

describe('third-party notices', () => {
  it('see every way in which the source names a package', () => {
    const source = `
      import a from 'alpha';
      import { b } from "@scope/beta/deep/file";
      export * from 'gamma/x';
      import 'delta/style.css';
      const e = await import('epsilon');
      const f = requireNative('zeta');
      @import '@fontsource/eta/index.css';
      import fs from 'node:fs'; import path from 'path'; import own from '../own';
    `;
    expect([...importedPackages(source)].sort()).toEqual(
      ['alpha', '@scope/beta', 'gamma', 'delta', 'epsilon', 'zeta', '@fontsource/eta'].sort(),
    );
  });

  // The wrong copy would give the wrong licence; a platform's package a different file on each machine.
  it('resolve nested copies as Node does and leave out packages of one platform', () => {
    const packages = {
      'node_modules/a': { dependencies: { b: '2', '@types/c': '1' }, optionalDependencies: { native: '1' } },
      'node_modules/a/node_modules/b': { dependencies: { d: '1' } },
      'node_modules/b': {},
      'node_modules/d': {},
      'node_modules/native': { os: ['linux'] },
      'node_modules/@types/c': {},
    };
    expect(closure(packages, ['a'])).toEqual([
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/d',
    ]);
  });
});
