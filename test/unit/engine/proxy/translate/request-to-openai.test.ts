import { describe, expect, it } from 'vitest';
import { anthropicToOpenai } from '../../../../../src/engine/proxy/translate/request-to-openai.ts';
import type { JsonObject, TranslateOptions } from '../../../../../src/engine/proxy/translate/types.ts';
import { failure, options } from './support.ts';

const hi = [{ role: 'user', content: 'hi' }];

function translate(body: JsonObject, change: Partial<TranslateOptions> = {}) {
  return anthropicToOpenai({ max_tokens: 8, messages: hi, ...body }, options(change));
}

function messages(list: unknown[], change: Partial<TranslateOptions> = {}): unknown {
  return translate({ messages: list }, change).body.messages;
}

describe('anthropicToOpenai: system and roles', () => {
  it('T01: a system string that got lost or stayed a top-level field', () => {
    const { body } = translate({ system: 'S' });
    expect(body.messages).toEqual([
      { role: 'system', content: 'S' },
      { role: 'user', content: 'hi' },
    ]);
    expect(body).not.toHaveProperty('system');
  });

  it('T02: system blocks that became several messages or kept cache_control', () => {
    const { body, dropped } = translate({
      system: [
        { type: 'text', text: 'A' },
        { type: 'text', text: 'B', cache_control: { type: 'ephemeral' } },
      ],
    });
    expect(body.messages).toEqual([{ role: 'system', content: 'A\n\nB' }, ...hi]);
    expect(JSON.stringify(body)).not.toContain('cache_control');
    expect(dropped).toEqual(['cache_control']);
  });

  it('Claude Code: a system message inside messages that was refused, lost or moved', () => {
    const list = [
      { role: 'user', content: 'one' },
      { role: 'system', content: [{ type: 'text', text: 'mid', cache_control: { type: 'ephemeral' } }] },
      { role: 'assistant', content: 'two' },
      { role: 'system', content: 'plain' },
    ];
    expect(messages(list)).toEqual([
      { role: 'user', content: 'one' },
      { role: 'system', content: 'mid' },
      { role: 'assistant', content: 'two' },
      { role: 'system', content: 'plain' },
    ]);
  });

  it('Claude Code: a system message that parts tool calls from their results', () => {
    const list = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
      { role: 'system', content: 'mid' },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
    ];
    const roles = (messages(list) as JsonObject[]).map((message) => message.role);
    expect(roles).toEqual(['assistant', 'tool', 'system']);
  });

  it('T04: with one leading system each source text is there once and in order', () => {
    const { body } = translate(
      { system: 'A', messages: [...hi, { role: 'system', content: 'M' }, { role: 'user', content: 'v' }] },
      { oneLeadingSystem: true },
    );
    expect(body.messages).toEqual([
      { role: 'system', content: 'A\n\nM' },
      ...hi,
      { role: 'user', content: 'v' },
    ]);
  });

  it('T05: the developer role is used only where the upstream knows it', () => {
    expect((translate({ system: 'S' }, { developerRole: true }).body.messages as JsonObject[])[0]).toEqual({
      role: 'developer',
      content: 'S',
    });
  });

  it('the billing header of Claude Code that spoils the prompt cache is reported, not sent', () => {
    const { body, dropped } = translate({
      system: [{ type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1' }],
    });
    expect(body.messages).toEqual(hi);
    expect(dropped).toEqual(['system.x-anthropic-billing-header']);
  });
});

describe('anthropicToOpenai: images and documents', () => {
  const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };

  it('T10: a base64 image that lost its media type', () => {
    expect(messages([{ role: 'user', content: [{ type: 'text', text: 'see' }, png] }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        ],
      },
    ]);
  });

  it('T12: an image for a text-only model is refused and the model is named', () => {
    const error = failure(() =>
      messages([{ role: 'user', content: [png] }], { textOnly: true, model: 'tiny' }),
    );
    expect(error.code).toBe('NOT_TRANSLATABLE');
    expect(error.message).toContain('tiny');
    expect(error.field).toBe('messages[0].content[0]');
  });

  it('T12: an image inside a tool result is refused as well', () => {
    const content = [{ type: 'tool_result', tool_use_id: 'a', content: [png] }];
    expect(failure(() => messages([{ role: 'user', content }], { textOnly: true })).code).toBe(
      'NOT_TRANSLATABLE',
    );
  });

  it('an image in a tool result that a tool message cannot hold follows in a user message', () => {
    const content = [
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'shot' }, png] },
    ];
    expect(messages([{ role: 'user', content }])).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'shot' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Output of tool call a:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        ],
      },
    ]);
  });

  it('documents: text stays text, PDF becomes a file, a file id is refused', () => {
    const text = {
      type: 'document',
      title: 'T',
      source: { type: 'text', media_type: 'text/plain', data: 'body' },
    };
    expect(messages([{ role: 'user', content: [text] }])).toEqual([{ role: 'user', content: 'T\nbody' }]);
    const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } };
    expect(messages([{ role: 'user', content: [pdf] }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
        ],
      },
    ]);
    const byId = { type: 'document', source: { type: 'file', file_id: 'f' } };
    expect(failure(() => messages([{ role: 'user', content: [byId] }])).field).toBe(
      'messages[0].content[0].source',
    );
  });
});

describe('anthropicToOpenai: tools', () => {
  const tool = { name: 'f', description: 'd', input_schema: { type: 'object', properties: {} } };
  const call = {
    type: 'function',
    function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } },
  };

  it('T14: Anthropic-only fields of a tool that upstreams refuse', () => {
    const { body, dropped } = translate({
      tools: [{ ...tool, cache_control: { type: 'ephemeral' }, defer_loading: true, input_examples: [] }],
    });
    expect(body.tools).toEqual([call]);
    expect(dropped).toEqual(['cache_control', 'tools.defer_loading']);
  });

  it('T15: long and odd names fit, differ, stay the same and lead back', () => {
    const long = 'a'.repeat(70);
    const names = [long, `${long.slice(0, 60)}bbbbbbbbbb`, 'mcp.server/tool', 'ok_name'];
    const body = {
      tools: names.map((name) => ({ ...tool, name })),
      tool_choice: { type: 'tool', name: long },
      messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: long, input: {} }] }],
    };
    const first = translate(body);
    const wire = (first.body.tools as { function: { name: string } }[]).map((item) => item.function.name);
    for (const name of wire) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(new Set(wire).size).toBe(4);
    expect(wire[3]).toBe('ok_name');
    expect(wire.map((name) => first.context.toolNames.get(name) ?? name)).toEqual(names);
    expect(first.body.tool_choice).toEqual({ type: 'function', function: { name: wire[0] } });
    expect(JSON.stringify(first.body.messages)).toContain(`"name":"${wire[0]}"`);
    const later = translate({ tools: [{ ...tool, name: long }] });
    expect(JSON.stringify(later.body.tools)).toContain(`"${wire[0]}"`);
  });

  it('T15: a tool that is really called as another one was shortened to', () => {
    const wireNames = (names: string[]) => {
      const { body } = translate({ tools: names.map((name) => ({ ...tool, name })) });
      return (body.tools as { function: { name: string } }[]).map((item) => item.function.name);
    };
    const [short = ''] = wireNames(['a.b']);
    expect(new Set(wireNames(['a.b', short])).size).toBe(2);
  });

  it.each([
    [{ type: 'auto' }, { tool_choice: 'auto' }],
    [{ type: 'any' }, { tool_choice: 'required' }],
    [{ type: 'none' }, { tool_choice: 'none' }],
    [{ type: 'tool', name: 'f' }, { tool_choice: { type: 'function', function: { name: 'f' } } }],
    [
      { type: 'auto', disable_parallel_tool_use: true },
      { tool_choice: 'auto', parallel_tool_calls: false },
    ],
  ])('T16, T17: tool_choice %j', (choice, expected) => {
    const { body } = translate({ tools: [tool], tool_choice: choice });
    expect(body).toMatchObject(expected);
    expect('parallel_tool_calls' in body).toBe('parallel_tool_calls' in expected);
  });

  it('T20: an empty tool list that OpenAI refuses', () => {
    const { body } = translate({ tools: [], tool_choice: { type: 'auto' } });
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
    const search = translate({ tools: [{ type: 'tool_search_tool_bm25_20251119', name: 'tool_search' }] });
    expect(search.body).not.toHaveProperty('tools');
    expect(search.dropped).toEqual(['tools.tool_search_tool_bm25_20251119']);
  });

  it('T21: a server tool that would become a function without parameters', () => {
    const error = failure(() =>
      translate({ tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] }),
    );
    expect([error.code, error.field]).toEqual(['NOT_TRANSLATABLE', 'tools[0].type']);
  });

  it('MCP servers that would silently vanish', () => {
    expect(failure(() => translate({ mcp_servers: [{ url: 'https://h' }] })).field).toBe('mcp_servers');
  });

  it('T23: calls in history', () => {
    const use = (id: string, name: string, input: JsonObject) => ({ type: 'tool_use', id, name, input });
    const content = [{ type: 'text', text: 't' }, use('a', 'f', { x: 1 }), use('b', 'g', {})];
    const calls = [
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
      { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
    ];
    expect(messages([{ role: 'assistant', content }])).toEqual([
      { role: 'assistant', content: 't', tool_calls: calls },
    ]);
    expect(messages([{ role: 'assistant', content: content.slice(1) }])).toEqual([
      { role: 'assistant', content: null, tool_calls: calls },
    ]);
  });

  it.each([
    ['T24', { content: 'ok' }, 'ok'],
    ['T25', { content: 'boom', is_error: true }, '[tool error] boom'],
    [
      'T26',
      {
        content: [
          { type: 'text', text: 'p' },
          { type: 'text', text: 'q' },
        ],
      },
      'p\nq',
    ],
    ['T26 missing', {}, ''],
    ['T26 empty', { content: [] }, ''],
    ['newer block', { content: [{ type: 'browser_state', tabs: [] }] }, '{"type":"browser_state","tabs":[]}'],
    ['reference', { content: [{ type: 'tool_reference', tool_name: 'f' }] }, 'Tool found: f'],
  ])('%s: tool result', (_id, result, content) => {
    expect(
      messages([{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', ...result }] }]),
    ).toEqual([{ role: 'tool', tool_call_id: 'a', content }]);
  });

  it('T28: results come first, the words of the user after them', () => {
    const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: id });
    const content = [
      { type: 'text', text: 'and B?' },
      result('a'),
      { type: 'text', text: 'thanks' },
      result('b'),
    ];
    expect(messages([{ role: 'user', content }])).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'a' },
      { role: 'tool', tool_call_id: 'b', content: 'b' },
      { role: 'user', content: 'and B?\nthanks' },
    ]);
  });

  it('ids too long for OpenAI stay paired, repeated ids become distinct', () => {
    const long = 'toolu_'.padEnd(60, 'x');
    const turn = (id: string) => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'r' }] },
    ];
    const out = messages([...turn(long), ...turn('call_0'), ...turn('call_0')]) as JsonObject[];
    const calls = out
      .flatMap((message) => (message.tool_calls as { id: string }[] | undefined) ?? [])
      .map((item) => item.id);
    expect(out.filter((message) => message.role === 'tool').map((message) => message.tool_call_id)).toEqual(
      calls,
    );
    expect(new Set(calls).size).toBe(3);
    for (const id of calls) expect(id.length).toBeLessThanOrEqual(40);
  });
});

describe('anthropicToOpenai: limits, sampling, reasoning', () => {
  it('T36: the limit goes under the name that the model takes, and only that', () => {
    expect(translate({ max_tokens: 2000 }, { maxTokensField: 'max_completion_tokens' }).body).toMatchObject({
      max_completion_tokens: 2000,
    });
    expect(
      translate({ max_tokens: 2000 }, { maxTokensField: 'max_completion_tokens' }).body,
    ).not.toHaveProperty('max_tokens');
    expect(translate({ max_tokens: 2000 }).body.max_tokens).toBe(2000);
  });

  it('T38: a request without max_tokens is refused as the real API does', () => {
    const error = failure(() => anthropicToOpenai({ messages: hi }, options()));
    expect([error.code, error.field]).toEqual(['BAD_INPUT', 'max_tokens']);
  });

  it.each([
    [{ type: 'enabled', budget_tokens: 2000 }, undefined, 'low'],
    [{ type: 'enabled', budget_tokens: 8000 }, undefined, 'medium'],
    [{ type: 'enabled', budget_tokens: 20000 }, undefined, 'high'],
    [{ type: 'disabled' }, { effort: 'high' }, undefined],
    [{ type: 'adaptive' }, { effort: 'medium' }, 'medium'],
    [{ type: 'adaptive' }, { effort: 'max' }, 'high'],
    [{ type: 'adaptive' }, undefined, undefined],
  ])('T45: thinking %j with %j', (thinking, output_config, effort) => {
    expect(translate({ thinking, output_config }).body.reasoning_effort).toBe(effort);
  });

  it('T45: an effort that was lowered is reported; a model without reasoning gets none', () => {
    expect(translate({ output_config: { effort: 'max' } }).dropped).toEqual(['output_config.effort']);
    expect(
      translate({ output_config: { effort: 'max' } }, { efforts: ['high', 'max'] }).body.reasoning_effort,
    ).toBe('max');
    const old = translate({ output_config: { effort: 'high' } }, { model: 'gpt-4o' });
    expect(old.body).not.toHaveProperty('reasoning_effort');
    expect(old.dropped).toEqual(['output_config.effort']);
  });

  it('T47: thinking with a temperature', () => {
    const { body, dropped } = translate({
      thinking: { type: 'enabled', budget_tokens: 2000 },
      temperature: 0.2,
    });
    expect(body).not.toHaveProperty('temperature');
    expect(dropped).toEqual(['temperature']);
    expect(translate({ temperature: 0.2, top_p: 0.9 }).body).toMatchObject({ temperature: 0.2, top_p: 0.9 });
  });

  it('T48: unknown fields do not cross, and are listed', () => {
    const { body, dropped } = translate({
      context_management: { edits: [1] },
      metadata: { user_id: 'u' },
      top_k: 5,
      container: null,
    });
    expect(Object.keys(body)).toEqual(['model', 'messages', 'max_tokens']);
    expect(dropped).toEqual(['context_management', 'metadata', 'top_k']);
  });

  it('structured output keeps its schema', () => {
    const a = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false };
    const closed = { ...a, required: ['a'] };
    const nested = { ...a, properties: { a: { type: 'array', items: a } }, required: ['a'] };
    // OpenAI answers 400 to `strict` with a schema that is not: `a` may be left out.
    for (const [schema, strict] of [
      [closed, true],
      [a, false],
      [nested, false],
    ])
      expect(
        translate({ output_config: { format: { type: 'json_schema', schema } } }).body.response_format,
      ).toEqual({ type: 'json_schema', json_schema: { name: 'output', schema, strict } });
  });

  it('strict tools stay strict where OpenAI takes their schema as such', () => {
    const closed = { type: 'object', properties: {}, additionalProperties: false };
    const tool = (input_schema: unknown) => translate({ tools: [{ name: 'f', input_schema, strict: true }] });
    expect(tool(closed)).toMatchObject({ body: { tools: [{ function: { strict: true } }] }, dropped: [] });
    const open = tool({ type: 'object', properties: {} });
    expect(open.dropped).toEqual(['tools.strict']);
    expect(JSON.stringify(open.body.tools)).not.toContain('strict');
  });

  it('chat completions know four stop sequences; more are listed', () => {
    const { body, dropped } = translate({ stop_sequences: ['a', 'b', 'c', 'd', 'e'] });
    expect(body.stop).toEqual(['a', 'b', 'c', 'd']);
    expect(dropped).toEqual(['stop_sequences>4']);
  });

  it('usage is asked for in streams only', () => {
    expect(translate({ stream: true }).body.stream_options).toEqual({ include_usage: true });
    expect(translate({ stream: true }, { wantUsage: false }).body).not.toHaveProperty('stream_options');
    expect(translate({}).body).not.toHaveProperty('stream_options');
  });

  const thought = [
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'r', signature: 's' },
        { type: 'tool_use', id: 'a', name: 'f', input: {} },
      ],
    },
  ];
  const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];

  it('T53: upstreams that demand reasoning back get it', () => {
    expect(messages(thought, { reasoning: 'reasoning_content' })).toEqual([
      { role: 'assistant', content: null, reasoning_content: 'r', tool_calls: calls },
    ]);
    const without = [{ role: 'assistant', content: thought[0]?.content.slice(1) }];
    expect(messages(without, { reasoning: 'reasoning_content' })).toEqual([
      { role: 'assistant', content: null, reasoning_content: '', tool_calls: calls },
    ]);
  });

  it('T55: other upstreams never see it, and it is listed', () => {
    const { body, dropped } = translate({ messages: thought });
    expect(body.messages).toEqual([{ role: 'assistant', content: null, tool_calls: calls }]);
    expect(dropped).toEqual(['messages.thinking']);
  });
});

describe('anthropicToOpenai: empty words', () => {
  it('T26, T32: empty text that became a message, or a blank line before the words', () => {
    const empty = { type: 'text', text: '' };
    const result = { type: 'tool_result', tool_use_id: 'a', content: 'ok' };
    expect(
      messages([
        { role: 'user', content: '' },
        { role: 'user', content: [empty, { type: 'text', text: 'hello' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
        { role: 'user', content: [result, empty] },
      ]),
    ).toEqual([
      { role: 'user', content: 'hello' },
      expect.objectContaining({ role: 'assistant' }),
      { role: 'tool', tool_call_id: 'a', content: 'ok' },
    ]);
  });

  it.each(['', [], [{ type: 'text', text: '' }]])('a request without a word is refused: %j', (content) => {
    const error = failure(() => messages([{ role: 'user', content }]));
    expect([error.code, error.field]).toEqual(['BAD_INPUT', 'messages']);
  });
});

describe('anthropicToOpenai: malformed input', () => {
  it.each([
    [null, 'body'],
    [[], 'body'],
    [{ max_tokens: 8 }, 'messages'],
    [{ max_tokens: 8, messages: [] }, 'messages'],
    [{ max_tokens: 8, messages: [3] }, 'messages[0]'],
    [{ max_tokens: 8, messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [
      { max_tokens: 8, messages: [{ role: 'user', content: [{ text: 'x' }] }] },
      'messages[0].content[0].type',
    ],
    [
      { max_tokens: 8, messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages[0].content[0].text',
    ],
    [
      { max_tokens: 8, messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a' }] }] },
      'messages[0].content[0].name',
    ],
    [{ max_tokens: 8, messages: hi, tools: [{ description: 'x' }] }, 'tools[0].name'],
    [{ max_tokens: 8, messages: hi, system: 7 }, 'system'],
  ])('%j is BAD_INPUT that names %s', (body, field) => {
    const error = failure(() => anthropicToOpenai(body, options()));
    expect([error.code, error.field]).toEqual(['BAD_INPUT', field]);
  });
});
