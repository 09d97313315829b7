import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { configFor, openApp, sendTurn, type TestApp } from '../support/app.ts';
import { clickTray, pressKeys, screenshot, trayIconCount } from '../support/desktop.ts';
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts';

let upstream: ScriptedUpstream;
let app: TestApp;

test.beforeEach(async () => {
  upstream = await startUpstream({ models: ['big-model'] });
  app = await openApp({ config: configFor(upstream) });
  await expect.poll(() => trayIconCount()).toBe(1);
});
test.afterEach(async () => {
  await app.close();
  await upstream.close();
});

/** Opens the real menu with the pointer and walks it with real keys until `done`; a menu may need a moment to open. */
async function choose(keys: readonly string[], done: () => Promise<boolean>): Promise<void> {
  await expect
    .poll(
      async () => {
        if (await done()) return true;
        await clickTray(3);
        await pressKeys(...keys);
        const until = Date.now() + 1500;
        while (Date.now() < until) if (await done()) return true;
        await pressKeys('Escape', 'Escape');
        return done();
      },
      { timeout: 20_000 },
    )
    .toBe(true);
}

const clipboard = () => app.app.evaluate(({ clipboard: board }) => board.readText());
const proxyState = async () => (await app.call('app.snapshot', {})).proxy.state;

// Would catch a tray that shows nothing, or whose click does not reach the window.
test('a real click on the icon shows the window', async () => {
  await app.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.hide());
  await expect.poll(() => app.hook('isVisible')).toBe(false);
  await clickTray();
  await expect.poll(() => app.hook('isVisible')).toBe(true);
});

// Would catch a menu whose lines do something else than they say.
test('the real menu copies, stops, starts and quits', async () => {
  const { openai } = await app.call('proxy.endpoints', {});
  // Status, Stop proxy, Copy: the first line of its submenu.
  await choose(['Down', 'Down', 'Down', 'Right', 'Return'], async () => (await clipboard()) === openai);

  await clickTray(3);
  await expect
    .poll(async () => {
      await screenshot('test-results/screens/tray-menu.png');
      return existsSync('test-results/screens/tray-menu.png');
    })
    .toBe(true);
  await pressKeys('Escape');

  await choose(['Down', 'Down', 'Return'], async () => (await proxyState()) === 'stopped');
  await expect
    .poll(() => app.hook('trayShown'))
    .toEqual({
      icon: expect.stringContaining('stopped'),
      tooltip: 'Stopped. Agents get an error until you start it.',
    });
  await expect(fetch(`${openai}/models`)).rejects.toThrow();
  await choose(['Down', 'Down', 'Return'], async () => (await proxyState()) === 'running');

  const child = app.app.process();
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  // Up from the top goes to the last line.
  await expect
    .poll(
      async () => {
        if (child.exitCode !== null) return true;
        await clickTray(3).catch(() => {});
        await pressKeys('Up', 'Return');
        return Promise.race([ended.then(() => true), new Promise((done) => setTimeout(done, 2500, false))]);
      },
      { timeout: 20_000 },
    )
    .toBe(true);
  expect(child.exitCode).toBe(0);
  expect(existsSync(join(app.home, 'runtime.json'))).toBe(false);
});

// Would catch an icon that keeps an old state, and words that differ between tray, header and status.
test('icon, tooltip and header follow what happens', async () => {
  const shown = async () => (await app.hook('trayShown'))?.icon;
  await expect.poll(shown).toContain('ready');
  const { openai } = await app.call('proxy.endpoints', {});
  let release: () => void = () => {};
  upstream.script(() => (_request, response) => {
    release = () => {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          id: 'c1',
          object: 'chat.completion',
          choices: [{ index: 0, message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }],
        }),
      );
    };
  });
  const turn = sendTurn(openai, 's1', ['Read the whole log, please.']);
  await expect.poll(shown).toContain('working');
  const tooltip = async () => (await app.hook('trayShown'))?.tooltip ?? '';
  await expect.poll(tooltip).toMatch(/^Answering OpenClaw, \d+ s\.$/);
  await expect(app.page.getByRole('status').filter({ hasText: 'Answering OpenClaw' })).toBeVisible();
  release();
  expect((await turn).status).toBe(200);
  await expect.poll(shown).toContain('ready');
  await expect.poll(tooltip).toBe('Ready. 1 turn today.');
  expect((await app.call('app.status', {})).sentence).toBe(await tooltip());
  await app.hook('clickTray', 'bypass');
  await expect.poll(shown).toContain('paused');
});
