import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from '@playwright/test';
import { makeHome, openApp, pressToQuit } from '../support/app.ts';
import { exited, repoRoot } from '../support/electron.ts';

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

// Would catch a silent exit, two hosts that write into one store (R147), and a window that stays useless once the
// other host has ended.
test('a folder that a daemon owns is left alone until the daemon has ended', async () => {
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
    await app.page.getByRole('button', { name: 'Try again' }).click();
    await expect(app.page.getByText('nothing has changed')).toBeVisible();
    await app.resize(900, 600);
    await app.look('blocked');
    expect(daemon.exitCode).toBeNull();

    daemon.kill();
    expect(await exited(daemon)).toBe(0);
    await app.page.getByRole('button', { name: 'Try again' }).click();
    await expect(app.page.getByRole('heading', { name: 'An agent that learns from you' })).toBeVisible();
    const { host, proxy } = await app.call('app.snapshot', {});
    expect(host).toBe('app');
    expect(proxy.state).toBe('running');
    await expect.poll(async () => (await app.hook('trayShown'))?.tooltip).toContain('No provider yet');
    await app.close();
    expect(existsSync(join(home, 'runtime.json'))).toBe(false);
  } finally {
    daemon.kill();
    await exited(daemon);
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
});

// Would catch a blocked window that cannot be left, or an older application that opens a newer folder.
test('Quit ends an application without an engine', async () => {
  const home = await makeHome({});
  const newer = new DatabaseSync(join(home, 'state.db'));
  newer.exec('PRAGMA user_version = 9999');
  newer.close();
  try {
    const app = await openApp({ home });
    await expect(app.page.getByRole('heading', { name: 'MetaClaw cannot open its folder' })).toBeVisible();
    expect(await pressToQuit(app.app, app.page.getByRole('button', { name: 'Quit' }))).toBe(0);
    await app.close();
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
});

// Would catch a theme or language that is forgotten, and a first paint in the wrong one.
test('theme and language hold after a restart', async () => {
  const home = await makeHome({});
  try {
    const first = await openApp({ home, env: { LC_ALL: 'fr_FR.UTF-8' } });
    await expect(first.page.locator('html')).toHaveAttribute('lang', 'fr');
    // Also what the engine tells: why it does not train, and that a flag has set the port.
    await first.page.evaluate("location.hash = '#/settings'");
    await expect(first.page.getByText('Fixé par une option de ce lancement.')).toBeVisible();
    await first.page.evaluate("location.hash = '#/'");
    await expect(first.page.getByText('Entraînement désactivé : rl.enabled est false.')).toBeVisible();
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
