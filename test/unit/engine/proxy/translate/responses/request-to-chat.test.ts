import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { translateReply, translateRequest } from '../../../../../../src/engine/proxy/translate/pairs.ts';
import type { JsonObject } from '../../../../../../src/engine/proxy/translate/types.ts';
import { AppError } from '../../../../../../src/shared/errors.ts';
import { failure, options } from '../support.ts';
import { call, chatCall, result, toChat, user } from './support.ts';

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
    expect(dropped).toEqual(['tools.namespace.description', 'tools.format', 'tools.web_search']);
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
      verbosity: 'low',
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
    ]);
  });

  it('a request without a word to answer to is refused by name', () => {
    for (const input of ['', [], [{ role: 'user', content: '' }]])
      expect(failure(() => toChat({ input }))).toMatchObject({ code: 'BAD_INPUT', field: 'input' });
    expect(toChat({ input: [], instructions: 'Say hi.' }).body.messages).toHaveLength(1);
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
