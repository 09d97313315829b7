// @ts-check
// Real agents for the conformance tests: installed from the npm registry into a cache beside the other downloads for
// development, and run where only loopback exists.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npm, run } from './child.mjs';
import { withLock } from './lock.mjs';
import { cacheDir, root } from './paths.mjs';
import { say, tail } from './say.mjs';

const conformanceFolder = join(root, 'test', 'conformance');
/** What the installed clients take up, and what npm needs beside it while it unpacks. */
const neededBytes = 3e9;

/**
 * Installs the clients once per version of their list. No install script of theirs runs: the tests take the binaries as
 * they are packed.
 * @param {number} limitMs an installation that takes longer is given up
 * @returns {Promise<string | undefined>} the folder; undefined, having said why in one line, where they cannot be had
 */
export async function ensureClients(limitMs) {
  const list = join(conformanceFolder, 'package.json');
  const hash = createHash('sha256').update(readFileSync(list)).digest('hex').slice(0, 12);
  const folder = join(cacheDir(), `conformance-${hash}`);
  const stamp = join(folder, '.complete');
  if (existsSync(stamp)) return folder;
  mkdirSync(folder, { recursive: true });
  return await withLock(join(cacheDir(), 'conformance.lock'), 'the real clients', async () => {
    if (existsSync(stamp)) return folder;
    const free = freeBytes(folder);
    if (free < neededBytes) {
      say(
        `SKIPPED the real clients: ${gigabytes(neededBytes)} GB are needed in ${cacheDir()}, ${gigabytes(free)} GB are free`,
      );
      return undefined;
    }
    say('installing the real clients (about 2 GB, once)');
    copyFileSync(list, join(folder, 'package.json'));
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const args = ['install', '--prefix', folder, ...options];
    const { code, output } = await npm(args, { cwd: folder, timeoutMs: limitMs });
    if (code !== 0) {
      // npm's first words on an error say what it is, its last ones where the log lies.
      const told =
        /^npm (?:error|ERR!) (?!(?:code|syscall|errno|path|type) )(.+)$/m.exec(output)?.[1] ??
        tail(output, 1).trim();
      say(`SKIPPED the real clients: they could not be installed: ${told || `npm ended with ${code}`}`);
      return undefined;
    }
    writeFileSync(stamp, '');
    removeOlder(folder);
    return folder;
  });
}

/**
 * Runs conformance tests with vitest, where nothing but this machine can be reached, and removes what they leave behind.
 * @template T
 * @param {string} folder where `ensureClients` put the clients
 * @param {readonly string[]} args for vitest
 * @param {(command: readonly string[], env: NodeJS.ProcessEnv) => Promise<T>} start runs the command to its end
 * @returns {Promise<T>}
 */
export async function runClientTests(folder, args, start) {
  const vitest = [
    process.execPath,
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    ...['run', '--root', root, '--config', join(conformanceFolder, 'vitest.config.ts')],
    ...args,
  ];
  const scratch = mkdtempSync(join(tmpdir(), 'metaclaw-clients-'));
  try {
    const env = { ...process.env, METACLAW_CONFORMANCE_FOLDER: folder, TMPDIR: scratch };
    return await start(await insideLoopback(vitest), env);
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
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

/** @param {string} folder */
function freeBytes(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** @param {number} bytes */
function gigabytes(bytes) {
  return (bytes / 1e9).toFixed(1);
}

/**
 * Clients of another list are of no use to this checkout, and large.
 * @param {string} folder
 */
function removeOlder(folder) {
  for (const name of readdirSync(cacheDir())) {
    const other = join(cacheDir(), name);
    if (/^conformance-[0-9a-f]{12}$/.test(name) && other !== folder)
      rmSync(other, { recursive: true, force: true });
  }
}
