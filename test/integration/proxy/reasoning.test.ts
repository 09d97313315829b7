import { afterEach, describe, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { type ProxyLab, type ProxyLabOptions, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

type Json = Record<string, unknown>;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function lab(options: ProxyLabOptions): Promise<ProxyLab> {
  const started = await startProxyLab(options);
  closers.push(() => started.close());
  return started;
}

/** A model that calls a tool `turns` times, each time for a reason of its own, then says that it is done. */
function loopingUpstream(upstream: ScriptedUpstream, turns: number): void {
  upstream.script(({ json }) => {
    const n = json.messages.filter((message: Json) => message.role === 'assistant').length;
    if (n === turns) return { reasoning: 'enough', text: 'All done.' };
    return {
      reasoning: `because ${n} “why”`,
      tools: [{ id: `call_abcdef_${n}`, name: 'run', arguments: `{"b": ${n}, "a": "x"}` }],
    };
  });
}

const TOOL = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } };

/** An OpenAI client that forgets reasoning and spells ids and arguments its own way, as OpenClaw does. */
function openaiClient(dropped: boolean) {
  const messages: Json[] = [{ role: 'user', content: 'Go through the list.' }];
  return {
    path: '/v1/chat/completions',
    body: () => ({
      model: 'm',
      messages,
      tools: [{ type: 'function', function: { name: 'run', parameters: TOOL } }],
    }),
    /** Takes the answer in; false when there is no call left to answer. */
    take(answer: Json): boolean {
      // biome-ignore lint/suspicious/noExplicitAny: an answer as its client reads it
      const { message } = (answer as any).choices[0];
      if (!message.tool_calls) return false;
      const [call] = message.tool_calls;
      const id = dropped ? String(call.id).replaceAll('_', '') : call.id;
      const args = JSON.stringify(JSON.parse(call.function.arguments));
      messages.push(
        {
          role: 'assistant',
          content: null,
          ...(dropped ? {} : { reasoning_content: message.reasoning_content }),
          tool_calls: [{ id, type: 'function', function: { name: call.function.name, arguments: args } }],
        },
        { role: 'tool', tool_call_id: id, content: `result of ${call.id}` },
      );
      return true;
    },
  };
}

/** An Anthropic client; `dropped`: it forgets thinking blocks. */
function anthropicClient(dropped: boolean, extra: Json = {}) {
  const messages: Json[] = [{ role: 'user', content: 'Go through the list.' }];
  return {
    path: '/v1/messages',
    body: () => ({
      model: 'm',
      max_tokens: 8000,
      messages,
      tools: [{ name: 'run', input_schema: TOOL }],
      ...extra,
    }),
    take(answer: Json): boolean {
      const blocks = (answer.content as Json[]).filter((block) => !dropped || block.type !== 'thinking');
      const use = blocks.find((block) => block.type === 'tool_use');
      if (!use) return false;
      messages.push(
        { role: 'assistant', content: blocks },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'ok' }] },
      );
      return true;
    },
  };
}

type Client = ReturnType<typeof openaiClient> | ReturnType<typeof anthropicClient>;

async function ask(port: number, client: Client): Promise<Json> {
  const headers = { 'anthropic-version': '2023-06-01' };
  const answer = await rawRequest(port, post(client.path, JSON.stringify(client.body()), headers));
  expect(answer.status, answer.body).toBe(200);
  return JSON.parse(answer.body) as Json;
}

function reasonsSent(upstream: ScriptedUpstream): unknown[] {
  return upstream.last.json.messages
    .filter((message: Json) => message.role === 'assistant')
    .map((message: Json) => message.reasoning_content);
}

const TURNS = 60;
const REASONS = Array.from({ length: TURNS }, (_, n) => `because ${n} “why”`);

describe('a tool loop of 60 turns against an upstream that refuses missing reasoning', () => {
  async function engineOn(upstream: ScriptedUpstream): Promise<TestEngine> {
    const engine = await startEngine({
      llm: { provider: 'deepseek', api_base: upstream.url, api_key: 'k', model_id: 'deepseek-chat' },
      memory: { enabled: false },
    });
    closers.push(() => engine.close());
    return engine;
  }

  it.each([
    ['an OpenAI client that drops it and changes ids', () => openaiClient(true)],
    ['an OpenAI client that keeps it', () => openaiClient(false)],
    ['an Anthropic client that drops it', () => anthropicClient(true)],
    ['an Anthropic client that keeps it', () => anthropicClient(false)],
  ])('%s: every reason comes back, also after a restart in the middle (T53, T54)', async (_, newClient) => {
    const upstream = await startUpstream({ strict: { demandReasoning: true } });
    closers.push(() => upstream.close());
    loopingUpstream(upstream, TURNS);
    const engine = await engineOn(upstream);
    const client = newClient();
    let turns = 0;
    while (client.take(await ask(Number(new URL(engine.openai).port), client))) {
      turns += 1;
      if (turns === 30) await engine.restart();
    }
    expect(turns).toBe(TURNS);
    // A loop that went through on empty strings would have cost the model its thoughts.
    expect(reasonsSent(upstream)).toEqual(REASONS);
  });

  it('streams are remembered like whole answers', async () => {
    const { port, upstream } = await lab({
      model: 'deepseek-reasoner',
      upstream: { strict: { demandReasoning: true } },
    });
    loopingUpstream(upstream, 1);
    const client = openaiClient(true);
    const streamed = await rawRequest(
      port,
      post(client.path, JSON.stringify({ ...client.body(), stream: true })),
    );
    expect(streamed.body).toContain('[DONE]');
    client.take({
      choices: [
        {
          message: {
            tool_calls: [{ id: 'call_abcdef_0', function: { name: 'run', arguments: '{"b": 0, "a": "x"}' } }],
          },
        },
      ],
    });
    await ask(port, client);
    expect(reasonsSent(upstream)).toEqual(['because 0 “why”']);
  });
});

const HISTORY = [
  { role: 'user', content: 'q' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'r' },
];

describe('what an upstream gets of reasoning that the client sent or lost', () => {
  const withReasoning = HISTORY.map((message) =>
    message.role === 'assistant'
      ? { reasoning: 'r0', ...message, reasoning_content: 'r1', reasoning_details: [{ type: 'x' }] }
      : message,
  );

  it('nobody knows it any more: an empty one, and every other byte as it came', async () => {
    const { port, upstream } = await lab({
      model: 'kimi-k2.5',
      upstream: { strict: { demandReasoning: true } },
    });
    const text = JSON.stringify({ model: 'kimi-k2.5', 'x-odd': 1.0e2, messages: HISTORY }, null, 1);
    expect((await rawRequest(port, post('/v1/chat/completions', text))).status).toBe(200);
    const sent = upstream.last.rawBody.toString();
    expect(sent).toContain('"reasoning_content":"",');
    expect(sent.replace('"reasoning_content":"",', '')).toBe(text);
  });

  it('a null is replaced, not doubled', async () => {
    const { port, upstream } = await lab({ model: 'mimo-v2' });
    const messages = HISTORY.map((m) => (m.role === 'assistant' ? { ...m, reasoning_content: null } : m));
    await rawRequest(port, post('/v1/chat/completions', JSON.stringify({ model: 'mimo-v2', messages })));
    expect(upstream.last.rawBody.toString().match(/reasoning_content/g)).toHaveLength(1);
    expect(reasonsSent(upstream)).toEqual(['']);
  });

  it.each([
    ['gpt-5-mini', HISTORY],
    ['qwen3-max', withReasoning],
  ])(
    '%s: a vendor that has no such field does not get it, one that uses it does (T55)',
    async (model, kept) => {
      const { port, upstream } = await lab({ model });
      await rawRequest(
        port,
        post('/v1/chat/completions', JSON.stringify({ model, messages: withReasoning })),
      );
      expect(upstream.last.rawBody.toString()).toBe(JSON.stringify({ model, messages: kept }));
    },
  );

  it('calls that are numbered anew in every answer keep their own reasons', async () => {
    const { port, upstream } = await lab({ model: 'deepseek-chat' });
    const call = (n: number) => ({
      id: 'call_0',
      type: 'function',
      function: { name: 'f', arguments: `{"n":${n}}` },
    });
    const messages: Json[] = [{ role: 'user', content: 'q' }];
    for (const n of [1, 2, 3]) {
      upstream.reply({
        reasoning: `r${n}`,
        tools: [{ id: 'call_0', name: 'f', arguments: `{"n":${n}}` }],
      });
      await rawRequest(
        port,
        post('/v1/chat/completions', JSON.stringify({ model: 'deepseek-chat', messages })),
      );
      messages.push(
        { role: 'assistant', content: null, tool_calls: [call(n)] },
        { role: 'tool', tool_call_id: 'call_0', content: 'r' },
      );
    }
    await rawRequest(
      port,
      post('/v1/chat/completions', JSON.stringify({ model: 'deepseek-chat', messages })),
    );
    expect(reasonsSent(upstream)).toEqual(['r1', 'r2', 'r3']);
  });

  it('a private turn keeps its reasoning in memory and writes nothing', async () => {
    const engineUpstream = await startUpstream();
    closers.push(() => engineUpstream.close());
    loopingUpstream(engineUpstream, 2);
    const engine = await startEngine({
      llm: { provider: 'kimi', api_base: engineUpstream.url, api_key: 'k', model_id: 'kimi-k2.5' },
    });
    closers.push(() => engine.close());
    const port = Number(new URL(engine.openai).port);
    const client = openaiClient(true);
    const send = async () =>
      JSON.parse(
        (
          await rawRequest(
            port,
            post(client.path, JSON.stringify(client.body()), { 'x-metaclaw-private': 'on' }),
          )
        ).body,
      ) as Json;
    client.take(await send());
    client.take(await send());
    expect(reasonsSent(engineUpstream)).toEqual([REASONS[0]]);
    await engine.restart();
    await rawRequest(
      Number(new URL(engine.openai).port),
      post(client.path, JSON.stringify(client.body()), { 'x-metaclaw-private': 'on' }),
    );
    expect(reasonsSent(engineUpstream)).toEqual(['', '']);
  });
});

describe('thinking of an Anthropic upstream', () => {
  it('an OpenAI client’s tool loop keeps thinking: signed blocks stand before their calls again', async () => {
    const { port, upstream } = await lab({ wire: 'anthropic' });
    const parts = [
      { type: 'reasoning' as const, text: 'let me see', signature: 'sig-1' },
      { type: 'tool' as const, id: 'toolu_0123456789', name: 'run', arguments: '{"b":1}' },
    ];
    upstream.reply({ parts }, 'done');
    const client = openaiClient(true);
    const send = async () => {
      const body = JSON.stringify({ ...client.body(), reasoning_effort: 'high', max_tokens: 20000 });
      return JSON.parse((await rawRequest(port, post(client.path, body))).body) as Json;
    };
    client.take(await send());
    await send();
    const { json } = upstream.last;
    expect(json.thinking).toMatchObject({ type: 'enabled' });
    expect(json.messages[1].content[0]).toEqual({
      type: 'thinking',
      thinking: 'let me see',
      signature: 'sig-1',
    });
    expect(json.messages[1].content[1].type).toBe('tool_use');
  });

  it('nobody knows it any more: the call is made without thinking', async () => {
    const { port, upstream } = await lab({ wire: 'anthropic' });
    const body = { model: 'm', messages: HISTORY, reasoning_effort: 'high', max_tokens: 20000 };
    const answer = await rawRequest(port, post('/v1/chat/completions', JSON.stringify(body)));
    expect(upstream.last.json.thinking).toBeUndefined();
    expect(answer.headers['x-metaclaw-dropped']).toContain('reasoning_effort');
  });

  it.each([true, false])(
    'an Anthropic client (drops its thinking: %s) stays valid (T51)',
    async (dropped) => {
      const { port, upstream } = await lab({ wire: 'anthropic' });
      const parts = [
        { type: 'reasoning' as const, text: '', signature: 'sig-empty' },
        { type: 'reasoning' as const, text: 'second', signature: 'sig-2' },
        { type: 'tool' as const, id: 'toolu_0123456789', name: 'run', arguments: '{"b":1}' },
      ];
      upstream.reply({ parts }, 'done');
      const client = anthropicClient(dropped, { thinking: { type: 'enabled', budget_tokens: 2000 } });
      client.take(await ask(port, client));
      const mine = JSON.stringify(client.body());
      await ask(port, client);
      const sent = upstream.last.rawBody.toString();
      if (!dropped) expect(JSON.parse(sent).messages).toEqual(JSON.parse(mine).messages);
      expect(
        upstream.last.json.messages[1].content.map((block: Json) => block.signature ?? block.type),
      ).toEqual(['sig-empty', 'sig-2', 'tool_use']);
    },
  );

  it.each([
    ['from memory', false],
    ['from the database', true],
  ])('sealed thinking and thinking between words go back to their places, %s', async (_, restarted) => {
    const upstream = await startUpstream();
    closers.push(() => upstream.close());
    const content = [
      { type: 'thinking', thinking: 'first', signature: 's1' },
      { type: 'text', text: 'Let me look.' },
      { type: 'redacted_thinking', data: 'c2VhbGVk' },
      { type: 'thinking', thinking: '', signature: 's2' },
      { type: 'tool_use', id: 'toolu_0123456789', name: 'run', input: { b: 1 } },
    ];
    upstream.reply({
      status: 200,
      body: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content,
        stop_reason: 'tool_use',
        usage: {},
      },
    });
    const engine = await startEngine({
      llm: { provider: 'custom', wire: 'anthropic', api_base: upstream.url, api_key: 'k', model_id: 'm' },
    });
    closers.push(() => engine.close());
    const client = anthropicClient(true, { thinking: { type: 'adaptive' } });
    const send = async () => ask(Number(new URL(engine.openai).port), client);
    const answer = await send();
    // This client forgets every kind of thinking.
    const kept = (answer.content as Json[]).filter((block) => !/thinking/.test(String(block.type)));
    client.take({ ...answer, content: kept });
    if (restarted) await engine.restart();
    await send();
    expect(upstream.last.json.messages[1].content).toEqual(content);
  });
});
