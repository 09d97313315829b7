import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../support/ask.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { rawRequest } from '../../support/raw.ts';

/** A provider that answers every request with the very bytes of the test, and closes when told to. */
let answer: (socket: Socket) => void = () => {};
let server: Server;
let lab: ProxyLab;
beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => {});
    let got = '';
    socket.on('data', (bytes: Buffer) => {
      got += bytes.toString('latin1');
      const [head = '', body] = got.split('\r\n\r\n');
      if (body === undefined || body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)) return;
      got = '';
      answer(socket);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  lab = await startProxyLab({
    config: {
      llm: { provider: 'custom', wire: 'openai', api_base: `http://127.0.0.1:${port}`, model_id: 'served' },
      proxy: { port: 0 },
    },
  });
});
afterAll(async () => {
  expect(lab.errors).toEqual([]);
  await lab.close();
  server.close();
});

const EVENT = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
const SSE = `${EVENT}data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
const head = (...lines: string[]) =>
  `${['HTTP/1.1 200 OK', 'content-type: text/event-stream', ...lines].join('\r\n')}\r\n\r\n`;
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

describe('HTTP as providers and gateways write it', () => {
  it.each([
    [
      'an early hint first',
      `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${head(`content-length: ${SSE.length}`)}${SSE}`,
    ],
    ['trailers', `${head('transfer-encoding: chunked')}${chunk(SSE)}0\r\nx-trailer: 1\r\n\r\n`],
    ['no length', `${head()}${SSE}`],
    ['HTTP/1.0', `${head().replace('HTTP/1.1', 'HTTP/1.0')}${SSE}`],
    ['a header in Latin-1', `${head('x-odd: caf\xe9')}${SSE}`],
  ])('%s: the stream goes through', async (_, bytes) => {
    answer = (socket) => socket.end(bytes, 'latin1');
    expect((await rawRequest(lab.port, ask('openai'))).body).toBe(SSE);
    expect(
      JSON.parse((await rawRequest(lab.port, ask('openai', false))).body).choices[0].message.content,
    ).toBe('Hi');
  });

  it.each([
    ['a chunk that is cut', `${head('transfer-encoding: chunked')}fff\r\n${EVENT}`],
    ['fewer bytes than announced', `${head('content-length: 5000')}${EVENT}`],
    ['an end within an event', `${head()}${EVENT}data: {"cho`],
  ])('%s: an error in-band, and a 502 for who wanted it whole', async (_, bytes) => {
    answer = (socket) => socket.end(bytes);
    const { body } = await rawRequest(lab.port, ask('openai'));
    expect(body.startsWith(EVENT)).toBe(true);
    expect(body.slice(EVENT.length)).toMatch(/^data: \{"error":\{.+\}\}\n\n$/);
    expect((await rawRequest(lab.port, ask('openai', false))).status).toBe(502);
  });

  it.each([
    ['another protocol', 'SSH-2.0-OpenSSH\r\n', 'HTTP'],
    ['nothing', '', 'closed the connection'],
    ['half a head', 'HTTP/1.1 200 OK\r\ncontent-ty', 'closed the connection'],
    ['headers without end', head(`x-long: ${'y'.repeat(100_000)}`), 'Headers Overflow'],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 'empty answer (HTTP 204)'],
    ['304', 'HTTP/1.1 304 Not Modified\r\n\r\n', 'redirects'],
  ])('%s: a 502 that says so', async (_, bytes, words) => {
    answer = (socket) => socket.end(bytes);
    for (const stream of [true, false]) {
      const { status, body } = await rawRequest(lab.port, ask('openai', stream));
      expect(status).toBe(502);
      expect(JSON.parse(body).error).toMatchObject({
        type: 'api_error',
        message: expect.stringContaining(words),
      });
    }
  });

  // It was held for the end of its line, however large it grew.
  it.each(['openai', 'anthropic'] as const)(
    'a line without end is given up for an %s client',
    async (client) => {
      const piece = Buffer.alloc(1024 * 1024, 'x');
      let sent = 0;
      answer = (socket) => {
        socket.write(`${head()}data: {"choices":"`);
        const more = () => {
          while (!socket.destroyed && sent < 200) {
            sent += 1;
            if (!socket.write(piece)) {
              socket.once('drain', more);
              return;
            }
          }
        };
        more();
      };
      const { body } = await rawRequest(lab.port, ask(client));
      expect(body.slice(-300)).toContain('larger than 64 MB');
      expect(sent).toBeLessThan(100);
    },
  );
});
