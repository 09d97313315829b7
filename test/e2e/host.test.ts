import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { makeHome, openApp } from '../support/app.ts';
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
