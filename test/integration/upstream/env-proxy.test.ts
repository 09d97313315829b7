import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Upstream } from '../../../src/engine/upstream/index.ts';
import { configSchema } from '../../../src/shared/config.ts';
import { openMeter } from '../../support/meter.ts';
import { REAL_CLOCK } from '../../support/proxy.ts';
import { SILENT_LOG } from '../../support/sessions.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

/** A tunnelling proxy that leads every name to one port of this machine. */
class Tunnel {
  readonly asked: string[] = [];
  readonly auth: (string | undefined)[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  refuse = false;

  constructor(target: number) {
    this.#server = createServer((_, response) => response.writeHead(405).end());
    this.#server.on('connection', (socket) => this.#sockets.add(socket));
    this.#server.on('connect', (request, socket) => {
      this.asked.push(String(request.url));
      this.auth.push(request.headers['proxy-authorization']);
      if (this.refuse) {
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        return;
      }
      const out = connect(target, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        out.pipe(socket).pipe(out);
      });
      out.on('error', () => socket.destroy());
      socket.on('error', () => out.destroy());
      this.#sockets.add(out);
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

let upstream: ScriptedUpstream;
let tunnel: Tunnel;
let port: number;
const providers: Upstream[] = [];

beforeEach(async () => {
  upstream = await startUpstream();
  tunnel = new Tunnel(upstream.port);
  port = await tunnel.listen();
});
afterEach(async () => {
  for (const provider of providers.splice(0)) await provider.close();
  tunnel.close();
  await upstream.close();
});

async function ask(base: string, env: Record<string, string>): Promise<number> {
  const config = configSchema.parse({ llm: { api_base: base, model_id: 'm', api_key: 'k' } });
  const provider = new Upstream({
    config: () => config,
    clock: REAL_CLOCK,
    log: SILENT_LOG,
    env,
    meter: openMeter(),
  });
  providers.push(provider);
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }));
  const reply = await provider.send(provider.resolve('', ''), {
    path: '/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  await reply.body.bytes();
  return reply.status;
}

const proxy = () => `http://127.0.0.1:${port}`;

describe('proxies of the environment', () => {
  it.each(['http_proxy', 'HTTP_PROXY', 'ALL_PROXY'])('%s leads to a remote provider', async (name) => {
    expect(await ask('http://llm.example:8080/v1', { [name]: proxy() })).toBe(200);
    expect(tunnel.asked).toEqual(['llm.example:8080']);
    expect(upstream.last.path).toBe('/v1/chat/completions');
  });

  it('sends the name and password of the proxy’s address', async () => {
    await ask('http://llm.example/v1', { HTTP_PROXY: `http://me:pa%20ss@127.0.0.1:${port}` });
    expect(tunnel.auth).toEqual([`Basic ${Buffer.from('me:pa ss').toString('base64')}`]);
  });

  // A system-wide proxy (Clash and the like) turned calls to local models into 502s.
  it.each(['127.0.0.1', 'localhost'])('%s is never reached through one', async (host) => {
    const env = { HTTP_PROXY: 'http://127.0.0.1:9', ALL_PROXY: 'http://127.0.0.1:9', NO_PROXY: 'elsewhere' };
    expect(await ask(`http://${host}:${upstream.port}/v1`, env)).toBe(200);
  });

  it.each(['llm.example', '.example', '*.example', 'other, llm.example:8080', '*'])(
    'NO_PROXY=%s exempts llm.example:8080',
    async (list) => {
      await expect(
        ask('http://llm.example:8080/v1', { HTTP_PROXY: proxy(), NO_PROXY: list }),
      ).rejects.toMatchObject({
        code: 'UPSTREAM_UNREACHABLE',
        message: expect.stringContaining('could not be resolved'),
      });
      expect(tunnel.asked).toEqual([]);
    },
  );

  it.each(['lm.example', 'llm.example:9', 'example.llm', '10.0.0.0/8', ''])(
    'NO_PROXY=%s does not',
    async (list) => {
      expect(await ask('http://llm.example:8080/v1', { HTTP_PROXY: proxy(), NO_PROXY: list })).toBe(200);
    },
  );

  it('a range exempts its addresses only', async () => {
    const env = { HTTP_PROXY: proxy(), NO_PROXY: '10.0.0.0/8' };
    expect(await ask('http://192.0.2.7:8080/v1', env)).toBe(200);
    expect(tunnel.asked).toEqual(['192.0.2.7:8080']);
  });

  it.each([
    ['refuses', () => proxy(), 'Tunneling'],
    ['is not there', () => 'http://127.0.0.1:9', '127.0.0.1:9'],
  ])('one that %s is named, not the provider blamed', async (_, address, words) => {
    tunnel.refuse = true;
    await expect(ask('http://llm.example/v1', { HTTP_PROXY: address() })).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      message: expect.stringContaining(words),
      hint: expect.stringContaining('NO_PROXY'),
    });
  });

  it('one of a kind that cannot be used is refused, not gone round', async () => {
    await expect(
      ask('http://llm.example/v1', { ALL_PROXY: 'socks5://127.0.0.1:1080' }),
    ).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
