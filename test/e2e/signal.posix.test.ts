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

// Would catch a closed terminal that turns every word told to it into an uncaught error.
test('the terminal that it was started from may go', async () => {
  const app = await openApp({});
  try {
    const child = app.app.process();
    child.stdout?.destroy();
    child.stderr?.destroy();
    const uncaught = await app.app.evaluate(async () => {
      const seen: string[] = [];
      process.on('uncaughtException', (error) => seen.push(error.message));
      for (const stream of [process.stdout, process.stderr]) {
        await new Promise((told) => {
          stream.write('a word\n', told);
        });
      }
      await new Promise((later) => {
        setImmediate(later);
      });
      return seen;
    });
    expect(uncaught).toEqual([]);
    expect((await app.call('app.snapshot', {})).proxy.state).toBe('running');
  } finally {
    await app.close();
  }
});
