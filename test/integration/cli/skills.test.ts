import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Cli, createCli } from '../../support/cli.ts';

vi.setConfig({ testTimeout: 60_000 });

let cli: Cli;
beforeEach(() => {
  cli = createCli();
});
afterEach(() => cli.close());

it('shows and searches the library without a host, and leaves nothing that looks like one', async () => {
  const list = await cli.run(['skills', 'list', '--json']);
  expect(list).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(list.stdout).skills.length).toBeGreaterThanOrEqual(12);
  const found = await cli.run(['skills', 'search', 'a flaky test fails only in CI']);
  expect(found.stdout).toContain('hunt-a-flaky-test');
  expect(await cli.run(['skills', 'proposals'])).toMatchObject({ code: 0, stdout: 'Nothing waits.\n' });
  expect((await cli.run(['skills', 'accept', 'nothing'])).code).toBe(1);
  expect((await cli.run(['skills', 'lint'])).stdout).toBe('Nothing to remark.\n');
  expect((await cli.run(['skills', 'bank'])).stdout).toBe('The bank has nothing newer than your edits.\n');
  expect(existsSync(cli.path('runtime.json'))).toBe(false);
});

it('logs as much as log.level says, from the moment that it is said', async () => {
  await cli.host();
  const log = () => readFileSync(cli.path('logs', 'metaclaw.log'), 'utf8');
  expect((await cli.run(['config', 'log.level', 'error'])).code).toBe(0);
  expect((await cli.run(['stop'])).code).toBe(0);
  expect(log()).not.toContain('"level":"info"');
  await cli.host();
  expect((await cli.run(['config', 'log.level', 'info'])).code).toBe(0);
  expect((await cli.run(['stop'])).code).toBe(0);
  expect(log()).toContain('stopped');
});

it('changes the library with and without a host: every change is a version, a removal can be taken back', async () => {
  const text = (body: string) => `---\nname: tea\ndescription: Use when brewing tea\n---\n\n${body}\n`;
  const run = async (...args: string[]) => {
    const result = await cli.run(['skills', ...args]);
    expect(result, result.all).toMatchObject({ code: 0, stderr: '' });
    return result.stdout;
  };
  expect((await cli.run(['skills', 'add', '-'], { input: text('Steep.') })).stdout).toBe('Added: tea.\n');
  writeFileSync(cli.path('tea.md'), 'Boil.');
  for (const args of [
    ['add', cli.path('tea.md')],
    ['edit', 'tea', '--file', cli.path('tea.md')],
  ])
    expect((await cli.run(['skills', ...args])).stderr).toContain(`${cli.path('tea.md')}: It has no front`);
  writeFileSync(cli.path('tea.md'), text('Boil.'));
  expect(await run('edit', 'tea', '--file', cli.path('tea.md'))).toContain('version 2');
  await cli.host();
  await run('lock', 'tea');
  expect((await cli.run(['skills', 'remove', 'tea'])).stderr).toContain('skills unlock tea');
  await run('unlock', 'tea');
  await run('disable', 'tea');
  expect(await run('list')).toMatch(/^off\s+tea\s+user/m);
  await run('remove', 'tea');
  expect(await run('restore', 'tea')).toContain('text of version 2');
  const history = await run('history', 'tea', '--diff');
  expect(history).toMatch(/-Steep\.\n\+Boil\./);
  expect(history).toMatch(/@@ -0,0 \+1,\d+ @@\n\+---\n/);
  expect(await run('lint', 'tea')).toContain('tea: It has no metadata.triggers');
  expect(await run('stats')).toBe('No skill has been used yet.\n');
  expect(await run('scope', 'tea', '--agent', 'codex')).toBe('tea is for codex.\n');
  expect(await run('show', 'tea', '1')).toBe(text('Steep.'));
  expect(await run('show', 'tea')).toBe(text('Boil.'));
  expect(await run('log', '--limit', '1')).toMatch(/tea\s+user\s+Restored version 2/);
  await run('export', cli.path('out'), 'tea');
  await run('remove', 'tea');
  expect(await run('import', cli.path('out'))).toBe('Added: tea.\n');
  expect((await cli.run(['skills', 'import', cli.path('out')])).code).toBe(1);
  expect((await cli.run(['skills', 'edit', 'tea'])).stderr).toContain('--file');
});
