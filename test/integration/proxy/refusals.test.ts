import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';
import type { RawReply } from '../../support/upstream.ts';

type Json = Record<string, unknown>;

const MODELS = Array.from({ length: 100 }, (_, n) => `m${n}`);
let chat: ProxyLab;
let messages: ProxyLab;
let used = 0;
beforeAll(async () => {
  const config = (lab: ProxyLab) => Object.assign(lab.config.llm, { models: MODELS });
  chat = await startProxyLab({ model: 'm', upstream: { strict: false } });
  messages = await startProxyLab({ model: 'm', wire: 'anthropic', upstream: { strict: false } });
  config(chat);
  config(messages);
});
afterAll(async () => {
  await chat.close();
  await messages.close();
});

interface Case {
  /** Whose wording it is. */
  by: string;
  body: Json;
  status?: number;
  error: unknown;
  /** True while the request is refused. */
  refuses: (body: Json) => boolean;
  /** What must hold of the request that is taken, the second time and ever after. */
  after?: (body: Json) => void;
  dropped?: string;
  path?: string;
}

const has =
  (...fields: string[]) =>
  (body: Json) =>
    fields.some((field) => field in body);
const openai = (message: string, param: string | null = null, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
});
const google = (message: string) => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }];
const anthropic = (message: string, id = 'req_1') => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
  request_id: id,
});
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const FORMAT = { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } };
const SYSTEM = [
  { role: 'system', content: 'S' },
  { role: 'user', content: 'hi' },
];
const TWO_SYSTEMS = [...SYSTEM, { role: 'system', content: 'T' }, { role: 'user', content: 'ho' }];
const ANSWERED = [
  { role: 'user', content: 'q' },
  { role: 'assistant', content: 'a', reasoning_content: 'because' },
  { role: 'user', content: 'q2' },
];
const roles = (body: Json) => (body.messages as Json[]).map((message) => message.role);
const tooLong = (limit: number) => (body: Json) =>
  Number(body.max_tokens ?? body.max_completion_tokens) > limit;

const TAKEN: Case[] = [
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
    ([by, words, limit]): Case => ({
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
    path: 'qwen',
  },
  {
    by: 'DeepSeek’s earlier models, reasoning in an answer',
    body: { messages: ANSWERED },
    error: openai(
      'The reasoning_content is an intermediate result for display purposes only. Please remove the reasoning_content from your message to reduce network traffic.',
    ),
    refuses: (body) => JSON.stringify(body.messages).includes('reasoning_content'),
    path: 'qwen',
  },
  {
    by: 'Qwen, whole answers',
    body: {},
    error: openai('parameter.enable_thinking must be set to false for non-streaming calls'),
    refuses: (body) => body.enable_thinking !== false,
  },
];

const MESSAGES: Case[] = [
  {
    by: 'a Claude that samples by itself',
    body: { temperature: 0.2 },
    error: anthropic('`temperature` is deprecated for this model.'),
    refuses: has('temperature'),
    dropped: 'temperature',
  },
  {
    by: 'a Claude that takes one of two',
    body: { temperature: 0.2, top_p: 0.5 },
    error: anthropic(
      '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
    ),
    refuses: (body) => 'temperature' in body && 'top_p' in body,
    after: (body) => expect(body.temperature).toBe(0.2),
    dropped: 'top_p',
  },
  {
    by: 'a Claude that decides how long it thinks',
    body: { max_tokens: 9000, thinking: { type: 'enabled', budget_tokens: 4000 } },
    error: anthropic(
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    ),
    refuses: (body) => (body.thinking as Json | undefined)?.type === 'enabled',
    after: (body) => expect(body.thinking).toEqual({ type: 'adaptive' }),
    dropped: 'thinking.budget_tokens',
  },
  {
    by: 'a Claude that wants a budget',
    body: { max_tokens: 9000, thinking: { type: 'adaptive' } },
    error: anthropic(
      "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'",
    ),
    refuses: (body) => (body.thinking as Json | undefined)?.type === 'adaptive',
    after: (body) => expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 8192 }),
    dropped: 'thinking.adaptive',
  },
  {
    by: 'the longest answer',
    body: { max_tokens: 32_000 },
    error: anthropic('max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m'),
    refuses: tooLong(8192),
    after: (body) => expect(body.max_tokens).toBe(8192),
    dropped: 'max_tokens>8192',
  },
  {
    by: 'another server of that wire',
    body: { context_management: { edits: [] } },
    error: anthropic('context_management: Extra inputs are not permitted'),
    refuses: has('context_management'),
    dropped: 'context_management',
  },
];

async function ask(lab: ProxyLab, model: string, body: Json) {
  const anthropicWire = lab === messages;
  const whole = {
    model,
    messages: [{ role: 'user', content: 'hi' }],
    ...(anthropicWire ? { max_tokens: 50 } : {}),
    ...body,
  };
  return rawRequest(
    lab.port,
    post(anthropicWire ? '/v1/messages' : '/v1/chat/completions', JSON.stringify(whole), {
      'anthropic-version': '2023-06-01',
    }),
  );
}

function refusal(status: number, error: unknown): RawReply {
  return typeof error === 'string' ? { status, body: error } : { status, body: error as Json };
}

async function learns(lab: ProxyLab, test: Case): Promise<void> {
  const model = `${test.path ?? ''}${MODELS[used++]}`;
  lab.config.llm.models.push(model);
  lab.upstream.reset();
  lab.upstream.script(({ json }) => (test.refuses(json) ? refusal(test.status ?? 400, test.error) : 'taken'));
  const first = await ask(lab, model, test.body);
  expect(first.status, first.body).toBe(200);
  expect(lab.upstream.chats).toHaveLength(2);
  test.after?.(lab.upstream.last.json);
  expect(first.headers['x-metaclaw-dropped']).toBe(test.dropped);
  await ask(lab, model, test.body);
  expect(lab.upstream.chats).toHaveLength(3);
  test.after?.(lab.upstream.last.json);
  expect(lab.provider.learnedQuirks()[0]).toMatchObject({ model, host: new URL(lab.upstream.url).host });
}

describe('refusals as the services word them: one more try in the form that is taken, then always that form', () => {
  it.each(TAKEN)('$by', (test) => learns(chat, test));
  it.each(MESSAGES)('Anthropic’s wire: $by', (test) => learns(messages, test));
});

const TOLD = "Unsupported parameter: 'temperature' is not supported with this model.";

describe('refusals that teach nothing', () => {
  it.each<[string, Json, unknown]>([
    [
      'a quote of the user',
      {
        messages: [{ role: 'user', content: 'Why is it that verbosity is not supported here?' }],
        verbosity: 'low',
      },
      openai('Your prompt was rejected: "Why is it that verbosity is not supported here?"'),
    ],
    [
      'a quote that is cut short',
      {
        messages: [
          {
            role: 'user',
            content:
              'Please explain why max_tokens is unsupported: one should use max_completion_tokens instead of it',
          },
        ],
        max_tokens: 5,
      },
      openai(
        'Invalid prompt: Please explain why max_tokens is unsupported: one should use max_completion_tok...',
      ),
    ],
    [
      'a quote of a system prompt',
      {
        messages: [
          {
            role: 'system',
            content: 'Remember that the response_format json_schema is not supported by the old api',
          },
          { role: 'user', content: 'x' },
        ],
        response_format: FORMAT,
      },
      openai(
        'blocked because of: remember that the response_format json_schema is not supported by the old api',
      ),
    ],
    [
      'a schema that breaks the rules',
      { response_format: FORMAT },
      openai(
        "Invalid schema for response_format 'x': In context=(), 'additionalProperties' is required to be supplied and to be false.",
        'response_format',
      ),
    ],
    [
      'a prompt without a word that is needed',
      { response_format: { type: 'json_object' } },
      openai(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        'messages',
      ),
    ],
    [
      'a nested field',
      {
        temperature: 0,
        tools: [{ type: 'function', function: { name: 'f', parameters: {}, strict: true } }],
      },
      openai('tools.0.function.strict: Extra inputs are not permitted'),
    ],
    [
      'a value that is out of range',
      { temperature: 3 },
      openai('temperature must be between 0 and 2', 'temperature'),
    ],
    [
      'a field that is what the user forbids',
      { provider: { data_collection: 'deny' } },
      openai('Unknown parameter: provider', 'provider'),
    ],
    [
      'a system prompt that is too long',
      { messages: TWO_SYSTEMS },
      openai('The system prompt is too long for the context window of this model'),
    ],
    [
      'a word of English',
      { user: 'u1', store: true },
      openai('the user role is not supported at this place of the store'),
    ],
    ['a page of HTML', { verbosity: 'low' }, '<html><body>verbosity is not supported</body></html>'],
  ])('%s', async (_, body, error) => {
    const known = chat.provider.learnedQuirks().length;
    const model = `${MODELS[used++]}`;
    chat.upstream.reset();
    chat.upstream.script(() => refusal(400, error));
    expect((await ask(chat, model, body)).status).toBe(400);
    expect(chat.upstream.chats).toHaveLength(1);
    expect(chat.provider.learnedQuirks()).toHaveLength(known);
  });

  it('a server that is down, whatever it says', async () => {
    const model = `${MODELS[used++]}`;
    chat.upstream.reset();
    chat.upstream.script(() => refusal(500, openai(TOLD, 'temperature')));
    expect((await ask(chat, model, { temperature: 0 })).status).toBe(500);
    expect(chat.upstream.chats).toHaveLength(1);
  });

  it('a complaint that stays the same but for its ids and numbers: what was taken out was not what it meant', async () => {
    const model = `${MODELS[used++]}`;
    const known = messages.provider.learnedQuirks().length;
    messages.upstream.reset();
    let n = 0;
    messages.upstream.script(() =>
      refusal(400, anthropic(`temperature is not supported for 'x${++n}' (${n * 7} tokens)`, `req_0${n}`)),
    );
    expect((await ask(messages, model, { temperature: 0.1 })).status).toBe(400);
    expect(messages.upstream.chats).toHaveLength(2);
    expect(messages.provider.learnedQuirks()).toHaveLength(known);
  });

  it('a lesson that led to another refusal is not kept', async () => {
    const model = `${MODELS[used++]}`;
    chat.upstream.reset();
    chat.upstream.script(({ json }) =>
      refusal(400, 'temperature' in json ? openai(TOLD) : openai('temperature: field required')),
    );
    expect((await ask(chat, model, { temperature: 0 })).status).toBe(400);
    expect(chat.provider.learnedQuirks().some((known) => known.model === model)).toBe(false);
  });

  it('two fields that do not go together are parted for this request only', async () => {
    const model = `${MODELS[used++]}`;
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
    chat.upstream.reset();
    chat.upstream.script(({ json }) =>
      json.tools && json.response_format
        ? refusal(400, openai('json mode cannot be combined with tool/function calling'))
        : 'taken',
    );
    const both = await ask(chat, model, { response_format: { type: 'json_object' }, tools });
    expect([both.status, both.headers['x-metaclaw-dropped']]).toEqual([200, 'response_format']);
    await ask(chat, model, { response_format: { type: 'json_object' } });
    expect(chat.upstream.last.json.response_format).toEqual({ type: 'json_object' });
  });
});

it('what was learned can be seen and forgotten, for one model, one host or all', async () => {
  const { provider, upstream } = chat;
  const host = new URL(upstream.url).host;
  const [first] = provider.learnedQuirks();
  expect(provider.learnedQuirks().length).toBeGreaterThan(5);
  expect(provider.forgetQuirks(host, first?.model ?? '')).toBe(1);
  expect(provider.learnedQuirks()).not.toContainEqual(first);
  expect(provider.forgetQuirks('elsewhere.example', null)).toBe(0);
  upstream.reset();
  upstream.script(({ json }) => ('seed' in json ? refusal(400, openai('Unknown parameter: seed')) : 'taken'));
  await ask(chat, 'm', { seed: 1 });
  await ask(chat, 'm', { seed: 1 });
  expect(upstream.chats).toHaveLength(3);
  expect(provider.forgetQuirks(host, 'm')).toBe(1);
  await ask(chat, 'm', { seed: 1 });
  expect(upstream.chats).toHaveLength(5);
  expect(provider.forgetQuirks(null, null)).toBeGreaterThan(5);
  expect(provider.learnedQuirks()).toEqual([]);
});
