import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createTranslator,
  translateReply,
  translateRequest,
} from '../../../../../src/engine/proxy/translate/pairs.ts';
import type { JsonObject, TranslateOptions } from '../../../../../src/engine/proxy/translate/types.ts';
import { AppError } from '../../../../../src/shared/errors.ts';
import { failure, options } from './support.ts';

const RED = 'data:image/png;base64,iVBORw0KGgo=';

function toChat(body: JsonObject, change: Partial<TranslateOptions> = {}) {
  return translateRequest('responses', 'openai', { model: 'asked', input: 'hi', ...body }, options(change));
}

function messages(input: unknown[], change: Partial<TranslateOptions> = {}): unknown {
  return toChat({ input }, change).body.messages;
}

function call(id: string, name = 'f', args = '{}') {
  return { type: 'function_call', call_id: id, name, arguments: args };
}

function chatCall(id: string, name = 'f', args = '{}') {
  return { id, type: 'function', function: { name, arguments: args } };
}

const result = (id: string, output: unknown = 'ok') => ({
  type: 'function_call_output',
  call_id: id,
  output,
});
const user = (text: string) => ({ role: 'user', content: text });

describe('Responses → chat: history', () => {
  it('instructions, developer and system items that were lost, moved or told under an unknown role', () => {
    const { body } = toChat({
      instructions: 'I',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'D' }] },
        user('hi'),
      ],
    });
    expect(body.messages).toEqual([
      { role: 'system', content: 'I' },
      { role: 'system', content: 'D' },
      user('hi'),
    ]);
    expect(toChat({ instructions: 'I' }, { developerRole: true }).body.messages).toEqual([
      { role: 'developer', content: 'I' },
      user('hi'),
    ]);
    expect(
      toChat(
        { instructions: 'I', input: [{ role: 'system', content: 'S' }, user('u')] },
        { oneLeadingSystem: true },
      ).body.messages,
    ).toEqual([{ role: 'system', content: 'I\n\nS' }, user('u')]);
  });

  it('text and calls of one answer that became several assistant messages', () => {
    expect(
      messages([
        user('q'),
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'look', annotations: [] }],
        },
        call('c1'),
        call('c2', 'g', '{"a":1}'),
        result('c1'),
        result('c2', [{ type: 'input_text', text: 'two' }]),
      ]),
    ).toEqual([
      user('q'),
      { role: 'assistant', content: 'look', tool_calls: [chatCall('c1'), chatCall('c2', 'g', '{"a":1}')] },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
    ]);
  });

  it('a user message between a call and its output that parted the two (OpenClaw’s context, Codex’s steering)', () => {
    expect(messages([user('q'), call('c1'), user('wait'), result('c1')])).toEqual([
      user('q'),
      { role: 'assistant', content: null, tool_calls: [chatCall('c1')] },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      user('wait'),
    ]);
  });

  it('a picture in a tool’s output that was lost, or put where chat servers refuse it', () => {
    const input = [
      user('q'),
      call('c1'),
      result('c1', [{ type: 'input_image', image_url: RED, detail: 'auto' }]),
    ];
    expect(messages(input)).toEqual([
      user('q'),
      { role: 'assistant', content: null, tool_calls: [chatCall('c1')] },
      { role: 'tool', tool_call_id: 'c1', content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Output of tool call c1:' },
          { type: 'image_url', image_url: { url: RED } },
        ],
      },
    ]);
    const { body } = translateRequest('responses', 'anthropic', { model: 'm', input }, options());
    expect((body.messages as JsonObject[])[2]).toEqual({
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
          ],
        },
      ],
    });
  });

  it('files and pictures of a user message that were dropped; what has no bytes is refused', () => {
    const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' };
    expect(
      messages([
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 't' },
            { type: 'input_image', image_url: RED, detail: 'high' },
            file,
          ],
        },
      ]),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 't' },
          { type: 'image_url', image_url: { url: RED, detail: 'high' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: file.file_data } },
        ],
      },
    ]);
    const byId = [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1', detail: 'auto' }] }];
    expect(failure(() => messages(byId))).toMatchObject({
      code: 'NOT_TRANSLATABLE',
      field: 'input[0].content[0].file_id',
    });
    const image = [{ role: 'user', content: [{ type: 'input_image', image_url: RED, detail: 'auto' }] }];
    expect(failure(() => messages(image, { textOnly: true })).message).toContain('text only');
  });

  it('reasoning that a vendor wants back, and one that refuses it', () => {
    const input = [
      user('q'),
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
      call('c1'),
      result('c1'),
    ];
    expect(messages(input, { reasoning: 'reasoning_content' })).toMatchObject([
      {},
      { role: 'assistant', reasoning_content: 'hm' },
      {},
    ]);
    const { body, dropped } = toChat({ input });
    expect(JSON.stringify(body)).not.toContain('hm');
    expect(dropped).toEqual(['input.reasoning']);
  });

  it('notes of OpenAI’s own tools that stopped a conversation; they are listed', () => {
    const { body, dropped } = toChat({
      input: [
        user('q'),
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { role: 'assistant', content: 'a' },
      ],
    });
    expect(body.messages).toEqual([user('q'), { role: 'assistant', content: 'a' }]);
    expect(dropped).toEqual(['input.web_search_call']);
  });

  it('a shell call that the client ran and the model could no longer read', () => {
    const list = messages([
      {
        type: 'local_shell_call',
        id: 'x',
        call_id: 'c9',
        status: 'completed',
        action: { type: 'exec', command: ['ls'] },
      },
      { type: 'local_shell_call_output', id: 'c9', call_id: 'c9', output: 'a.txt' },
    ]);
    expect(list).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [chatCall('c9', 'local_shell', '{"action":{"type":"exec","command":["ls"]}}')],
      },
      { role: 'tool', tool_call_id: 'c9', content: 'a.txt' },
    ]);
  });

  it('sealed items that vanished without a word', () => {
    for (const type of ['compaction', 'item_reference'])
      expect(failure(() => messages([{ type, id: 'x', encrypted_content: 'y' }]))).toMatchObject({
        code: 'NOT_TRANSLATABLE',
        field: 'input[0]',
      });
  });
});

describe('Responses → chat: tools', () => {
  const custom = {
    type: 'custom',
    name: 'apply_patch',
    description: 'Edit files.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
  };
  const group = {
    type: 'namespace',
    name: 'agents',
    description: 'Helpers',
    tools: [{ type: 'function', name: 'spawn', parameters: { type: 'object', properties: {} } }],
  };

  it('tools of Codex: functions stay, groups are flattened, free-form ones get one text parameter, search is listed', () => {
    const { body, dropped, context } = toChat({
      tools: [
        { type: 'function', name: 'exec', description: 'd', strict: false, parameters: { type: 'object' } },
        group,
        custom,
        { type: 'web_search', external_web_access: true },
      ],
      parallel_tool_calls: true,
      tool_choice: 'auto',
    });
    const tools = body.tools as {
      function: { name: string; description?: string; parameters: JsonObject };
    }[];
    expect(tools.map((tool) => tool.function.name)).toEqual(['exec', 'agents__spawn', 'apply_patch']);
    expect(tools[0]).toEqual({
      type: 'function',
      function: { name: 'exec', description: 'd', parameters: { type: 'object' } },
    });
    expect(tools[2]?.function.description).toContain('start: "x"');
    expect(tools[2]?.function.parameters.required).toEqual(['input']);
    expect(dropped).toEqual(['tools.format', 'tools.web_search']);
    expect(body).not.toHaveProperty('parallel_tool_calls');
    const chat = {
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              chatCall('c1', 'agents__spawn', '{"x":1}'),
              chatCall('c2', 'apply_patch', '{"input":"*** Begin"}'),
            ],
          },
        },
      ],
    };
    expect(translateReply('openai', 'responses', chat, context).output).toMatchObject([
      { type: 'function_call', call_id: 'c1', name: 'spawn', namespace: 'agents', arguments: '{"x":1}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin' },
    ]);
  });

  it('calls in the history that no longer matched the tools’ names', () => {
    const list = toChat({
      tools: [group, custom],
      input: [
        user('q'),
        { ...call('c1', 'spawn'), namespace: 'agents' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: 'P' },
        result('c1'),
        { type: 'custom_tool_call_output', call_id: 'c2', output: 'done' },
      ],
    }).body.messages as JsonObject[];
    expect(list[1]).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [chatCall('c1', 'agents__spawn'), chatCall('c2', 'apply_patch', '{"input":"P"}')],
    });
  });

  it('a tool that the request depends on and that runs at OpenAI: refused by name', () => {
    for (const type of ['file_search', 'code_interpreter', 'computer_use_preview', 'mcp', 'local_shell'])
      expect(failure(() => toChat({ tools: [{ type }] }))).toMatchObject({
        code: 'NOT_TRANSLATABLE',
        field: 'tools[0].type',
        message: expect.stringContaining(type),
      });
  });

  it('tool choices: named, required, and a choice among some', () => {
    const tools = ['a', 'b'].map((name) => ({ type: 'function', name, parameters: {} }));
    const choose = (choice: unknown) => toChat({ tools, tool_choice: choice }).body;
    expect(choose('required').tool_choice).toBe('required');
    expect(choose({ type: 'function', name: 'b' }).tool_choice).toEqual({
      type: 'function',
      function: { name: 'b' },
    });
    const some = choose({
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'a' }],
    });
    expect((some.tools as unknown[]).length).toBe(1);
    expect(some.tool_choice).toBe('required');
    expect(failure(() => choose({ type: 'web_search_preview' })).code).toBe('NOT_TRANSLATABLE');
  });
});

describe('Responses → chat: settings', () => {
  it('limits, sampling, format and effort that were lost or misnamed', () => {
    const { body, dropped } = toChat(
      {
        max_output_tokens: 99,
        temperature: 0.3,
        top_p: 0.9,
        reasoning: { effort: 'xhigh', summary: 'auto' },
        text: {
          format: { type: 'json_schema', name: 'o', schema: { type: 'object' }, strict: true },
          verbosity: 'low',
        },
        stream: true,
        store: true,
        metadata: { a: 'b' },
        client_metadata: { x: 'y' },
        truncation: 'auto',
        include: ['reasoning.encrypted_content', 'file_search_call.results'],
      },
      { maxTokensField: 'max_completion_tokens' },
    );
    expect(body).toEqual({
      model: options().model,
      messages: [user('hi')],
      max_completion_tokens: 99,
      temperature: 0.3,
      top_p: 0.9,
      reasoning_effort: 'high',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'o', schema: { type: 'object' }, strict: true },
      },
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(dropped).toEqual([
      'client_metadata',
      'truncation',
      'include.file_search_call.results',
      'reasoning.effort',
      'text.verbosity',
    ]);
  });

  it('what only OpenAI can do: refused with the field’s name', () => {
    for (const [field, value] of Object.entries({ background: true, conversation: 'c', prompt: { id: 'p' } }))
      expect(failure(() => toChat({ [field]: value }))).toMatchObject({ code: 'NOT_TRANSLATABLE', field });
  });

  it('any malformed body is an AppError with a field, never a TypeError', () => {
    const odd = fc.oneof(
      fc.constant(null),
      fc.integer(),
      fc.string(),
      fc.array(fc.anything({ maxDepth: 2 })),
    );
    fc.assert(
      fc.property(
        fc.record(
          { input: odd, tools: odd, tool_choice: odd, text: odd, reasoning: odd, include: odd },
          { requiredKeys: [] },
        ),
        fc.constantFrom('openai' as const, 'anthropic' as const),
        (body, wire) => {
          try {
            translateRequest('responses', wire, body, options());
          } catch (error) {
            expect(error).toBeInstanceOf(AppError);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('chat → Responses', () => {
  function toResponses(body: JsonObject) {
    return translateRequest(
      'openai',
      'responses',
      { model: 'asked', messages: [user('hi')], ...body },
      options(),
    );
  }

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
