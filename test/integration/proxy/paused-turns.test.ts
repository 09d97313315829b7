import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import type { ScriptedReply } from '../../support/upstream.ts';

const PAUSE = 'pause_turn';

function paused(text: string, usage = { input: 10, output: 3 }): ScriptedReply {
  return { text, stop: PAUSE, usage };
}

interface Told {
  status: number;
  text: string;
  error: string | null;
  /** How often the answer was said to be over. */
  ends: number;
  usage: { input: number; output: number } | null;
  raw: string;
}

function events(raw: string): Record<string, never>[] {
  return raw
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));
}

async function askChat(lab: ProxyLab, stream: boolean): Promise<Told> {
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
  };
  const answer = await post(lab, '/v1/chat/completions', body);
  const raw = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: chunks and whole answers of one wire
  const chunks: any[] = stream ? events(raw) : [JSON.parse(raw)];
  const choices = chunks.flatMap((chunk) => chunk.choices ?? []);
  const usage = chunks.find((chunk) => chunk.usage)?.usage;
  return {
    status: answer.status,
    text: choices.map((choice) => (choice.delta ?? choice.message)?.content ?? '').join(''),
    error: chunks.find((chunk) => chunk.error)?.error.message ?? null,
    ends: choices.filter((choice) => choice.finish_reason === 'stop').length,
    usage: usage ? { input: usage.prompt_tokens, output: usage.completion_tokens } : null,
    raw,
  };
}

async function askResponses(lab: ProxyLab, stream: boolean): Promise<Told> {
  const answer = await post(lab, '/v1/responses', { model: 'm', input: 'hi', stream });
  const raw = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: events and whole answers of one wire
  const all: any[] = stream ? events(raw) : [{ type: 'response.completed', response: JSON.parse(raw) }];
  const last = all.filter((event) => event.type === 'response.completed' && event.response.output);
  const failed = all.find((event) => event.type === 'response.failed' || event.type === 'error');
  const whole = last[0]?.response;
  return {
    status: answer.status,
    text: (whole?.output ?? [])
      // biome-ignore lint/suspicious/noExplicitAny: as above
      .flatMap((item: any) => item.content ?? [])
      // biome-ignore lint/suspicious/noExplicitAny: as above
      .map((part: any) => part.text)
      .join(''),
    error: failed?.response?.error?.message ?? failed?.message ?? all[0]?.response?.error?.message ?? null,
    ends: last.length,
    usage: whole?.usage ? { input: whole.usage.input_tokens, output: whole.usage.output_tokens } : null,
    raw,
  };
}

function post(lab: ProxyLab, path: string, body: unknown): Promise<Response> {
  return fetch(`${lab.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const CLIENTS = { openai: askChat, responses: askResponses };

describe.each(
  (['openai', 'responses'] as const).flatMap((client) => [true, false].map((stream) => ({ client, stream }))),
)('a paused turn of an Anthropic upstream, $client client, stream $stream', ({ client, stream }) => {
  let lab: ProxyLab;
  beforeAll(async () => {
    lab = await startProxyLab({ wire: 'anthropic' });
  });
  afterEach(() => {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  });
  afterAll(() => lab.close());
  const ask = () => CLIENTS[client](lab, stream);

  it('is gone on with, up to three times, and told as one answer with one end and the counts of all', async () => {
    lab.upstream.reply(paused('One, '), paused('two, '), paused('three, '), {
      text: 'four.',
      usage: { input: 20, output: 4 },
    });
    const told = await ask();
    expect(told).toMatchObject({
      status: 200,
      text: 'One, two, three, four.',
      error: null,
      ends: 1,
      usage: { input: 50, output: 13 },
    });
    const [first, ...more] = lab.upstream.chats.map((request) => request.json);
    expect(more.map(({ messages, ...rest }) => ({ ...rest, rest: messages.slice(0, -1) }))).toEqual(
      more.map(() => {
        const { messages, ...rest } = first;
        return { ...rest, rest: messages };
      }),
    );
    expect(more.map(({ messages }) => messages.at(-1).role)).toEqual(more.map(() => 'assistant'));
    const texts = more.map(({ messages }) =>
      messages
        .at(-1)
        .content.map(({ text }: { text: string }) => text)
        .join(''),
    );
    expect(texts).toEqual(['One, ', 'One, two, ', 'One, two, three, ']);
    const turn = lab.database.get<{ status: string; usage: string }>(
      'SELECT status, usage FROM turns ORDER BY rowid DESC LIMIT 1',
    );
    expect(turn).toMatchObject({ status: 'answered' });
    expect(String(turn?.usage)).toContain('"outputTokens":13');
  });

  it('that stays paused is an error, never an end', async () => {
    lab.upstream.script(() => paused('again '));
    const told = await ask();
    expect(lab.upstream.chats).toHaveLength(4);
    expect(told.ends).toBe(0);
    expect(told.error).toContain('paused its turn');
    expect(told.status).toBe(stream ? 200 : 502);
  });

  it('that the provider does not go on with is an error', async () => {
    lab.upstream.reply(paused('One, '), {
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message: 'no prefill here' } },
    });
    const told = await ask();
    expect(told.ends).toBe(0);
    expect(told.error).toContain('paused its turn');
    expect(told.error).toContain('no prefill here');
    expect(told.raw).not.toContain('[DONE]');
  });

  it('words about pauses are words', async () => {
    lab.upstream.reply('Anthropic says "pause_turn".');
    expect(await ask()).toMatchObject({ text: 'Anthropic says "pause_turn".', ends: 1 });
    expect(lab.upstream.chats).toHaveLength(1);
  });
});

describe('a paused turn of an Anthropic client', () => {
  it('is the client’s own to go on with: its bytes pass as they are', async () => {
    const lab = await startProxyLab({ wire: 'anthropic', model: 'm' });
    try {
      lab.upstream.reply(paused('One, '));
      const answer = await post(lab, '/v1/messages', {
        model: 'm',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'hi' }],
      });
      expect(await answer.json()).toMatchObject({ stop_reason: PAUSE });
      expect(lab.upstream.chats).toHaveLength(1);
    } finally {
      await lab.close();
    }
  });
});
