import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Express } from 'express';
import type { Config } from '../../shared/config.ts';
import { isLoopback } from '../../shared/config-rules.ts';
import { AppError } from '../../shared/errors.ts';
import type { Dialect } from '../../shared/model.ts';
import type { InjectionPlan } from '../inject/index.ts';
import {
  fromOtherSite,
  hideKey,
  hostAllowed,
  isJsonType,
  keyAccepted,
  type Listener,
  originAllowed,
} from '../platform/guard.ts';
import type { Logger } from '../platform/logger.ts';
import { findPortOwner } from '../platform/port-owner.ts';
import type { Clock } from '../ports.ts';
import type { OpenTurn } from '../sessions/index.ts';
import type { Database } from '../store/database.ts';
import { ResponseStore } from '../store/response-store.ts';
import type { Upstream } from '../upstream/index.ts';
import { answerError, wireErrorOfAny } from './answer.ts';
import { refuseBrokenRequest } from './bad-request.ts';
import type { TakeFeedback } from './feedback-route.ts';
import type { TurnDeps } from './flight.ts';
import { promptLimit } from './limits/index.ts';
import { TokenCounter } from './limits/token-counter.ts';
import { planListeners } from './listeners.ts';
import type { MemoryDoor } from './memory-routes.ts';
import { ReasoningMemory } from './reasoning/memory.ts';
import type { TurnLog } from './record.ts';
import { type ModelCall, modelCall, type ProxyPath, readPath } from './request-path.ts';
import { type CallContext, createRoutes, dialectOf } from './routes.ts';
import { answerTurn } from './turn.ts';

export interface ProxyDeps {
  /** Secrets already resolved; read anew for every request. */
  config: () => Config;
  clock: Clock;
  log: Logger;
  database: Database;
  sessions: TurnLog;
  upstream: Upstream;
  /** What to add to a turn; `roomTokens` is what the model's window has left. */
  compose: (turn: OpenTurn, roomTokens: number) => Promise<InjectionPlan> | InjectionPlan;
  /** What a user says of a turn. */
  feedback: TakeFeedback;
  /** What is remembered, for the routes under `/v1/memory`. */
  memory: MemoryDoor;
  version: string;
  /** Called when a turn began or ended. */
  onActivity?: () => void;
  /** A request that may come in, at the address of an agent. */
  onAgent?: (agent: string) => void;
  /** Silence after which a stream gets a sign of life. Default 10 s. */
  heartbeatMs?: number;
  /** Time that retrieval may take on a turn. Default 20 ms. */
  deadlineMs?: number;
  /** Time that a client may take to send headers (20 s) and a whole request (5 min); answers may take any time. */
  patience?: { headersMs: number; requestMs: number };
}

export interface Listening {
  host: string;
  port: number;
  /** What was not done as configured, in words for the user. */
  warnings: string[];
}

const DRAIN_MS = 5000;
const QUIET_MS = 1000;
const LONGEST_READ_AWAY_MS = 10_000;
const DIALECTS: Readonly<Record<ModelCall, Dialect>> = {
  chat: 'openai',
  messages: 'anthropic',
  responses: 'responses',
};
const PATIENCE = { headersMs: 20_000, requestMs: 300_000 };
/** Probes that tell nothing: they are answered without the key. */
const OPEN_PATHS = new Set(['/', '/health', '/healthz']);

/** The proxy's door: who may come in, and which handler takes the call. Model calls never pass through Express. */
export class ProxyServer {
  readonly #deps: ProxyDeps;
  readonly #turnDeps: TurnDeps;
  readonly #app: Express;
  readonly #contexts = new WeakMap<IncomingMessage, CallContext>();
  readonly #active = new Map<string, { agent: string; startedAt: string }>();
  #servers: Server[] = [];
  #stopping = false;

  constructor(deps: ProxyDeps) {
    this.#deps = deps;
    this.#turnDeps = {
      heartbeatMs: 10_000,
      deadlineMs: 20,
      reasoning: new ReasoningMemory(deps),
      responses: new ResponseStore(deps),
      counter: new TokenCounter(),
      ...deps,
    };
    this.#app = createRoutes({
      turn: this.#turnDeps,
      memory: deps.memory,
      version: deps.version,
      contextOf: (request) => this.#contextOf(request),
      fail: (request, response, error) => this.#fail(request, response, error),
    });
  }

  /** Listens as configured. Rejects with PORT_IN_USE (naming the process that holds the port) or CONFIG_INVALID. */
  async start(): Promise<Listening> {
    this.#stopping = false;
    if (promptLimit(this.#deps.config(), null) !== null) this.#turnDeps.counter.warm();
    const { listeners, warnings } = planListeners(this.#deps.config());
    try {
      for (const listener of listeners) {
        // `port: 0` takes any; all later addresses of the main listener share what the first one got.
        if (listener.follows) listener.port = listeners[0]?.port ?? 0;
        try {
          listener.port = await this.#listen(listener);
        } catch (error) {
          if (!listener.optional) throw error;
        }
      }
    } catch (error) {
      await this.stop();
      throw error;
    }
    const main = listeners[0] as Listener;
    for (const warning of warnings) this.#deps.log.warn(warning);
    return { host: main.host, port: main.port, warnings };
  }

  /** Takes no new calls, lets running turns end (at most 5 s), then closes what is left. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const servers = this.#servers;
    this.#servers = [];
    const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const server of servers) server.closeIdleConnections();
    await this.#drained();
    for (const server of servers) server.closeAllConnections();
    await Promise.all(closed);
  }

  /** Turns that are being answered right now. */
  activeTurns(): { agent: string; startedAt: string }[] {
    return [...this.#active.values()];
  }

  #drained(): Promise<void> {
    if (this.#active.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const until = this.#deps.clock.now() + DRAIN_MS;
      const look = () => {
        if (this.#active.size === 0 || this.#deps.clock.now() >= until) resolve();
        else this.#deps.clock.after(25, look);
      };
      look();
    });
  }

  async #listen(listener: Listener): Promise<number> {
    const { headersMs, requestMs } = this.#deps.patience ?? PATIENCE;
    const server = createServer(
      {
        maxHeaderSize: 64 * 1024,
        headersTimeout: headersMs,
        requestTimeout: requestMs,
        connectionsCheckingInterval: Math.min(5000, headersMs / 2),
        keepAliveTimeout: 120_000,
        // A request without a host is refused by us, in the client's shape.
        requireHostHeader: false,
      },
      (request, response) => this.#take(request, response, listener),
    );
    server.on('checkExpectation', (request, response) => this.#take(request, response, listener));
    server.on('clientError', (error, socket: Socket) => refuseBrokenRequest(error, socket, newRequestId()));
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host: listener.host, port: listener.port, exclusive: true }, resolve);
      });
    } catch (error) {
      throw await listenError(error, listener);
    }
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  #take(request: IncomingMessage, response: ServerResponse, listener: Listener): void {
    const path = readPath(request.url ?? '/');
    const model = request.method === 'POST' ? modelCall(path.path) : null;
    const requestId = newRequestId();
    const context: CallContext = {
      dialect: model === null ? dialectOf(path, request.headers) : DIALECTS[model],
      path,
      requestId,
      clientAddress: clientAddress(request.socket),
      started: (agent) => this.#began(requestId, agent, response),
    };
    this.#contexts.set(request, context);
    try {
      this.#admit(request, listener, path, model);
    } catch (error) {
      this.#fail(request, response, error);
      return;
    }
    if (path.agent !== null) this.#deps.onAgent?.(path.agent);
    if (model === null) {
      request.url = path.path + path.query;
      this.#app(request, response);
      return;
    }
    answerTurn(this.#turnDeps, { ...context, request, response }).catch((error: unknown) =>
      this.#fail(request, response, error),
    );
  }

  /** Throws what keeps a call out, in the order in which an outsider may learn of it. */
  #admit(request: IncomingMessage, listener: Listener, path: ProxyPath, model: ModelCall | null): void {
    const { proxy } = this.#deps.config();
    const { headers } = request;
    const hosts = request.headersDistinct.host ?? [];
    if (path.host !== null) hosts.push(path.host);
    if (hosts.length === 0) hosts.push('');
    if (!hosts.every((host) => hostAllowed(host, listener, proxy.allowed_hosts)))
      throw new AppError('HOST_NOT_ALLOWED', 'This host name is not allowed here.', {
        hint: 'Use 127.0.0.1 or localhost, or add the name to proxy.allowed_hosts.',
      });
    const foreign = path.path.startsWith('/v1/') && fromOtherSite(headers);
    if (foreign || !originAllowed(headers, proxy.allowed_origins))
      throw new AppError('ORIGIN_NOT_ALLOWED', 'Web pages may not call this proxy.', {
        hint: 'Add the origin to proxy.allowed_origins if you trust it.',
      });
    if (this.#stopping) throw new AppError('NOT_RUNNING', 'MetaClaw is stopping.');
    // The main listener's key may change while it runs; others have their own.
    const key = listener.ownKey ?? proxy.api_key;
    if (!OPEN_PATHS.has(path.path) && !keyAccepted(key, headers, path.token))
      throw new AppError('UNAUTHORIZED', 'The key of this proxy is missing or wrong.', {
        hint: 'Send it as bearer token or x-api-key, or in the path: /a/<agent>/k/<key>/v1.',
      });
    hideKey(key, headers);
    const isUpgrade = /\bwebsocket\b/i.test(headers.upgrade ?? '');
    if (isUpgrade)
      throw new AppError('UPGRADE', 'WebSocket connections cannot be made here.', {
        hint: 'Send a POST request, with stream: true for events.',
      });
    if ((model !== null || isCount(request, path)) && !isJsonType(headers['content-type']))
      throw new AppError('MEDIA_TYPE', `The content type ${headers['content-type']} is not JSON.`, {
        hint: 'Send application/json.',
      });
  }

  #contextOf(request: IncomingMessage): CallContext {
    const context = this.#contexts.get(request);
    if (!context) throw new Error('a call without context');
    return context;
  }

  #began(requestId: string, agent: string, response: ServerResponse): void {
    this.#active.set(requestId, { agent, startedAt: new Date(this.#deps.clock.now()).toISOString() });
    response.once('close', () => {
      this.#active.delete(requestId);
      this.#deps.onActivity?.();
    });
    this.#deps.onActivity?.();
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const { dialect, requestId, path } = this.#contextOf(request);
    if (!(error instanceof AppError))
      this.#deps.log.error({ err: error, requestId, path: path.path }, 'the call failed unexpectedly');
    if (error instanceof AppError && error.code === 'CANCELLED') {
      response.destroy();
      return;
    }
    const wire = wireErrorOfAny(error, requestId);
    // What is still on its way in will not be read, so this connection cannot carry another call.
    const unread = !request.complete;
    const read = unread ? readAway(request, this.#deps.clock) : null;
    answerError(response, dialect, wire.status, wire, requestId, unread ? { connection: 'close' } : {}, read);
    if (unread) response.once('finish', () => this.#deps.clock.after(1000, () => request.socket.destroy()));
  }
}

/** Takes what a client still sends, unread, until it is through or quiet, for ten seconds at most. */
function readAway(request: IncomingMessage, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancelQuiet();
      cancelLast();
      resolve();
    };
    const waitOn = () => clock.after(QUIET_MS, done);
    const cancelLast = clock.after(LONGEST_READ_AWAY_MS, done);
    let cancelQuiet = waitOn();
    request.on('data', () => {
      cancelQuiet();
      cancelQuiet = waitOn();
    });
    request.once('end', done).once('close', done).resume();
  });
}

/** Calls beside the models' own whose bodies are read here. */
function isCount(request: IncomingMessage, { path }: ProxyPath): boolean {
  return request.method === 'POST' && /^\/v1\/(?:messages\/count_tokens|responses\/input_tokens)$/.test(path);
}

function clientAddress(socket: Socket): string {
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  return address === '' || isLoopback(address) ? 'loopback' : address;
}

/** As the vendors name theirs. */
function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
}

async function listenError(error: unknown, listener: Listener): Promise<unknown> {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    const owner = await findPortOwner(listener.port);
    const by = owner ? `by ${owner.name} (process ${owner.pid})` : 'by another program';
    return new AppError('PORT_IN_USE', `Port ${listener.port} is already in use ${by}.`, {
      hint: `Stop that program, or choose another port: metaclaw start --port ${listener.port + 1}`,
      field: 'proxy.port',
      cause: error,
    });
  }
  if (code === 'EACCES')
    return new AppError('CONFIG_INVALID', `Port ${listener.port} needs administrator rights.`, {
      hint: 'Choose a port above 1023.',
      field: 'proxy.port',
    });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new AppError('CONFIG_INVALID', `This computer has no address ${listener.host}.`, {
      hint: 'Set proxy.host to 127.0.0.1.',
      field: 'proxy.host',
    });
  return error;
}
