import { afterEach, describe, expect, it } from 'vitest';
import { startEngine } from '../../support/engine.ts';
import { type ProxyLab, type ProxyLabOptions, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';
import { errorReply, type Script, startUpstream } from '../../support/upstream.ts';

type Json = Record<string, unknown>;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function lab(options: ProxyLabOptions = {}): Promise<ProxyLab> {
  const started = await startProxyLab({ model: 'm', ...options });
  closers.push(() => started.close());
  return started;
}

function ask(port: number, body: Json, path = '/v1/chat/completions') {
  const whole = { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body };
  return rawRequest(port, post(path, JSON.stringify(whole), { 'anthropic-version': '2023-06-01' }));
}

/** Refuses bodies in which `found` sees what this provider does not take. */
function refusing(found: (body: Json) => boolean, message: string, param: string | null = null): Script {
  return ({ json }) =>
    found(json as Json) ? errorReply(400, false, 'invalid_request_error', message, param) : 'taken';
}

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const FORMAT = { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } };
const DEVELOPER = {
  messages: [
    { role: 'developer', content: 'S' },
    { role: 'user', content: 'hi' },
  ],
};
const SYSTEMS = {
  messages: [
    { role: 'system', content: 'A' },
    { role: 'user', content: 'hi' },
    { role: 'system', content: 'B' },
    { role: 'user', content: 'ho' },
  ],
};
const roles = (body: Json) => (body.messages as Json[]).map((message) => message.role);
const carries = (body: Json, field: string) => (body.messages as Json[]).some((message) => field in message);
const CALLED = {
  messages: [
    { role: 'user', content: 'q' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'r' },
  ],
};

interface Case {
  name: string;
  body: Json;
  refuse: (body: Json) => boolean;
  message: string;
  param?: string;
  /** What the request must look like the second time. */
  after: (body: Json) => void;
  dropped?: string;
}

const CASES: Case[] = [
  {
    name: 'response_format (T44)',
    body: { response_format: FORMAT, temperature: 0 },
    refuse: (body) => 'response_format' in body,
    message: "Invalid value for 'response_format': json_schema is not supported by this model",
    after: (body) => {
      expect(JSON.stringify(body.messages)).toContain('\\"city\\"');
      expect(body.temperature).toBe(0);
    },
    dropped: 'response_format',
  },
  {
    name: 'max_tokens',
    body: { max_tokens: 77 },
    refuse: (body) => 'max_tokens' in body,
    message:
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    after: (body) => expect(body.max_completion_tokens).toBe(77),
  },
  {
    name: 'max_completion_tokens',
    body: { max_completion_tokens: 77 },
    refuse: (body) => 'max_completion_tokens' in body,
    message: 'Unrecognized request argument supplied: max_completion_tokens',
    after: (body) => expect(body.max_tokens).toBe(77),
  },
  {
    name: 'the developer role',
    body: DEVELOPER,
    refuse: (body) => roles(body).includes('developer'),
    message: "'developer' is not one of ['system', 'assistant', 'user', 'tool'] - 'messages.0.role'",
    after: (body) => expect(roles(body)).toEqual(['system', 'user']),
  },
  {
    name: 'a second system message',
    body: SYSTEMS,
    refuse: (body) => roles(body).lastIndexOf('system') > 0,
    message: 'System message must be at the beginning.',
    after: (body) => expect(roles(body)).toEqual(['system', 'user', 'user']),
  },
  {
    name: 'missing reasoning',
    body: CALLED,
    refuse: (body) => !carries(body, 'reasoning_content'),
    message: 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1',
    after: (body) => expect((body.messages as Json[])[1]?.reasoning_content).toBe(''),
  },
  {
    name: 'a field of its own',
    body: { prompt_cache_key: 'k', verbosity: 'low' },
    refuse: (body) => 'verbosity' in body,
    message: 'Unrecognized request argument supplied: verbosity',
    after: (body) => expect(body.prompt_cache_key).toBe('k'),
    dropped: 'verbosity',
  },
];

describe('a refusal that says what is not taken', () => {
  it.each(CASES)('$name: one more try without it, and never again with it', async (test) => {
    const provider = test.name === 'the developer role' ? 'openrouter' : 'custom';
    const { port, upstream } = await lab();
    const current = await lab({
      config: {
        llm: { provider, api_base: upstream.url, api_key: 'sk-up', model_id: 'm' },
      },
    });
    expect(port).not.toBe(current.port);
    upstream.script(refusing(test.refuse, test.message, test.param ?? null));
    const first = await ask(current.port, test.body);
    expect(first.status, first.body).toBe(200);
    expect(upstream.chats).toHaveLength(2);
    test.after(upstream.last.json as Json);
    expect(first.headers['x-metaclaw-dropped']).toBe(test.dropped);
    const record = current.sessions.list({ limit: 1 }).turns[0];
    expect(current.sessions.get(record?.id ?? '').sentBody).toBe(upstream.last.rawBody.toString());
    expect((await ask(current.port, test.body)).status).toBe(200);
    expect(upstream.chats).toHaveLength(3);
    test.after(upstream.last.json as Json);
  });

  it('what was learned holds after a restart, for this model only', async () => {
    const upstream = await startUpstream();
    closers.push(() => upstream.close());
    upstream.script(refusing((body) => 'verbosity' in body, 'Unknown parameter: verbosity', 'verbosity'));
    const llm = { provider: 'custom', api_base: upstream.url, api_key: 'k', model_id: 'a', models: ['b'] };
    const engine = await startEngine({ llm });
    closers.push(() => engine.close());
    const send = (model: string) =>
      ask(Number(new URL(engine.openai).port), { model, verbosity: 'low' }).then(({ status }) => status);
    expect(await send('a')).toBe(200);
    expect(upstream.chats).toHaveLength(2);
    await engine.restart();
    expect(await send('a')).toBe(200);
    expect(upstream.chats).toHaveLength(3);
    expect(await send('b')).toBe(200);
    expect(upstream.chats).toHaveLength(5);
  });

  it('an Anthropic client’s translated request learns too', async () => {
    const { port, upstream } = await lab();
    upstream.script(({ json }) => {
      const refuse = (message: string) => errorReply(400, false, 'invalid_request_error', message);
      if ('response_format' in json) return refuse('This response_format type is unavailable now');
      return 'stream_options' in json ? refuse('stream_options: Extra inputs are not permitted') : 'taken';
    });
    const body = {
      max_tokens: 50,
      stream: true,
      output_config: { format: { type: 'json_schema', schema: SCHEMA } },
    };
    const answer = await ask(port, body, '/v1/messages');
    expect(answer.body).toContain('message_stop');
    expect(upstream.chats).toHaveLength(3);
    expect(JSON.stringify(upstream.last.json.messages)).toContain('\\"city\\"');
  });

  it('an empty reasoning that is refused as well: the call is made without thinking (T54)', async () => {
    const { port, upstream } = await lab({ model: 'kimi-k2.5' });
    upstream.script(
      refusing(
        (body) => (body.thinking as Json | undefined)?.type !== 'disabled',
        'reasoning_content must not be empty in assistant tool call message',
      ),
    );
    expect((await ask(port, CALLED)).status).toBe(200);
    expect(upstream.chats).toHaveLength(2);
  });
});

describe('a lesson that was none', () => {
  it('is not kept when the provider complains of the same again', async () => {
    const { port, upstream } = await lab();
    const message = 'verbosity is not supported together with this prompt';
    upstream.script(() => errorReply(400, false, 'invalid_request_error', message));
    const answer = await ask(port, { verbosity: 'low' });
    expect(JSON.parse(answer.body).error.message).toBe(message);
    expect(upstream.chats).toHaveLength(2);
    upstream.script(() => 'fine now');
    await ask(port, { verbosity: 'low' });
    expect(upstream.last.json.verbosity).toBe('low');
  });
});

describe('a refusal that teaches nothing is the client’s', () => {
  it.each([
    ['a wrong request', 'messages: at least one message is required', {}],
    ['words that quote the conversation', 'Could not process: "verbosity is not supported"', {}],
    [
      'an essential field',
      "Unsupported parameter: 'tools' is not supported with this model.",
      { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] },
    ],
    ['a field that was not sent', "Unsupported parameter: 'verbosity'", {}],
    ['a context that is too long', 'This model’s maximum context length is 4096 tokens', { max_tokens: 9 }],
  ])('%s: asked once, told as it is', async (_, message, body) => {
    const { port, upstream } = await lab();
    upstream.script(() => errorReply(400, false, 'invalid_request_error', message));
    const answer = await ask(port, body);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).error.message).toBe(message);
    expect(upstream.chats).toHaveLength(1);
  });

  it('a user’s own flag stands above what a refusal says, and above what is known (T05)', async () => {
    const { port, upstream } = await lab();
    const flagged = await lab({
      config: {
        llm: {
          api_base: upstream.url,
          api_key: 'sk-up',
          model_id: 'm',
          compat: { developer_role: true, reasoning: 'keep', max_tokens_field: 'max_completion_tokens' },
        },
      },
    });
    expect(port).not.toBe(flagged.port);
    upstream.script(refusing((body) => roles(body).includes('developer'), 'developer is no role here'));
    expect((await ask(flagged.port, DEVELOPER)).status).toBe(400);
    expect(upstream.chats).toHaveLength(1);
    upstream.script(() => 'ok');
    const messages = [...CALLED.messages, { role: 'assistant', content: 'x', reasoning: 'y' }];
    await ask(flagged.port, { messages, max_tokens: 5 });
    expect(upstream.last.json).toEqual({ model: 'm', messages, max_completion_tokens: 5 });
  });
});
