import { expect, test } from '@playwright/test';
import { configFor, openApp, sendTurn, type TestApp } from '../support/app.ts';
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts';

let upstream: ScriptedUpstream;
let app: TestApp;

test.beforeEach(async () => {
  upstream = await startUpstream({ models: ['big-model', 'evolver'] });
  upstream.script(({ json }) => ({
    text: json.model === 'evolver' ? '[]' : 'Let us look at the code.',
    usage: { input: 12_000, output: 800, cacheRead: 9000 },
  }));
  app = await openApp({ config: configFor(upstream, { rl: { evolver_model: 'evolver' } }) });
  await app.resize(1200, 800);
});
test.afterEach(async () => {
  await app.close();
  await upstream.close();
});

const CORRECTION = 'No. From now on always measure before you change any code, and measure again afterwards.';

async function talk(): Promise<void> {
  const { openai } = await app.call('proxy.endpoints', {});
  await sendTurn(openai, 's1', ['The nightly report is slow. Which code should I change first?']);
  await sendTurn(openai, 's2', ['Review this diff before I merge it, please.'], {
    'x-metaclaw-agent': 'claude-code',
  });
  await sendTurn(openai, 's1', ['The report is slow.', 'Rewrite the query.', CORRECTION], {
    'x-session-done': 'true',
  });
  await expect
    .poll(async () => (await app.call('usage.summary', { by: 'day' })).total.own.calls, { timeout: 15_000 })
    .toBe(1);
}

// Would catch figures that are invented, a guessed price, and a cap that is set in the window but holds nowhere.
test('usage shows what was counted, unknown prices as unknown, and sets the cap', async () => {
  test.slow();
  const { page } = app;
  await page.keyboard.press('Control+5');
  await expect(page.getByRole('heading', { level: 1, name: 'Usage' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'No calls in these days' })).toBeVisible();
  await app.look('usage-empty');

  await talk();
  const models = page.getByRole('region', { name: 'By model' });
  await expect(models.getByRole('row', { name: /big-model 3 36,000 75% 2,400 .* unknown/ })).toBeVisible();
  await expect(models.getByRole('row', { name: /evolver 1 .* unknown/ })).toBeVisible();
  await expect(page.getByText('4 calls without a price')).toBeVisible();
  await app.look('usage-unknown');

  const PRICES = {
    'big-model': { input: 3, cached_input: 0.3, output: 15 },
    evolver: { input: 1, output: 4 },
  };
  await app.call('config.set', { path: 'usage.prices', value: PRICES });
  // Three turns of 3000 fresh and 9000 cached prompt tokens, and 800 of answers.
  await expect(models.getByRole('row', { name: /big-model .* \$0\.071/ })).toBeVisible();
  await expect(page.getByText('$0.015 for learning')).toBeVisible();
  await expect(page.getByRole('region', { name: 'By purpose' }).getByText('Learning skills')).toBeVisible();
  await app.look('usage');
  await app.resize(720, 480);
  await app.look('usage-small');
  await page.getByRole('region', { name: 'By purpose' }).scrollIntoViewIfNeeded();
  await app.shoot('usage-small-down');
  await app.resize(1200, 800);

  const cap = page.getByLabel('Most that MetaClaw may use by itself in a day');
  await cap.fill('2 eur');
  await expect(page.getByText('Write tokens, e.g. 200k, or money, e.g. $2.')).toBeVisible();
  await cap.fill('1 cent');
  await cap.press('Escape');
  await cap.fill('$0.01');
  await cap.press('Enter');
  const reached = page.getByText(
    'Learning has used up today’s $0.01. It goes on at midnight; agents get their answers.',
  );
  await expect(reached.first()).toBeVisible();
  expect((await app.call('config.get', { path: 'usage.daily_cap' })).value).toBe('$0.01');
  await app.look('usage-reached');
  await page.getByRole('link', { name: 'Overview' }).click();
  await expect(reached.first()).toBeVisible();
  await expect(page.getByText('$0.086')).toBeVisible();
  await app.look('overview-cost');
  await page.getByRole('link', { name: 'Usage' }).first().click();
  await page.getByRole('button', { name: 'No cap' }).click();
  await expect(reached).toHaveCount(0);
  expect((await app.call('config.get', { path: 'usage.daily_cap' })).isDefault).toBe(true);

  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByRole('option', { name: /Review this diff/ }).click();
  await expect(page.getByText('$0.024')).toBeVisible();
  await app.look('activity-cost');
});
