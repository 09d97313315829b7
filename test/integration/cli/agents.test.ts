import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { useCliLab } from '../../support/cli-lab.ts';

const lab = useCliLab();

/** As a user whose home is the state folder, with no agent's program on the path. */
function run(...args: string[]) {
  const { cli } = lab;
  return cli.run(['agents', ...args], { env: { HOME: cli.home, USERPROFILE: cli.home, PATH: '/nowhere' } });
}

// Would catch a command that changes an agent's settings without being told to.
it('shows the changes, makes them only when it may, and takes them back', async () => {
  const file = lab.cli.path('.codex', 'config.toml');
  await mkdir(dirname(file));
  await writeFile(file, 'model = "x"\n');

  expect((await run('list')).stdout).toMatch(/codex +- +not connected/);
  const plan = await run('plan', 'codex');
  expect(plan.stdout).toContain('+model_provider = "metaclaw"');
  const unsure = await run('connect', 'codex');
  expect(unsure.code).toBe(1);
  expect(unsure.stderr).toContain('Add --yes.');
  expect(await readFile(file, 'utf8')).toBe('model = "x"\n');

  const connected = await run('connect', 'codex', '--yes');
  expect(connected.stdout).toContain('Codex is connected.');
  expect(connected.stderr).toContain('MetaClaw does not run');
  expect((await run('connect', 'codex')).stdout).toContain('Connected already');
  expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject({
    agents: expect.arrayContaining([expect.objectContaining({ id: 'codex', state: 'connected' })]),
  });

  expect((await run('disconnect', 'codex')).stdout).toContain(`Put back: ${file}`);
  expect(await readFile(file, 'utf8')).toBe('model = "x"\n');
  expect((await run('disconnect', 'codex')).stderr).toContain('Codex is not connected.');
});

it('names the agents that it knows, and helps with the others', async () => {
  const unknown = await run('plan', 'cursor');
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toContain('metaclaw agents snippet');
  expect((await run('snippet')).stdout).toContain('OpenAI base URL');
});
