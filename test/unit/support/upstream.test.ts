import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
beforeEach(async () => {
  upstream = await startUpstream({ apiKey: 'sk-up' });
});
afterEach(() => upstream.close());

describe('the scripted upstream', () => {
  it('satisfies the OpenAI SDK, cut into single bytes with mixed line endings', async () => {
    const openai = new OpenAI({ baseURL: `${upstream.url}/v1`, apiKey: 'sk-up', maxRetries: 0 });
    upstream.reply({
      reasoning: 'hm',
      text: 'Hi 🌍',
      tools: [
        { id: 'a', name: 'f', arguments: '{"x":1}' },
        { id: 'b', name: 'g', arguments: '{"y":2}' },
      ],
      interleave: true,
      wire: { cut: 1, eol: '\r\n', comments: true },
    });
    const stream = openai.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
    const message = (await stream.finalChatCompletion()).choices[0]?.message;
    expect(message?.content).toBe('Hi 🌍');
    expect(message?.tool_calls?.map((call) => 'function' in call && call.function.arguments)).toEqual([
      '{"x":1}',
      '{"y":2}',
    ]);
  });

  it('satisfies the Anthropic SDK', async () => {
    const anthropic = new Anthropic({ baseURL: upstream.url, apiKey: 'sk-up', maxRetries: 0 });
    upstream.reply({
      reasoning: 'r',
      text: 'Hi',
      tools: [{ id: 'a', name: 'f', arguments: '{"x":1}' }],
      pings: true,
    });
    const message = await anthropic.messages
      .stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })
      .finalMessage();
    expect(message.content.map((block) => block.type)).toEqual(['thinking', 'text', 'tool_use']);
    expect(message.stop_reason).toBe('tool_use');
  });

  it('refuses a wrong key and orphaned tool results', async () => {
    const post = (body: unknown, key = 'sk-up') =>
      fetch(`${upstream.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
    expect((await post({}, 'wrong')).status).toBe(401);
    const orphan = { model: 'm', messages: [{ role: 'tool', tool_call_id: 'x', content: '' }] };
    expect((await post(orphan)).status).toBe(400);
  });
});
