import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, BEAT, PAIRS, WIRES, type Wire } from '../../support/ask.ts';
import { hear } from '../../support/hear.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { rawRequest } from '../../support/raw.ts';
import { errorReply, type ScriptedReply } from '../../support/upstream.ts';
import {
  anthropicEvents,
  anthropicWhole,
  frame,
  openaiEvents,
  openaiWhole,
} from '../../support/upstream-reply.ts';
import { responsesEvents, responsesWhole } from '../../support/upstream-responses.ts';

const labs = {} as Record<Wire, ProxyLab>;
/** With signs of life after a moment; elsewhere they would come when the machine is slow. */
const beating = {} as Record<Wire, ProxyLab>;
beforeAll(async () => {
  for (const wire of WIRES) {
    labs[wire] = await startProxyLab({ wire });
    beating[wire] = await startProxyLab({ wire, deps: { heartbeatMs: 80 } });
  }
});
afterEach(() => {
  for (const lab of [...Object.values(labs), ...Object.values(beating)]) {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  }
});
afterAll(async () => {
  for (const lab of [...Object.values(labs), ...Object.values(beating)]) await lab.close();
});

const EVENTS = {
  openai: (reply: ScriptedReply) => openaiEvents(reply, 'served', false),
  anthropic: (reply: ScriptedReply) => anthropicEvents(reply, 'served'),
  responses: (reply: ScriptedReply) => responsesEvents(reply, 'served', {}),
};
const WHOLE = { openai: openaiWhole, anthropic: anthropicWhole, responses: responsesWhole };

function streamText(wire: Wire, reply: ScriptedReply): string {
  return EVENTS[wire](reply)
    .map((event, n) => frame(event, reply.wire ?? {}, n))
    .join('');
}

/** The upstream writes these bytes as an event stream, and then does what `then` says. */
function writes(
  wire: Wire,
  bytes: string | Buffer,
  then: (response: ServerResponse) => void = (r) => r.end(),
): void {
  labs[wire].upstream.reply((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(bytes);
    setTimeout(() => then(response), 20);
  });
}

const TEXT = {
  openai: /"content":"([^"]*)"/g,
  anthropic: /"text_delta","text":"([^"]*)"/g,
  responses: /output_text\.delta".*?"delta":"([^"]*)"/g,
};
const textIn = (client: Wire, body: string) =>
  [...body.matchAll(TEXT[client])].map((match) => match[1]).join('');
const ENDS = {
  openai: /data: \[DONE\]\n\n/g,
  anthropic: /event: message_stop\n/g,
  responses: /event: response\.(?:completed|incomplete)\n/g,
};
const ends = (client: Wire, body: string) => body.match(ENDS[client])?.length ?? 0;
const FAILED = {
  openai: /^data: \{"error":\{"message":.+,"type":"(\w+)","code":.+\}\}$/,
  anthropic: /^event: error\ndata: \{"type":"error","error":\{"type":"(\w+)","message":/,
  responses: /^event: (error|response\.failed)\ndata: /,
};
const lastTurn = (wire: Wire, from = labs) => from[wire].sessions.list({ limit: 1 }).turns[0];

/** Every event can be read, and the last one tells of a failure; nothing looks like an end. */
function expectFailure(client: Wire, body: string): void {
  const events = body.trimEnd().split('\n\n');
  expect(events.at(-1)).toMatch(FAILED[client]);
  expect(ends(client, body)).toBe(0);
  expect(events.filter((event) => FAILED[client].test(event))).toHaveLength(
    client === 'responses' && events.length > 1 && /response\.failed/.test(events.at(-1) ?? '') ? 2 : 1,
  );
  for (const event of events)
    for (const line of event.split('\n'))
      if (line.startsWith('data: ')) expect(() => JSON.parse(line.slice(6))).not.toThrow();
}

describe.each(PAIRS)('%s client, %s upstream', (client, wire) => {
  const send = (stream = true, extra = {}) => rawRequest(labs[wire].port, ask(client, stream, extra));

  const sendBeating = (stream = true) => rawRequest(beating[wire].port, ask(client, stream));

  it('S46: hears signs of life before the provider’s head comes, and then the whole answer', async () => {
    beating[wire].upstream.reply({ text: 'At last.', wire: { headersDelayMs: 300, bom: true } });
    const answer = await sendBeating();
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^text\/event-stream/);
    expect(answer.headers['x-metaclaw-upstream']).toBe('custom');
    expect(answer.body.startsWith(BEAT[client].repeat(2))).toBe(true);
    expect(textIn(client, answer.body)).toBe('At last.');
    // Behind other bytes a byte order mark would hide the first event.
    expect(answer.body).not.toContain('\uFEFF');
    expect(ends(client, answer.body)).toBe(1);
  });

  it.each([
    [
      'a refusal',
      (response: ServerResponse) =>
        response
          .writeHead(429, { 'content-type': 'application/json' })
          .end('{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'),
    ],
    ['a reset', (response: ServerResponse) => response.socket?.resetAndDestroy()],
    [
      'a page',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html><title>Sign in</title></html>'),
    ],
  ])('S46: after signs of life %s is told in-band', async (_, then) => {
    beating[wire].upstream.reply((_request, response) => setTimeout(() => then(response), 200));
    const answer = await sendBeating();
    expect(answer.status).toBe(200);
    expectFailure(client, answer.body.replaceAll(BEAT[client], ''));
    expect(lastTurn(wire, beating)?.status).toBe('failed');
  });

  it('S46: the official SDK hears the answer behind signs of life, and an error as one', async () => {
    beating[wire].upstream.reply({ text: 'At last.', wire: { headersDelayMs: 200 } });
    const heard = await hear(beating[wire].url, client);
    expect(heard).toMatchObject({ text: 'At last.', starts: 1, ends: 1 });
    beating[wire].upstream.reply({
      ...errorReply(500, wire === 'anthropic', 'api_error', 'it broke'),
      wire: { headersDelayMs: 200 },
    });
    await expect(hear(beating[wire].url, client)).rejects.toThrow(/it broke/);
  });

  it('S46: a whole answer that takes its time is told as a stream; one that was wanted whole gets no sign', async () => {
    beating[wire].upstream.reply({ text: 'Slow.', wire: { headersDelayMs: 200, form: 'json' } });
    const { body } = await sendBeating();
    expect(body.startsWith(BEAT[client])).toBe(true);
    expect(textIn(client, body)).toBe('Slow.');
    expect(ends(client, body)).toBe(1);
    beating[wire].upstream.reply({ text: 'Slow.', wire: { headersDelayMs: 200 } });
    expect((await sendBeating(false)).body).toMatch(/^\{.*Slow\..*\}$/s);
  });

  it.each(['resetAndDestroy', 'destroy'] as const)(
    'an answer that was complete stays so, whatever the connection does (%s)',
    async (how) => {
      for (const noEnd of wire === 'responses' ? [false] : [false, true]) {
        writes(wire, streamText(wire, { text: 'Done.', wire: { noEnd } }), (response) =>
          response.socket?.[how](),
        );
        const { body } = await send();
        expect(textIn(client, body)).toBe('Done.');
        expect(body).not.toMatch(/"error":\s*[{"]/);
        if (!noEnd || client !== wire) expect(ends(client, body)).toBe(1);
        expect(lastTurn(wire)?.status).toBe('answered');
      }
    },
  );

  it('closes behind the last event, or an error, when the provider does not', async () => {
    writes(wire, streamText(wire, { text: 'Done.' }), () => {});
    const { body } = await send();
    expect(ends(client, body)).toBe(1);
    expect(body).not.toContain(BEAT[client]);
    await labs[wire].upstream.until((upstream) => upstream.last.state === 'caller-left', 3000);
    const error =
      wire === 'openai'
        ? 'data: {"error":{"message":"busy","type":"overloaded_error"}}\n\n'
        : 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n';
    writes(
      wire,
      EVENTS[wire]({ text: 'one two' })
        .slice(0, 3)
        .map((event, n) => frame(event, {}, n))
        .join('') + error,
      () => {},
    );
    const failed = await send();
    expect(failed.body.match(/"busy"/g)?.length).toBeGreaterThan(0);
    expect(ends(client, failed.body)).toBe(0);
    expect(failed.body).not.toContain(BEAT[client]);
    await labs[wire].upstream.until((upstream) => upstream.last.state === 'caller-left', 3000);
    expect(lastTurn(wire)?.status).toBe('failed');
  });

  it('reads a body that only calls itself an event stream', async () => {
    writes(wire, ` \n${JSON.stringify(WHOLE[wire]({ text: 'Whole.' }, 'served'), null, 1)}`);
    const whole = await send();
    expect(textIn(client, whole.body)).toBe('Whole.');
    expect(ends(client, whole.body)).toBe(1);
    for (const [bytes, words] of [
      ['{"error":{"message":"no credit","type":"billing_error"}}', 'no credit'],
      ['<html><title>Sign in</title></html>', 'Sign in'],
      ['{"choices"', 'choices'],
    ] as const) {
      writes(wire, bytes);
      const { body } = await send();
      expectFailure(client, body);
      expect(body).toContain(words);
      expect(lastTurn(wire)?.status).toBe('failed');
    }
    writes(wire, '');
    expectFailure(client, (await send()).body);
  });

  it('knows an event stream of another type though its first packet is one letter', async () => {
    labs[wire].upstream.reply({ text: 'Hi', wire: { contentType: 'text/plain', cut: 1, eol: '\r' } });
    const { body } = await send();
    expect(textIn(client, body)).toBe('Hi');
    expect(ends(client, body.replaceAll('\r', '\n'))).toBe(1);
  });

  it('S40: an event goes out when its blank line came, also when lines end in CR alone', async () => {
    for (const eol of ['\r', '\r\n', '\n'] as const) {
      let show = () => {};
      const shown = new Promise<void>((resolve) => {
        show = resolve;
      });
      const frames = EVENTS[wire]({ text: 'abc', chunk: 0 }).map((event, n) => frame(event, { eol }, n));
      const at = frames.findIndex((text) => /"(?:content|text|delta)":"abc"/.test(text)) + 1;
      writes(wire, frames.slice(0, at).join(''), (response) =>
        shown.then(() => response.end(frames.slice(at).join(''))),
      );
      const response = await fetch(
        `${labs[wire].url}/v1/${{ openai: 'chat/completions', anthropic: 'messages', responses: 'responses' }[client]}`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
          body: ask(client).toString().split('\r\n\r\n')[1] ?? '',
        },
      );
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let heard = '';
      while (!heard.includes('abc')) heard += (await reader?.read())?.value ?? '';
      show();
      await reader?.cancel();
    }
  });

  it('a whole answer that breaks off is a 502 in shape', async () => {
    const json = JSON.stringify(WHOLE[wire]({ text: 'long words' }, 'served'));
    const zip = gzipSync(json);
    for (const [headers, bytes] of [
      [{ 'content-length': '9999' }, json],
      [{ 'content-encoding': 'gzip' }, zip.subarray(0, zip.length / 2)],
      [{ 'content-encoding': 'gzip' }, Buffer.from('no gzip at all')],
      [{}, json.slice(0, 40)],
      [{ 'content-length': '0' }, ''],
    ] as const) {
      labs[wire].upstream.reply((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', ...headers });
        if (bytes.length === 0) response.end();
        else {
          response.write(bytes);
          setTimeout(() => response.socket?.destroy(), 30);
        }
      });
      const answer = await send(false);
      expect(answer.status).toBe(502);
      expect(JSON.parse(answer.body).error).toMatchObject({ type: 'api_error' });
      expect(lastTurn(wire)?.status).toBe('failed');
    }
  });

  it('a compressed stream that is cut is an error in-band', async () => {
    const zip = gzipSync(streamText(wire, { text: 'long words that are cut' }));
    labs[wire].upstream.reply((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      response.end(zip.subarray(0, zip.length / 2));
    });
    expectFailure(client, (await send()).body);
  });

  it('passes an event of four megabytes on', async () => {
    const text = 'x'.repeat(4_000_000);
    labs[wire].upstream.reply({ text, chunk: 0, usage: null });
    const { body } = await send();
    expect(textIn(client, body)).toHaveLength(text.length);
    expect(ends(client, body)).toBe(1);
  });
});

describe.each(PAIRS)('%s client, %s upstream: an answer without measure', (client, wire) => {
  // It was put together and recorded whole: the proxy stood still for as long as that took.
  it('is passed on whole, and the record keeps a part', async () => {
    const text = 'x'.repeat(64 * 1024);
    const parts = Array.from({ length: 400 }, () => ({ type: 'text' as const, text }));
    labs[wire].upstream.reply({ parts: wire === 'openai' ? parts : parts.slice(0, 300), chunk: 0 });
    const { body } = await rawRequest(labs[wire].port, ask(client));
    expect(ends(client, body)).toBe(1);
    expect(body.length).toBeGreaterThan(300 * text.length);
    const turn = lastTurn(wire);
    expect(turn?.status).toBe('answered');
    expect(labs[wire].sessions.get(turn?.id ?? '').replyText.length).toBeLessThan(17 * 1024 * 1024);
  });
});

describe.each(WIRES)('%s: an answer without measure, a sentence at a time', (wire) => {
  // No event was large, so none was counted: the proxy held the whole of a 200 MB answer, several times over.
  it('is passed on whole, and the record keeps a part', async () => {
    const text = 'x'.repeat(24 * 1024 * 1024);
    labs[wire].upstream.reply({ text, chunk: 900 });
    const { body } = await rawRequest(labs[wire].port, ask(wire));
    expect(ends(wire, body)).toBe(1);
    expect(body.length).toBeGreaterThan(text.length);
    const turn = lastTurn(wire);
    expect(turn?.status).toBe('answered');
    expect(labs[wire].sessions.get(turn?.id ?? '').replyText.length).toBeLessThan(
      wire === 'responses' ? 24 * 1024 * 1024 : 17 * 1024 * 1024,
    );
  });
});

describe.each(WIRES)('%s, another name asked for', (wire) => {
  it('exchanges the model’s name alone and leaves every other byte', async () => {
    const pretty = (eol: string) =>
      EVENTS[wire]({ text: 'Grüße 🌍', extra: { vendor: 'model', n: 1e3 } })
        .map(({ event, data }, n) => {
          const lines = data.startsWith('{') ? JSON.stringify(JSON.parse(data), null, 1).split('\n') : [data];
          const name = event ? [`event:${event}`] : [];
          return [
            ': hm',
            `id: ${n}`,
            ...name,
            ...lines.map((line) => `data:${n % 2 ? ' ' : ''}${line}`),
            'retry: 5',
            'odd: line',
            '',
            '',
          ].join(eol);
        })
        .join('');
    for (const eol of ['\n', '\r\n', '\r']) {
      const bytes = `\uFEFF${pretty(eol)}${eol}: bye${eol}${eol}`;
      writes(wire, bytes);
      const { body } = await rawRequest(labs[wire].port, ask(wire, true, { model: 'ünlike "served"' }));
      expect(body).toBe(
        bytes.replaceAll('"model": "served"', `"model": ${JSON.stringify('ünlike "served"')}`),
      );
      expect(body).not.toBe(bytes);
    }
  });
});
