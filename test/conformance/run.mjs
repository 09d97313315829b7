// @ts-check
// `npm run test:clients`: real agents against a whole MetaClaw and a scripted provider; `npm test` runs a sample of it
// in CI. Arguments go to vitest, e.g. `npm run test:clients -- -t 'Claude Code'`.
import { spawn } from 'node:child_process';
import { ensureClients, runClientTests } from '../../scripts/lib/clients.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import { runScript } from '../../scripts/lib/say.mjs';
import { checkNode, ensureBuild, ensureDependencies } from '../../scripts/lib/setup.mjs';

const installLimitMs = 10 * 60_000;

await runScript(async () => {
  checkNode();
  await ensureDependencies();
  const folder = await ensureClients(installLimitMs);
  if (folder === undefined) return;
  await ensureBuild();
  const args = [
    'test/conformance/clients.test.ts',
    'test/conformance/connect.test.ts',
    ...process.argv.slice(2),
  ];
  process.exitCode = await runClientTests(folder, args, show);
});

/**
 * Runs a command in this terminal.
 * @param {readonly string[]} command
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>} its exit code
 */
function show([file = '', ...args], env) {
  return new Promise((done) => {
    const child = spawn(file, args, { cwd: root, env, stdio: 'inherit' });
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
      process.on(signal, () => child.kill('SIGKILL'));
    child.once('error', () => done(127));
    child.once('exit', (code) => done(code ?? 1));
  });
}
