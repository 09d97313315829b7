import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hear } from '../../support/hear.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest, slowClient } from '../../support/raw.ts';
import type { ScriptedReply } from '../../support/upstream.ts';
import { anthropicEvents, frame, openaiEvents } from '../../support/upstream-reply.ts';

type Wire = 'openai' | 'anthropic';
const labs = {} as Record<Wire, ProxyLab>;

beforeAll(async () => {
  for (const wire of ['openai', 'anthropic'] as const) labs[wire] = await startProxyLab({ wire });
});
afterEach(() => {
  for (const lab of Object.values(labs)) {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  }
});
afterAll(async () => {
  for (const lab of Object.values(labs)) await lab.close();
});

const PATH = { openai: '/v1/chat/completions', anthropic: '/v1/messages' } as const;

function ask(client: Wire, stream = true, model = 'served', extra: object = {}): Buffer {
  const body = { model, max_tokens: 100, stream, messages: [{ role: 'user', content: 'tell me' }], ...extra };
  return post(
    PATH[client],
    JSON.stringify(body),
    client === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {},
  );
}

function streamText(wire: Wire, reply: ScriptedReply, model = 'served', usage = false): string {
  const events = wire === 'openai' ? openaiEvents(reply, model, usage) : anthropicEvents(reply, model);
  return events.map((event, n) => frame(event, reply.wire ?? {}, n)).join('') + (reply.wire?.trailer ?? '');
}

describe.each(['openai', 'anthropic'] as const)('%s, same dialect', (wire) => {
  it('relays the very bytes: comments, line endings, unknown events and fields, trailer', async () => {
    const reply: ScriptedReply = {
      reasoning: 'hm',
      text: 'Hello there',
      extra: { vendor_field: { a: 1e3 } },
      extraEvents: [{ event: 'vendor_event', data: '{"type":"vendor_event","x":[1,2]}' }],
      wire: { eol: '\r\n', comments: true, terse: true, cut: 11, trailer: ': bye\r\n\r\n' },
    };
    labs[wire].upstream.reply(reply);
    const answer = await rawRequest(labs[wire].port, ask(wire));
    expect(answer.body).toBe(streamText(wire, reply));
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(answer.headers['content-encoding']).toBeUndefined();
  });

  it('H16: exchanges the model name alone when the client asked under another', async () => {
    const reply: ScriptedReply = { text: 'Hello', extra: { system_fingerprint: 'model' } };
    labs[wire].upstream.reply(reply);
    const answer = await rawRequest(labs[wire].port, ask(wire, true, 'other'));
    expect(answer.body).toBe(streamText(wire, reply, 'other'));
    expect(answer.headers['x-metaclaw-model']).toBe('served');
    labs[wire].upstream.reply({ text: 'Hello', extra: { odd: 12345678901234567890n.toString() } });
    const whole = await rawRequest(labs[wire].port, ask(wire, false, 'other'));
    expect(JSON.parse(whole.body)).toMatchObject({ model: 'other', odd: '12345678901234567890' });
  });

  it('does not let a stream pass for finished that broke off (S42, S43)', async () => {
    for (const ending of ['close', 'reset'] as const) {
      labs[wire].upstream.reply({ text: 'one two three four', wire: { after: 5, ending } });
      const { body } = await rawRequest(labs[wire].port, ask(wire));
      const last = body.trim().split('\n\n').at(-1) ?? '';
      if (wire === 'anthropic')
        expect(last).toMatch(
          /^event: error\ndata: \{"type":"error","error":\{"type":"api_error","message":"/,
        );
      else expect(last).toMatch(/^data: \{"error":\{"message":".+","type":"api_error","code":null\}\}$/);
      expect(body).not.toContain('[DONE]');
      expect(body).not.toContain('message_stop');
      expect(body).not.toMatch(/"finish_reason":"stop"/);
      expect(labs[wire].sessions.list({ limit: 1 }).turns[0]?.status).toBe('failed');
    }
  });

  it('drops a half event of a broken stream, so that the error can be read', async () => {
    const text = streamText(wire, { text: 'abcdefghij' });
    labs[wire].upstream.reply((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(text.slice(0, Math.floor(text.length / 2)));
      setTimeout(() => response.socket?.resetAndDestroy(), 30);
    });
    const { body } = await rawRequest(labs[wire].port, ask(wire));
    for (const event of body.trim().split('\n\n')) {
      const data = event.split('\n').find((line) => line.startsWith('data: '));
      expect(() => JSON.parse(data?.slice(6) ?? '')).not.toThrow();
    }
    expect(body).toContain('"error"');
  });

  it('passes an in-band error of the provider on once', async () => {
    labs[wire].upstream.reply({
      text: 'one two',
      wire: { after: 3, ending: 'error', error: { type: 'overloaded_error', message: 'busy' } },
    });
    const { body } = await rawRequest(labs[wire].port, ask(wire));
    expect(body.match(/"message":"busy"/g)).toHaveLength(1);
    expect(body.match(/"error"/g)?.length).toBe(wire === 'anthropic' ? 2 : 1);
    expect(labs[wire].sessions.list({ limit: 1 }).turns[0]).toMatchObject({ status: 'failed' });
  });

  it('accepts an end without its mark after a finish reason (S33)', async () => {
    labs[wire].upstream.reply({ text: 'done', wire: { noEnd: true } });
    const { body } = await rawRequest(labs[wire].port, ask(wire));
    if (wire === 'openai') {
      expect(body).not.toContain('"error"');
      expect(labs[wire].sessions.list({ limit: 1 }).turns[0]?.status).toBe('answered');
    }
  });

  it('keeps a silent stream alive, between whole events only, and stops doing so (S46)', async () => {
    const lab = await startProxyLab({ wire, deps: { heartbeatMs: 200 } });
    lab.upstream.reply((_request, response) => {
      const text = streamText(wire, { text: 'slow words here' });
      const half = Math.floor(text.length / 2);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(text.slice(0, half));
      setTimeout(() => response.end(text.slice(half)), 700);
    });
    const { body } = await rawRequest(lab.port, ask(wire));
    const beat = wire === 'anthropic' ? 'event: ping\ndata: {"type":"ping"}\n\n' : ': keep-alive\n\n';
    expect(body.split(beat).length - 1).toBeGreaterThanOrEqual(2);
    expect(body.replaceAll(beat, '')).toBe(streamText(wire, { text: 'slow words here' }));
    expect(body.endsWith(beat)).toBe(false);
    await lab.close();
  });

  it('S40: hands each event on while the next is not there yet', async () => {
    labs[wire].upstream.reply({ text: 'a b c d e f g h', chunk: 2, wire: { delayMs: 20 } });
    const response = await fetch(`${labs[wire].url}${PATH[wire]}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '1' },
      body: JSON.stringify({
        model: 'served',
        max_tokens: 9,
        stream: true,
        messages: [{ role: 'user', content: 'x' }],
      }),
    });
    const reader = response.body?.getReader();
    await reader?.read();
    expect(labs[wire].upstream.last.state).toBe('open');
    await reader?.cancel();
    await labs[wire].upstream.until((upstream) => upstream.last.state === 'caller-left', 1000);
  });

  it('records the turn before the last bytes of the answer go out', async () => {
    const { upstream, sessions, port } = labs[wire];
    upstream.reply((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(streamText(wire, { text: 'The answer.' }));
      // The connection stays open: the end mark alone must have committed the record.
    });
    const socket = slowClient(port, ask(wire));
    let heard = '';
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        heard += chunk.toString();
        if (/\[DONE\]|"message_stop"/.test(heard)) resolve();
      });
      socket.resume();
    });
    const turn = sessions.list({ limit: 1 }).turns[0];
    expect(turn).toMatchObject({ status: 'answered', httpStatus: 200 });
    expect(sessions.get(turn?.id ?? '').replyText).toBe('The answer.');
    socket.destroy();
    await upstream.until((scripted) => scripted.last.state === 'caller-left', 1000);
    expect(sessions.list({ limit: 1 }).turns[0]?.status).toBe('answered');
  });

  it('answers a stream although the provider answered whole, and the other way round', async () => {
    const reply: ScriptedReply = { text: 'Hi', tools: [{ id: 'a', name: 'f', arguments: '{"x":1}' }] };
    labs[wire].upstream.reply({ ...reply, wire: { form: 'json' } });
    const heard = await hear(labs[wire].url, wire);
    expect(heard).toMatchObject({ text: 'Hi', calls: ['{"x":1}'], starts: 1, ends: 1 });
    labs[wire].upstream.reply({ ...reply, wire: { form: 'stream' } });
    const { body, headers } = await rawRequest(labs[wire].port, ask(wire, false));
    expect(headers['content-type']).toBe('application/json');
    expect(body).toContain(wire === 'openai' ? '"finish_reason":"tool_calls"' : '"stop_reason":"tool_use"');
  });

  it.each(['text/plain', 'application/json', 'application/octet-stream'])(
    'knows a stream sent as %s',
    async (contentType) => {
      labs[wire].upstream.reply({ text: 'Hi', wire: { contentType } });
      const answer = await rawRequest(labs[wire].port, ask(wire));
      expect(answer.headers['content-type']).toMatch(/^text\/event-stream/);
      expect(answer.body).toBe(streamText(wire, { text: 'Hi' }));
    },
  );

  it('H01: undoes a compression that nobody asked for, on streams, answers and errors', async () => {
    labs[wire].upstream.reply(
      { text: 'Hi', wire: { gzip: true } },
      { text: 'Hi', wire: { gzip: true } },
      { status: 500, body: { error: { message: 'broken', type: 'x' }, type: 'error' }, wire: { gzip: true } },
    );
    expect((await rawRequest(labs[wire].port, ask(wire))).body).toBe(streamText(wire, { text: 'Hi' }));
    const whole = await rawRequest(labs[wire].port, ask(wire, false));
    expect(whole.headers['content-encoding']).toBeUndefined();
    expect(whole.body).toContain('Hi');
    const failed = await rawRequest(labs[wire].port, ask(wire));
    expect(failed).toMatchObject({ status: 500 });
    expect(failed.headers['content-encoding']).toBeUndefined();
    expect(failed.body).toContain('broken');
  });

  it('lets a slow client slow the provider down instead of filling memory', async () => {
    const total = 64 * 1024 * 1024;
    labs[wire].upstream.reply(async (_request, response) => {
      response.setMaxListeners(0);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = `data: ${JSON.stringify({ pad: 'x'.repeat(16 * 1024) })}\n\n`;
      for (let sent = 0; sent < total && !response.destroyed; sent += event.length)
        if (!response.write(event))
          await new Promise<void>((resolve) => response.once('drain', resolve).once('close', resolve));
      response.end();
    });
    const socket = slowClient(labs[wire].port, ask(wire));
    await labs[wire].upstream.until((upstream) => (upstream.requests[0]?.bytesWritten ?? 0) > 0);
    let before = -1;
    // The provider's side comes to rest once every buffer on the way is full.
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      const now = labs[wire].upstream.last.bytesWritten;
      if (now === before) break;
      before = now;
    }
    expect(before).toBeLessThan(total / 4);
    socket.destroy();
    await labs[wire].upstream.until((upstream) => upstream.last.state === 'caller-left', 1000);
  });
});

describe('across dialects', () => {
  it.each([
    ['openai', 'anthropic'],
    ['anthropic', 'openai'],
  ] as const)(
    '%s client, %s upstream: a broken stream ends in an error of the client’s shape',
    async (client, wire) => {
      labs[wire].upstream.reply({ text: 'one two three four', wire: { after: 4, ending: 'reset' } });
      const { body } = await rawRequest(labs[wire].port, ask(client));
      if (client === 'anthropic') expect(body).toMatch(/event: error\ndata: \{"type":"error"[^\n]+\n\n$/);
      else expect(body).toMatch(/data: \{"error":\{[^\n]+\n\n$/);
      expect(body).not.toMatch(/\[DONE\]|message_stop/);
    },
  );

  it('S20: an OpenAI client that asked for no usage gets no usage chunk, and the record has it', async () => {
    labs.anthropic.upstream.reply({ text: 'Hi', usage: { input: 50, output: 5, cacheRead: 40 } });
    const { body } = await rawRequest(labs.anthropic.port, ask('openai'));
    expect(body).not.toContain('"choices":[]');
    expect(body).toMatch(/data: \[DONE\]\n\n$/);
    expect(labs.anthropic.sessions.list({ limit: 1 }).turns[0]?.usage).toMatchObject({
      inputTokens: 10,
      cacheReadTokens: 40,
      outputTokens: 5,
      estimated: false,
    });
  });

  it('names what could not be translated', async () => {
    labs.anthropic.upstream.reply('ok');
    const answer = await rawRequest(
      labs.anthropic.port,
      ask('openai', false, 'served', { presence_penalty: 1, logprobs: true }),
    );
    expect(answer.headers['x-metaclaw-dropped']).toContain('presence_penalty');
    const refused = await rawRequest(labs.anthropic.port, ask('openai', false, 'served', { n: 2 }));
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.body).error).toMatchObject({ param: 'n', type: 'invalid_request_error' });
  });
});
