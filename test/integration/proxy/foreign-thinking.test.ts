import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';

let lab: ProxyLab;
beforeAll(async () => {
  lab = await startProxyLab({ wire: 'anthropic' });
});
afterAll(() => lab.close());

async function sent(thinking: object, style: number | undefined = undefined) {
  const messages = [
    { role: 'user', content: 'Why?' },
    { role: 'assistant', content: [thinking, { type: 'text', text: 'So.' }] },
    { role: 'user', content: 'And "signature":"" then?' },
  ];
  const body = JSON.stringify({ model: 'served', max_tokens: 90, messages }, null, style);
  const answer = await rawRequest(lab.port, post('/v1/messages', body));
  expect(answer.status, answer.body).toBe(200);
  const raw = lab.upstream.last.rawBody.toString();
  return { body, raw, answers: JSON.parse(raw).messages[1].content as unknown[] };
}

// What an OpenAI-compatible provider thought carries no signature here; after a switch, Anthropic refused every turn.
it.each([
  ['an empty signature', { type: 'thinking', thinking: 'hm', signature: '' }, undefined],
  ['an empty signature, with spaces', { type: 'thinking', thinking: 'hm', signature: '' }, 1],
  ['no signature', { type: 'thinking', thinking: 'hm' }, undefined],
])('thinking of another vendor is left out of what Anthropic gets: %s', async (_name, thinking, style) => {
  const { answers } = await sent(thinking, style);
  expect(answers).toEqual([{ type: 'text', text: 'So.' }]);
});

it('T51: signed thinking goes on byte for byte, empty or not', async () => {
  for (const thinking of ['hm', '']) {
    const { body, raw } = await sent({ type: 'thinking', thinking, signature: 'c2lnbmVk' });
    expect(raw).toBe(body);
  }
});

// Anthropic refused the next step of a tool loop that another provider had begun: "Expected `thinking`, found `tool_use`".
it.each([
  ['that lost all its thinking goes on without any', '', undefined],
  ['that began here thinks on', 'c2lnbmVk', { type: 'enabled', budget_tokens: 1024 }],
])('a tool loop %s', async (_name, signature, thinking) => {
  const older = {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'old', signature: '' },
      { type: 'text', text: 'So.' },
    ],
  };
  const messages = [
    { role: 'user', content: 'Why?' },
    older,
    { role: 'user', content: 'Look it up.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }] },
  ];
  const body = {
    model: 'served',
    max_tokens: 2000,
    thinking: { type: 'enabled', budget_tokens: 1024 },
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    messages,
  };
  const answer = await rawRequest(lab.port, post('/v1/messages', JSON.stringify(body)));
  expect(answer.status, answer.body).toBe(200);
  expect(lab.upstream.last.json.thinking).toEqual(thinking);
});
