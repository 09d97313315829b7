import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { locate } from '../../../src/main/page-files.ts';

let top: string;
let folder: string;

beforeAll(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'metaclaw-page-')));
  folder = join(top, 'renderer');
  await mkdir(join(folder, 'assets'), { recursive: true });
  await writeFile(join(folder, 'index.html'), 'page');
  await writeFile(join(folder, 'assets', 'a b.js'), 'script');
  await writeFile(join(top, 'secret.txt'), 'secret');
  await mkdir(join(top, 'renderer-more'));
  await writeFile(join(top, 'renderer-more', 'x.js'), 'other');
  await symlink(join(top, 'secret.txt'), join(folder, 'link.txt'));
});
afterAll(() => rm(top, { recursive: true, force: true }));

test('files of the page are found', async () => {
  expect(await locate(folder, '/')).toBe(join(folder, 'index.html'));
  expect(await locate(folder, '/assets/a%20b.js')).toBe(join(folder, 'assets', 'a b.js'));
});

// Would catch a page that can read the user's files through its own address.
test.each([
  '/../secret.txt',
  '/%2e%2e/secret.txt',
  '/..%2fsecret.txt',
  '/assets/../../secret.txt',
  '/../renderer-more/x.js',
  '/link.txt',
  '/assets',
  '/missing.js',
  '/%00.js',
  '/%',
])('%s is not served', async (path) => {
  expect(await locate(folder, path)).toBeNull();
});
