import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Cli, createCli, freePort } from '../../support/cli.ts';
import { MemoryPlugin } from '../../support/memory-plugin.ts';

vi.setConfig({ testTimeout: 120_000 });

let cli: Cli;
beforeEach(() => {
  cli = createCli();
});
afterEach(() => cli.close());

/** Standard output of a command that succeeds. */
async function run(args: readonly string[], input?: string): Promise<string> {
  const result = await cli.run(['memory', ...args], input === undefined ? {} : { input });
  expect(result.code, `${args.join(' ')}\n${result.all}`).toBe(0);
  return result.stdout;
}

/** Standard error of a command that fails with the code. */
async function refused(code: number, ...args: string[]): Promise<string> {
  const result = await cli.run(['memory', ...args]);
  expect(result.code, `${args.join(' ')}\n${result.all}`).toBe(code);
  return result.stderr;
}

async function add(...args: string[]): Promise<string> {
  return JSON.parse(await run(['add', '--json', ...args])).id;
}

it('remembers and finds without a host, leaves nothing that looks like one, and goes on with a host', async () => {
  expect(await run(['status'])).toMatch(/^Memory is on\.\n0 memories and 0 things said/);
  expect(await run(['list'])).toBe('Nothing is remembered that fits.\n');
  const tea = await add('--kind', 'preference', '--tag', 'drinks', 'I', 'like', 'green', 'tea');
  expect(await run(['add', '-'], 'The printer is in room 12\n')).toMatch(/^Remembered: [0-9a-f]{8}\.\n$/);
  expect(await run(['add', 'The printer is in room 12'])).toMatch(/^Known already: /);
  expect(await run(['search', 'green', 'tea'])).toContain('I like green tea');
  expect(existsSync(cli.path('runtime.json'))).toBe(false);
  await cli.host();
  await add('--scope', 'user:alice|workspace:api', 'Alice', 'deploys', 'on', 'Fridays');
  expect(await run(['list'])).toMatch(/preference +\d{4}-\d\d-\d\d +default +I like green tea/);
  expect(await run(['list', '--scope', 'workspace:api|user:alice'])).toMatch(
    /^\S+ .* Alice deploys on Fridays\n$/,
  );
  expect(await run(['scopes'])).toMatch(/default +2 memories[\s\S]*user:alice\|workspace:api +1 memory/);
  expect(await run(['search', 'green', 'tea'])).toMatch(
    /^\* +\d\.\d\d +[0-9a-f]{8} +preference .*I like green tea/,
  );
  expect(await run(['search', 'deploys on Fridays'])).toMatch(/^Nothing comes to mind\./);
  expect(await run(['search', '--scope', 'user:alice|workspace:api', 'deploys', 'Fridays'])).toContain(
    'Alice',
  );
  expect(JSON.parse(await run(['search', '--json', '--explain', 'green tea']))[0].reason).toMatch(/tea/);

  const short = tea.slice(0, 8);
  expect(
    await run(['edit', short, '--text', 'I like black tea', '--expires', '2099-01-31', '--tag', 'tea']),
  ).toBe(`Changed: ${short}.\n`);
  expect(await run(['pin', short])).toBe('Pinned: 1 memory.\n');
  const shown = await run(['show', short]);
  expect(shown).toMatch(/^I like black tea\n/);
  for (const line of [
    /state +active, pinned/,
    /expires +2099-01-31 00:00/,
    /tags +tea/,
    /edited by user: I like green tea/,
  ])
    expect(shown).toMatch(line);
  expect(await run(['unpin', short])).toBe('Unpinned: 1 memory.\n');
  expect(await run(['stats'])).toMatch(/memories +3/);
});

it('says what is wrong in one sentence, with an exit code', async () => {
  await cli.host();
  expect(await refused(1, 'show', 'zzz')).toContain('There is no memory whose id begins with "zzz"');
  const [one, two] = [await add('The one fact about apples'), await add('Another fact about pears')];
  let shared = 0;
  while (one?.[shared] === two?.[shared]) shared += 1;
  if (shared > 0)
    expect(await refused(1, 'show', one?.slice(0, shared) ?? '')).toContain('2 memories have ids');
  expect(await refused(1, 'edit', one ?? '')).toContain('--text or --file');
  expect(await refused(1, 'edit', one ?? '', '--text', ' ')).toContain('The text is empty');
  expect(await refused(1, 'merge', one ?? '', '--text', 'x')).toContain('Two or more');
  expect(await refused(1, 'forget')).toContain('Say what to forget');
  expect(await refused(1, 'forget', one ?? '', '--now')).toContain('--yes');
  expect(await refused(1, 'wipe')).toContain('--yes');
  expect(await refused(1, 'import')).toContain('--from-original');
  expect(await refused(1, 'settle', 'none', 'one')).toContain('metaclaw memory conflicts');
  expect(await refused(1, 'add', ' ')).toContain('The text is empty');
  expect(await refused(2, 'add')).toContain('missing required argument');
  expect(await refused(2, 'list', '--kind', 'dream')).toContain('Allowed choices');
  expect(await refused(2, 'add', 'x', '--expires', 'soon')).toContain('2027-01-31');
  expect(JSON.parse((await cli.run(['memory', 'show', 'zzz', '--json'])).stdout).error.code).toBe(
    'NOT_FOUND',
  );
});

it('forgets at once and for good, and brings back what was not for good', async () => {
  const tea = await add('I like green tea');
  await add('The printer is in room 12');
  expect(await run(['forget', tea.slice(0, 8)])).toMatch(/^Forgotten: 1 memory\.\nBring it back/);
  expect(await run(['list'])).not.toContain('tea');
  expect(await run(['list', '--status', 'forgotten'])).toContain('tea');
  expect(await run(['restore', tea.slice(0, 8)])).toBe('Restored: 1 memory.\n');
  expect(await refused(1, 'forget', '--query', 'green tea')).toContain('I like green tea');
  expect(await run(['forget', '--query', 'green tea', '--yes'])).toContain('Forgotten: 1 memory.');
  expect((await cli.run(['memory', 'forget', '--query', 'green tea', '--yes'])).code).toBe(1);
  expect(await run(['restore', '--all'])).toBe('Restored: 1 memory.\n');
  expect(await run(['forget', tea, '--now', '--yes'])).toBe('Forgotten for good: 1 memory.\n');
  expect(await refused(1, 'show', tea)).toContain('There is no memory');
  expect(readFileSync(cli.path('state.db')).includes('green tea')).toBe(false);
  expect(await run(['wipe', '--yes'])).toContain('Forgotten: 1 memory and 0 things said.');
  expect(await run(['restore', '--all'])).toBe('Restored: 1 memory.\n');
  expect(await run(['wipe', '--now', '--yes'])).toContain('for good');
  expect((await cli.run(['memory', 'restore', '--all'])).code).toBe(1);
});

it('takes memories in and gives them out without loss, with a host as without', async () => {
  writeFileSync(
    cli.path('notes.md'),
    '# Drinks\n\n- I like green tea\n- The machine is cleaned on Mondays\n',
  );
  expect(await run(['import', cli.path('notes.md'), '--dry-run'])).toContain('Would take: 2 memories');
  expect(await run(['list'])).toBe('Nothing is remembered that fits.\n');
  expect(await run(['import', cli.path('notes.md')])).toContain('Taken: 2 memories');
  expect(await run(['import', cli.path('notes.md')])).toContain('2 known already');
  await cli.host();
  expect(await run(['export', cli.path('all.jsonl')])).toContain('Exported 2 memories');
  expect(await refused(1, 'export', cli.path('all.jsonl'))).toContain('--force');
  expect(await run(['export', cli.path('all.jsonl'), '--force'])).toContain('Exported 2 memories');
  const lines = await run(['export', '-']);
  expect(lines).toContain('I like green tea');
  expect(await run(['export', '-', '--format', 'markdown'])).toContain('I like green tea');
  await run(['wipe', '--now', '--yes']);
  expect(await run(['import', '-', '--format', 'jsonl'], lines)).toContain('Taken: 2 memories');
  expect(await refused(1, 'import', '--from-original')).toContain('memory.db');
});

it('merges, and settles what is in doubt', async () => {
  await cli.host();
  const one = await add('The office closes at six');
  const other = await add('On Fridays the office closes at four');
  const merged = JSON.parse(
    await run(['merge', one, other, '--text', 'The office closes at six, on Fridays at four', '--json']),
  );
  expect(await run(['list'])).toMatch(/^\S+ .* The office closes at six, on Fridays at four\n$/);
  expect(await run(['show', merged.id])).toMatch(/It replaced:\n[\s\S]*The office closes at six/);
  expect(await run(['conflicts'])).toBe('Nothing is in doubt.\n');
  expect(await run(['consolidate', '--dry-run'])).toMatch(/^Would replace: 0 memories\. Would end: 0\./);
  expect(await run(['consolidate'])).toMatch(/^Replaced: 0 memories\./);
});

it('serves the sidecar alone: one host, which other commands talk to, until a signal', async () => {
  const port = await freePort();
  const child = cli.spawn(['memory', 'serve', '--port', String(port)]);
  await vi.waitUntil(() => child.output().includes('The sidecar answers') || child.exitCode !== null, 20_000);
  const plugin = new MemoryPlugin(`http://127.0.0.1:${port}`);
  expect(await plugin.remember('The wifi password is on the fridge')).toContain('Remembered');
  expect(await run(['list'])).toContain('wifi password');
  expect((await cli.run(['start', '--port', '0'])).stderr).toContain('already runs');
  expect(await run(['serve', '--port', String(port)])).toContain('already');
  child.kill('SIGINT');
  await vi.waitUntil(() => child.exitCode !== null, 20_000);
  expect(child.exitCode).toBe(0);
  expect(child.output()).toContain('The sidecar has stopped.');
  expect(existsSync(cli.path('runtime.json'))).toBe(false);
});

it('lets a running host serve the sidecar for as long as the command runs', async () => {
  await cli.host();
  const port = await freePort();
  const child = cli.spawn(['memory', 'serve', '--port', String(port)]);
  await vi.waitUntil(() => child.output().includes('The sidecar answers') || child.exitCode !== null, 20_000);
  expect(child.output()).toContain('served by MetaClaw (pid ');
  expect(await new MemoryPlugin(`http://127.0.0.1:${port}`).waitForReady()).toBe(true);
  child.kill('SIGTERM');
  await vi.waitUntil(() => child.exitCode !== null, 20_000);
  expect(child.exitCode).toBe(0);
  await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();

  const second = cli.spawn(['memory', 'serve', '--port', String(port)]);
  await vi.waitUntil(
    () => second.output().includes('The sidecar answers') || second.exitCode !== null,
    20_000,
  );
  expect((await cli.run(['stop'])).code).toBe(0);
  await vi.waitUntil(() => second.exitCode !== null, 20_000);
  expect(second.exitCode).toBe(1);
  expect(second.output()).toContain('has ended, and the sidecar with it');
});

it('names the program that holds the sidecar’s port', async () => {
  const { port } = await cli.host();
  expect(await refused(1, 'serve', '--port', String(port))).toMatch(
    /Port \d+ is already in use by .+ --port/s,
  );
});
