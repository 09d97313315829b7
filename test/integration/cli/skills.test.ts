import { existsSync, readFileSync } from 'node:fs';
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
