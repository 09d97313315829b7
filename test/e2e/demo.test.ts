import { expect, test } from '@playwright/test';
import { configFor, openApp } from '../support/app.ts';
import { startUpstream } from '../support/upstream.ts';

// Would catch a demo that stalls, that touches the user's own library, or that calls the user's provider.
test('the demo runs from the window and leaves nothing behind', async () => {
  const upstream = await startUpstream({ models: ['big-model'] });
  const app = await openApp({ config: configFor(upstream) });
  try {
    const { page } = app;
    await app.resize(1200, 800);
    const before = (await app.call('skills.list', {})).skills.length;
    await page.getByRole('button', { name: 'Run the demo' }).click();
    const demo = page.getByRole('region', { name: 'See it learn' });
    await expect(demo.getByText('First conversation').first()).toBeVisible();
    await expect(demo.getByText('Next conversation')).toBeVisible({ timeout: 30_000 });
    await expect(demo.getByText('Done', { exact: true })).toBeVisible({ timeout: 30_000 });
    await demo.scrollIntoViewIfNeeded();
    await app.look('demo');
    await expect(demo.getByRole('button', { name: 'Run it again' })).toBeEnabled();
    expect((await app.call('skills.list', {})).skills).toHaveLength(before);
    expect((await app.call('turns.list', {})).turns).toEqual([]);
    expect(upstream.chats).toEqual([]);
  } finally {
    await app.close();
    await upstream.close();
  }
});
