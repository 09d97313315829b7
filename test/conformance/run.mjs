// @ts-check
// `npm run test:clients`: real agents against a whole MetaClaw and a scripted provider. The agents come from the npm
// registry into a cache beside the other downloads for development; the tests run where only loopback exists.
// Arguments go to vitest, e.g. `npm run test:clients -- -t 'Claude Code'`.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npm, run } from '../../scripts/lib/child.mjs';
import { withLock } from '../../scripts/lib/lock.mjs';
import { cacheDir, root } from '../../scripts/lib/paths.mjs';
import { runScript, say, tail } from '../../scripts/lib/say.mjs';
import { checkNode, ensureBuild, ensureDependencies } from '../../scripts/lib/setup.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const installLimitMs = 10 * 60_000;

await runScript(async () => {
  checkNode();
  await ensureDependencies();
  const folder = await ensureClients();
  if (folder === undefined) return;
  await ensureBuild();
  const vitest = [
    process.execPath,
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    ...['run', '--root', root, '--config', join(here, 'vitest.config.ts')],
    ...process.argv.slice(2),
  ];
  const scratch = mkdtempSync(join(tmpdir(), 'metaclaw-clients-'));
  try {
    const env = { ...process.env, METACLAW_CONFORMANCE_FOLDER: folder, TMPDIR: scratch };
    process.exitCode = await show(await insideLoopback(vitest), env);
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
});

/**
 * Installs the clients once per version of package.json. No install script of theirs runs: the tests take the binaries
 * as they are packed.
 * @returns {Promise<string | undefined>} the folder; undefined, having said why, where they cannot be had
 */
async function ensureClients() {
  const list = readFileSync(join(here, 'package.json'));
  const hash = createHash('sha256').update(list).digest('hex').slice(0, 12);
  const folder = join(cacheDir(), `conformance-${hash}`);
  const stamp = join(folder, '.complete');
  if (existsSync(stamp)) return folder;
  mkdirSync(folder, { recursive: true });
  return await withLock(join(cacheDir(), 'conformance.lock'), 'the clients', async () => {
    if (existsSync(stamp)) return folder;
    say('installing the clients (about 1.5 GB, once)');
    copyFileSync(join(here, 'package.json'), join(folder, 'package.json'));
    const args = [
      'install',
      '--prefix',
      folder,
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    const { code, output } = await npm(args, { cwd: folder, timeoutMs: installLimitMs });
    if (code !== 0) {
      process.stdout.write(`${tail(output, 15)}\n`);
      say('SKIPPED: the clients could not be installed; npm’s last words stand above');
      return undefined;
    }
    writeFileSync(stamp, '');
    return folder;
  });
}

/**
 * The same command in a network namespace that has loopback and nothing else, so that no agent reaches anybody, and in
 * a process namespace, so that nothing outlives the run. The shell stays as its first process and buries the orphans.
 * @param {readonly string[]} command
 * @returns {Promise<readonly string[]>}
 */
async function insideLoopback(command) {
  const inner = ['sh', '-c', 'ip link set lo up || exit 1; "$@"; exit $?', 'sh'];
  for (const user of [[], ['--map-root-user']]) {
    const wrap = [...user, '--net', '--pid', '--fork', '--mount-proc', '--kill-child', ...inner];
    const { code } = await run('unshare', [...wrap, 'true']);
    if (code === 0) return ['unshare', ...wrap, ...command];
  }
  say(
    'no network namespace can be made here; the agents are held back by a proxy setting that leads nowhere',
  );
  return command;
}

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
