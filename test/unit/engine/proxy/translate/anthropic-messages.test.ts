import { describe, expect, it } from 'vitest';
import { adaptAnthropicRequest } from '../../../../../src/engine/proxy/translate/anthropic-messages.ts';

describe('adaptAnthropicRequest', () => {
  it('T51: signed thinking, empty or not, and redacted thinking leave the request as it is', () => {
    const content = [
      { type: 'thinking', thinking: '', signature: 'S' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'text', text: 'a' },
    ];
    const body = { messages: [{ role: 'assistant', content }, { role: 'user', content: 'b' }, 7] };
    expect(adaptAnthropicRequest(body)).toBe(body);
    expect(adaptAnthropicRequest({})).toEqual({});
  });

  it('thinking of another vendor, which Anthropic refuses after a switch, is left out', () => {
    const foreign = { type: 'thinking', thinking: 'r', signature: '' };
    const text = { type: 'text', text: 'a' };
    const body = {
      messages: [
        { role: 'assistant', content: [foreign, text] },
        { role: 'assistant', content: [foreign] },
      ],
    };
    expect(adaptAnthropicRequest(body).messages).toEqual([{ role: 'assistant', content: [text] }]);
  });
});
