import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Dialect } from '../../../src/shared/model.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';

type Json = Record<string, unknown>;

const PATHS: Readonly<Record<Dialect, string>> = {
  openai: '/v1/chat/completions',
  anthropic: '/v1/messages',
  responses: '/v1/responses',
};
const schema = { type: 'object', properties: { q: { type: 'string' } } };
const closed = { ...schema, required: ['q'], additionalProperties: false };
const user = { role: 'user', content: 'hi' };
const hi = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }];

interface Sent {
  name: string;
  client: Dialect;
  wire: Dialect;
  body: Json;
  /** The whole body as it goes upstream, but for the model. */
  sent: Json;
  dropped: string | null;
}

const SENT: readonly Sent[] = [
  {
    name: 'settings, tools and a format of a chat client',
    client: 'openai',
    wire: 'anthropic',
    body: {
      messages: [{ role: 'developer', content: 'Be kind.' }, user],
      max_completion_tokens: 700,
      max_tokens: 5,
      temperature: 1.4,
      top_p: 0.8,
      stop: 'END',
      seed: 0,
      user: 'u7',
      tools: [{ type: 'function', function: { name: 'look', strict: true, parameters: schema } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'o', schema: closed } },
    },
    sent: {
      max_tokens: 700,
      system: [{ type: 'text', text: 'Be kind.' }],
      messages: hi,
      tools: [{ name: 'look', input_schema: schema }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
      metadata: { user_id: 'u7' },
      temperature: 1,
      top_p: 0.8,
      output_config: { format: { type: 'json_schema', schema: closed } },
    },
    dropped: 'seed,tools.strict,temperature>1',
  },
  {
    name: 'settings, tools and a format of a chat client',
    client: 'openai',
    wire: 'responses',
    body: {
      messages: [{ role: 'system', content: 'Be kind.' }, user],
      max_tokens: 700,
      stop: ['END'],
      store: true,
      verbosity: 'low',
      reasoning_effort: 'low',
      tools: [{ type: 'function', function: { name: 'look', parameters: closed, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'look' } },
    },
    sent: {
      instructions: 'Be kind.',
      input: [user],
      store: false,
      tools: [{ type: 'function', name: 'look', parameters: closed, strict: true }],
      tool_choice: { type: 'function', name: 'look' },
      max_output_tokens: 700,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
      text: { verbosity: 'low' },
    },
    dropped: 'stop,store',
  },
  {
    name: 'settings, tools and a format of an Anthropic client',
    client: 'anthropic',
    wire: 'openai',
    body: {
      max_tokens: 300,
      system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }],
      messages: [user],
      tools: [{ name: 'look', input_schema: closed, strict: true, eager_input_streaming: true }],
      tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
      stop_sequences: ['A', 'B'],
      top_k: 3,
      temperature: 0.4,
      output_config: { format: { type: 'json_schema', schema: closed }, task_budget: { total: 1 } },
    },
    sent: {
      messages: [{ role: 'system', content: 'Be kind.' }, user],
      max_tokens: 300,
      tools: [{ type: 'function', function: { name: 'look', parameters: closed, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'look' } },
      parallel_tool_calls: false,
      stop: ['A', 'B'],
      temperature: 0.4,
      response_format: { type: 'json_schema', json_schema: { name: 'output', schema: closed, strict: true } },
    },
    dropped: 'top_k,tools.eager_input_streaming,cache_control,output_config.task_budget',
  },
  {
    name: 'settings of an Anthropic client',
    client: 'anthropic',
    wire: 'responses',
    body: {
      max_tokens: 3000,
      system: 'Be kind.',
      messages: [user],
      stop_sequences: ['A'],
      thinking: { type: 'enabled', budget_tokens: 2000 },
    },
    sent: {
      instructions: 'Be kind.',
      input: [user],
      store: false,
      max_output_tokens: 3000,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
    },
    dropped: 'stop_sequences',
  },
  {
    name: 'settings and a choice of tools of a Responses client',
    client: 'responses',
    wire: 'openai',
    body: {
      instructions: 'Be kind.',
      input: 'hi',
      max_output_tokens: 300,
      max_tool_calls: 2,
      text: { verbosity: 'low', format: { type: 'json_object' } },
      tools: ['a', 'b'].map((name) => ({ type: 'function', name, parameters: schema, strict: false })),
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'b' }] },
    },
    sent: {
      messages: [{ role: 'system', content: 'Be kind.' }, user],
      max_tokens: 300,
      tools: [{ type: 'function', function: { name: 'b', parameters: schema } }],
      tool_choice: 'required',
      verbosity: 'low',
      response_format: { type: 'json_object' },
    },
    dropped: 'max_tool_calls',
  },
  {
    name: 'a file by its address, and settings of a Responses client',
    client: 'responses',
    wire: 'anthropic',
    body: {
      input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://host/a.pdf' }] }],
      max_output_tokens: 300,
      text: { verbosity: 'low' },
      truncation: 'auto',
      user: 'u7',
    },
    sent: {
      max_tokens: 300,
      messages: [
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'url', url: 'https://host/a.pdf' } }],
        },
      ],
      metadata: { user_id: 'u7' },
    },
    dropped: 'truncation,text.verbosity',
  },
];

const audio = { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'a', format: 'wav' } }] };
const REFUSED: readonly { client: Dialect; wire: Dialect; body: Json; param: string }[] = [
  { client: 'openai', wire: 'anthropic', body: { messages: [user], n: 2 }, param: 'n' },
  {
    client: 'openai',
    wire: 'anthropic',
    body: { messages: [user, audio] },
    param: 'messages[1].content[0].type',
  },
  {
    client: 'openai',
    wire: 'responses',
    body: { messages: [user], web_search_options: { search_context_size: 'low' } },
    param: 'web_search_options',
  },
  {
    client: 'responses',
    wire: 'openai',
    body: { input: 'hi', tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
    param: 'tools[0].type',
  },
  { client: 'responses', wire: 'anthropic', body: { input: [audio] }, param: 'input' },
  { client: 'responses', wire: 'openai', body: { input: [] }, param: 'input' },
];

describe.each(['openai', 'anthropic', 'responses'] as const)('requests to an upstream of %s', (wire) => {
  let lab: ProxyLab;
  beforeAll(async () => {
    lab = await startProxyLab({ wire });
  });
  afterEach(() => {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  });
  afterAll(() => lab.close());
  const ask = (client: Dialect, body: Json) =>
    fetch(`${lab.url}${PATHS[client]}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'asked', ...body }),
    });

  it.each(SENT.filter((one) => one.wire === wire))(
    '$client: $name',
    async ({ client, body, sent, dropped }) => {
      const answer = await ask(client, body);
      expect([answer.status, await answer.text()]).toEqual([
        200,
        expect.stringContaining('scripted upstream'),
      ]);
      expect(lab.upstream.last.json).toEqual({ model: 'served', ...sent });
      expect(answer.headers.get('x-metaclaw-dropped')).toBe(dropped);
    },
  );

  it.each(REFUSED.filter((one) => one.wire === wire))(
    '$client: $param is refused by name, and nothing goes upstream',
    async ({ client, body, param }) => {
      const answer = await ask(client, body);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error', param } });
      expect(lab.upstream.requests).toEqual([]);
    },
  );

  it('anthropic: a tool of Anthropic’s goes to Anthropic, or is refused in Anthropic’s shape', async () => {
    const tools = [{ type: 'bash_20250124', name: 'bash' }];
    const answer = await ask('anthropic', { max_tokens: 99, messages: [user], tools });
    if (wire === 'anthropic') {
      expect(answer.status).toBe(200);
      expect(lab.upstream.last.json.tools).toEqual(tools);
      return;
    }
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining('bash_20250124') },
    });
    expect(lab.upstream.requests).toEqual([]);
  });
});

describe('efforts that a provider has named', () => {
  it('are all open to clients of another dialect afterwards', async () => {
    const lab = await startProxyLab({ wire: 'openai' });
    try {
      const ask = (effort: string) =>
        fetch(`${lab.url}/v1/messages`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'm', max_tokens: 9, messages: [user], output_config: { effort } }),
        });
      const message = "Invalid value: 'low'. reasoning_effort must be one of: 'high', 'xhigh'.";
      const error = { message, type: 'invalid_request_error', param: 'reasoning_effort', code: null };
      lab.upstream.reply({ status: 400, body: { error } });
      const first = await ask('low');
      expect([first.status, lab.upstream.last.json.reasoning_effort]).toEqual([200, 'high']);
      const second = await ask('xhigh');
      expect(lab.upstream.last.json.reasoning_effort).toBe('xhigh');
      expect(second.headers.get('x-metaclaw-dropped')).toBeNull();
    } finally {
      await lab.close();
    }
  });
});
