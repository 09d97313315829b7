import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAssembler, readReply } from '../../../../../src/engine/proxy/translate/assemble.ts';
import type { JsonObject, WireEvent } from '../../../../../src/engine/proxy/translate/types.ts';
import type { Dialect } from '../../../../../src/shared/model.ts';
import { chunk, delta, event } from './support.ts';

function assemble(dialect: Dialect, events: readonly WireEvent[]) {
  const assembler = createAssembler(dialect);
  for (const item of events) assembler.push(item);
  return assembler.result();
}

describe('assembling an OpenAI stream', () => {
  it('text, reasoning, interleaved tools and usage become one reply', () => {
    const result = assemble('openai', [
      chunk({
        id: 'c',
        model: 'm',
        created: 1,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: { role: 'assistant', content: '' } }],
      }),
      delta({ reasoning: 'r' }),
      delta({ content: 'Hi' }),
      delta({
        tool_calls: [
          { index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } },
          { index: 1, id: 'b', function: { name: 'g', arguments: '' } },
        ],
      }),
      delta({
        tool_calls: [
          { index: 1, function: { arguments: '{}' } },
          { index: 0, function: { arguments: ':1}' } },
        ],
      }),
      delta({}, 'tool_calls'),
      chunk({
        choices: [],
        usage: { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } },
      }),
      chunk('[DONE]'),
    ]);
    expect(result.reply).toMatchObject({
      object: 'chat.completion',
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hi',
            reasoning_content: 'r',
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
              { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 10 },
    });
    expect(result).toMatchObject({
      text: 'Hi',
      usage: { inputTokens: 6, outputTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 0, estimated: false },
      complete: true,
      error: null,
    });
  });

  it('T41: several choices keep their indices', () => {
    const both = [1, 0].map((index) =>
      chunk({ choices: [{ index, delta: { content: `c${index}` }, finish_reason: 'stop' }] }),
    );
    const choices = assemble('openai', both).reply?.choices as { index: number; message: JsonObject }[];
    expect(choices.map((choice) => [choice.index, choice.message.content])).toEqual([
      [0, 'c0'],
      [1, 'c1'],
    ]);
  });

  it('the recorded text has no reasoning in tags', () => {
    expect(
      assemble('openai', [delta({ content: '<think>r</think>' }), delta({ content: 'Hi' }, 'stop')]).text,
    ).toBe('Hi');
  });

  it('a cut stream, an error and an error as finish reason are not complete', () => {
    expect(assemble('openai', [delta({ content: 'x' })])).toMatchObject({
      complete: false,
      text: 'x',
      usage: null,
    });
    expect(
      assemble('openai', [delta({ content: 'x' }, 'stop'), chunk({ error: { message: 'died' } })]),
    ).toMatchObject({
      complete: false,
      error: { message: 'died' },
    });
    expect(assemble('openai', [delta({}, 'error')]).complete).toBe(false);
    expect(assemble('openai', [chunk('[DONE]')])).toMatchObject({ complete: false, reply: null });
  });
});

describe('assembling an Anthropic stream', () => {
  it('blocks, signatures, tool input and totals become one message', () => {
    const result = assemble('anthropic', [
      event({
        type: 'message_start',
        message: {
          id: 'm',
          model: 'x',
          content: [],
          stop_reason: null,
          usage: { input_tokens: 3, cache_read_input_tokens: 5, output_tokens: 1 },
        },
      }),
      event({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'r' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'S' } }),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } }),
      event({ type: 'ping' }),
      event({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hi' } }),
      event({ type: 'content_block_stop', index: 1 }),
      event({
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
      }),
      event({
        type: 'content_block_delta',
        index: 2,
        delta: { type: 'input_json_delta', partial_json: '{"a"' },
      }),
      event({
        type: 'content_block_delta',
        index: 2,
        delta: { type: 'input_json_delta', partial_json: ':1}' },
      }),
      event({
        type: 'message_delta',
        delta: { stop_reason: 'tool_use' },
        usage: { output_tokens: 4, input_tokens: null },
      }),
      event({ type: 'message_delta', delta: {}, usage: { output_tokens: 9 } }),
      event({ type: 'message_stop' }),
    ]);
    expect(result.reply).toMatchObject({
      id: 'm',
      type: 'message',
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'r', signature: 'S' },
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
      ],
      usage: { input_tokens: 3, cache_read_input_tokens: 5, output_tokens: 9 },
    });
    expect(result).toMatchObject({
      text: 'Hi',
      complete: true,
      usage: { inputTokens: 3, outputTokens: 9, cacheReadTokens: 5 },
    });
  });

  it('an error is kept and nothing counts as complete', () => {
    const result = assemble('anthropic', [
      event({ type: 'message_start', message: { id: 'm', usage: {} } }),
      event({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }),
    ]);
    expect(result).toMatchObject({ complete: false, error: { type: 'overloaded_error', message: 'busy' } });
  });
});

describe('recording never throws', () => {
  const anything = fc.record({
    event: fc.option(fc.string(), { nil: undefined }),
    data: fc.oneof(fc.string(), fc.json(), fc.constant('[DONE]')),
  });
  const typed = fc
    .record(
      {
        type: fc.constantFrom(
          'message_start',
          'content_block_start',
          'content_block_delta',
          'message_delta',
          'message_stop',
          'error',
        ),
        index: fc.anything(),
        message: fc.anything(),
        content_block: fc.anything(),
        delta: fc.anything(),
        usage: fc.anything(),
        choices: fc.oneof(
          fc.anything(),
          fc.array(fc.record({ index: fc.anything(), delta: fc.anything(), usage: fc.anything() })),
        ),
        error: fc.anything(),
      },
      { requiredKeys: [] },
    )
    .map((value) => ({
      event: undefined,
      data: JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? 1 : item)),
    }));

  it.each<[Dialect]>([['openai'], ['anthropic']])('%s: whatever the upstream sends', (dialect) => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anything, typed), { maxLength: 6 }), (events) => {
        assemble(dialect, events);
      }),
    );
    fc.assert(
      fc.property(fc.anything(), (reply) => {
        readReply(dialect, reply);
      }),
    );
  });

  it('readReply gives visible text and usage', () => {
    const openai = {
      choices: [{ message: { content: '<think>r</think>Hi' } }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    };
    expect(readReply('openai', openai)).toMatchObject({
      text: 'Hi',
      usage: { inputTokens: 1, outputTokens: 2 },
    });
    const anthropic = {
      content: [
        { type: 'thinking', thinking: 'r' },
        { type: 'text', text: 'Hi' },
      ],
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    expect(readReply('anthropic', anthropic)).toMatchObject({
      text: 'Hi',
      usage: { inputTokens: 1, outputTokens: 2 },
    });
    expect(readReply('openai', null)).toEqual({ text: '', usage: null });
  });
});
