import { deflateRawSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { rawRequest } from '../../support/raw.ts';

const CHAT = '/v1/chat/completions';
const BODY = JSON.stringify({ model: 'served', messages: [{ role: 'user', content: 'hi' }] });
const MESSAGE = JSON.stringify({
  model: 'served',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'hi' }],
});
/** `BODY` as `zstd -c` compresses it. */
const ZSTD =
  'KLUv/QRY8QEAeyJtb2RlbCI6InNlcnZlZCIsIm1lc3NhZ2VzIjpbeyJyb2xlIjoidXNlciIsImNvbnRlbnQiOiJoaSJ9XX0wG7oP';

let lab: ProxyLab;
beforeAll(async () => {
  lab = await startProxyLab();
});
afterEach(() => {
  expect(lab.errors).toEqual([]);
  lab.upstream.reset();
});
afterAll(() => lab.close());

/** A request from the very lines that are given; `host` and `content-type` only when they are among them. */
function lines(first: string, headers: string[], body: string | Buffer = ''): Buffer {
  const bytes = Buffer.from(body);
  const head = [`${first} HTTP/1.1`, ...headers, 'connection: close', `content-length: ${bytes.length}`];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]);
}
const HERE = ['host: 127.0.0.1', 'content-type: application/json'];

describe('requests that no HTTP library makes', () => {
  it.each<[string, number, Buffer]>([
    ['no host', 403, lines(`POST ${CHAT}`, ['content-type: application/json'], BODY)],
    ['a second host', 403, lines(`POST ${CHAT}`, [...HERE, 'host: evil.example'], BODY)],
    ['another host in the address', 403, lines(`POST http://evil.example${CHAT}`, HERE, BODY)],
    ['a web page’s picture', 403, lines('GET /v1/files', [...HERE, 'sec-fetch-site: cross-site'])],
    [
      'a WebSocket',
      426,
      lines('GET /v1/realtime?model=x', [...HERE, 'upgrade: websocket', 'sec-websocket-version: 13']),
    ],
    ['an unknown expectation, bad JSON', 400, lines(`POST ${CHAT}`, [...HERE, 'expect: tea'], '{')],
    ['a path in capitals', 404, lines('POST /V1/chat/completions', HERE, BODY)],
    [
      'text to a counter',
      415,
      lines('POST /v1/responses/input_tokens', ['host: localhost', 'content-type: text/plain'], '{}'),
    ],
    ['headers without end', 431, lines('GET /health', [...HERE, `x-long: ${'y'.repeat(70_000)}`])],
    ['two lengths', 400, lines(`POST ${CHAT}`, [...HERE, 'content-length: 7'], BODY)],
  ])('%s: %i in shape, and nothing goes upstream', async (_, status, bytes) => {
    const answer = await rawRequest(lab.port, bytes);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body).error).toMatchObject({ message: expect.any(String), param: null });
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    expect(lab.upstream.requests).toEqual([]);
  });

  // Nobody knows yet which dialect the client speaks.
  it('headers without end are refused in a shape that Anthropic clients read, too', async () => {
    const answer = await rawRequest(lab.port, lines('POST /v1/messages', [`x-long: ${'y'.repeat(70_000)}`]));
    expect(JSON.parse(answer.body)).toMatchObject({
      type: 'error',
      request_id: expect.stringMatching(/^req_/),
    });
  });

  it('takes an address in absolute form, as programs send it that take us for their proxy', async () => {
    const answer = await rawRequest(lab.port, lines(`POST http://localhost:30000${CHAT}`, HERE, BODY));
    expect(answer.status).toBe(200);
    expect(lab.upstream.last.path).toBe(CHAT);
  });

  it('answers requests that were sent ahead of the first answer, in order', async () => {
    const keep = (path: string, body: string) =>
      Buffer.from(
        `POST ${path} HTTP/1.1\r\n${HERE.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    lab.upstream.reply({ text: 'first', wire: { headersDelayMs: 100 } }, 'second');
    const bytes = Buffer.concat([keep(CHAT, BODY), keep(CHAT, '{'), lines(`POST ${CHAT}`, HERE, BODY)]);
    const { body } = await rawRequest(lab.port, bytes);
    expect(body).toMatch(/first.*HTTP\/1\.1 400 .*second/s);
  });

  it('sends on no header that `Connection` names, in either direction', async () => {
    lab.upstream.reply({
      text: 'ok',
      headers: { connection: 'close, x-hop-down', 'x-hop-down': '1', 'x-far': '2' },
    });
    const answer = await rawRequest(
      lab.port,
      lines(`POST ${CHAT}`, [...HERE, 'x-hop-up: 1', 'x-far-up: 2', 'connection: x-hop-up'], BODY),
    );
    expect(answer.headers).toMatchObject({ 'x-far': '2' });
    expect(answer.headers['x-hop-down']).toBeUndefined();
    expect(lab.upstream.last.headers).toMatchObject({ 'x-far-up': '2' });
    expect(lab.upstream.last.headers['x-hop-up']).toBeUndefined();
  });
});

describe('bodies', () => {
  it.each([
    ['zstd', Buffer.from(ZSTD, 'base64')],
    ['deflate', deflateRawSync(BODY)],
  ])('reads %s on every runtime, with or without a head', async (encoding, bytes) => {
    const answer = await rawRequest(
      lab.port,
      lines(`POST ${CHAT}`, [...HERE, `content-encoding: ${encoding}`], bytes),
    );
    expect(answer.status).toBe(200);
    expect(lab.upstream.last.rawBody.toString()).toBe(BODY);
  });

  const deep = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000);
  it.each<[string, string, string | Buffer]>([
    // What is deeper than the stack was a 500 on its way to another dialect, and could not be recorded on its own.
    ['lists as deep as a stack', CHAT, BODY.replace('"hi"', deep('[', ']'))],
    [
      'objects as deep as a stack',
      '/v1/messages',
      `${MESSAGE.slice(0, -1)},"tools":${deep('{"a":', '}').replace(':}', ':1}')}}`,
    ],
    ['the same key twice around them', CHAT, `{"model":"a",${BODY.slice(1, -1)},"x":${deep('[', ']')}}`],
    ['another encoding', CHAT, Buffer.from(BODY.replace('hi', 'h\xef'), 'latin1')],
    [
      'another encoding, to be translated',
      '/v1/messages',
      Buffer.from(MESSAGE.replace('hi', '\xff'), 'latin1'),
    ],
    ['UTF-16', CHAT, Buffer.from(`\uFEFF${BODY}`, 'utf16le')],
    ['nothing', '/v1/responses', ''],
    ['a list', '/v1/messages', '[]'],
    ['two objects', CHAT, BODY + BODY],
    ['NaN', CHAT, BODY.replace('"hi"', 'NaN')],
  ])('refuses %s on %s with a 400', async (_, path, body) => {
    const answer = await rawRequest(lab.port, lines(`POST ${path}`, HERE, body));
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).error.type).toBe('invalid_request_error');
    expect(lab.upstream.requests).toEqual([]);
  });
});
