import { expect, type Locator, test } from '@playwright/test';
import type { RouteInput } from '../../src/shared/contract.ts';
import { configFor, openApp, type TestApp } from '../support/app.ts';
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts';

const harbor = { workspace: '/home/ada/harbor-api' };
const ledger = { workspace: '/home/ada/ledger-web' };
const MEMORIES: RouteInput<'memory.add'>[] = [
  { content: 'Weekly notes go out on Monday, at most one page', kind: 'procedural_observation' },
  { content: 'Carrier sandbox resets every night at 02:00 UTC', scope: harbor },
  { content: 'The invoice test depends on the time zone of the runner', scope: ledger },
  { content: 'Releases are cut on Thursdays before noon', scope: harbor },
  { content: '发布前先在 staging 上跑一遍迁移脚本', kind: 'procedural_observation', scope: harbor },
  { content: 'Use pnpm, not npm; the lockfile is checked in CI', kind: 'preference' },
  {
    content: 'Migrations need a down script of their own, never a generated one',
    kind: 'preference',
    scope: harbor,
  },
  { content: 'Answer in British English, without exclamation marks', kind: 'preference', pinned: true },
  {
    content: 'Staging runs Postgres 16.4; production is still on 15.8',
    kind: 'project_state',
    scope: harbor,
    pinned: true,
    tags: ['database', 'staging'],
  },
];

let upstream: ScriptedUpstream;
let app: TestApp;

test.beforeEach(async () => {
  upstream = await startUpstream({ models: ['big-model'] });
  upstream.script(() => 'Noted.');
  app = await openApp({ config: configFor(upstream, { memory: { extractor: 'rules' } }) });
  await app.resize(1200, 800);
});
test.afterEach(async () => {
  await app.close();
  await upstream.close();
});

function row(text: string | RegExp): Locator {
  return app.page.getByRole('row', { name: text });
}

/** Presses Undo in the toast that says so. */
function undo(text: string): Promise<void> {
  return app.page.locator('.toast', { hasText: text }).getByRole('button', { name: 'Undo' }).click();
}

async function remember(): Promise<void> {
  for (const memory of MEMORIES) await app.call('memory.add', memory);
}

// Would catch a screen that cannot be used without a mouse, that loses what was forgotten, or that hides why it is empty.
test('memories are added, found, narrowed, changed and forgotten', async () => {
  test.slow();
  const { page } = app;
  await page.keyboard.press('Control+6');
  await expect(page.getByText('Nothing is remembered yet')).toBeVisible();
  await app.look('memories-empty');
  await page.keyboard.press('n');
  await page.getByRole('textbox', { name: 'Text' }).fill('Standup is at 9:30');
  await app.look('memories-add');
  await page.keyboard.press('Control+Enter');
  await expect(row('Standup is at 9:30')).toBeVisible();
  await remember();
  await expect(page.getByText('10 shown')).toBeVisible();
  await app.look('memories');

  // By the keys alone: down, a range, all of them.
  await page.getByRole('grid', { name: 'Memories' }).focus();
  await page.keyboard.press('Home');
  await expect(row(/Staging runs Postgres/)).toHaveClass('on');
  await page.keyboard.press('Shift+J');
  await page.keyboard.press('Shift+J');
  await expect(page.getByText('10 shown, 3 marked')).toBeVisible();
  await app.look('memories-marked');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+a');
  await expect(page.getByText('10 shown, 10 marked')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByText('10 shown', { exact: true })).toBeVisible();

  // Changed where it stands.
  await page.getByRole('grid', { name: 'Memories' }).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('e');
  const text = page.getByRole('textbox', { name: 'Text' });
  await expect(text).toBeFocused();
  await text.fill('Staging runs Postgres 17.1; production is still on 15.8');
  await app.look('memory-edit');
  await page.keyboard.press('Control+Enter');
  await expect(row(/Postgres 17.1/)).toBeVisible();
  const history = page.getByRole('region', { name: 'History' });
  await expect(history.locator('.gone', { hasText: 'Postgres 16.4' })).toBeVisible();
  await app.look('memory-edited');
  await undo('The memory is changed');
  await expect(row(/Postgres 16.4/)).toBeVisible();

  // Pinned and forgotten by a key, and both taken back.
  await row(/pnpm/).click();
  await page.keyboard.press('p');
  await expect(page.getByText('1 memory pinned').first()).toBeVisible();
  await page.getByRole('checkbox', { name: 'Pinned' }).check();
  await expect(page.getByText('3 shown')).toBeVisible();
  await page.getByRole('checkbox', { name: 'Pinned' }).uncheck();
  await row(/Standup/).click();
  await page.keyboard.press('Delete');
  await expect(row(/Standup/)).toHaveCount(0);
  await app.shoot('memory-forgotten');
  await page.keyboard.press('Control+z');
  await expect(row(/Standup/)).toBeVisible();

  // Narrowed by boxes and words.
  await page.getByRole('checkbox', { name: 'harbor-api' }).check();
  await page.getByRole('checkbox', { name: 'Fact' }).check();
  await expect(page.getByText('2 shown')).toBeVisible();
  await app.look('memories-narrowed');
  await page.keyboard.press('/');
  await page.keyboard.type('zeppelin');
  await expect(page.getByText('No memory matches')).toBeVisible();
  await app.look('memories-none-match');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.keyboard.press('/');
  await page.keyboard.type('staging');
  await expect(page.getByText('2 shown')).toBeVisible();
  await expect(row(/Staging runs/)).toContainText('staging');
  await app.look('memories-found');
  await page.keyboard.press('Escape');

  // What was forgotten can be found until it is deleted for good.
  await page.getByRole('searchbox').fill('');
  await row(/Standup/).click();
  await page.keyboard.press('Delete');
  await page.getByRole('checkbox', { name: 'Current' }).uncheck();
  await page.getByRole('checkbox', { name: 'Forgotten' }).check();
  await row(/Standup/).click();
  await app.look('memory-trash');
  await page.getByRole('button', { name: 'Delete for good' }).click();
  await expect(page.getByText('1 memory deleted for good').first()).toBeVisible();
  await expect(row(/Standup/)).toHaveCount(0);
});

// Would catch a small window in which something cannot be reached, and words that only fit in English.
test('memories fit into small windows and other languages', async () => {
  test.slow();
  const { page } = app;
  await remember();
  await page.keyboard.press('Control+6');
  for (const [width, height] of [
    [900, 600],
    [720, 480],
  ] as const) {
    await app.resize(width, height);
    await expect(row(/Staging runs/)).toBeVisible();
    await app.look(`small-memories-${width}`);
    await page.getByRole('button', { name: 'Filters' }).click();
    await expect(page.getByRole('checkbox', { name: 'harbor-api' })).toBeVisible();
    await app.look(`small-memories-filters-${width}`);
    await page.keyboard.press('Escape');
    await page.getByRole('grid', { name: 'Memories' }).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('region', { name: 'History' })).toBeVisible();
    await app.look(`small-memory-${width}`);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'Back to the list' }).click();
  }
  await app.resize(1200, 800);
  for (const language of ['fr', 'zh-CN'] as const) {
    await page.evaluate(`window.metaclaw.request('host.setLanguage', { language: '${language}' })`);
    await page.reload();
    await expect(page.locator('html')).toHaveAttribute('lang', language);
    await row(/Staging runs/).click();
    await app.look(`memories-${language}`);
  }
});
