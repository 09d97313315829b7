import { describe, expect, it } from 'vitest';
import { createTranslator, translateRequest } from '../../../../../../src/engine/proxy/translate/pairs.ts';
import type { JsonObject } from '../../../../../../src/engine/proxy/translate/types.ts';
import { jsonEvents, options, outline } from '../support.ts';
import { call, toChat, toResponses, user } from './support.ts';

describe('Responses events → chat chunks', () => {
  it('a server that tells items only when they are done, or only at the end', () => {
    const { context } = toResponses({ stream: true });
    const item = {
      type: 'message',
      id: 'm',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'late' }],
    };
    const fn = { ...call('c1', 'f', '{"a":1}'), id: 'fc' };
    const event = (data: JsonObject) => ({ event: String(data.type), data: JSON.stringify(data) });
    for (const events of [
      [
        event({ type: 'response.output_item.done', output_index: 0, item }),
        event({ type: 'response.output_item.done', output_index: 1, item: fn }),
        event({ type: 'response.completed', response: { status: 'completed' } }),
      ],
      [event({ type: 'response.completed', response: { status: 'completed', output: [item, fn] } })],
    ]) {
      const stream = createTranslator('responses', 'openai', context);
      const text = events.map((one) => stream.push(one)).join('');
      expect(text.split('"late"')).toHaveLength(2);
      expect(text.split('"{\\"a\\":1}"')).toHaveLength(2);
      expect(text).toContain('"finish_reason":"tool_calls"');
      expect(stream.state).toBe('ended');
    }
  });

  it('a call whose arguments come with its first event, to a client of the old functions form that got none', () => {
    const { context } = toResponses({ stream: true, functions: [{ name: 'f' }] });
    const stream = createTranslator('responses', 'openai', context);
    const added = { type: 'response.output_item.added', output_index: 0, item: call('c1', 'f', '{"a":1}') };
    expect(stream.push({ data: JSON.stringify(added) })).toContain(
      '"function_call":{"arguments":"{\\"a\\":1}"}',
    );
  });

  it('two hops of names: a tool that both wires had to rename has its own name again', () => {
    const name = `mcp.server/${'x'.repeat(70)}`;
    const asked = {
      max_tokens: 9,
      stream: true,
      messages: [user('hi')],
      tools: [{ name, input_schema: { type: 'object' } }],
    };
    const { body, context } = translateRequest('anthropic', 'responses', asked, options());
    const wire = (body.tools as JsonObject[])[0]?.name;
    expect(wire).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    const stream = createTranslator('responses', 'anthropic', context);
    const done = {
      type: 'response.output_item.done',
      output_index: 0,
      item: call('c1', String(wire), '{"a":1}'),
    };
    const last = {
      type: 'response.completed',
      response: { status: 'completed', usage: { input_tokens: 5, output_tokens: 2 } },
    };
    const out = [done, last].map((data) => stream.push({ data: JSON.stringify(data) })).join('');
    expect(outline(out)).toEqual([
      'message_start',
      `start 0 tool_use ${name} c1`,
      'delta 0 input_json_delta {"a":1}',
      'stop 0',
      'end tool_use',
      'message_stop',
    ]);
    expect(jsonEvents(out).at(-2)?.usage).toMatchObject({ input_tokens: 5, output_tokens: 2 });
  });
});

describe('chat stream → Responses events', () => {
  const chunk = (delta: JsonObject, finish: string | null = null) => ({
    data: JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] }),
  });

  it('arguments that are empty, null or broken: the client always gets an object', () => {
    for (const [args, told] of [
      ['', '{}'],
      ['null', '{}'],
      ['[1]', '{"raw_arguments":"[1]"}'],
    ]) {
      const stream = createTranslator('openai', 'responses', toChat({ stream: true }).context);
      const out =
        stream.push(
          chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: args } }] }),
        ) +
        stream.push(chunk({}, 'tool_calls')) +
        stream.push({ data: '[DONE]' });
      const done = /event: response\.function_call_arguments\.done\ndata: (.*)\n/.exec(out)?.[1] ?? '{}';
      expect(JSON.parse(done)).toMatchObject({ arguments: told });
    }
  });

  it('an answer without an end, an empty one and an error in-band never look complete', () => {
    const begin = () => createTranslator('openai', 'responses', toChat({ stream: true }).context);
    const cut = begin();
    cut.push(chunk({ content: 'half' }));
    expect(cut.end()).toMatch(/event: error\n[\s\S]*event: response\.failed\n/);
    const empty = begin();
    expect(empty.push({ data: '[DONE]' })).toMatch(/^event: error\n/);
    const broken = begin();
    broken.push(chunk({ content: 'x' }));
    const told = broken.push({ data: '{"error":{"message":"slow","code":"rate_limit_exceeded"}}' });
    expect(told).toContain('"error":{"code":"rate_limit_exceeded","message":"slow"}');
    expect(broken.push(chunk({ content: 'more' }))).toBe('');
  });

  it('think tags are reasoning, also when they are cut', () => {
    const stream = createTranslator('openai', 'responses', toChat({ stream: true }).context);
    const out = ['<thi', 'nk>hm</think>', 'Yes'].map((content) => stream.push(chunk({ content }))).join('');
    expect(out).toContain('"delta":"hm"');
    expect(out).toContain('response.reasoning_summary_text.delta');
    expect(out + stream.push(chunk({}, 'stop')) + stream.end()).not.toContain('<think');
  });
});
