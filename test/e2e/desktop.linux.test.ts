import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { clickTray, pressKeys, screenshot, trayIconCount } from '../support/desktop';
import { launchApp, repoRoot } from '../support/electron';

const appDir = join(repoRoot, 'test', 'fixtures', 'tray-app');

// Would catch a desktop without a tray host: Electron then shows no icon and says nothing.
test('a tray icon is shown, and real clicks reach it and its menu', async () => {
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
