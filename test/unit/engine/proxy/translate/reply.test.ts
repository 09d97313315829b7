import { describe, expect, it } from 'vitest';
import {
  anthropicReplyToOpenai,
  openaiReplyToAnthropic,
} from '../../../../../src/engine/proxy/translate/reply.ts';
import type { JsonObject } from '../../../../../src/engine/proxy/translate/types.ts';
import { context, failure } from './support.ts';

function openai(message: JsonObject, finish: string, more: JsonObject = {}): JsonObject {
  return {
    id: 'chatcmpl-1',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish, ...more }],
  };
}

function anthropic(content: JsonObject[], stop_reason: string, more: JsonObject = {}): JsonObject {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content,
    stop_reason,
    usage: { input_tokens: 3, output_tokens: 4 },
    ...more,
  };
}

describe('openaiReplyToAnthropic', () => {
  it('R001: the reply of LM Studio that broke the original', () => {
    const reply = {
      choices: [
        {
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: '460162068',
                type: 'function',
                function: { name: 'exec', arguments: '{"command":"ls"}' },
              },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    };
    expect(openaiReplyToAnthropic(reply, context())).toMatchObject({
      id: 'msg_turn-1',
      type: 'message',
      role: 'assistant',
      model: 'asked-model',
      content: [{ type: 'tool_use', id: '460162068', name: 'exec', input: { command: 'ls' } }],
      stop_reason: 'tool_use',
      stop_sequence: null,
    });
  });

  it.each<[string, JsonObject, JsonObject[]]>([
    ['text', { content: 'Hi' }, [{ type: 'text', text: 'Hi' }]],
    [
      'reasoning',
      { reasoning: 'r', content: 'Hi' },
      [
        { type: 'thinking', thinking: 'r', signature: '' },
        { type: 'text', text: 'Hi' },
      ],
    ],
    [
      'think tags',
      { content: '<think>r</think>Hi' },
      [
        { type: 'thinking', thinking: 'r', signature: '' },
        { type: 'text', text: 'Hi' },
      ],
    ],
    [
      'both, once',
      { reasoning_content: 'r', content: '<think>r</think>Hi' },
      [
        { type: 'thinking', thinking: 'r', signature: '' },
        { type: 'text', text: 'Hi' },
      ],
    ],
    [
      'parts',
      {
        content: [
          { type: 'text', text: 'H' },
          { type: 'text', text: 'i' },
        ],
      },
      [{ type: 'text', text: 'Hi' }],
    ],
    ['nothing', { content: '' }, []],
  ])('content: %s', (_name, message, content) => {
    expect(openaiReplyToAnthropic(openai(message, 'stop'), context()).content).toEqual(content);
  });

  it('S29: a refusal', () => {
    const reply = openaiReplyToAnthropic(openai({ content: null, refusal: 'no' }, 'stop'), context());
    expect(reply).toMatchObject({ content: [{ type: 'text', text: 'no' }], stop_reason: 'refusal' });
  });

  it('S28: a stop sequence that the upstream names', () => {
    const reply = openai({ content: 'a' }, 'stop', { stop_reason: 'X' });
    expect(openaiReplyToAnthropic(reply, context({ stopSequences: ['X'] }))).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'X',
    });
    expect(openaiReplyToAnthropic(reply, context())).toMatchObject({
      stop_reason: 'end_turn',
      stop_sequence: null,
    });
  });

  it('T30: odd arguments, and calls without ids', () => {
    const calls = [
      { function: { name: 'f', arguments: '' } },
      { function: { name: 'f', arguments: { a: 1 } } },
    ];
    expect(openaiReplyToAnthropic(openai({ tool_calls: calls }, 'stop'), context()).content).toEqual([
      { type: 'tool_use', id: 'call_turn-1_0', name: 'f', input: {} },
      { type: 'tool_use', id: 'call_turn-1_1', name: 'f', input: { a: 1 } },
    ]);
  });

  it.each([
    [null],
    ['<html>'],
    [{}],
    [{ choices: [] }],
    [{ choices: [{ finish_reason: 'stop' }] }],
    [{ error: { message: 'quota', code: 402 } }],
    [openai({ tool_calls: [{ id: 'a', function: {} }] }, 'tool_calls')],
  ])('what is no reply is an upstream error, never a TypeError: %j', (reply) => {
    expect(failure(() => openaiReplyToAnthropic(reply, context())).code).toBe('UPSTREAM_REFUSED');
  });
});

describe('anthropicReplyToOpenai', () => {
  it('text, tools and thinking', () => {
    const content = [
      { type: 'thinking', thinking: 'r', signature: 'SIG' },
      { type: 'text', text: 'a' },
      { type: 'tool_use', id: 'x', name: 'f', input: { a: 1 } },
      { type: 'text', text: 'b' },
    ];
    expect(anthropicReplyToOpenai(anthropic(content, 'tool_use'), context())).toEqual({
      id: 'chatcmpl-msg_1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'asked-model',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'ab',
            refusal: null,
            reasoning_content: 'r',
            tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 4,
        total_tokens: 7,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    });
  });

  it('S23: cache counts add up to the prompt', () => {
    const usage = {
      input_tokens: 1,
      cache_read_input_tokens: 2,
      cache_creation_input_tokens: 4,
      output_tokens: 8,
    };
    expect(anthropicReplyToOpenai(anthropic([], 'end_turn', { usage }), context()).usage).toEqual({
      prompt_tokens: 7,
      completion_tokens: 8,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 4 },
    });
  });

  it('a call alone has null content; the old form gets function_call', () => {
    const content = [{ type: 'tool_use', id: 'x', name: 'f', input: {} }];
    const message = (change = {}) =>
      (anthropicReplyToOpenai(anthropic(content, 'tool_use'), context(change)).choices as JsonObject[])[0];
    expect(message()).toMatchObject({ message: { content: null }, finish_reason: 'tool_calls' });
    expect(message({ legacyFunctions: true })).toMatchObject({
      message: { function_call: { name: 'f', arguments: '{}' } },
      finish_reason: 'function_call',
    });
  });

  it.each([
    [null],
    [{}],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }],
    [anthropic([], 'pause_turn')],
  ])('what is no reply is an upstream error: %j', (reply) => {
    expect(failure(() => anthropicReplyToOpenai(reply, context())).code).toBe('UPSTREAM_REFUSED');
  });
});
