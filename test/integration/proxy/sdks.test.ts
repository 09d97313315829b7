import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import type { ScriptedReply } from '../../support/upstream.ts';

const CALLS: ScriptedReply = {
  text: 'Let me look 🌍.',
  tools: [
    { id: 'call_a', name: 'get_weather', arguments: '{"city":"Zürich","days":[1,2]}' },
    { id: 'call_b', name: 'get_time', arguments: '{"zone":"CET"}' },
  ],
};
const TOOLS = ['get_weather', 'get_time'];

describe.each(['openai', 'anthropic', 'responses'] as const)('through the door to an %s upstream', (wire) => {
  let lab: ProxyLab;
  let openai: OpenAI;
  let anthropic: Anthropic;
  beforeAll(async () => {
    lab = await startProxyLab({ wire, inject: 'ADDED' });
    openai = new OpenAI({ baseURL: `${lab.url}/a/tester/v1`, apiKey: 'any', maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: `${lab.url}/a/tester`, apiKey: 'any', maxRetries: 0 });
  });
  afterEach(() => {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  });
  afterAll(() => lab.close());

  const openaiTools = TOOLS.map((name) => ({
    type: 'function' as const,
    function: { name, parameters: { type: 'object', properties: {} } },
  }));
  const anthropicTools = TOOLS.map((name) => ({
    name,
    input_schema: { type: 'object' as const, properties: {} },
  }));

  it('answers the OpenAI SDK whole: text, parallel calls, usage and the asked model name', async () => {
    lab.upstream.reply({ ...CALLS, usage: { input: 100, output: 20, cacheRead: 60 } });
    const completion = await openai.chat.completions.create({
      model: 'asked-name',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'weather?' }],
      tools: openaiTools,
    });
    const message = completion.choices[0]?.message;
    expect(message?.content).toBe('Let me look 🌍.');
    expect(
      message?.tool_calls?.map((call) => 'function' in call && JSON.parse(call.function.arguments)),
    ).toEqual([{ city: 'Zürich', days: [1, 2] }, { zone: 'CET' }]);
    expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
    expect(completion.usage?.prompt_tokens).toBe(100);
    expect(completion.model).toBe('asked-name');
    expect(lab.upstream.last.json.model).toBe('served');
    expect(JSON.stringify(lab.upstream.last.json)).toContain('ADDED');
  });

  it('streams to the OpenAI SDK: the same, with the usage chunk that it asked for', async () => {
    lab.upstream.reply({
      ...CALLS,
      interleave: true,
      pings: true,
      usage: { input: 100, output: 20, cacheRead: 60 },
    });
    const stream = openai.chat.completions.stream({
      model: 'asked-name',
      messages: [{ role: 'user', content: 'weather?' }],
      tools: openaiTools,
      stream_options: { include_usage: true },
    });
    const completion = await stream.finalChatCompletion();
    const message = completion.choices[0]?.message;
    expect(message?.content).toBe('Let me look 🌍.');
    expect(message?.tool_calls?.map((call) => 'function' in call && call.function.arguments)).toEqual(
      CALLS.tools?.map((tool) => tool.arguments),
    );
    expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
    expect(completion.usage?.prompt_tokens).toBe(100);
    expect(completion.model).toBe('asked-name');
  });

  it('answers the Anthropic SDK whole', async () => {
    lab.upstream.reply(CALLS);
    const message = await anthropic.messages.create({
      model: 'asked-name',
      max_tokens: 50,
      system: 'S',
      messages: [{ role: 'user', content: 'weather?' }],
      tools: anthropicTools,
    });
    expect(
      message.content.map((block) =>
        block.type === 'text' ? block.text : block.type === 'tool_use' && block.input,
      ),
    ).toEqual(['Let me look 🌍.', { city: 'Zürich', days: [1, 2] }, { zone: 'CET' }]);
    expect(message.stop_reason).toBe('tool_use');
    expect(message.model).toBe('asked-name');
    expect(JSON.stringify(lab.upstream.last.json)).toContain('ADDED');
  });

  it('streams to the Anthropic SDK', async () => {
    lab.upstream.reply({ ...CALLS, reasoning: 'thinking', interleave: true, pings: true });
    const stream = anthropic.messages.stream({
      model: 'asked-name',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'weather?' }],
      tools: anthropicTools,
    });
    const message = await stream.finalMessage();
    expect(message.content.map((block) => block.type)).toEqual(['thinking', 'text', 'tool_use', 'tool_use']);
    expect(message.content[2]).toMatchObject({
      name: 'get_weather',
      input: { city: 'Zürich', days: [1, 2] },
    });
    expect(message.stop_reason).toBe('tool_use');
    expect(message.model).toBe('asked-name');
  });

  it('carries a tool loop over both SDKs: results find their calls again', async () => {
    lab.upstream.reply('It is sunny.', 'It is sunny.');
    await openai.chat.completions.create({
      model: 'm',
      messages: [
        { role: 'user', content: 'weather?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_a', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
            { id: 'call_b', type: 'function', function: { name: 'get_time', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_b', content: 'noon' },
        { role: 'tool', tool_call_id: 'call_a', content: 'sun' },
      ],
      tools: openaiTools,
    });
    const answer = await anthropic.messages.create({
      model: 'm',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'weather?' },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'toolu_a', name: 'get_weather', input: {} },
            { type: 'tool_use', id: 'toolu_b', name: 'get_time', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_b', content: 'noon' },
            { type: 'tool_result', tool_use_id: 'toolu_a', content: 'sun' },
          ],
        },
      ],
      tools: anthropicTools,
    });
    expect(answer.content[0]).toMatchObject({ type: 'text', text: 'It is sunny.' });
  });

  it('gives errors the class that each SDK knows, with retry-after', async () => {
    const limited = (anthropicShape: boolean) => ({
      status: 429,
      headers: { 'retry-after': '30', 'x-ratelimit-remaining-requests': '0' },
      body: anthropicShape
        ? { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }
        : { error: { message: 'slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
    });
    lab.upstream.reply(limited(wire === 'anthropic'), limited(wire === 'anthropic'));
    const viaOpenai = await openai.chat.completions
      .create({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
      .catch((error: unknown) => error);
    expect(viaOpenai).toBeInstanceOf(OpenAI.RateLimitError);
    expect((viaOpenai as InstanceType<typeof OpenAI.RateLimitError>).headers?.get('retry-after')).toBe('30');
    expect(String(viaOpenai)).toContain('slow down');
    const viaAnthropic = await anthropic.messages
      .create({ model: 'm', max_tokens: 1000, messages: [{ role: 'user', content: 'x' }] })
      .catch((error: unknown) => error);
    expect(viaAnthropic).toBeInstanceOf(Anthropic.RateLimitError);
    expect((viaAnthropic as InstanceType<typeof Anthropic.RateLimitError>).headers?.get('retry-after')).toBe(
      '30',
    );
    expect(String(viaAnthropic)).toContain('slow down');
  });

  it('cancels the provider when an SDK aborts, before the first token and in the middle', async () => {
    lab.upstream.reply({ text: 'never', wire: { headersDelayMs: 60_000 } });
    const early = new AbortController();
    const pending = openai.chat.completions
      .create(
        { model: 'm', messages: [{ role: 'user', content: 'x' }], stream: true },
        { signal: early.signal },
      )
      .catch(() => 'aborted');
    await lab.upstream.until((upstream) => upstream.requests.length === 1);
    early.abort();
    expect(await pending).toBe('aborted');
    await lab.upstream.until((upstream) => upstream.requests[0]?.state === 'caller-left', 1000);

    lab.upstream.reply({ text: 'word '.repeat(500), wire: { delayMs: 20 } });
    const stream = anthropic.messages.stream({
      model: 'm',
      max_tokens: 900,
      messages: [{ role: 'user', content: 'x' }],
    });
    stream.on('text', () => stream.abort());
    await stream.finalMessage().catch(() => {});
    await lab.upstream.until((upstream) => upstream.requests[1]?.state === 'caller-left', 1000);
    const { turns } = lab.sessions.list({ limit: 2 });
    expect(turns.map((turn) => turn.status)).toEqual(['aborted', 'aborted']);
  });
});
