import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from '@playwright/test';
import { configFor, makeHome, openApp, sendTurn, type TestApp } from '../support/app.ts';
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts';

const MINE = `---
name: changelog-entries
description: Use when writing a changelog entry or release notes.
metadata:
  category: communication
  triggers: changelog entry; release notes
---

1. Say what the customer can do now.
2. Leave out internals.

**Anti-pattern:** naming the function that changed.
`;
const BETTER = {
  name: 'changelog-entries',
  edits: 'changelog-entries',
  description: 'Use when writing a changelog entry, release notes or a version announcement.',
  category: 'communication',
  triggers: ['changelog entry'],
  body: '1. Name the version and its date in the first line.\n2. Say what the customer can do now, in one sentence.\n3. Leave out internals.\n\n**Anti-pattern:** naming the function that changed.',
  reason: 'You asked twice for the version and its date in the first line.',
};
const ASK = 'Write a changelog entry for the export button.';
const CORRECTION = 'No, always name the version and its date in the first line of a changelog entry.';

let upstream: ScriptedUpstream;
let app: TestApp;

test.beforeEach(async () => {
  upstream = await startUpstream({ models: ['big-model', 'evolver'] });
  upstream.script((request) =>
    request.json.model === 'evolver' ? JSON.stringify([BETTER]) : 'Customers can export now.',
  );
  app = await openApp({ config: configFor(upstream, { rl: { evolver_model: 'evolver' } }) });
  await app.resize(1200, 800);
  await app.call('skills.add', { content: MINE });
});
test.afterEach(async () => {
  await app.close();
  await upstream.close();
});

/** Presses Undo in the toast that says so. */
function undo(text: string): Promise<void> {
  return app.page.locator('.toast', { hasText: text }).getByRole('button', { name: 'Undo' }).click();
}

async function teach(): Promise<void> {
  const { openai } = await app.call('proxy.endpoints', {});
  await sendTurn(openai, 's1', [ASK]);
  await sendTurn(openai, 's1', [ASK, 'Customers can export now.', CORRECTION], { 'x-session-done': 'true' });
  await expect
    .poll(async () => (await app.call('proposals.list', { state: 'waiting' })).length, { timeout: 15_000 })
    .toBe(1);
}

// Would catch a learned change of the user's own skill that shows no diff, goes live by itself, or cannot be undone.
test('an edit is shown as a diff, accepted, and is a version that can be gone back from', async () => {
  test.slow();
  const { page } = app;
  await teach();
  await page.keyboard.press('Control+4');
  const body = page.getByRole('region', { name: 'changelog-entries' });
  await expect(body.locator('ins', { hasText: 'or a version announcement' })).toBeVisible();
  await app.look('proposal-edit-words');
  await page.getByRole('radio', { name: 'Lines' }).click();
  await expect(body.locator('.line-diff .a').first()).toBeVisible();
  await app.look('proposal-edit-lines');
  await page.getByRole('radio', { name: 'Result' }).click();
  await expect(body.locator('ins')).toHaveCount(0);

  // The user changes the same skill elsewhere: the proposal follows.
  const { hash } = await app.call('skills.get', { name: 'changelog-entries' });
  const changed = MINE.replace('function that changed.', 'function that changed, or its file.');
  await app.call('skills.edit', { name: 'changelog-entries', content: changed, base: hash });
  await expect(page.getByText('This is the edit made to its newer text')).toBeVisible();
  await page.getByRole('radio', { name: 'Words' }).click();
  await app.look('proposal-edit-merged');
  await page.keyboard.press('a');
  await expect(page.getByText('changelog-entries has its new text').first()).toBeVisible();
  const after = await app.call('skills.get', { name: 'changelog-entries' });
  expect(after.content).toContain('1. Name the version');
  expect(after.content).toContain('or its file.');

  await page.keyboard.press('Control+3');
  await page.getByRole('option', { name: /changelog-entries/ }).click();
  await page.getByRole('radio', { name: 'History' }).click();
  await expect(page.getByRole('button', { name: /Version 3/ })).toContainText('learned');
  await expect(page.locator('.text-diff ins').first()).toBeVisible();
  await app.look('skill-history');
  await page.getByRole('button', { name: /Version 1/ }).click();
  await page.getByRole('button', { name: 'Restore this version' }).click();
  await expect(page.getByText('has the text of version 1 again').first()).toBeVisible();
  expect((await app.call('skills.get', { name: 'changelog-entries' })).content).toBe(MINE);
  await undo('text of version 1 again');
  await expect
    .poll(async () => (await app.call('skills.get', { name: 'changelog-entries' })).content)
    .toBe(after.content);
});

// Would catch an editor that loses a draft, saves over what it did not see, or lets something broken through.
test('a skill is written, changed, locked and removed in the window', async () => {
  test.slow();
  const { page } = app;
  await page.keyboard.press('Control+3');
  await page.getByRole('option', { name: /changelog-entries/ }).click();
  await page.getByRole('radio', { name: 'Edit' }).click();
  const editor = page.getByRole('textbox', { name: 'Text of changelog-entries' });
  await editor.fill('---\nname: changelog-entries\n---\n\nNo description.\n');
  await expect(page.getByRole('list', { name: 'Faults' })).toContainText('no description');
  await expect(page.getByRole('button', { name: /Save as version 2/ })).toBeDisabled();
  // Mark and words stand in one line, and a key's name fades with its button.
  expect(
    await page.evaluate(`(() => {
      const fault = document.querySelector('.faults li');
      const key = document.querySelector('.btn.primary:disabled .kbd');
      return {
        isOneLine: fault.clientHeight < 24,
        isMarked: getComputedStyle(fault.querySelector('svg')).color !== getComputedStyle(fault).color,
        fades: getComputedStyle(key).color === getComputedStyle(key.parentElement).color,
      };
    })()`),
  ).toEqual({ isOneLine: true, isMarked: true, fades: true });
  await app.look('skill-edit-fault');
  await editor.fill(MINE.replace('Leave out internals.', 'Leave internals out.'));
  await expect(page.getByRole('list', { name: 'Faults' })).toHaveCount(0);
  // A look elsewhere keeps the draft.
  await page.keyboard.press('Control+1');
  await page.keyboard.press('Control+3');
  await page.getByRole('option', { name: /changelog-entries/ }).click();
  await page.getByRole('radio', { name: 'Edit' }).click();
  await expect(editor).toContainText('Leave internals out');
  // Somebody else was faster.
  await app.call('skills.edit', { name: 'changelog-entries', content: MINE.replace('customer', 'reader') });
  await expect(page.getByText('has changed since you began')).toBeVisible();
  await app.look('skill-edit');
  await page.getByRole('button', { name: 'Save mine over it' }).click();
  await expect(page.getByText('is saved as version 3').first()).toBeVisible();

  await page.getByRole('button', { name: 'Lock changelog-entries', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Remove' })).toBeDisabled();
  await page.getByRole('button', { name: 'Unlock changelog-entries' }).click();
  await page.getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByRole('option', { name: /changelog-entries/ })).toHaveCount(0);
  await undo('is removed');
  await expect(page.getByRole('option', { name: /changelog-entries/ })).toBeVisible();

  await page.getByRole('button', { name: 'New skill' }).click();
  const fresh = page.getByRole('textbox', { name: 'New skill' });
  await fresh.fill(MINE);
  await expect(page.getByRole('list', { name: 'Faults' })).toContainText('already a skill');
  await fresh.fill(MINE.replace('name: changelog-entries', 'name: other-entries'));
  await expect(page.getByRole('list', { name: 'Faults' })).toHaveCount(0);
  await app.look('skill-new');
  await fresh.press('Control+s');
  await expect(page.getByRole('heading', { level: 2, name: 'other-entries' })).toBeVisible();
  await app.resize(720, 480);
  await page.getByRole('radio', { name: 'History' }).click();
  // A version without a story has no empty bar above its text.
  await expect(page.locator('.version-bar')).toBeHidden();
  await app.shoot('small-skill-history');
  await page.getByRole('radio', { name: 'Edit' }).click();
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect(overflow).toBeLessThanOrEqual(0);
  const room = await page.evaluate(`(() => {
    const last = document.querySelector('.actions > :last-child');
    return last.parentElement.getBoundingClientRect().right - last.getBoundingClientRect().right;
  })()`);
  expect(room).toBeLessThanOrEqual(24);
  await app.shoot('small-skill-edit');
});

// Would catch a worth that is claimed without sessions to show for it, and thumbs that do not reach learning.
test('what a skill is worth is shown with its interval, and an answer is rated in the window', async () => {
  test.slow();
  const { page } = app;
  await app.call('config.set', { path: 'learning.holdout', value: 0.5 });
  const { openai } = await app.call('proxy.endpoints', {});
  let held = 0;
  /** A turn from which all that fits was withheld. */
  let bare = '';
  for (let n = 0; n < 24; n += 1) {
    const first = await sendTurn(openai, `w${n}`, [ASK]);
    await first.text();
    const isHeld = !(first.headers.get('x-metaclaw-injected') ?? '').includes('changelog-entries');
    if (isHeld) held += 1;
    if (!first.headers.has('x-metaclaw-injected')) bare = first.headers.get('x-metaclaw-turn') ?? '';
    const next = isHeld && n % 5 !== 0 ? 'No, that is wrong.' : 'Perfect, thanks.';
    const last = await sendTurn(openai, `w${n}`, [ASK, 'ok', next], { 'x-session-done': 'true' });
    await last.text();
  }
  expect(held).toBeGreaterThan(2);
  expect(bare).not.toBe('');
  await expect
    .poll(
      async () => {
        const { worth } = await app.call('skills.get', { name: 'changelog-entries' });
        return (worth?.with.sessions ?? 0) + (worth?.without.sessions ?? 0);
      },
      { timeout: 20_000 },
    )
    .toBe(24);
  await page.keyboard.press('Control+3');
  await page.getByLabel('Sort by').selectOption('worth');
  await page.getByRole('option', { name: /changelog-entries/ }).click();
  await expect(page.getByText('Worth', { exact: true }).last()).toBeVisible();
  await expect(page.getByText(`100% good, ${24 - held} sessions`)).toBeVisible();
  await app.look('skill-worth');

  await page.getByRole('link', { name: 'Activity' }).click();
  await page
    .getByRole('option', { name: /changelog entry/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Bad answer' }).click();
  await page.getByLabel(/What should have been different/).fill('far too short');
  await app.look('feedback-dialog');
  await page.getByRole('button', { name: 'Note it' }).click();
  await expect(page.getByRole('button', { name: 'Bad answer' })).toHaveAttribute('aria-pressed', 'true');
  await app.look('turn-feedback');
  await page.getByRole('button', { name: 'Bad answer' }).click();
  await expect(page.getByRole('button', { name: 'Bad answer' })).toHaveAttribute('aria-pressed', 'false');

  await page.evaluate(`location.hash = '#/activity/${bare}'`);
  await expect(page.getByText('What fits was left out')).toBeVisible();
});

/** Lets the next dialog of the system answer with this path. */
function choose(path: string): Promise<void> {
  return app.app.evaluate(({ dialog }, chosen) => {
    dialog.showOpenDialog = async () => ({ canceled: false, filePaths: [chosen] });
  }, path);
}

// Would catch an import that drops a folder without a word, and a text that is saved blind.
test('a text is tried on the latest turns, folders come in, and the library is kept in order', async () => {
  test.slow();
  const { page } = app;
  const { openai } = await app.call('proxy.endpoints', {});
  for (const [session, ask] of [
    ['a', ASK],
    ['b', 'What is the weather like on Mars?'],
    ['c', 'Draft the announcement for version 2.4.'],
  ] as const) {
    await (await sendTurn(openai, session, [ask])).text();
  }
  await page.keyboard.press('Control+3');
  await page.getByRole('option', { name: /changelog-entries/ }).click();
  await page.getByRole('radio', { name: 'Edit' }).click();
  await page
    .getByRole('textbox', { name: 'Text of changelog-entries' })
    .fill(MINE.replace('changelog entry; release notes', 'announcement for version'));
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText(/It would enter \d of 3 turns/)).toBeVisible();
  await expect(dialog.getByRole('listitem').filter({ hasText: 'announcement' })).toContainText(
    'newly enters',
  );
  await expect(dialog.getByRole('listitem').filter({ hasText: 'Mars' })).not.toContainText('enters');
  await app.look('skill-try');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Discard draft' }).click();

  const folder = await mkdtemp(join(tmpdir(), 'metaclaw-skills-'));
  for (const [name, text] of [
    ['tea', MINE.replace('name: changelog-entries', 'name: brew-tea')],
    ['twin', MINE],
  ] as const) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'SKILL.md'), text);
  }
  await choose(folder);
  await page.getByRole('button', { name: 'Import…' }).click();
  await expect(page.getByRole('dialog')).toContainText('already a skill or folder named changelog-entries');
  await app.look('skills-import');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('heading', { level: 2, name: 'brew-tea' })).toBeVisible();
  await rm(folder, { recursive: true });

  await page.getByRole('tab', { name: /Upkeep/ }).click();
  await expect(page.getByText('is claimed also by changelog-entries').first()).toBeVisible();
  await app.look('skills-upkeep');
  await app.resize(720, 480);
  await app.look('small-skills-upkeep');
});

// Would catch a newer text of the bank that replaces the user's, or that cannot be told to go away.
test('a newer text of a built-in skill is shown as a diff, and taken or kept', async () => {
  test.slow();
  const name = 'review-a-diff';
  await app.close();
  const home = await makeHome(configFor(upstream));
  app = await openApp({ home });
  const mine = await app.call('skills.get', { name });
  await app.call('skills.edit', { name, content: `${mine.content.trimEnd()}\n\nMine.\n` });
  await app.close();
  // As if the bank had said something else when it was installed.
  const database = new DatabaseSync(join(home, 'state.db'));
  database
    .prepare(
      `UPDATE settings SET value = json_set(value, '$."' || ? || '"', 'older') WHERE key = 'skills.seeded'`,
    )
    .run(name);
  database.close();
  app = await openApp({ home });
  await app.resize(1200, 800);
  const { page } = app;
  await page.keyboard.press('Control+3');
  await page.getByRole('tab', { name: /Upkeep/ }).click();
  const update = page.getByRole('region', { name });
  await expect(update.locator('del', { hasText: 'Mine.' })).toBeVisible();
  await app.look('skills-update');
  await update.getByRole('button', { name: 'Take it' }).click();
  await expect(update).toHaveCount(0);
  expect((await app.call('skills.get', { name })).content).toBe(mine.content);
  await undo('has the built-in text');
  await expect.poll(async () => (await app.call('skills.get', { name })).content).toContain('Mine.');
  await rm(home, { recursive: true, force: true });
});
