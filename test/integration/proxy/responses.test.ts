import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import type { ScriptedReply } from '../../support/upstream.ts';

const CALLS: ScriptedReply = {
  reasoning: 'The user wants weather.',
  text: 'Let me look 🌍.',
  tools: [
    { id: 'call_a', name: 'get_weather', arguments: '{"city":"Zürich","days":[1,2]}' },
    { id: 'call_b', name: 'get_time', arguments: '{"zone":"CET"}' },
  ],
  usage: { input: 100, output: 20, cacheRead: 60 },
};
const TOOLS = ['get_weather', 'get_time'].map((name) => ({
  type: 'function' as const,
  name,
  strict: false,
  parameters: { type: 'object', properties: {} },
}));
const WIRES = ['openai', 'anthropic', 'responses'] as const;

function ask(lab: ProxyLab, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${lab.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

function client(lab: ProxyLab): OpenAI {
  return new OpenAI({ baseURL: `${lab.url}/a/tester/v1`, apiKey: 'any', maxRetries: 0 });
}

describe.each(WIRES)('the Responses API through the door to an %s upstream', (wire) => {
  let lab: ProxyLab;
  let openai: OpenAI;
  beforeAll(async () => {
    lab = await startProxyLab({ wire, inject: 'ADDED NOTE' });
    openai = client(lab);
  });
  afterEach(() => {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  });
  afterAll(() => lab.close());

  it('answers the SDK whole: text, reasoning, parallel calls, usage, and what it asked repeated as it said it', async () => {
    lab.upstream.reply(CALLS);
    const response = await openai.responses.create({
      model: 'asked-name',
      instructions: 'Be brief.',
      input: 'weather?',
      tools: TOOLS,
      metadata: { run: '7' },
    });
    expect(response.status).toBe('completed');
    expect(response.output_text).toBe('Let me look 🌍.');
    const calls = response.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    expect(calls.map(({ call_id, name, arguments: args }) => [call_id, name, JSON.parse(args)])).toEqual([
      ['call_a', 'get_weather', { city: 'Zürich', days: [1, 2] }],
      ['call_b', 'get_time', { zone: 'CET' }],
    ]);
    const reasoning = response.output.find((item) => item.type === 'reasoning');
    expect(reasoning?.type === 'reasoning' && reasoning.summary[0]?.text).toBe('The user wants weather.');
    expect(response.usage).toMatchObject({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60 },
      output_tokens: 20,
      total_tokens: 120,
    });
    expect(response.model).toBe('asked-name');
    // The client must not see what was added.
    expect(response.instructions).toBe('Be brief.');
    if (wire !== 'responses') expect(response.metadata).toEqual({ run: '7' });
    const sent = JSON.stringify(lab.upstream.last.json);
    expect(sent).toContain('ADDED NOTE');
    expect(sent).toContain('Be brief.');
    expect(lab.upstream.last.json.model).toBe('served');
  });

  it('streams to the SDK helper, which checks every event’s order, number and item', async () => {
    lab.upstream.reply({ ...CALLS, interleave: true, pings: true });
    const events: ResponseStreamEvent[] = [];
    const stream = openai.responses.stream({
      model: 'asked-name',
      instructions: 'Be brief.',
      input: [{ role: 'user', content: 'weather?' }],
      tools: TOOLS,
    });
    for await (const event of stream) events.push(event as ResponseStreamEvent);
    const response = await stream.finalResponse();
    expect(response.output_text).toBe('Let me look 🌍.');
    expect(response.instructions).toBe('Be brief.');
    expect(response.model).toBe('asked-name');
    expect(
      response.output.flatMap((item) => (item.type === 'function_call' ? [item.arguments] : [])),
    ).toEqual(CALLS.tools?.map((tool) => tool.arguments));
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
    expect(events[0]?.type).toBe('response.created');
    expect(events[1]?.type).toBe('response.in_progress');
    expect(events.at(-1)?.type).toBe('response.completed');
    const types = new Set(events.map((event) => event.type));
    for (const type of [
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
    ] as const)
      expect(types).toContain(type);
    expect(response.usage?.total_tokens).toBe(120);
  });

  it('carries a tool loop to its end, with the history in the items', async () => {
    lab.upstream.reply(CALLS);
    const first = await openai.responses.create({
      model: 'm',
      input: 'weather?',
      tools: TOOLS,
      store: false,
      include: ['reasoning.encrypted_content'],
    });
    lab.upstream.reply({ text: 'Sunny.' });
    const second = await openai.responses.create({
      model: 'm',
      tools: TOOLS,
      store: false,
      input: [
        { role: 'user', content: 'weather?' },
        ...first.output,
        { type: 'function_call_output', call_id: 'call_a', output: 'sun' },
        { type: 'function_call_output', call_id: 'call_b', output: [{ type: 'input_text', text: 'noon' }] },
      ] as OpenAI.Responses.ResponseInput,
    });
    expect(second.output_text).toBe('Sunny.');
    const sent = JSON.stringify(lab.upstream.last.json);
    for (const word of ['weather?', 'Zürich', 'sun', 'noon', 'Let me look']) expect(sent).toContain(word);
  });

  it('recognises the session by what the client keeps sending, and records each turn', async () => {
    lab.upstream.reply('One.', 'Two.');
    const first = await ask(lab, { model: 'm', input: [{ role: 'user', content: 'my first question' }] });
    const one = (await first.json()) as OpenAI.Responses.Response;
    const second = await ask(lab, {
      model: 'm',
      input: [
        { role: 'user', content: 'my first question' },
        ...one.output,
        { role: 'user', content: 'and then' },
      ],
    });
    await second.json();
    expect(second.headers.get('x-metaclaw-session')).toBe(first.headers.get('x-metaclaw-session'));
    const turn = lab.sessions.get(second.headers.get('x-metaclaw-turn') ?? '');
    expect(turn).toMatchObject({ dialect: 'responses', userText: 'and then', replyText: 'Two.', seq: 2 });
  });

  it('says in the client’s shape what the provider refused', async () => {
    lab.upstream.reply({
      status: 429,
      headers: { 'retry-after': '7' },
      body:
        wire === 'anthropic'
          ? { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }
          : { error: { message: 'slow down', type: 'rate_limit_error', param: null, code: null } },
    });
    const error = await openai.responses
      .create({ model: 'm', input: 'x' })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect((error as Error).message).toContain('slow down');
    expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('7');
  });

  it('tells a stream that breaks as an error and as a failed response, never as a clean end', async () => {
    lab.upstream.reply({ text: 'A long answer that will not end.', wire: { after: 6, ending: 'reset' } });
    const answer = await ask(lab, { model: 'm', input: 'x', stream: true });
    const text = await answer.text();
    expect(text).toContain('event: error\n');
    expect(text).toContain('event: response.failed\n');
    expect(text).not.toContain('response.completed');
    lab.upstream.reply({ text: 'A long answer that will not end.', wire: { after: 6, ending: 'error' } });
    const stream = openai.responses.stream({ model: 'm', input: 'x' });
    await expect(stream.finalResponse()).rejects.toThrow(/Overloaded/);
  });

  it('passes an answer that was cut short on as incomplete', async () => {
    const stop = wire === 'openai' ? 'length' : wire === 'anthropic' ? 'max_tokens' : 'max_output_tokens';
    lab.upstream.reply({ text: 'Half of', stop }, { text: 'Half of', stop });
    const stream = openai.responses.stream({ model: 'm', input: 'x', max_output_tokens: 20 });
    const streamed = await stream.finalResponse();
    const whole = await openai.responses.create({ model: 'm', input: 'x', max_output_tokens: 20 });
    for (const response of [streamed, whole]) {
      expect(response.status).toBe('incomplete');
      expect(response.incomplete_details?.reason).toBe('max_output_tokens');
      expect(response.output_text).toBe('Half of');
    }
  });

  it('lets a client that leaves end the provider’s work', async () => {
    lab.upstream.reply({ text: 'word '.repeat(200), wire: { delayMs: 20 } });
    const stream = await openai.responses.create({ model: 'm', input: 'x', stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    await lab.upstream.until((upstream) => upstream.last.state === 'caller-left');
  });

  it('makes a stream of an answer that came whole, and a whole answer of a stream', async () => {
    lab.upstream.reply({ ...CALLS, wire: { form: 'json' } });
    const streamed = await openai.responses.stream({ model: 'm', input: 'x', tools: TOOLS }).finalResponse();
    lab.upstream.reply({ ...CALLS, wire: { form: 'stream' } });
    const whole = await openai.responses.create({ model: 'm', input: 'x', tools: TOOLS });
    for (const response of [streamed, whole]) {
      expect(response.output_text).toBe('Let me look 🌍.');
      expect(response.output.map((item) => item.type)).toEqual([
        'reasoning',
        'message',
        'function_call',
        'function_call',
      ]);
    }
  });

  it('replays the requests of Codex and OpenClaw without a refusal, injected once', async () => {
    for (const name of ['codex', 'responses-default', 'responses-session', 'plug-openai-responses'])
      for (const { url, headers, body } of captured(name)) {
        lab.upstream.reply('Fine.');
        const answer = await fetch(`${lab.url}${url}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        });
        const text = await answer.text();
        expect([name, answer.status, text.slice(0, 200)]).toEqual([name, 200, text.slice(0, 200)]);
        expect(text).toContain('event: response.completed');
        const sent = JSON.stringify(lab.upstream.last.json);
        expect(sent.split('ADDED NOTE')).toHaveLength(2);
        if (wire !== 'responses' && name === 'codex') {
          expect(answer.headers.get('x-metaclaw-dropped')).toContain('tools.web_search');
          expect(sent).toContain('multi_agent_v1__spawn_agent');
        }
      }
  });
});

interface Captured {
  url: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

function captured(name: string): Captured[] {
  const file = new URL(`../../fixtures/clients/${name}.json`, import.meta.url);
  const { requests } = JSON.parse(readFileSync(file, 'utf8')) as {
    requests: { method: string; url: string; headers: [string, string][]; body: Record<string, unknown> }[];
  };
  return requests
    .filter((request) => request.url.endsWith('/responses'))
    .map(({ url, headers, body }) => ({
      url,
      body,
      headers: Object.fromEntries(
        headers.filter(
          ([key, value]) =>
            !/^(?:host|connection|content-length|accept-encoding)$/.test(key) && /^[ -~]*$/.test(value),
        ),
      ),
    }));
}
