import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { configFor, makeHome, openApp } from '../support/app.ts';
import { clickTray } from '../support/desktop.ts';
import { launchApp, repoRoot } from '../support/electron.ts';
import { startUpstream } from '../support/upstream.ts';

const linuxOnly = () =>
  test.skip(process.platform !== 'linux', 'the desktop of the tests is there on Linux only');
const closeWindow = (app: Awaited<ReturnType<typeof openApp>>) =>
  app.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close());
const exited = (child: ChildProcess) =>
  new Promise<number | null>((done) => {
    if (child.exitCode !== null) done(child.exitCode);
    else child.once('exit', (code) => done(code));
  });

// Would catch two applications on one state folder, and a second launch that does nothing visible (R147, R141).
test('a second launch shows the window of the first and ends', async () => {
  const app = await openApp({});
  try {
    await app.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.hide());
    const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const second = spawn(process.env.METACLAW_TEST_ELECTRON ?? '', [...root, repoRoot, '--hidden'], {
      env: { ...process.env, METACLAW_HOME: app.home },
      stdio: 'ignore',
    });
    expect(await exited(second)).toBe(0);
    await expect.poll(() => app.hook('isVisible')).toBe(true);
    expect((await app.call('app.snapshot', {})).proxy.state).toBe('running');
  } finally {
    await app.close();
  }
});

// Would catch a close that ends the proxy, or hides the window without a word.
test('with a tray, closing hides the window and says so once', async () => {
  linuxOnly();
  const app = await openApp({});
  try {
    await closeWindow(app);
    const told = app.page.getByRole('dialog');
    await expect(told).toContainText('MetaClaw still runs in the tray');
    await app.look('closing-tray');
    await app.page.getByRole('button', { name: 'Got it' }).click();
    await expect.poll(() => app.hook('isVisible')).toBe(false);
    await clickTray();
    await expect.poll(() => app.hook('isVisible')).toBe(true);
    await closeWindow(app);
    await expect.poll(() => app.hook('isVisible')).toBe(false);
    const { openai } = await app.call('proxy.endpoints', {});
    expect((await fetch(openai.replace('/v1', '/health'))).status).toBe(200);
  } finally {
    await app.close();
  }
});

// Would catch an application that nobody can see or end any more (R141, R150).
test('without a tray, closing asks, a hidden start stays visible, and Quit really quits', async () => {
  linuxOnly();
  const screen = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1024x768x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const display = await new Promise<string>((done) => {
    screen.stdio[3]?.once('data', (data: Buffer) => done(`:${data.toString().trim()}`));
  });
  const app = await openApp({ args: ['--hidden'], env: { DISPLAY: display } });
  try {
    expect(await app.hook('hasTray')).toBe(false);
    expect(await app.hook('isVisible')).toBe(true);
    await closeWindow(app);
    const asked = app.page.getByRole('dialog');
    await expect(asked).toContainText('This desktop shows no tray icon');
    await app.shoot('closing-no-tray');
    await app.page.keyboard.press('Escape');
    await expect(asked).toHaveCount(0);
    expect(await app.hook('isVisible')).toBe(true);
    await closeWindow(app);
    const ended = exited(app.app.process());
    await asked.getByRole('button', { name: 'Quit' }).click();
    expect(await ended).toBe(0);
    expect(existsSync(join(app.home, 'runtime.json'))).toBe(false);
  } finally {
    screen.kill();
    await app.close();
  }
});

// Would catch a hidden start that opens its window in the user's face at each login.
test('a hidden start with a tray opens no window', async () => {
  linuxOnly();
  const app = await launchApp({ args: ['--hidden', '--port', '0'], env: { METACLAW_E2E: '1' } });
  try {
    await expect
      .poll(() => app.app.evaluate(() => Reflect.has(globalThis, 'metaclawTest')), { timeout: 15_000 })
      .toBe(true);
    expect(app.app.windows()).toHaveLength(0);
    await clickTray();
    await app.window();
  } finally {
    await app.close();
  }
});

// Would catch a silent exit, or two hosts that write into one store (R147).
test('a folder that a daemon owns is left alone, and the window says who has it', async () => {
  const home = await makeHome({});
  const cli = join(repoRoot, 'out', 'main', 'cli.cjs');
  const daemon = spawn(process.execPath, [cli, 'start', '--port', '0'], {
    env: { ...process.env, METACLAW_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    await expect.poll(() => existsSync(join(home, 'runtime.json')), { timeout: 20_000 }).toBe(true);
    const app = await openApp({ home });
    await expect(app.page.getByRole('heading', { name: 'MetaClaw already runs' })).toBeVisible();
    await expect(app.page.getByText(`pid ${daemon.pid}`)).toBeVisible();
    await app.resize(900, 600);
    await app.look('blocked');
    const ended = exited(app.app.process());
    await app.page.getByRole('button', { name: 'Quit' }).click();
    expect(await ended).toBe(0);
    expect(daemon.exitCode).toBeNull();
    await app.close();
  } finally {
    const ended = exited(daemon);
    daemon.kill();
    expect(await ended).toBe(0);
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
});

// Would catch a session that is lost at log-out, or a lock that stays behind.
test('SIGTERM quits in order', async () => {
  test.skip(process.platform === 'win32', 'there are no signals on Windows');
  const upstream = await startUpstream({ models: ['big-model'] });
  const app = await openApp({ config: configFor(upstream) });
  try {
    const ended = exited(app.app.process());
    app.app.process().kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(existsSync(join(app.home, 'runtime.json'))).toBe(false);
  } finally {
    await app.close();
    await upstream.close();
  }
});

// Would catch a theme or language that is forgotten, and a first paint in the wrong one.
test('theme and language hold after a restart', async () => {
  const home = await makeHome({});
  try {
    const first = await openApp({ home, env: { LC_ALL: 'fr_FR.UTF-8' } });
    await expect(first.page.locator('html')).toHaveAttribute('lang', 'fr');
    await first.page.evaluate("window.metaclaw.request('host.setLanguage', { language: 'zh-CN' })");
    await first.theme('dark');
    await first.close();
    const second = await openApp({ home, env: { LC_ALL: 'fr_FR.UTF-8' } });
    await expect(second.page.locator('html')).toHaveAttribute('lang', 'zh-CN');
    expect(await second.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")).toBe(true);
    expect(JSON.stringify(await second.hook('trayTemplate'))).toContain('退出');
    await second.resize(1200, 800);
    await second.shoot('setup-zh');
    await second.close();
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
});
