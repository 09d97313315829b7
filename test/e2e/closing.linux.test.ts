import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { openApp, pressToQuit, type TestApp } from '../support/app.ts';
import { clickTray } from '../support/desktop.ts';
import { launchApp } from '../support/electron.ts';

const closeWindow = (app: TestApp) =>
  app.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close());

// Would catch a close that ends the proxy, or hides the window without a word.
test('with a tray, closing hides the window and says so once', async () => {
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
    expect(await pressToQuit(app.app, asked.getByRole('button', { name: 'Quit' }))).toBe(0);
    expect(existsSync(join(app.home, 'runtime.json'))).toBe(false);
  } finally {
    screen.kill();
    await app.close();
  }
});

// Would catch a hidden start that opens its window in the user's face at each login.
test('a hidden start with a tray opens no window', async () => {
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
