import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { _electron, type ElectronApplication, type Page } from '@playwright/test';

/** The checkout's folder, which is the application that Electron loads. */
export const repoRoot = resolve(__dirname, '../..');

/** How a test wants the application to be started. */
export interface LaunchOptions {
  /** State folder; a fresh one, removed at the end, where none is given. */
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Another application's folder, for tests of this launcher itself. */
  readonly appDir?: string;
}

/** A running application under test. */
export interface LaunchedApp {
  readonly app: ElectronApplication;
  readonly home: string;
  /** The first window; rejects where the application opens none, so ask only where one is expected. */
  readonly window: () => Promise<Page>;
  /** What the main process has printed so far. */
  readonly log: () => string;
  readonly close: () => Promise<void>;
}

/** Starts the real application in the runtime that the set-up chose, with a state folder of its own. */
export async function launchApp(options: LaunchOptions = {}): Promise<LaunchedApp> {
  const executablePath = process.env.METACLAW_TEST_ELECTRON;
  if (executablePath === undefined) throw new Error('end-to-end tests run by `npm run e2e` or `npm test`');
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'metaclaw-e2e-')));
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    // What is set for this machine's own application must not reach the one under test.
    if (value !== undefined && !name.startsWith('METACLAW_')) env[name] = value;
  }
  // Electron would otherwise be plain Node.
  delete env.ELECTRON_RUN_AS_NODE;
  const app = await _electron.launch({
    executablePath,
    cwd: repoRoot,
    args: [...sandboxArgs(), options.appDir ?? repoRoot, ...(options.args ?? [])],
    env: { ...env, METACLAW_HOME: home, ...options.env },
    timeout: 30_000,
  });
  let text = '';
  const collect = (data: Buffer) => {
    text += data.toString();
  };
  app.process().stdout?.on('data', collect);
  app.process().stderr?.on('data', collect);
  return {
    app,
    home,
    window: () => app.firstWindow(),
    log: () => text,
    close: async () => {
      await closeApp(app);
      if (options.home === undefined) await rm(home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** The exit code of a process, at once when it has ended already; null after a signal. */
export function exited(child: ChildProcess): Promise<number | null> {
  return new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) done(child.exitCode);
    else child.once('exit', (code) => done(code));
  });
}

/** Chromium refuses its sandbox for root; the flag belongs to tests, never to what is shipped. */
function sandboxArgs(): readonly string[] {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : [];
}

async function closeApp(app: ElectronApplication): Promise<void> {
  const child = app.process();
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  try {
    await app.close();
  } finally {
    clearTimeout(late);
  }
}
