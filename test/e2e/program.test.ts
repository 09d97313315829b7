import { expect, test } from '@playwright/test';
import { openApp, sendTurn, type TestApp } from '../support/app.ts';
import { CLAUDE, installVendorPrograms, type VendorPrograms } from '../support/vendor-programs.ts';

let vendor: VendorPrograms;
let app: TestApp;

test.beforeEach(async () => {
  vendor = installVendorPrograms(['claude']);
  const answer = [...CLAUDE.begin, CLAUDE.text('Hello from here'), ...CLAUDE.end('Hello from here')];
  vendor.script('claude', { lines: answer });
  app = await openApp({ env: { PATH: `${vendor.env.PATH}:${process.env.PATH}`, HOME: vendor.home } });
});
test.afterEach(async () => {
  await app.close();
  vendor.remove();
});

// Would catch a wizard that hides a program that is there, asks it for an address or a key, or cannot save it.
test('the wizard offers the program that is signed in here', async () => {
  const { page } = app;
  await app.resize(1200, 800);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('radio', { name: /Claude Code.*answers with its own sign-in/ }).click();
  await expect(page.getByLabel('Address')).toHaveCount(0);
  await expect(page.getByLabel('Key', { exact: true })).toHaveCount(0);
  await expect(page.getByText('Claude Code answered.')).toBeVisible();
  await app.look('setup-program');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByText('The program’s own sign-in')).toBeVisible();
  await page.getByRole('button', { name: 'Save and start' }).click();
  await expect(page.getByText('Waits for the first turn…')).toBeVisible();
  const { openai } = await app.call('proxy.endpoints', {});
  const { status } = await sendTurn(openai, 'hello', ['Say hello']);
  expect(status).toBe(200);
  expect(vendor.calls().at(-1)?.input).toContain('Say hello');
  await expect(page.getByText(/The first turn came through/)).toBeVisible();
});
