// @ts-check
// `npm start`: sets up what is missing, then opens the tray application, or runs the engine in the foreground
// where there is no display. Uses nothing but Node, since it runs before the dependencies are there.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureElectron } from './electron-runtime.mjs';
import { electronPackages, ensureDebianPackages } from './lib/debian.mjs';
import { findDisplay, socketExists } from './lib/display.mjs';
import { whenOrphaned } from './lib/orphan.mjs';
import { root } from './lib/paths.mjs';
import { runScript, StepError, say } from './lib/say.mjs';
import { startSessionBus } from './lib/session-bus.mjs';
import { checkNode, ensureBuild, ensureDependencies } from './lib/setup.mjs';

const given = process.argv.slice(2);
const args = given.filter((arg) => arg !== '--headless');

// As a signal, so that it takes the same way as one: to the application, or to the CLI in this process.
whenOrphaned(() => process.kill(process.pid, 'SIGTERM'));

await runScript(async () => {
  checkNode();
  await ensureDependencies();
  await ensureBuild();
  const why = await whyHeadless();
  if (why === undefined) return;
  say(`${why}: running headless in the foreground (Ctrl-C stops it)`);
  say('in this folder, `npx .` is the metaclaw command');
  await startHeadless();
});

/** Opens the tray application, or says why that cannot be. */
async function whyHeadless() {
  if (given.includes('--headless')) return '--headless';
  const display = findDisplay({ platform: process.platform, env: process.env, socketExists });
  if (!display.shown) return display.reason;
  await ensureDebianPackages(electronPackages, { required: false });
  try {
    await startTray(await ensureElectron());
  } catch (error) {
    if (error instanceof StepError) return error.message;
    throw error;
  }
  return undefined;
}

/** Runs the CLI's start command in this very process, so that signals, stdin and the exit code are its own. */
async function startHeadless() {
  const cli = join(root, 'out', 'main', 'cli.cjs');
  process.argv = [process.execPath, cli, 'start', ...args];
  await import(pathToFileURL(cli).href);
}

/** @param {import('./electron-runtime.mjs').Runtime} runtime */
async function startTray(runtime) {
  const env = { ...process.env };
  delete env.ELECTRON_RUN_AS_NODE;
  const needsBus = process.platform === 'linux' && !env.DBUS_SESSION_BUS_ADDRESS;
  const bus = needsBus ? await startSessionBus({ detached: true }) : undefined;
  if (bus) env.DBUS_SESSION_BUS_ADDRESS = bus.address;
  // Chromium refuses its sandbox for root. The flag stands here only, never in what is shipped.
  const asRoot = process.platform === 'linux' && process.getuid?.() === 0;
  // The stand-in runtime finds no GPU to talk to and loses half a second over three attempts.
  const flags = [
    ...(asRoot ? ['--no-sandbox'] : []),
    ...(runtime.kind === 'fallback' ? ['--disable-gpu'] : []),
  ];
  say('opening the tray application (Ctrl-C stops it)');
  const child = spawn(runtime.executable, [...flags, root, ...args], {
    cwd: process.cwd(),
    env,
    stdio: 'inherit',
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the whole group: the application has had it already.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.once('error', (error) => {
    bus?.stop();
    process.stderr.write(`metaclaw: error: the application could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.once('exit', (code, signal) => {
    bus?.stop();
    process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0));
  });
}
