import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProxyLab } from '../../support/proxy.ts';
import {
  anthropic,
  ask,
  FORMAT,
  has,
  learns,
  newModel,
  openai,
  type RefusalCase,
  refusal,
  startRefusalLab,
  TWO_SYSTEMS,
  tooLong,
} from '../../support/refusals.ts';

type Json = Record<string, unknown>;

let chat: ProxyLab;
let messages: ProxyLab;
beforeAll(async () => {
  chat = await startRefusalLab();
  messages = await startRefusalLab('anthropic');
});
afterAll(async () => {
  await chat.close();
  await messages.close();
});

const MESSAGES: RefusalCase[] = [
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

describe('refusals on Anthropic’s wire', () => {
  it.each(MESSAGES)('$by', (test) => learns(messages, test));
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
    const model = newModel(chat);
    chat.upstream.reset();
    chat.upstream.script(() => refusal(400, error));
    expect((await ask(chat, model, body)).status).toBe(400);
    expect(chat.upstream.chats).toHaveLength(1);
    expect(chat.provider.learnedQuirks()).toHaveLength(known);
  });

  it('a server that is down, whatever it says', async () => {
    const model = newModel(chat);
    chat.upstream.reset();
    chat.upstream.script(() => refusal(500, openai(TOLD, 'temperature')));
    expect((await ask(chat, model, { temperature: 0 })).status).toBe(500);
    expect(chat.upstream.chats).toHaveLength(1);
  });

  it('a complaint that stays the same but for its ids and numbers: what was taken out was not what it meant', async () => {
    const model = newModel(messages);
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
    const model = newModel(chat);
    chat.upstream.reset();
    chat.upstream.script(({ json }) =>
      refusal(400, 'temperature' in json ? openai(TOLD) : openai('temperature: field required')),
    );
    expect((await ask(chat, model, { temperature: 0 })).status).toBe(400);
    expect(chat.provider.learnedQuirks().some((known) => known.model === model)).toBe(false);
  });

  it('two fields that do not go together are parted for this request only', async () => {
    const model = newModel(chat);
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
  const { host } = new URL(upstream.url);
  upstream.reset();
  upstream.script(({ json }) => ('seed' in json ? refusal(400, openai('Unknown parameter: seed')) : 'taken'));
  const models = [1, 2, 3].map(() => newModel(chat));
  for (const model of models) await ask(chat, model, { seed: 1 });
  expect(upstream.chats).toHaveLength(6);
  const known = models.map((model) => ({ host, model, effects: ['refusedFields=seed'] })).reverse();
  expect(provider.learnedQuirks()).toEqual(known);
  expect(provider.forgetQuirks('elsewhere.example', null)).toBe(0);
  expect(provider.forgetQuirks(host, models[0] ?? '')).toBe(1);
  expect(provider.learnedQuirks()).toEqual(known.slice(0, 2));
  // It is tried anew, and learned anew.
  for (const model of models) await ask(chat, model, { seed: 1 });
  expect(upstream.chats).toHaveLength(10);
  expect(provider.forgetQuirks(null, null)).toBe(3);
  expect(provider.learnedQuirks()).toEqual([]);
});
