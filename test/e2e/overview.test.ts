import { expect, test } from '@playwright/test';
import { configFor, openApp, SKILLS, sendTurn, type TestApp } from '../support/app.ts';
import { errorReply, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';

const ASK = 'The nightly report is slow. Which code should I change first?';
const CORRECTION =
  'No. Measure where the time goes before changing any code; always profile first, and measure again afterwards.';

let upstream: ScriptedUpstream;
let app: TestApp;

test.beforeEach(async () => {
  upstream = await startUpstream({ models: ['big-model', 'evolver'] });
  upstream.script((request) =>
    request.json.model === 'evolver' ? JSON.stringify(Object.values(SKILLS)) : 'Let us look at the code.',
  );
  app = await openApp({
    config: configFor(upstream, { rl: { evolver_model: 'evolver' }, skills: { auto_accept: 'ask' } }),
  });
  await app.resize(1200, 800);
});
test.afterEach(async () => {
  await app.close();
  await upstream.close();
});

async function teach(): Promise<void> {
  const { openai } = await app.call('proxy.endpoints', {});
  await sendTurn(openai, 's1', [ASK]);
  await sendTurn(openai, 's1', [ASK, 'Let us look at the code.', CORRECTION], { 'x-session-done': 'true' });
  await sendTurn(openai, 's2', ['Review this diff before I merge it, please.'], {
    'x-metaclaw-agent': 'claude-code',
  });
  await sendTurn(openai, 's3', ['hi'], { 'x-metaclaw-agent': 'codex' });
  await expect
    .poll(async () => (await app.call('proposals.list', { state: 'waiting' })).length, { timeout: 15_000 })
    .toBe(3);
}

// Would catch figures that are invented, turns that do not show, and a decision that cannot be taken back.
test('overview shows real turns, and proposals are decided in place', async () => {
  test.slow();
  const { page } = app;
  await expect(page.getByRole('heading', { name: 'No turns yet' })).toBeVisible();
  await app.look('overview-empty');
  await teach();
  await expect(page.getByRole('row', { name: /Measure where the time goes/ })).toBeVisible();
  await expect(page.getByText('4 turns today, 3 proposals to review').first()).toBeVisible();
  await app.look('overview');

  const waiting = page.getByRole('region', { name: 'Waiting for you' });
  const measure = waiting.locator('.waiting', { hasText: SKILLS.measure.name });
  await measure.getByRole('button', { name: 'Accept' }).click();
  await expect(page.getByText(`${SKILLS.measure.name} is a skill now`).first()).toBeVisible();
  await expect(measure).toHaveCount(0);
  await app.shoot('overview-undo');
  await page.getByRole('button', { name: 'Undo' }).first().click();
  await expect(measure).toBeVisible();

  const gist = waiting.locator('.waiting', { hasText: SKILLS.gist.name });
  await expect(gist.getByText('Flagged')).toBeVisible();
  await gist.getByRole('button', { name: 'Reject…' }).click();
  await page.getByLabel(/Reason/).fill('unsafe advice');
  await app.look('reject-dialog');
  await page.getByRole('button', { name: 'Reject proposal' }).click();
  await expect(gist).toHaveCount(0);

  await measure.getByRole('button', { name: 'Edit…' }).click();
  await page.getByLabel('When to use it').fill('When a program is slow, measure before changing it.');
  await app.look('proposal-edit');
  await page.getByRole('button', { name: 'Accept the edit' }).click();
  await expect
    .poll(async () =>
      (await app.call('skills.list', {})).skills.find(({ name }) => name === SKILLS.measure.name),
    )
    .toMatchObject({ description: 'When a program is slow, measure before changing it.', source: 'learned' });

  // The next conversation carries it, and the window says why.
  const { openai } = await app.call('proxy.endpoints', {});
  const answer = await sendTurn(openai, 's4', ['My import is slow; where do I start before changing code?']);
  expect(answer.headers.get('x-metaclaw-injected')).toContain(SKILLS.measure.name);
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByRole('option', { name: /My import is slow/ }).click();
  await expect(page.getByRole('link', { name: SKILLS.measure.name })).toBeVisible();
  await app.look('activity');
  await page.getByRole('tab', { name: 'Sent upstream' }).click();
  await expect(page.getByText('Profile it.')).toBeVisible();
  await app.shoot('activity-sent');
  await page.getByRole('tab', { name: 'Answer' }).click();
  await expect(page.getByText('Let us look at the code.').first()).toBeVisible();
});

// Would catch a flagged skill that goes live by one careless key, and screens that keys cannot reach.
test('proposals and skills by keyboard', async () => {
  test.slow();
  const { page } = app;
  await teach();
  await page.keyboard.press('Control+4');
  await expect(page.getByRole('tab', { name: /Proposals/, selected: true })).toBeVisible();
  await expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible();
  await app.look('proposals');
  await page.getByRole('listbox').focus();
  const gist = page.getByRole('option', { name: new RegExp(SKILLS.gist.name) });
  for (let n = 0; n < 3 && (await gist.getAttribute('aria-selected')) !== 'true'; n += 1) {
    await page.keyboard.press('ArrowDown');
  }
  await expect(gist).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('heading', { level: 2, name: SKILLS.gist.name })).toBeVisible();
  await app.look('proposal-flagged');
  await page.keyboard.press('a');
  const question = page.getByRole('dialog');
  await expect(question).toContainText('despite the findings');
  await page.keyboard.press('Escape');
  await expect(question).toHaveCount(0);
  expect(await app.call('proposals.list', { state: 'waiting' })).toHaveLength(3);

  await page.keyboard.press('Control+3');
  await expect(page.getByRole('tab', { name: /Library/, selected: true })).toBeVisible();
  await page.getByRole('listbox').focus();
  await page.keyboard.press('Home');
  await expect(page).toHaveURL(/#\/skills\/library\//);
  const heading = page.getByRole('heading', { level: 2 }).first();
  await expect(page.getByRole('switch', { name: /in turns/ })).toBeVisible();
  await app.look('skills');
  const name = (await heading.textContent()) ?? '';
  await page.getByRole('switch', { name: `Use ${name} in turns` }).click();
  await expect(page.getByText(`${name} is off`).first()).toBeVisible();
  await expect
    .poll(
      async () => (await app.call('skills.list', {})).skills.find((skill) => skill.name === name)?.enabled,
    )
    .toBe(false);

  await page.keyboard.press('Control+k');
  await page.keyboard.type('settings');
  await app.look('palette');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
  await app.look('settings');
});

// Would catch an error that stays silent, or hides what still works and what to do.
test('a provider that refuses the key is shown with one action', async () => {
  const { page } = app;
  upstream.script(() => errorReply(401, false, 'authentication_error', 'Incorrect API key provided'));
  const { openai } = await app.call('proxy.endpoints', {});
  await sendTurn(openai, 's9', [ASK]);
  await expect(page.getByRole('alert').filter({ hasText: 'refuses the key' })).toBeVisible();
  await app.look('overview-error');
  await expect.poll(async () => (await app.hook('trayShown'))?.icon).toContain('error');
  await page.getByRole('button', { name: 'Replace key…' }).click();
  await expect(page).toHaveURL(/#\/setup/);
});

// Would catch cut or overlapping parts in the smallest window that is allowed.
test('every screen works at 720 by 480', async () => {
  const { page } = app;
  await teach();
  await app.resize(720, 480);
  for (const [name, keys] of [
    ['overview', 'Control+1'],
    ['activity', 'Control+2'],
    ['skills', 'Control+3'],
    ['proposals', 'Control+4'],
    ['settings', 'Control+,'],
  ] as const) {
    await page.keyboard.press(keys);
    await expect(page.locator('main .skel')).toHaveCount(0);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(overflow, name).toBeLessThanOrEqual(0);
    const cut = await page.evaluate(
      `[...document.querySelectorAll('.node > .cut')].filter((line) => line.scrollWidth > line.clientWidth).length`,
    );
    expect(cut, name).toBe(0);
    await app.shoot(`small-${name}`);
  }
  await page.keyboard.press('Control+2');
  await page.getByRole('option').first().click();
  await expect(page.getByRole('button', { name: 'Back to the list' })).toBeVisible();
  await app.shoot('small-turn');
  await page.getByRole('button', { name: 'Back to the list' }).click();
  await expect(page.getByRole('option').first()).toBeVisible();
});
