import { expect, it, vi } from 'vitest';
import { useCliLab } from '../../support/cli-lab.ts';
import { errorReply } from '../../support/upstream.ts';

vi.setConfig({ testTimeout: 60_000 });

const lab = useCliLab();

it('shows what a refusal taught and forgets it, with a running host and without', async () => {
  expect((await lab.cli.run(['quirks', 'list'])).stdout).toBe(
    'No provider has refused a form of a request so far.\n',
  );
  for (const [key, value] of [
    ['llm.api_base', lab.upstream.url],
    ['llm.model_id', 'm'],
  ] as const)
    expect((await lab.cli.run(['config', key, value])).code).toBe(0);
  const { port } = await lab.cli.host();
  lab.upstream.script(({ json }) =>
    'verbosity' in json
      ? errorReply(400, false, 'invalid_request_error', 'Unknown parameter: verbosity', 'verbosity')
      : 'taken',
  );
  const ask = () =>
    fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', verbosity: 'low', messages: [{ role: 'user', content: 'hi' }] }),
    });
  expect((await ask()).status).toBe(200);
  const { host } = new URL(lab.upstream.url);
  const listed = await lab.cli.run(['quirks', 'list']);
  expect(listed.stdout).toBe(`${host}  m  refusedFields=verbosity\n`);
  const json = await lab.cli.run(['quirks', 'list', '--json']);
  expect(JSON.parse(json.stdout)).toEqual({
    quirks: [{ host, model: 'm', effects: ['refusedFields=verbosity'] }],
  });
  expect((await lab.cli.run(['quirks', 'forget', 'elsewhere.example'])).stdout).toBe('Nothing was known.\n');
  expect((await lab.cli.run(['quirks', 'forget', host, 'm'])).stdout).toBe('Forgotten for 1 model.\n');
  await ask();
  expect(lab.upstream.chats).toHaveLength(4);
  await lab.cli.close();
});
