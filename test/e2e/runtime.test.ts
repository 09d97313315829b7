import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { clickTray, pressKeys, screenshot, trayIconCount } from '../support/desktop';
import { launchApp, repoRoot } from '../support/electron';

const appDir = join(repoRoot, 'test', 'fixtures', 'tray-app');

// Would catch a runtime without a default app: wrong name, version or path, or a main that never loads.
test('the runtime loads an application folder as Electron itself does', async () => {
  const { app, window, close, home } = await launchApp({ appDir, args: ['--port', '31000'] });
  try {
    const facts = await app.evaluate(({ app: main }) => ({
      name: main.getName(),
      version: main.getVersion(),
      path: main.getAppPath(),
      packaged: main.isPackaged,
      argv: process.argv,
      home: process.env.METACLAW_HOME,
    }));
    expect(facts).toMatchObject({ name: 'tray-app', version: '9.8.7', path: appDir, packaged: false, home });
    expect(facts.argv.slice(-2)).toEqual(['--port', '31000']);
    await expect((await window()).getByRole('heading')).toHaveText('Hello');
  } finally {
    await close();
  }
  expect(existsSync(home)).toBe(false);
});

// Would catch a desktop without a tray host: Electron then shows no icon and says nothing.
test('a tray icon is shown, and real clicks reach it and its menu', async () => {
  test.skip(process.platform !== 'linux', 'the desktop of the tests is there on Linux only');
  const { app, close } = await launchApp({ appDir });
  try {
    await expect.poll(() => trayIconCount()).toBe(1);
    await clickTray();
    await expect.poll(() => app.evaluate(() => (globalThis as unknown as { clicks: number }).clicks)).toBe(1);
    await clickTray(3);
    await expect
      .poll(async () => {
        await pressKeys('Down', 'Return');
        return app.evaluate(() => (globalThis as unknown as { chosen: number }).chosen);
      })
      .toBeGreaterThan(0);
    await screenshot('test-results/tray.png');
  } finally {
    await close();
  }
});
