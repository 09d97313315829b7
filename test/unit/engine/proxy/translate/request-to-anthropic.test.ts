import { describe, expect, it } from 'vitest';
import { openaiToAnthropic } from '../../../../../src/engine/proxy/translate/request-to-anthropic.ts';
import type { JsonObject, TranslateOptions } from '../../../../../src/engine/proxy/translate/types.ts';
import { failure, options } from './support.ts';

const hi = [{ role: 'user', content: 'hi' }];
const hiOut = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }];

function translate(body: JsonObject, change: Partial<TranslateOptions> = {}) {
  return openaiToAnthropic({ messages: hi, ...body }, options(change));
}

function messages(list: unknown[]): unknown {
  return translate({ messages: list }).body.messages;
}

function call(id: string, args: unknown, name = 'f') {
  return { id, type: 'function', function: { name, arguments: args } };
}

describe('openaiToAnthropic: messages', () => {
  it('T03: system and developer become top-level blocks and leave messages', () => {
    const list = [
      { role: 'system', content: 'A' },
      { role: 'developer', content: [{ type: 'text', text: 'B' }] },
      ...hi,
    ];
    const { body } = translate({ messages: list });
    expect(body.system).toEqual([
      { type: 'text', text: 'A' },
      { type: 'text', text: 'B' },
    ]);
    expect(body.messages).toEqual(hiOut);
  });

  it('T07: neighbours of one role are one message', () => {
    expect(messages([...hi, { role: 'user', content: 'again' }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'text', text: 'again' },
        ],
      },
    ]);
  });

  it.each([
    [
      'data:image/jpg;name=x.jpg;base64,/9j/AA==',
      { type: 'base64', media_type: 'image/jpeg', data: '/9j/AA==' },
    ],
    ['DATA:image/PNG;base64,AAAA', { type: 'base64', media_type: 'image/png', data: 'AAAA' }],
    ['https://h/x.png', { type: 'url', url: 'https://h/x.png' }],
  ])('T08, T09: image %s', (url, source) => {
    expect(messages([{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }])).toEqual([
      { role: 'user', content: [{ type: 'image', source }] },
    ]);
  });

  it.each([['data:image/svg+xml;base64,AA'], ['data:image/png,AA'], ['file:///etc/passwd'], ['']])(
    'an image that Anthropic would refuse anyway: %s',
    (url) => {
      const error = failure(() =>
        messages([{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]),
      );
      expect([error.code, error.field]).toEqual(['NOT_TRANSLATABLE', 'messages[0].content[0].image_url.url']);
    },
  );

  it('T12: an image for a text-only model is refused', () => {
    const content = [{ type: 'image_url', image_url: { url: 'https://h/x.png' } }];
    expect(
      failure(() => translate({ messages: [{ role: 'user', content }] }, { textOnly: true, model: 'tiny' }))
        .message,
    ).toContain('tiny');
  });

  it('files: PDF becomes a document, audio is refused', () => {
    const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' };
    expect(messages([{ role: 'user', content: [{ type: 'file', file }] }])).toEqual([
      {
        role: 'user',
        content: [
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
            title: 'a.pdf',
          },
        ],
      },
    ]);
    const audio = [{ type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }];
    expect(failure(() => messages([{ role: 'user', content: audio }])).code).toBe('NOT_TRANSLATABLE');
  });

  it('T29: results are the leading run of one user message, in their own order', () => {
    const list = [
      { role: 'assistant', content: null, tool_calls: [call('a', '{}'), call('b', '{}')] },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'user', content: 'next' },
    ];
    expect((messages(list) as JsonObject[])[1]).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'b', content: 'B' },
        { type: 'tool_result', tool_use_id: 'a', content: 'A' },
        { type: 'text', text: 'next' },
      ],
    });
  });

  it('T29: a word of the user between call and result does not part them', () => {
    const list = [
      { role: 'assistant', tool_calls: [call('a', '{}')] },
      { role: 'user', content: 'wait' },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
    ];
    const content = (messages(list) as { content: JsonObject[] }[])[1]?.content.map((block) => block.type);
    expect(content).toEqual(['tool_result', 'text']);
  });

  it.each([
    ['', {}],
    ['null', {}],
    [undefined, {}],
    [null, {}],
    [{ x: 1 }, { x: 1 }],
    ['{"x":1}', { x: 1 }],
    ['"{\\"x\\":1}"', { x: 1 }],
    ['[1]', { raw_arguments: '[1]' }],
    ['{"x":', { raw_arguments: '{"x":' }],
  ])('T30: arguments %j', (args, input) => {
    expect(messages([{ role: 'assistant', tool_calls: [call('a', args)] }])).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input }] },
    ]);
  });

  it('T25: the mark of a failed tool becomes the flag again', () => {
    const list = [{ role: 'tool', tool_call_id: 'a', content: '[tool error] boom' }];
    expect(messages(list)).toEqual([
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'boom', is_error: true }] },
    ]);
    const bare = messages([{ role: 'tool', tool_call_id: 'a', content: '[tool error]' }]) as {
      content: JsonObject[];
    }[];
    expect(bare[0]?.content[0]?.content).toBe('[tool error]');
  });

  it('T32: empty text vanishes and neighbours merge; nothing at all is refused', () => {
    expect(messages([{ role: 'assistant', content: '', tool_calls: [call('a', '{}')] }])).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
    ]);
    const list = [
      ...hi,
      { role: 'assistant', content: '' },
      { role: 'user', content: '' },
      { role: 'user', content: 'x' },
    ];
    expect(messages(list)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'text', text: 'x' },
        ],
      },
    ]);
    const error = failure(() => messages([{ role: 'user', content: '' }]));
    expect([error.code, error.field]).toEqual(['BAD_INPUT', 'messages']);
  });

  it('a prompt that is system text only is still asked', () => {
    const { body } = translate({
      messages: [
        { role: 'system', content: 'A' },
        { role: 'system', content: 'B' },
      ],
    });
    expect(body.system).toEqual([{ type: 'text', text: 'A' }]);
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'B' }] }]);
  });

  it('T35: Anthropic-shaped blocks are understood', () => {
    const list = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'w' },
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'ok' }], is_error: true },
        ],
      },
    ];
    expect(messages(list)).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'ok', is_error: true },
          { type: 'text', text: 'w' },
        ],
      },
    ]);
  });

  it('ids that Anthropic refuses (Kimi) or that repeat stay paired', () => {
    const turn = (id: string) => [
      { role: 'assistant', tool_calls: [call(id, '{}')] },
      { role: 'tool', tool_call_id: id, content: 'r' },
    ];
    const out = messages([...turn('functions.exec:0'), ...turn('call_0'), ...turn('call_0')]) as {
      content: JsonObject[];
    }[];
    const ids = out.map((message) => message.content[0]?.id ?? message.content[0]?.tool_use_id);
    expect([ids[0], ids[2], ids[4]]).toEqual([ids[1], ids[3], ids[5]]);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
  });

  it('reasoning without a signature is not replayed, and listed', () => {
    const { body, dropped } = translate({
      messages: [...hi, { role: 'assistant', content: 'a', reasoning_content: 'r' }, ...hi],
    });
    expect(JSON.stringify(body)).not.toContain('"r"');
    expect(dropped).toEqual(['messages.reasoning_content']);
  });

  it('an answer that ends in white space and that Anthropic would refuse to continue', () => {
    expect(
      (messages([...hi, { role: 'assistant', content: '{ ' }]) as { content: JsonObject[] }[])[1]?.content,
    ).toEqual([{ type: 'text', text: '{' }]);
  });
});

describe('openaiToAnthropic: tools', () => {
  const tools = [
    { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } },
  ];
  const tool = { name: 'f', input_schema: { type: 'object', properties: {} } };

  it('definitions, also without parameters', () => {
    expect(translate({ tools }).body.tools).toEqual([tool]);
    expect(translate({ tools: [{ type: 'function', function: { name: 'f' } }] }).body.tools).toEqual([tool]);
  });

  it.each([
    ['auto', { type: 'auto' }],
    ['required', { type: 'any' }],
    ['none', { type: 'none' }],
    [
      { type: 'function', function: { name: 'f' } },
      { type: 'tool', name: 'f' },
    ],
  ])('T16: tool_choice %j', (tool_choice, expected) => {
    expect(translate({ tools, tool_choice }).body.tool_choice).toEqual(expected);
  });

  it.each<[{ tools?: readonly unknown[] } & Record<string, unknown>, unknown]>([
    [
      { tools, parallel_tool_calls: false },
      { type: 'auto', disable_parallel_tool_use: true },
    ],
    [{ tools, parallel_tool_calls: true }, undefined],
    [{ tools, parallel_tool_calls: false, tool_choice: 'none' }, { type: 'none' }],
    [{ parallel_tool_calls: false }, undefined],
    [{ tools: [], tool_choice: 'auto' }, undefined],
  ])('T18, T20: %j', (body, expected) => {
    expect(translate(body).body.tool_choice).toEqual(expected);
    if (body.tools?.length !== 1) expect(translate(body).body).not.toHaveProperty('tools');
  });

  it('T21: tools that only another vendor can run are refused', () => {
    const error = failure(() => translate({ tools: [{ type: 'web_search', web_search: { enable: true } }] }));
    expect([error.code, error.field]).toEqual(['NOT_TRANSLATABLE', 'tools[0].type']);
  });

  it('the form before tools: functions and function_call', () => {
    const { body, context } = translate({
      functions: [{ name: 'f', parameters: { type: 'object', properties: {} } }],
      function_call: { name: 'f' },
      messages: [
        ...hi,
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"x":1}' } },
        { role: 'function', name: 'f', content: 'r' },
      ],
    });
    expect(body).toMatchObject({
      tools: [tool],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    });
    expect((body.messages as JsonObject[]).slice(1)).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'function_call', name: 'f', input: { x: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'function_call', content: 'r' }] },
    ]);
    expect(context.legacyFunctions).toBe(true);
  });
});

describe('openaiToAnthropic: limits, sampling, reasoning', () => {
  it.each([
    [{ max_tokens: 1, max_completion_tokens: 2 }, 2],
    [{ max_tokens: 1 }, 1],
    [{}, 4096],
  ])('T37: %j', (body, expected) => {
    expect(translate(body).body.max_tokens).toBe(expected);
  });

  it('T39: temperature is clamped, what Anthropic does not know is dropped and listed', () => {
    const { body, dropped } = translate({
      temperature: 1.7,
      top_p: 0.5,
      presence_penalty: 1,
      seed: 3,
      frequency_penalty: 0,
      user: 'u',
      stop: 'X',
    });
    expect(body).toEqual({
      model: 'up-model',
      max_tokens: 4096,
      messages: hiOut,
      stop_sequences: ['X'],
      metadata: { user_id: 'u' },
      temperature: 1,
      top_p: 0.5,
    });
    expect(dropped).toEqual(['presence_penalty', 'seed', 'temperature>1']);
  });

  it('T41: several answers are refused', () => {
    const error = failure(() => translate({ n: 2 }));
    expect([error.code, error.field]).toEqual(['NOT_TRANSLATABLE', 'n']);
    expect(translate({ n: 1 }).dropped).toEqual([]);
  });

  it('T42: logprobs are dropped and listed', () => {
    expect(translate({ logprobs: true }).dropped).toEqual(['logprobs']);
  });

  it('T45, T47: effort becomes a budget that fits, and excludes a temperature', () => {
    const { body, dropped } = translate({ reasoning_effort: 'high', max_tokens: 4000, temperature: 0.2 });
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 3999 });
    expect(body).not.toHaveProperty('temperature');
    expect(dropped).toEqual(['temperature']);
    expect(translate({ reasoning_effort: 'xhigh' }, { thinkingForm: 'adaptive' }).body).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'xhigh' },
    });
    expect(translate({ reasoning_effort: 'none' }).body).not.toHaveProperty('thinking');
  });

  it.each([
    [{ max_tokens: 1000 }],
    [{ tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'required' }],
    [
      {
        messages: [
          { role: 'assistant', tool_calls: [call('a', '{}')] },
          { role: 'tool', tool_call_id: 'a', content: '' },
        ],
      },
    ],
  ])('T54: thinking that Anthropic would refuse is left out and listed: %j', (body) => {
    const result = translate({ reasoning_effort: 'low', ...body });
    expect(result.body).not.toHaveProperty('thinking');
    expect(result.dropped).toEqual(['reasoning_effort']);
  });

  it('a schema is put into the form that Anthropic takes; limits it cannot enforce become words and are listed', () => {
    const answer = (schema: unknown) => {
      const { body, dropped } = translate({
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
      });
      return { schema: (body.output_config as JsonObject & { format: JsonObject }).format.schema, dropped };
    };
    const open = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { at: { $ref: '#/$defs/place' } },
      $defs: { place: { type: 'object', properties: { zip: { type: 'string' } }, required: ['zip'] } },
    };
    expect(answer(open)).toEqual({
      schema: {
        type: 'object',
        properties: { at: { $ref: '#/$defs/place' } },
        $defs: {
          place: {
            type: 'object',
            properties: { zip: { type: 'string' } },
            required: ['zip'],
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
      dropped: [],
    });
    const limited = {
      type: 'object',
      properties: { age: { type: 'integer', minimum: 18, description: 'In years.' } },
      additionalProperties: { type: 'number' },
    };
    expect(answer(limited)).toEqual({
      schema: {
        type: 'object',
        properties: {
          age: { type: 'integer', description: 'In years.\nConstraints: {"minimum":18}' },
        },
        additionalProperties: false,
        description: 'Constraints: {"additionalProperties":{"type":"number"}}',
      },
      dropped: ['response_format.json_schema.schema'],
    });
  });

  it('structured output', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    const strict = { type: 'json_schema', json_schema: { name: 'n', schema } };
    expect(translate({ response_format: strict }).body.output_config).toEqual({
      format: { type: 'json_schema', schema },
    });
    const loose = translate({ response_format: { type: 'json_object' } });
    expect(loose.body.system).toEqual([
      { type: 'text', text: 'Answer with one JSON object and nothing else.' },
    ]);
    expect(loose.dropped).toEqual(['response_format']);
  });

  it('the context remembers what the reply needs', () => {
    const { context } = translate({ model: 'asked', stream: true, stream_options: { include_usage: true } });
    expect(context).toMatchObject({
      requestedModel: 'asked',
      stream: true,
      includeUsage: true,
      legacyFunctions: false,
    });
  });
});

describe('openaiToAnthropic: malformed input', () => {
  it.each([
    ['x', 'body'],
    [{}, 'messages'],
    [{ messages: [null] }, 'messages[0]'],
    [{ messages: [{ role: 'user', content: [{}] }] }, 'messages[0].content[0].type'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    [
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'a', type: 'function' }] }] },
      'messages[0].tool_calls[0].function',
    ],
    [{ messages: [{ role: 'assistant', tool_calls: 'x' }] }, 'messages[0].tool_calls'],
    [{ messages: hi, tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    [{ messages: hi, max_tokens: -1 }, 'max_tokens'],
    [{ messages: hi, temperature: 'hot' }, 'temperature'],
  ])('%j is BAD_INPUT that names %s', (body, field) => {
    const error = failure(() => openaiToAnthropic(body, options()));
    expect([error.code, error.field]).toEqual(['BAD_INPUT', field]);
  });
});
