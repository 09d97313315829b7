// @ts-check
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, run } from './child.mjs';
import { withLock } from './lock.mjs';
import { root } from './paths.mjs';
import { StepError, say } from './say.mjs';

const minimumNode = { major: 20, minor: 19 };

/**
 * Says whether a Node version is new enough, before anything fails in a stranger way.
 * @param {string} version such as 20.20.0
 */
export function nodeIsNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > minimumNode.major || (major === minimumNode.major && minor >= minimumNode.minor);
}

/** Stops with a clear message on a Node that is too old. */
export function checkNode() {
  if (nodeIsNewEnough(process.versions.node)) return;
  throw new StepError(
    `Node ${minimumNode.major}.${minimumNode.minor} or newer is needed; this is ${process.versions.node}`,
  );
}

/**
 * Identifies what a build is made from by path, size and time, which costs a stat per file and no reading.
 * @param {string} base
 * @param {readonly string[]} inputs files and folders below base; a missing one counts as such
 */
export function fingerprint(base, inputs) {
  const hash = createHash('sha256');
  /** @param {string} path */
  const add = (path) => {
    const stat = statSync(join(base, path), { throwIfNoEntry: false });
    if (stat?.isDirectory()) {
      for (const name of readdirSync(join(base, path)).sort()) add(`${path}/${name}`);
    } else {
      hash.update(`${path} ${stat ? `${stat.size} ${stat.mtimeMs}` : 'missing'}\n`);
    }
  };
  for (const input of inputs) add(input);
  return hash.digest('hex');
}

/**
 * Reads a stamp file; a missing one never equals a fingerprint.
 * @param {string} file
 */
export function readStamp(file) {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

/** Installs the dependencies by `npm ci` when they are missing or the lock file has changed. */
export async function ensureDependencies() {
  const stampFile = join(root, 'node_modules', '.metaclaw-stamp');
  const wanted = () =>
    createHash('sha256')
      .update(readFileSync(join(root, 'package-lock.json')))
      .digest('hex');
  const isDone = () => readStamp(stampFile) === wanted();
  if (isDone()) return;
  if (isInstalledByHand(root)) {
    writeFileSync(stampFile, `${wanted()}\n`);
    return;
  }
  await withLock(join(root, '.cache', 'setup.lock'), 'dependencies', async () => {
    if (isDone()) return;
    const stamp = wanted();
    say('installing dependencies (npm ci)');
    const result = await npm(['ci', '--no-audit', '--no-fund'], { cwd: root });
    if (result.code !== 0) throw new StepError('npm ci failed; its output stands above', result.output);
    writeFileSync(stampFile, `${stamp}\n`);
  });
}

/**
 * Tells whether npm itself finished an installation after the lock file last changed: whoever ran `npm install` or
 * `npm ci` should not wait for it again. npm writes its own record last, so an interrupted run does not count.
 * @param {string} base
 */
export function isInstalledByHand(base) {
  const lock = statSync(join(base, 'package-lock.json'), { throwIfNoEntry: false });
  const record = statSync(join(base, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  return lock !== undefined && record !== undefined && record.mtimeMs >= lock.mtimeMs;
}

const buildInputs = ['src', 'electron.vite.config.ts', 'package-lock.json', 'tsconfig.base.json'];
const buildOutputs = ['main/index.cjs', 'main/cli.cjs', 'preload/index.cjs', 'renderer/index.html'];

/** Builds main, CLI, preload and renderer when their sources differ from those of the last build. */
export async function ensureBuild() {
  const stampFile = join(root, 'out', '.metaclaw-stamp');
  const isDone = () =>
    readStamp(stampFile) === fingerprint(root, buildInputs) &&
    buildOutputs.every((file) => existsSync(join(root, 'out', file)));
  if (isDone()) return;
  await withLock(join(root, '.cache', 'setup.lock'), 'build', async () => {
    if (isDone()) return;
    // Taken before the build: a file saved meanwhile makes the next start build again.
    const stamp = fingerprint(root, buildInputs);
    say('building (electron-vite build)');
    rmSync(stampFile, { force: true });
    const vite = join(root, 'node_modules', 'electron-vite', 'bin', 'electron-vite.js');
    const result = await run(process.execPath, [vite, 'build'], {
      cwd: root,
      env: { ...process.env, NODE_ENV: 'production' },
    });
    if (result.code !== 0) throw new StepError('the build failed; its output stands above', result.output);
    mkdirSync(join(root, 'out'), { recursive: true });
    writeFileSync(stampFile, `${stamp}\n`);
  });
}
