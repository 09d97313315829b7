import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventName, Events } from '../shared/contract.ts';
import { AppError, ERROR_STATUS } from '../shared/errors.ts';
import type { Bus } from './bus.ts';
import { writeAtomic } from './platform/files.ts';
import type { Logger } from './platform/logger.ts';
import { statePaths } from './platform/paths.ts';
import { type Dispatch, errorJson } from './router.ts';

export interface ControlDeps {
  dispatch: Dispatch;
  bus: Bus;
  /** State folder; the bearer token goes there (0600), new on each start. */
  home: string;
  version: string;
  log: Logger;
}

export interface ControlServer {
  readonly port: number;
  /** Ends event streams and running calls, and removes the token. */
  stop(): Promise<void>;
}

const MAX_BODY = 1024 * 1024;
const KEEP_ALIVE_MS = 15_000;

/**
 * Serves the router to the CLI and other tools of this user: loopback only, on a free port, for holders of the
 * token file. `POST /control/<route>` takes the input as JSON and answers `{ok, data}` or `{ok, error}`;
 * `GET /control/events` is a server-sent stream of the contract's events. Nothing here is for web pages: any
 * `Origin` is refused, and `Host` must be ours (DNS rebinding).
 */
export async function startControl(deps: ControlDeps): Promise<ControlServer> {
  const tokenFile = statePaths(deps.home).controlToken;
  const token = randomBytes(32).toString('base64url');
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    handle(request, response, { ...deps, token, streams, port: portOf(server) }).catch((error: unknown) => {
      const { code } = errorJson(error);
      if (code === 'INTERNAL') deps.log.error({ err: error }, 'a control request failed');
      reply(response, ERROR_STATUS[code], { ok: false, error: errorJson(error) });
    });
  });
  server.headersTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  writeAtomic(tokenFile, `${token}\n`);
  return {
    port: portOf(server),
    stop: async () => {
      rmSync(tokenFile, { force: true });
      for (const stream of streams) stream.end();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        // A caller that waits for `host.quit` gets its answer before its connection goes.
        server.closeIdleConnections();
        setImmediate(() => server.closeAllConnections());
      });
    },
  };
}

interface Context extends ControlDeps {
  token: string;
  streams: Set<ServerResponse>;
  port: number;
}

async function handle(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  response.setHeader('x-metaclaw-version', context.version);
  admit(request, context);
  const path = (request.url ?? '').split('?')[0] ?? '';
  const route = /^\/control\/([a-zA-Z.]+)$/.exec(path)?.[1];
  if (route === 'events' && request.method === 'GET') {
    stream(response, context);
    return;
  }
  if (route === undefined) throw new AppError('NOT_FOUND', 'There is nothing at this address.');
  if (request.method !== 'POST') throw new AppError('METHOD_NOT_ALLOWED', 'Calls are made with POST.');
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new AppError('MEDIA_TYPE', 'Calls take application/json.');
  const input = parseInput(await readBody(request));
  reply(response, 200, { ok: true, data: (await context.dispatch(route, input, 'control')) ?? null });
}

/** Everything that is checked before a request is looked at. */
function admit(request: IncomingMessage, context: Context): void {
  const host = (request.headers.host ?? '').toLowerCase();
  if (host !== `127.0.0.1:${context.port}` && host !== `localhost:${context.port}`)
    throw new AppError('HOST_NOT_ALLOWED', 'The control port answers for 127.0.0.1 only.');
  if (request.headers.origin !== undefined)
    throw new AppError('ORIGIN_NOT_ALLOWED', 'The control port is not for web pages.');
  const given = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (!sameText(given, context.token))
    throw new AppError('UNAUTHORIZED', 'The control token is missing or wrong.', {
      hint: 'It stands in the state folder, in control-token, and changes on each start.',
    });
}

function stream(response: ServerResponse, { bus, streams }: Context): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  response.write(': open\n\n');
  const send = <Name extends EventName>(name: Name, payload: Events[Name]): void => {
    // A reader that does not keep up loses its stream, not our memory.
    if (response.writableLength > MAX_BODY) response.destroy();
    else response.write(`event: ${name}\ndata: ${JSON.stringify(payload)}\n\n`);
  };
  const disposers = [
    bus.on('snapshot', (snapshot) => send('snapshot', snapshot)),
    bus.on('invalidate', (topic) => send('invalidate', { topic })),
    bus.on('demo', (event) => send('demo', event)),
  ];
  const beat = setInterval(() => response.write(': still here\n\n'), KEEP_ALIVE_MS);
  beat.unref();
  streams.add(response);
  response.on('close', () => {
    clearInterval(beat);
    streams.delete(response);
    for (const dispose of disposers) dispose();
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new AppError('BODY_TOO_LARGE', 'A call takes at most 1 MiB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseInput(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError('BAD_INPUT', 'The body is not valid JSON.');
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

function sameText(given: string, wanted: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(wanted);
  return a.length === b.length && timingSafeEqual(a, b);
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo | null)?.port ?? 0;
}
