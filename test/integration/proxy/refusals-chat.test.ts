import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProxyLab } from '../../support/proxy.ts';
import {
  ANSWERED,
  FORMAT,
  google,
  has,
  learns,
  openai,
  type RefusalCase,
  roles,
  SYSTEM,
  startRefusalLab,
  TOOL,
  TWO_SYSTEMS,
  tooLong,
} from '../../support/refusals.ts';

let chat: ProxyLab;
beforeAll(async () => {
  chat = await startRefusalLab();
});
afterAll(() => chat.close());

const TAKEN: RefusalCase[] = [
  {
    by: 'OpenAI, a value',
    body: { temperature: 0.2 },
    error: openai(
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      'temperature',
      'unsupported_value',
    ),
    refuses: has('temperature'),
    dropped: 'temperature',
  },
  {
    by: 'Moonshot, a value',
    body: { temperature: 0.3, top_p: 0.9 },
    error: openai('invalid temperature: only 1 is allowed for this model'),
    refuses: has('temperature'),
    after: (body) => expect(body.top_p).toBe(0.9),
    dropped: 'temperature',
  },
  {
    by: 'Google, a list of one error that names two fields',
    body: { store: true, frequency_penalty: 0.5, seed: 1 },
    error: google(
      'Invalid JSON payload received. Unknown name "store": Cannot find field.\nInvalid JSON payload received. Unknown name "frequency_penalty": Cannot find field.',
    ),
    refuses: has('store', 'frequency_penalty'),
    after: (body) => expect(body.seed).toBe(1),
    dropped: 'store,frequency_penalty',
  },
  {
    by: 'Google, words of a tool’s schema',
    body: { tools: [TOOL] },
    error: google(
      'Invalid JSON payload received. Unknown name "$schema" at \'tools[0].function_declarations[0].parameters\': Cannot find field.\nInvalid JSON payload received. Unknown name "additionalProperties" at \'tools[0].function_declarations[0].parameters.properties[0].value\': Cannot find field.',
    ),
    refuses: (body) => /"\$schema":"|"additionalProperties":false/.test(JSON.stringify(body.tools)),
    after: (body) => {
      const properties = { additionalProperties: { type: 'object', description: 'a name', properties: {} } };
      const parameters = { type: 'object', properties, required: ['additionalProperties'] };
      expect(body.tools).toEqual([{ type: 'function', function: { name: 'f', parameters } }]);
    },
    dropped: 'tools.$schema,tools.additionalProperties',
  },
  {
    by: 'OpenAI, what another vendor hung on a call',
    body: {
      messages: [
        { role: 'user', content: 'q' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'c',
              type: 'function',
              extra_content: { google: {} },
              function: { name: 'f', arguments: '{}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'r' },
      ],
    },
    error: openai(
      "Unknown parameter: 'messages[1].tool_calls[0].extra_content'.",
      'messages[1].tool_calls[0].extra_content',
      'unknown_parameter',
    ),
    refuses: (body) => JSON.stringify(body).includes('extra_content'),
    after: (body) =>
      expect(JSON.stringify(body)).toContain(
        '{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}',
      ),
  },
  {
    by: 'Google, by what the field is for',
    body: { presence_penalty: 0.5, top_p: 0.5 },
    error: google('Penalty is not enabled for models/gemini-3-flash'),
    refuses: has('presence_penalty'),
    dropped: 'presence_penalty',
  },
  {
    by: 'Mistral, FastAPI inside a message',
    body: { store: false },
    status: 422,
    error: {
      object: 'error',
      message: {
        detail: [{ type: 'extra_forbidden', loc: ['body', 'store'], msg: 'Extra inputs are not permitted' }],
      },
      type: 'invalid_request_error',
      param: null,
      code: null,
    },
    refuses: has('store'),
    dropped: 'store',
  },
  {
    by: 'vLLM, a Python list as text',
    body: { verbosity: 'low' },
    error: {
      object: 'error',
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'verbosity'), 'msg': 'Extra inputs are not permitted', 'input': 'low'}]",
      type: 'BadRequestError',
      code: 400,
    },
    refuses: has('verbosity'),
    dropped: 'verbosity',
  },
  {
    by: 'Bedrock',
    body: { parallel_tool_calls: false },
    error: {
      message:
        'Malformed input request: #: extraneous key [parallel_tool_calls] is not permitted, please reformat your input and try again.',
    },
    refuses: has('parallel_tool_calls'),
    dropped: 'parallel_tool_calls',
  },
  {
    by: 'Groq',
    body: { logprobs: true, metadata: { a: 'b' } },
    error: openai("property 'metadata' is unsupported"),
    refuses: has('metadata'),
    after: (body) => expect(body.logprobs).toBe(true),
    dropped: 'metadata',
  },
  {
    by: 'xAI, in camel case',
    body: { presence_penalty: 0.1 },
    error: {
      code: 'Client specified an invalid argument',
      error: 'Argument not supported on this model: presencePenalty',
    },
    refuses: has('presence_penalty'),
    dropped: 'presence_penalty',
  },
  {
    by: 'a server that lists what it knows',
    body: { seed: 7, verbosity: 'low', temperature: 0.5 },
    status: 422,
    error: openai(
      'unknown field `verbosity`, expected one of `messages`, `temperature`, `seed`, `model` at line 1 column 99',
    ),
    refuses: has('verbosity'),
    after: (body) => expect(body).toMatchObject({ seed: 7, temperature: 0.5 }),
    dropped: 'verbosity',
  },
  {
    by: 'a gateway that wraps the error as text',
    body: { service_tier: 'flex' },
    error: openai(
      'litellm.BadRequestError: OpenAIException - {"error": {"message": "Unknown parameter: \'service_tier\'.", "param": "service_tier"}}',
    ),
    refuses: has('service_tier'),
    dropped: 'service_tier',
  },
  {
    by: 'OpenRouter, with the raw error',
    body: { logit_bias: { 1: 1 } },
    error: {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: '{"detail":"logit_bias is not supported by this model"}', provider_name: 'X' },
      },
    },
    refuses: has('logit_bias'),
    dropped: 'logit_bias',
  },
  {
    by: 'plain text',
    body: { prompt_cache_key: 'k' },
    error: 'unrecognized request parameter: prompt_cache_key',
    refuses: has('prompt_cache_key'),
    dropped: 'prompt_cache_key',
  },
  {
    by: 'Ollama, thinking',
    body: { reasoning_effort: 'high' },
    error: openai('"llama3.2" does not support thinking'),
    refuses: has('reasoning_effort'),
    dropped: 'reasoning_effort',
  },
  {
    by: 'OpenAI, values of an effort',
    body: { reasoning_effort: 'minimal' },
    error: openai(
      "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'low', 'medium', and 'high'.",
      'reasoning_effort',
      'unsupported_value',
    ),
    refuses: (body) => body.reasoning_effort === 'minimal',
    after: (body) => expect(body.reasoning_effort).toBe('low'),
    dropped: 'reasoning_effort=minimal',
  },
  ...(
    [
      ['DeepSeek', 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 8192],
      ['Qwen', '<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 16384]', 16_384],
      [
        'OpenAI',
        'max_tokens is too large: 64000. This model supports at most 16384 completion tokens, whereas you provided 64000.',
        16_384,
      ],
      [
        'Groq',
        '`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens` is less than the `context_window` for this model',
        32_768,
      ],
      [
        'Google',
        'Unable to submit request because it has a maxOutputTokens value of 64000 but the supported range is from 1 (inclusive) to 8193 (exclusive).',
        8192,
      ],
    ] as const
  ).map(
    ([by, words, limit]): RefusalCase => ({
      by: `${by}, the longest answer`,
      body: { max_tokens: 64_000 },
      error: openai(words),
      refuses: tooLong(limit),
      after: (body) => expect(body.max_tokens).toBe(limit),
      dropped: `max_tokens>${limit}`,
    }),
  ),
  {
    by: 'Azure, both limits',
    body: { max_tokens: 5, max_completion_tokens: 6 },
    error: openai("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."),
    refuses: (body) => 'max_tokens' in body && 'max_completion_tokens' in body,
    after: (body) => expect(body.max_completion_tokens).toBe(6),
  },
  {
    by: 'MiniMax, several system messages',
    body: { messages: TWO_SYSTEMS },
    error: {
      type: 'error',
      error: {
        type: 'bad_request_error',
        message: 'invalid params, invalid chat setting (2013)',
        http_code: '400',
      },
    },
    refuses: (body) => roles(body).lastIndexOf('system') > 0,
    after: (body) => expect(roles(body)).toEqual(['system', 'user', 'user']),
  },
  {
    by: 'llama.cpp, a chat template that gives up',
    body: { messages: TWO_SYSTEMS },
    status: 500,
    error: {
      error: {
        code: 500,
        message:
          'While executing CallExpression at line 85: Error: Jinja Exception: System message must be at the beginning.',
        type: 'server_error',
      },
    },
    refuses: (body) => roles(body).lastIndexOf('system') > 0,
    after: (body) => expect(roles(body)).toEqual(['system', 'user', 'user']),
  },
  {
    by: 'a chat template without a system role',
    body: { messages: SYSTEM },
    error: { object: 'error', message: 'System role not supported', type: 'BadRequestError', code: 400 },
    refuses: (body) => roles(body).includes('system'),
    after: (body) => expect(body.messages).toEqual([{ role: 'user', content: 'S\n\nhi' }]),
  },
  {
    by: 'LM Studio, a form of answer',
    body: { response_format: { type: 'json_object' } },
    error: { error: "'response_format.type' must be 'json_schema' or 'text'" },
    refuses: has('response_format'),
    after: (body) => expect(JSON.stringify(body.messages)).toContain('one JSON object'),
    dropped: 'response_format',
  },
  {
    by: 'DeepSeek, a form of answer',
    body: { response_format: FORMAT },
    error: openai(
      'Failed to deserialize the JSON body: response_format.type: unknown variant `json_schema`, expected `text` or `json_object`',
    ),
    refuses: has('response_format'),
    after: (body) => expect(JSON.stringify(body.messages)).toContain('\\"city\\"'),
    dropped: 'response_format',
  },
  {
    by: 'Groq, reasoning in an answer',
    body: { messages: ANSWERED },
    error: openai(
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    ),
    refuses: (body) => JSON.stringify(body.messages).includes('reasoning_content'),
    family: 'qwen',
  },
  {
    by: 'DeepSeek’s earlier models, reasoning in an answer',
    body: { messages: ANSWERED },
    error: openai(
      'The reasoning_content is an intermediate result for display purposes only. Please remove the reasoning_content from your message to reduce network traffic.',
    ),
    refuses: (body) => JSON.stringify(body.messages).includes('reasoning_content'),
    family: 'qwen',
  },
  {
    by: 'Qwen, whole answers',
    body: {},
    error: openai('parameter.enable_thinking must be set to false for non-streaming calls'),
    refuses: (body) => body.enable_thinking !== false,
  },
];

describe('refusals as the services word them: one more try in the form that is taken, then always that form', () => {
  it.each(TAKEN)('$by', (test) => learns(chat, test));
});
