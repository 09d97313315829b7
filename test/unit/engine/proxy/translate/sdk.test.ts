import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { errorBody, errorEvent } from '../../../../../src/engine/proxy/translate/errors.ts';
import {
  anthropicReplyToOpenai,
  openaiReplyToAnthropic,
} from '../../../../../src/engine/proxy/translate/reply.ts';
import type { JsonObject, WireEvent } from '../../../../../src/engine/proxy/translate/types.ts';
import { chunk, context, createAnthropicStream, createOpenaiStream, delta, event, run } from './support.ts';

/** An SDK whose network is this one answer. */
function answering(body: string, type: string, status = 200) {
  const fetch = () => Promise.resolve(new Response(body, { status, headers: { 'content-type': type } }));
  return {
    anthropic: new Anthropic({ apiKey: 'k', fetch, maxRetries: 0 }),
    openai: new OpenAI({ apiKey: 'k', fetch, maxRetries: 0 }),
  };
}

const SSE = 'text/event-stream';
const JSON_TYPE = 'application/json';
const ask = { model: 'm', max_tokens: 8, messages: [{ role: 'user' as const, content: 'hi' }] };

const openaiEvents: WireEvent[] = [
  delta({ role: 'assistant', content: '' }),
  delta({ reasoning_content: 'why' }),
  delta({ content: 'Hel' }),
  delta({ content: 'lo 🌍' }),
  delta({
    tool_calls: [
      { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
      { index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
    ],
  }),
  delta({
    tool_calls: [
      { index: 1, function: { arguments: '{"y"' } },
      { index: 0, function: { arguments: '{"x":[1' } },
    ],
  }),
  delta({
    tool_calls: [
      { index: 0, function: { arguments: ',2]}' } },
      { index: 1, function: { arguments: ':2}' } },
    ],
  }),
  delta({}, 'tool_calls'),
  chunk({
    choices: [],
    usage: { prompt_tokens: 11, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
  }),
  chunk('[DONE]'),
];

const anthropicEvents: WireEvent[] = [
  event({
    type: 'message_start',
    message: { id: 'msg_1', usage: { input_tokens: 7, cache_read_input_tokens: 4, output_tokens: 1 } },
  }),
  event({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  }),
  event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'why' } }),
  event({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'S' } }),
  event({ type: 'content_block_stop', index: 0 }),
  event({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } }),
  event({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello 🌍' } }),
  event({ type: 'content_block_stop', index: 1 }),
  event({ type: 'ping' }),
  event({
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} },
  }),
  event({
    type: 'content_block_delta',
    index: 2,
    delta: { type: 'input_json_delta', partial_json: '{"x":[1,2]}' },
  }),
  event({ type: 'content_block_stop', index: 2 }),
  event({
    type: 'content_block_start',
    index: 3,
    content_block: { type: 'tool_use', id: 'b', name: 'g', input: {} },
  }),
  event({ type: 'content_block_stop', index: 3 }),
  event({
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 5 },
  }),
  event({ type: 'message_stop' }),
];

describe('the Anthropic SDK reads what is translated from OpenAI', () => {
  it('stream: blocks, parallel tool input, usage, stop reason', async () => {
    const body = run(createAnthropicStream(context()), openaiEvents);
    const stream = answering(body, SSE).anthropic.messages.stream(ask);
    let told = '';
    stream.on('text', (text) => {
      told += text;
    });
    const message = await stream.finalMessage();
    expect(told).toBe('Hello 🌍');
    expect(message).toMatchObject({
      role: 'assistant',
      model: 'asked-model',
      content: [
        { type: 'thinking', thinking: 'why' },
        { type: 'text', text: 'Hello 🌍' },
        { type: 'tool_use', id: 'a', name: 'f', input: { x: [1, 2] } },
        { type: 'tool_use', id: 'b', name: 'g', input: { y: 2 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 7, cache_read_input_tokens: 4, output_tokens: 5 },
    });
  });

  it('stream without usage: the SDK needs an output count at the end', async () => {
    const body = run(createAnthropicStream(context()), [delta({ content: 'x' }), delta({}, 'stop')]);
    const message = await answering(body, SSE).anthropic.messages.stream(ask).finalMessage();
    expect(message.stop_reason).toBe('end_turn');
  });

  it('a stream that breaks is an error with its kind, not a short answer', async () => {
    const stream = createAnthropicStream(context());
    const body =
      stream.push(delta({ content: 'x' })) + stream.fail({ type: 'overloaded_error', message: 'busy' });
    const final = answering(body, SSE).anthropic.messages.stream(ask).finalMessage();
    await expect(final).rejects.toThrow(/busy/);
  });

  it('non-streaming', async () => {
    const reply = openaiReplyToAnthropic(
      {
        id: 'c',
        choices: [
          {
            message: { content: 'Hi', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '' } }] },
            finish_reason: 'stop',
          },
        ],
      },
      context(),
    );
    const message = await answering(JSON.stringify(reply), JSON_TYPE).anthropic.messages.create(ask);
    expect(message.content).toEqual([
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 'a', name: 'f', input: {} },
    ]);
  });

  it('H12: an error body', async () => {
    const body = JSON.stringify(errorBody('anthropic', 429, { message: 'slow down' }, 'req_1'));
    const error = await answering(body, JSON_TYPE, 429)
      .anthropic.messages.create(ask)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Anthropic.RateLimitError);
    expect((error as { type: string }).type).toBe('rate_limit_error');
  });
});

describe('the OpenAI SDK reads what is translated from Anthropic', () => {
  it('stream: text, parallel tool calls, usage, finish reason', async () => {
    const body = run(createOpenaiStream(context({ includeUsage: true })), anthropicEvents);
    const stream = answering(body, SSE).openai.chat.completions.stream({
      ...ask,
      stream_options: { include_usage: true },
    });
    const completion = await stream.finalChatCompletion();
    expect(completion).toMatchObject({
      model: 'asked-model',
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'Hello 🌍',
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":[1,2]}' } },
              { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 },
    });
  });

  it('a stream that breaks is an error, not a short answer', async () => {
    const body = errorEvent('openai', { type: 'overloaded_error', message: 'busy' });
    const stream = createOpenaiStream(context());
    const start = stream.push(anthropicEvents[0] as WireEvent);
    const final = answering(start + body, SSE)
      .openai.chat.completions.stream(ask)
      .finalChatCompletion();
    await expect(final).rejects.toThrow(/busy/);
  });

  it('non-streaming', async () => {
    const content: JsonObject[] = [
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
    ];
    const reply = anthropicReplyToOpenai({ id: 'm', content, stop_reason: 'tool_use', usage: {} }, context());
    const completion = await answering(JSON.stringify(reply), JSON_TYPE).openai.chat.completions.create(ask);
    expect(completion.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { arguments: '{"x":1}' },
    });
  });

  it('H12: an error body', async () => {
    const body = JSON.stringify(errorBody('openai', 400, { message: 'no', param: 'n' }, 'req_1'));
    const error = await answering(body, JSON_TYPE, 400)
      .openai.chat.completions.create(ask)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect((error as { param: string }).param).toBe('n');
  });
});
