import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { configFor, openApp } from '../support/app.ts';
import { exited } from '../support/electron.ts';
import { startUpstream } from '../support/upstream.ts';

// Would catch a session that is lost at log-out, or a lock that stays behind.
test('SIGTERM quits in order', async () => {
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
