import { expect, it, vi } from 'vitest';
import { useCliLab } from '../../support/cli-lab.ts';
import { PrefixCache } from '../../support/prefix-cache.ts';

vi.setConfig({ testTimeout: 60_000 });

const lab = useCliLab();

it('lists conversations and shows what the prompt cache gave, with a host and without', async () => {
  const none = await lab.cli.run(['sessions', 'list']);
  expect(none).toMatchObject({ code: 0, stdout: 'No conversation is recorded yet.\n', stderr: '' });
  for (const [key, value] of [
    ['llm.api_base', `${lab.upstream.url}/v1`],
    ['llm.model_id', 'm'],
  ] as const)
    expect((await lab.cli.run(['config', key, value])).code).toBe(0);
  const cache = new PrefixCache();
  lab.upstream.script((request) => ({ text: 'Fine.', usage: cache.usageOf(request) }));
  const { port } = await lab.cli.host();
  const messages: object[] = [{ role: 'system', content: 'You help. '.repeat(60) }];
  for (const content of [
    'A flaky test fails only in CI, what now?',
    'go on',
    'Write an email to the landlord',
  ]) {
    messages.push({ role: 'user', content });
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-metaclaw-session': 'chat-1' },
      body: JSON.stringify({ model: 'm', messages }),
    });
    expect(response.status, await response.text()).toBe(200);
    messages.push({ role: 'assistant', content: 'Fine.' });
  }
  const list = await lab.cli.run(['sessions', 'list']);
  expect(list).toMatchObject({ code: 0, stderr: '' });
  expect(list.stdout).toMatch(/^session\s+agent\s+turns\s+prompt\s+cached\s+words\nchat-1 .* 3 .*flaky test/);
  const live = await lab.cli.run(['sessions', 'show', 'chat-1']);
  expect(live.stdout.split('\n').map((row) => row.split(/\s{2,}/).at(-1))).toEqual([
    'start',
    'first',
    'kept',
    'kept',
    expect.stringMatching(
      /^\d+% of [\d,]+ prompt tokens came from the cache\. .*changed no start \(2 kept\)\.$/,
    ),
    '',
  ]);
  await lab.cli.run(['stop']);
  expect((await lab.cli.run(['sessions', 'show', 'chat-1'])).stdout).toBe(live.stdout);
  const json = JSON.parse((await lab.cli.run(['sessions', 'show', 'chat-1', '--json'])).stdout);
  expect(json).toMatchObject({ sessionId: 'chat-1', broken: 0, turns: [{ prefix: 'first' }, {}, {}] });
  const wrong = await lab.cli.run(['sessions', 'show', 'nobody']);
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain('There is no session nobody.');
  expect((await lab.cli.run(['sessions', 'list', '--limit', '0'])).code).toBe(2);
});
