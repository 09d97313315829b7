import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkDependencies } from '../../../scripts/lib/dependency-rules.mjs';

const clean = {
  'src/shared/model.ts': 'export type A = string;',
  'src/engine/ports.ts': 'export const p = 1;',
  'src/engine/upstream/index.ts': "import { p } from '../ports'; export const u = p;",
  'src/engine/upstream/presets.ts': 'export const q = 1;',
  'src/engine/memory/index.ts': "import { p } from '../ports'; export const m = p;",
  'src/engine/proxy/index.ts': "import { u } from '../upstream/index'; export const x = u;",
  'src/engine/index.ts':
    "import { x } from './proxy/index'; import { m } from './memory/index'; export const e = [x, m];",
  'src/cli/index.ts': "import { e } from '../engine/index'; export const c = e;",
  'src/preload/index.ts': "import type { A } from '../shared/model'; export const a: A = '';",
};

const planted: Record<string, readonly [file: string, text: string]> = {
  'shared-is-pure': ['src/shared/bad.ts', "import 'node:fs';"],
  'engine-knows-no-host': ['src/engine/bad.ts', "import '../cli/index';"],
  'features-are-islands': ['src/engine/memory/bad.ts', "import '../upstream/index';"],
  'proxy-knows-three-features': ['src/engine/proxy/bad.ts', "import '../memory/index';"],
  'features-use-the-base-only': ['src/engine/skills/bad.ts', "import '../index';"],
  'base-knows-no-feature': ['src/engine/store/bad.ts', "import '../memory/index';"],
  'features-have-one-door': ['src/engine/doctor.ts', "import './upstream/presets';"],
  'hosts-use-the-front': ['src/main/bad.ts', "import '../cli/index';"],
  'preload-is-thin': ['src/preload/bad.ts', "import '../engine/ports';"],
  'preload-takes-types-only': ['src/preload/value.ts', "import '../shared/model';"],
  'renderer-is-a-page': [
    'src/renderer/src/bad.ts',
    "import type { e } from '../../engine/index'; export type B = typeof e;",
  ],
  'renderer-has-no-node': ['src/renderer/src/core.ts', "import 'node:path';"],
  'one-owner-of-sqlite': ['src/engine/other.ts', "import 'node:sqlite';"],
  'no-cycles': ['src/shared/one.ts', "import { two } from './two'; export const one = two;"],
};

let base: string;
const write = (file: string, text: string) => {
  mkdirSync(dirname(join(base, file)), { recursive: true });
  writeFileSync(join(base, file), text);
};

describe('the dependency rules', () => {
  beforeAll(() => {
    base = mkdtempSync(join(tmpdir(), 'metaclaw-rules-'));
    for (const [file, text] of Object.entries(clean)) write(file, text);
  });
  afterAll(() => rmSync(base, { recursive: true, force: true }));

  it('allow the architecture as it is drawn, and count its modules', async () => {
    expect(await checkDependencies(base)).toEqual({ modules: Object.keys(clean).length, violations: [] });
  });

  // A rule with a slip in its pattern forbids nothing and looks just as green.
  it('each catch a planted violation', async () => {
    for (const [file, text] of Object.values(planted)) write(file, text);
    write('src/shared/two.ts', "import { one } from './one'; export const two = one;");
    const { violations } = await checkDependencies(base);
    for (const [rule, [file]] of Object.entries(planted)) {
      expect
        .soft(
          violations.some((one) => one.startsWith(`${rule}: ${file} → `)),
          rule,
        )
        .toBe(true);
    }
  });
});
