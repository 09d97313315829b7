// @ts-check
// `npm test`: sets up what is missing, then runs every check and every test and closes with one line of counts.
//   --unit  vitest only        --fast  no end-to-end tests, no second Node
//   --all   the second Node and the real clients too, as in CI
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { runChecks } from './check.mjs';
import { ensureElectron } from './electron-runtime.mjs';
import { endAll, npm, run } from './lib/child.mjs';
import { ensureClients, runClientTests } from './lib/clients.mjs';
import { closingLine, tally } from './lib/closing-line.mjs';
import { desktopPackages, electronPackages, ensureDebianPackages } from './lib/debian.mjs';
import { withLock } from './lib/lock.mjs';
import { whenOrphaned } from './lib/orphan.mjs';
import { cacheDir, root } from './lib/paths.mjs';
import { runScript, StepError, say } from './lib/say.mjs';
import { checkNode, ensureBuild, ensureDependencies } from './lib/setup.mjs';
import { runStep } from './lib/step.mjs';

/** @typedef {import('./lib/closing-line.mjs').Tally} Tally */

/** The Node that the current Electron embeds; its npm package carries the binary. */
const secondNode = '24.21.0';
const stepLimitMs = 12 * 60_000;
/** The real clients are large; a slow registry must not use up the time of the whole run. */
const clientInstallLimitMs = 2 * 60_000;
const clientLimitMs = 3 * 60_000;
/** Vite tells on every start what a later major version will do. */
const quiet = { VITE_CONFIG_NATIVE_IGNORE_WARNING: 'true' };

const flags = new Set(process.argv.slice(2));
const isUnitOnly = flags.has('--unit');
const isFast = isUnitOnly || flags.has('--fast');
const isWhole = !isFast && (flags.has('--all') || process.env.CI === 'true');

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    endAll();
    process.exit(130);
  });
}
whenOrphaned(() => process.kill(process.pid, 'SIGTERM'));

await runScript(async () => {
  /** @type {Tally[]} */
  const tallies = [];
  let failedSteps = 0;
  try {
    checkNode();
    await ensureDependencies();
    if (!isFast) await ensureDebianPackages([...electronPackages, ...desktopPackages], { required: true });
    if (!isFast) await ensureElectron();
  } catch (error) {
    // Even a run that never began closes with its line.
    await runScriptFailure(error);
    return;
  }
  if (!isUnitOnly) failedSteps += await runChecks();
  // Tests of the CLI run the built file; one that does not build fails here and there.
  const build = await runStep('build', async () => {
    await ensureBuild();
    return { ok: true, output: '' };
  });
  if (!build.ok) failedSteps += 1;
  tallies.push(await vitest('unit and integration tests', 'vitest', process.execPath));
  if (isWhole) {
    const node = await ensureSecondNode();
    if (node) tallies.push(await vitest(`the same on Node ${secondNode}`, 'vitest-second-node', node));
  }
  if (!isFast) tallies.push(await endToEnd());
  if (isWhole && build.ok) {
    const folder = await ensureClients(clientInstallLimitMs);
    if (folder) tallies.push(await realClients(folder));
  }
  await close(closingLine(tallies, failedSteps));
});

/**
 * @param {string} name
 * @param {string} id
 * @param {string} node
 */
function vitest(name, id, node) {
  const script = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const report = reportFile(id);
  const args = [script, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  // What a test starts by the name `node` should be the same one.
  const path = `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`;
  return testRun(name, 'vitest', report, node, args, { ...process.env, PATH: path, ...quiet });
}

function endToEnd() {
  const script = join(root, 'node_modules', '@playwright', 'test', 'cli.js');
  const report = reportFile('e2e');
  return testRun('end-to-end tests', 'playwright', report, process.execPath, [script, 'test'], process.env);
}

/**
 * One task with a tool call for each real client; `npm run test:clients` runs all that they are tested for.
 * @param {string} folder where they are installed
 */
function realClients(folder) {
  const report = reportFile('clients');
  const args = ['test/conformance/sample.test.ts', '--reporter=default', '--reporter=json'];
  return runClientTests(folder, [...args, `--outputFile.json=${report}`], ([file = '', ...rest], env) =>
    testRun('tests with real clients', 'vitest', report, file, rest, { ...env, ...quiet }, clientLimitMs),
  );
}

/**
 * Runs one test runner, showing its output as it comes, and counts from its report.
 * @param {string} name
 * @param {'vitest' | 'playwright'} runner
 * @param {string} report
 * @param {string} command
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @param {number} [timeoutMs]
 * @returns {Promise<Tally>}
 */
async function testRun(name, runner, report, command, args, env, timeoutMs = stepLimitMs) {
  say(`running ${name}`);
  /** @type {Tally} */
  let counted = { passed: 0, failed: 1 };
  await runStep(name, async () => {
    const { code } = await run(command, args, { cwd: root, env, show: true, timeoutMs });
    const text = existsSync(report) ? readFileSync(report, 'utf8') : undefined;
    counted = tally(runner, text, code);
    const isEmpty = counted.passed === 0;
    return { ok: counted.failed === 0, output: isEmpty ? `${name}: no test passed (exit code ${code})` : '' };
  });
  return counted;
}

/** @param {string} id */
function reportFile(id) {
  const folder = join(root, '.cache', 'reports');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${id}.json`);
  // An old report must not speak for a run that wrote none.
  rmSync(file, { force: true });
  return file;
}

/** @returns {Promise<string | undefined>} the executable, or undefined where it cannot be had */
async function ensureSecondNode() {
  const folder = join(cacheDir(), `node-${secondNode}`);
  const binary = join(
    folder,
    'node_modules',
    'node',
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  const works = async () =>
    existsSync(binary) && (await run(binary, ['--version'])).output.trim() === `v${secondNode}`;
  if (await works()) return binary;
  await withLock(join(cacheDir(), 'second-node.lock'), `Node ${secondNode}`, async () => {
    if (await works()) return;
    say(`installing Node ${secondNode} for the second run of the tests`);
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', `node@${secondNode}`];
    await npm(args, { cwd: root, timeoutMs: 5 * 60_000 });
  });
  if (await works()) return binary;
  say(`skipping the second run of the tests: Node ${secondNode} could not be installed`);
  return undefined;
}

/** @param {unknown} error */
async function runScriptFailure(error) {
  if (!(error instanceof StepError)) throw error;
  process.stdout.write(`${error.detail}\nmetaclaw: error: ${error.message}\n`);
  await close({ line: '0 passed, 1 failed', ok: false });
}

/**
 * Prints the closing line as the very last of stdout.
 * @param {{ line: string, ok: boolean }} closing
 */
async function close({ line, ok }) {
  await new Promise((done) => process.stdout.write(`${line}\n`, done));
  process.exit(ok ? 0 : 1);
}
