import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, type Locator, test } from '@playwright/test';
import type { RouteInput } from '../../src/shared/contract.ts';
import { configFor, openApp, sendTurn, type TestApp } from '../support/app.ts';
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

/** Lets the next dialogs of the system answer with this path. */
function answerWith(path: string): Promise<void> {
  return app.app.evaluate(({ dialog }, chosen) => {
    dialog.showOpenDialog = async () => ({ canceled: false, filePaths: [chosen] });
    dialog.showSaveDialog = async () => ({ canceled: false, filePath: chosen });
  }, path);
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
  await undo('The memory is changed');
  await expect(row(/Postgres 16.4/)).toBeVisible();
  await expect(history.locator('.gone')).toHaveCount(0);

  // Found from everywhere.
  await page.keyboard.press('Control+k');
  await page.keyboard.type('pnpm');
  await expect(page.getByRole('option', { name: /Use pnpm/ })).toBeVisible();
  await app.look('palette-memories');
  await page.keyboard.press('Enter');
  await expect(page.locator('.memory-text')).toHaveText(/Use pnpm/);

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

/** Sends turns of one conversation about harbor-api, and ends it; waits until it was read. */
async function converse(session: string, ...says: string[]): Promise<void> {
  const { openai } = await app.call('proxy.endpoints', {});
  const texts: string[] = [];
  for (const [at, text] of says.entries()) {
    texts.push(text);
    await (
      await sendTurn(openai, session, texts, {
        'x-workspace-id': harbor.workspace,
        ...(at === says.length - 1 ? { 'x-session-done': 'true' } : {}),
      })
    ).text();
    texts.push('Noted.');
  }
  await expect.poll(async () => (await app.call('memory.stats', {})).pending, { timeout: 15_000 }).toBe(0);
}

// Would catch a memory that cannot say where it comes from, hides what it replaced, or that a turn carries unseen.
test('a memory leads to the turn that it comes from, and a turn to the memories that it carried', async () => {
  test.slow();
  const { page } = app;
  await converse(
    'first',
    'Our staging database is MySQL 5.7. Please remember that releases are cut on Thursdays before noon.',
    'I prefer tabs over spaces.',
  );
  await converse('second', 'We moved the staging database to PostgreSQL 16. When are releases cut?');
  await page.keyboard.press('Control+6');
  await row(/PostgreSQL 16/).click();
  const from = page.getByRole('region', { name: 'Where it comes from' });
  await expect(from).toContainText('We moved the staging database to PostgreSQL 16.');
  await expect(page.getByRole('region', { name: 'History' }).locator('.gone')).toHaveText(
    'Our staging database is MySQL 5.7.',
  );
  await app.look('memory-provenance');
  await page
    .getByRole('region', { name: 'History' })
    .getByRole('link', { name: /MySQL 5.7/ })
    .click();
  await expect(page.getByText('Replaced by', { exact: true })).toBeVisible();
  await app.look('memory-replaced');
  await page.getByRole('link', { name: /PostgreSQL 16/ }).click();
  await page.keyboard.press('/');
  await page.keyboard.type('tabs');
  await expect(page.getByRole('region', { name: 'Said in conversations' })).toContainText('tabs over spaces');
  await app.look('memories-said');
  await page.keyboard.press('Escape');

  // Over to the turn, where the memory that it carried can be forgotten.
  await from.getByRole('link', { name: 'Open the turn' }).click();
  await expect(page.getByText('Remembered from this conversation')).toBeVisible();
  const carried = page.locator('.inj', { hasText: 'releases are cut on Thursdays' });
  await expect(carried.first()).toBeVisible();
  await app.look('turn-memories');
  await carried
    .first()
    .getByRole('button', { name: /^Forget/ })
    .click();
  await expect(page.locator('.toast', { hasText: 'Forgot' })).toBeVisible();
  await undo('Forgot');

  // A whole conversation.
  await page.getByRole('button', { name: 'Forget this conversation…' }).click();
  await app.look('forget-conversation');
  await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
  await expect(page.getByText(/Forgot the conversation: \d memor/).first()).toBeVisible();
  await expect.poll(async () => (await app.call('memory.list', { text: 'PostgreSQL' })).units.length).toBe(0);
  await undo('Forgot the conversation');
  await expect
    .poll(async () => (await app.call('memory.list', { text: 'PostgreSQL' })).units.length)
    .toBeGreaterThan(0);
  await page.getByRole('button', { name: /^Show/ }).click();
  await expect(page.getByText('From one conversation only')).toBeVisible();
  await app.look('memories-of-session');
  await app.resize(720, 480);
  await page.keyboard.press('Control+2');
  await page.getByRole('option').first().click();
  await app.look('small-turn-memories');
});

// Would catch a decision that is made for the user, and one that cannot be taken back.
test('memories that contradict are decided, and several are made one', async () => {
  test.slow();
  const { page } = app;
  await app.call('memory.add', { content: 'Do not deploy on Fridays', kind: 'preference' });
  await app.call('memory.add', { content: 'Deploy on Fridays', kind: 'preference' });
  await app.call('memory.add', { content: 'The bakery on Mill Road opens at seven in the morning.' });
  await app.call('memory.add', { content: 'The small bakery on Mill Road opens at seven in the morning.' });
  await page.keyboard.press('Control+6');
  await expect(page.getByText('1 conflict, 1 near-duplicate to merge')).toBeVisible();
  await app.look('memories-banner');
  await page.getByRole('button', { name: 'Look at 2' }).click();
  await expect(page.getByRole('article')).toHaveCount(2);
  await app.look('memories-conflicts');
  await app.resize(720, 480);
  await app.look('small-memories-conflicts');
  await app.resize(1200, 800);

  const contradiction = page.getByRole('article').filter({ hasText: 'Fridays' });
  await contradiction.getByRole('button', { name: 'Both hold' }).click();
  await expect(contradiction).toHaveCount(0);
  await undo('Both stay');
  await expect(contradiction).toBeVisible();
  await contradiction.getByRole('button', { name: 'Keep “Do not deploy on Fridays”' }).click();
  await expect(contradiction).toHaveCount(0);
  const { units } = await app.call('memory.list', { text: 'Fridays' });
  expect(units.map(({ content }) => content)).toEqual(['Do not deploy on Fridays']);

  await page.getByRole('button', { name: 'Merge…' }).click();
  await page
    .getByRole('textbox', { name: 'What it becomes' })
    .fill('The bakery on Mill Road opens at seven.');
  await app.look('memories-merge');
  await page.getByRole('dialog').getByRole('button', { name: 'Merge', exact: true }).click();
  await expect(page.getByText('2 memories are one now').first()).toBeVisible();
  await expect(row('The bakery on Mill Road opens at seven.')).toBeVisible();
  await expect(page.getByText('2 shown')).toBeVisible();
  await undo('2 memories are one now');
  await expect(page.getByText('3 shown')).toBeVisible();
});

// Would catch a list that builds every row, and marks that reach only what is in sight.
test('ten thousand memories scroll, and all can be forgotten and brought back at once', async () => {
  test.setTimeout(300_000);
  const { page, home } = app;
  const lines = Array.from({ length: 10_000 }, (_, n) =>
    JSON.stringify({ content: `Crate ${n} stands on shelf ${n % 97} of hall ${n % 13}.`, kind: 'semantic' }),
  );
  const file = join(home, 'crates.jsonl');
  await writeFile(file, lines.join('\n'));
  await page.keyboard.press('Control+6');
  await answerWith(file);
  await page.getByRole('button', { name: 'Import…' }).first().click();
  await expect(page.getByRole('dialog')).toContainText('10,000 memories', { timeout: 90_000 });
  await app.look('memories-import');
  await page.getByRole('dialog').getByRole('button', { name: 'Import', exact: true }).click();
  await expect(page.getByText('10,000 shown')).toBeVisible({ timeout: 120_000 });
  await page.getByRole('grid').focus();
  await page.keyboard.press('Home');
  for (let n = 0; n < 60; n += 1) await page.keyboard.press('PageDown');
  expect(await page.getByRole('row').count()).toBeLessThan(60);
  await expect(page.locator('tr.on')).toHaveAttribute('aria-rowindex', '602');
  await page.keyboard.press('Control+a');
  await expect(page.getByText('10,000 shown, 10,000 marked')).toBeVisible({ timeout: 30_000 });
  await page.locator('.bulk').getByRole('button', { name: 'Forget' }).click();
  await expect(page.getByText('10,000 memories forgotten').first()).toBeVisible({ timeout: 60_000 });
  // Under the mouse it stays.
  await page.locator('.toast', { hasText: 'forgotten' }).hover();
  await expect(page.getByText('Nothing is remembered yet')).toBeVisible();
  await undo('10,000 memories forgotten');
  await expect(page.getByText('10,000 shown')).toBeVisible({ timeout: 60_000 });
});

// Would catch a way to lose everything by a slip, and one that leaves something behind.
test('memories are exported, everything is forgotten only when it is typed, and deleted with proof', async () => {
  test.slow();
  const { page, home } = app;
  await remember();
  const copy = join(home, 'copy.jsonl');
  await answerWith(copy);
  await page.keyboard.press('Control+6');
  await expect(row(/Staging runs/)).toBeVisible();
  await page.getByRole('button', { name: 'More' }).click();
  await app.shoot('memories-menu');
  await page.getByRole('menuitem', { name: 'Forget everything…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('button', { name: 'Forget', exact: true })).toBeDisabled();
  await dialog.getByRole('button', { name: 'Export first…' }).click();
  await expect(page.getByText(/9 memories exported/).first()).toBeVisible();
  expect((await readFile(copy, 'utf8')).trim().split('\n').length).toBeGreaterThanOrEqual(9);
  await dialog.getByRole('textbox').fill('forget');
  await app.look('memories-wipe');
  await dialog.getByRole('button', { name: 'Forget', exact: true }).click();
  await expect(dialog).toContainText('9 memories');
  await app.look('memories-wiped');
  await dialog.getByRole('button', { name: 'Undo' }).click();
  await expect(row(/Staging runs/)).toBeVisible();

  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Forget everything…' }).click();
  await dialog.getByRole('checkbox').check();
  await dialog.getByRole('textbox').fill('FORGET');
  await dialog.getByRole('button', { name: 'Delete for good' }).click();
  await expect(dialog).toContainText('Everything is deleted');
  await expect(dialog.getByText('0 memories')).toBeVisible();
  await app.look('memories-deleted');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByText('Nothing is remembered yet')).toBeVisible();

  // And back from the copy.
  await page.getByRole('button', { name: 'Import…' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Import', exact: true }).click();
  await expect(page.getByText('9 shown')).toBeVisible();
  await page.getByRole('switch', { name: 'Remember new turns' }).click();
  await expect(page.getByText('New turns are not remembered.')).toBeVisible();
  await app.look('memories-off');
});
