import { describe, expect, it } from 'vitest';
import { adaptOpenaiRequest } from '../../../../../src/engine/proxy/translate/openai-messages.ts';

const hi = [{ role: 'user', content: 'hi' }];

describe('adaptOpenaiRequest', () => {
  const plain = { developerRole: true, oneLeadingSystem: false, reasoning: 'drop' } as const;

  it('T22: a request that needs nothing is the same object', () => {
    const body = { messages: [{ role: 'developer', content: 'S' }, ...hi], tools: [{ type: 'web_search' }] };
    expect(adaptOpenaiRequest(body, plain)).toBe(body);
    const leading = { messages: [{ role: 'system', content: [{ type: 'text', text: 'S' }] }, ...hi] };
    expect(adaptOpenaiRequest(leading, { ...plain, oneLeadingSystem: true })).toBe(leading);
  });

  it('T04: system messages in the middle are merged to the front once', () => {
    const list = ['A', null, 'M', null].map((text) =>
      text === null ? hi[0] : { role: 'system', content: text },
    );
    expect(adaptOpenaiRequest({ messages: list }, { ...plain, oneLeadingSystem: true }).messages).toEqual([
      { role: 'system', content: 'A\n\nM' },
      hi[0],
      hi[0],
    ]);
  });

  it('T05: developer becomes system for other hosts', () => {
    const body = { messages: [{ role: 'developer', content: 'S', name: 'n' }] };
    expect(adaptOpenaiRequest(body, { ...plain, developerRole: false }).messages).toEqual([
      { role: 'system', content: 'S', name: 'n' },
    ]);
  });

  it('T35: Anthropic-shaped blocks in an OpenAI request are understood, the rest is untouched', () => {
    const body = {
      messages: [
        { role: 'user', content: 'q', extra: 1 },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 't' },
            { type: 'tool_use', id: 'a', name: 'n.f', input: { x: 1 } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
      ],
    };
    expect(adaptOpenaiRequest(body, plain).messages).toEqual([
      { role: 'user', content: 'q', extra: 1 },
      {
        role: 'assistant',
        content: 't',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'n.f', arguments: '{"x":1}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'ok' },
    ]);
  });
});
