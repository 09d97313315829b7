import { expect, it, vi } from 'vitest';
import { useCliLab } from '../../support/cli-lab.ts';

vi.setConfig({ testTimeout: 60_000 });

const lab = useCliLab();

async function set(key: string, value: string): Promise<void> {
  const result = await lab.cli.run(['config', key, value]);
  expect(result.code, result.all).toBe(0);
}

it('says what nothing cost, and refuses days that are none', async () => {
  const none = await lab.cli.run(['usage']);
  expect(none).toMatchObject({ code: 0, stderr: '' });
  expect(none.stdout).toMatch(/^No calls from \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d\.\nNo daily cap/);
  const wrong = await lab.cli.run(['usage', '--days', '0']);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('A whole number from 1 to 400 is expected.');
});

it('takes a cap in tokens or money, and one clear error for what is neither', async () => {
  await set('usage.daily_cap', '200k tokens');
  expect((await lab.cli.run(['config', 'usage.daily_cap'])).stdout).toBe('usage.daily_cap: 200000\n');
  await set('usage.daily_cap', '2 usd');
  expect((await lab.cli.run(['config', 'usage.daily_cap'])).stdout).toContain('$2');
  const wrong = await lab.cli.run(['config', 'usage.daily_cap', '2 eur']);
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain(
    'usage.daily_cap: tokens like 200000 or 200k, or money like $2 or 2 usd, is expected.',
  );
  const prices = await lab.cli.run(['config', 'usage.prices', '{m: cheap}']);
  expect(prices.stderr).toContain('usage.prices: a map like {my-model: {input: 0.5, output: 2}}');
});

it('shows days, models and purposes with their cost, and the cap; the same without a host', async () => {
  await set('llm.api_base', lab.upstream.url);
  await set('llm.model_id', 'dear');
  await set('usage.prices', '{dear: {input: 10, output: 50}}');
  await set('usage.daily_cap', '$2');
  const { port } = await lab.cli.host();
  lab.upstream.script(({ json }) => ({
    text: 'Fine.',
    usage: { input: json.model === 'dear' ? 12_000 : 10, output: 100, cacheRead: 6000 },
  }));
  for (const content of ['first question', 'second question'])
    await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'dear', messages: [{ role: 'user', content }] }),
    }).then((response) => response.text());
  const live = await lab.cli.run(['usage', '--days', '2']);
  expect(live).toMatchObject({ code: 0, stderr: '' });
  const line = (name: string) => live.stdout.split('\n').find((row) => row.startsWith(name));
  expect(line('total')?.trim().split(/\s+/)).toEqual([
    'total',
    '2',
    '0',
    '24,000',
    '50%',
    '200',
    '0',
    '$0.25',
  ]);
  expect(line('dear')).toContain('$0.25');
  expect(line('chat')).toContain('24,000');
  expect(live.stdout).toContain('Learning has used $0.00 of $2.00 today.');
  expect((await lab.cli.run(['status'])).stdout).toContain('Learning has used $0.00 of $2.00 today.');
  expect((await lab.cli.run(['stop'])).code).toBe(0);

  const json = JSON.parse((await lab.cli.run(['usage', '--json'])).stdout);
  expect(json.days).toHaveLength(7);
  expect(json).toMatchObject({
    total: { relayed: { calls: 2, inputTokens: 12_000, cacheReadTokens: 12_000, costUsd: 0.25 } },
    models: [{ key: 'dear' }],
    purposes: [{ key: 'chat' }],
    cap: { state: 'open', spent: 0 },
  });
});

it('says unknown where no price is known, and how to set one', async () => {
  await set('llm.api_base', lab.upstream.url);
  await set('llm.model_id', 'mystery');
  const test = await lab.cli.run(['doctor']);
  expect(test.stdout).toContain('mystery answered');
  const { stdout } = await lab.cli.run(['usage']);
  expect(stdout).toMatch(/provider-test .* unknown/);
  expect(stdout).toContain('1 call has no known cost. Set prices: metaclaw config usage.prices');
});
