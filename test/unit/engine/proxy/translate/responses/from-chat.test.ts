import { describe, expect, it } from 'vitest';
import { translateReply, translateRequest } from '../../../../../../src/engine/proxy/translate/pairs.ts';
import type { JsonObject } from '../../../../../../src/engine/proxy/translate/types.ts';
import { failure, options } from '../support.ts';
import { chatCall, RED, toResponses, user } from './support.ts';

describe('chat → Responses', () => {
  it('a conversation with tools whose items the Responses API would refuse', () => {
    const { body } = toResponses({
      messages: [
        { role: 'system', content: 'A' },
        { role: 'developer', content: 'B' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: RED } },
          ],
        },
        { role: 'assistant', content: 'look', tool_calls: [chatCall('c1', 'f', '{"a":1}')] },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
        { role: 'system', content: 'mid' },
      ],
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      max_tokens: 5,
      reasoning_effort: 'low',
      stop: ['x'],
      response_format: { type: 'json_object' },
    });
    expect(body).toEqual({
      model: options().model,
      instructions: 'A\n\nB',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'see' },
            { type: 'input_image', image_url: RED, detail: 'auto' },
          ],
        },
        { role: 'assistant', content: 'look' },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'ok' },
        { role: 'system', content: 'mid' },
      ],
      store: false,
      // Left out, every schema would become strict.
      tools: [
        { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: false },
      ],
      tool_choice: { type: 'function', name: 'f' },
      max_output_tokens: 16,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
      text: { format: { type: 'json_object' } },
    });
  });

  it('names what has no place there', () => {
    expect(toResponses({ stop: ['x'], seed: 4, max_tokens: 5 }).dropped).toEqual([
      'stop',
      'seed',
      'max_tokens<16',
    ]);
    expect(failure(() => toResponses({ n: 2 })).field).toBe('n');
  });

  it('an Anthropic client’s tool error and document over two hops', () => {
    const { body } = translateRequest(
      'anthropic',
      'responses',
      {
        model: 'm',
        max_tokens: 100,
        system: 'S',
        messages: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } }] },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 't1', is_error: true, content: 'boom' },
              {
                type: 'document',
                source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
              },
            ],
          },
        ],
      },
      options(),
    );
    expect(body.instructions).toBe('S');
    expect(body.input).toEqual([
      user('q'),
      { type: 'function_call', call_id: 't1', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 't1', output: '[tool error] boom' },
      {
        role: 'user',
        content: [
          { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
        ],
      },
    ]);
  });

  it('a refusal, a failed response and one that was cut, told in chat’s words', () => {
    const { context } = toResponses({});
    const reply = (fields: JsonObject) =>
      translateReply('responses', 'openai', { output: [], ...fields }, context);
    const refused = reply({
      status: 'completed',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }],
    });
    expect(refused.choices).toMatchObject([
      { message: { content: null, refusal: 'No.' }, finish_reason: 'stop' },
    ]);
    const short = reply({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } });
    expect(short.choices).toMatchObject([{ finish_reason: 'content_filter' }]);
    const failed = failure(() =>
      reply({ status: 'failed', error: { code: 'server_error', message: 'broken' } }),
    );
    expect(failed).toMatchObject({ code: 'UPSTREAM_REFUSED', message: 'broken' });
  });
});
