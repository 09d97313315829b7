import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
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
