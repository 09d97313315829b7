import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { embeddingAnswer, refuseEmbeddings } from './upstream-embeddings.ts';
import {
  anthropicEvents,
  anthropicWhole,
  frame,
  openaiEvents,
  openaiWhole,
  type RawReply,
  type ReplyWire,
  type ScriptedReply,
  type StreamEvent,
} from './upstream-reply.ts';
import { refuseResponses, responsesEvents, responsesWhole } from './upstream-responses.ts';
import { refuseAnthropic, refuseOpenai, type Strictness } from './upstream-rules.ts';
import { Threads } from './upstream-threads.ts';

export type { RawReply, ScriptedReply } from './upstream-reply.ts';

export type UpstreamKind =
  | 'openai'
  | 'anthropic'
  | 'responses'
  | 'count_tokens'
  | 'embeddings'
  | 'models'
  | 'other';

const CHAT_KINDS: ReadonlySet<UpstreamKind> = new Set(['openai', 'anthropic', 'responses']);
const REFUSING: ReadonlySet<UpstreamKind> = new Set([...CHAT_KINDS, 'count_tokens', 'embeddings']);

/** One request as it arrived. */
export interface UpstreamRequest {
  n: number;
  kind: UpstreamKind;
  method: string;
  path: string;
  query: string;
  headers: Record<string, string | string[] | undefined>;
  rawHeaders: string[];
  rawBody: Buffer;
  /** Parsed body; undefined when it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of many shapes
  json: any;
  receivedAt: number;
  /** How it ended: still open, answered to the end, or the caller left (`closedAt` says when). */
  state: 'open' | 'answered' | 'caller-left';
  closedAt: number | null;
  /** Bytes that were handed to the socket so far. */
  bytesWritten: number;
}

export type Reply =
  | string
  | ScriptedReply
  | RawReply
  | ((request: UpstreamRequest, response: ServerResponse) => void);
/** Decides the answer of a request; undefined falls through to the default text. */
export type Script = (request: UpstreamRequest) => Reply | undefined;

export interface UpstreamOptions {
  /** When set, requests must carry it as the dialect demands; otherwise 401. */
  apiKey?: string;
  models?: string[];
  /** Refusals of the real services; everything but tool pairing and roles is off by default. */
  strict?: Partial<Strictness> | false;
  port?: number;
  host?: string;
  /** Size of the embedding models' vectors. Default: 64. */
  embeddingSize?: number;
}

/** The one scripted LLM service of all tests; speaks OpenAI chat completions and responses and Anthropic messages under any base path. */
export class ScriptedUpstream {
  readonly requests: UpstreamRequest[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #queue: Reply[] = [];
  readonly #options: UpstreamOptions;
  readonly #fixed = new Map<UpstreamKind, Reply>();
  readonly #threads = new Threads();
  #script: Script = () => undefined;
  #waiters: (() => void)[] = [];

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.requestTimeout = 0;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** `http://127.0.0.1:PORT`, without `/v1`. */
  get url(): string {
    const address = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${address.port}`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Open connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Requests for answers, without models, counts and others. */
  get chats(): UpstreamRequest[] {
    return this.requests.filter((request) => CHAT_KINDS.has(request.kind));
  }

  get last(): UpstreamRequest {
    const request = this.requests.at(-1);
    if (!request) throw new Error('the upstream has seen no request');
    return request;
  }

  /** Queues answers for the next chat requests, in order; they go before the script. */
  reply(...replies: Reply[]): this {
    this.#queue.push(...replies);
    return this;
  }

  /** Answers every chat request that has no queued answer. */
  script(script: Script): this {
    this.#script = script;
    return this;
  }

  /** Answers every request of a kind this way until `reset`, e.g. models with 404. */
  always(kind: UpstreamKind, reply: Reply): this {
    this.#fixed.set(kind, reply);
    return this;
  }

  /** Forgets requests, queue, script and fixed answers. */
  reset(): void {
    this.requests.length = 0;
    this.#queue.length = 0;
    this.#fixed.clear();
    this.#script = () => undefined;
  }

  /** Resolves when `check` holds; looked at whenever a request arrives or ends. */
  async until(check: (upstream: ScriptedUpstream) => boolean, timeoutMs = 5000): Promise<void> {
    const end = Date.now() + timeoutMs;
    while (!check(this)) {
      const left = end - Date.now();
      if (left <= 0) throw new Error(`the upstream did not see it within ${timeoutMs} ms: ${check}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(left, 50));
        this.#waiters.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.port ?? 0, this.#options.host ?? '127.0.0.1', () => resolve());
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter();
  }

  #serve(incoming: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => {});
    response.on('error', () => {});
    incoming.on('end', () => {
      const [path = '/', query = ''] = (incoming.url ?? '/').split('?');
      const rawBody = Buffer.concat(chunks);
      const request: UpstreamRequest = {
        n: this.requests.length + 1,
        kind: kindOf(incoming.method ?? 'GET', path),
        method: incoming.method ?? 'GET',
        path,
        query,
        headers: incoming.headers,
        rawHeaders: incoming.rawHeaders,
        rawBody,
        json: parse(rawBody),
        receivedAt: Date.now(),
        state: 'open',
        closedAt: null,
        bytesWritten: 0,
      };
      const write = response.write.bind(response) as (chunk: Uint8Array | string) => boolean;
      response.write = ((chunk: Uint8Array | string) => {
        request.bytesWritten += chunk.length;
        return write(chunk);
      }) as typeof response.write;
      response.on('close', () => {
        request.state = response.writableFinished ? 'answered' : 'caller-left';
        request.closedAt = Date.now();
        this.#wake();
      });
      this.requests.push(request);
      this.#wake();
      this.#answer(request, response);
    });
  }

  #answer(request: UpstreamRequest, response: ServerResponse): void {
    const thread = this.#threadOf(request);
    const reply =
      'refusal' in thread ? thread.refusal : this.#choose({ ...request, json: thread.body ?? request.json });
    if (typeof reply === 'function') reply(request, response);
    else if (typeof reply === 'object' && 'status' in reply) send(response, reply);
    else {
      const said = typeof reply === 'string' ? { text: reply } : reply;
      const isKept = 'body' in thread && request.json?.thread !== undefined;
      play(request, response, isKept ? this.#threads.keep(thread.body, said) : said);
    }
  }

  /** The body of a request as it stands after what the service keeps was put in. */
  // biome-ignore lint/suspicious/noExplicitAny: a body of any shape
  #threadOf({ kind, json, headers }: UpstreamRequest): { body: any } | { refusal: RawReply } {
    if (kind !== 'anthropic' || !json?.thread) return { body: json };
    return this.#threads.read(json, String(headers['anthropic-beta'] ?? '').split(','));
  }

  #choose(request: UpstreamRequest): Reply {
    const refusal = this.#refuse(request);
    if (refusal) return refusal;
    const fixed = this.#fixed.get(request.kind);
    if (fixed !== undefined) return fixed;
    if (request.kind === 'models') return { status: 200, body: this.#models(request) };
    if (request.kind === 'count_tokens')
      return { status: 200, body: { input_tokens: Math.ceil(request.rawBody.length / 4) } };
    if (request.kind === 'embeddings')
      return { status: 200, body: embeddingAnswer(request.json, this.#options.embeddingSize) };
    if (request.kind === 'other') {
      const { method, path, rawBody } = request;
      return { status: 200, body: { method, path, bytes: rawBody.length } };
    }
    return this.#queue.shift() ?? this.#script(request) ?? 'Hello from the scripted upstream.';
  }

  #refuse(request: UpstreamRequest): RawReply | null {
    const { apiKey, strict } = this.#options;
    const anthropic =
      request.headers['anthropic-version'] !== undefined || request.path.includes('/messages');
    if (apiKey !== undefined) {
      const bearer = request.headers.authorization === `Bearer ${apiKey}`;
      const header = request.headers['x-api-key'] === apiKey;
      if (!(anthropic ? header || bearer : bearer))
        return errorReply(401, anthropic, 'authentication_error', 'invalid x-api-key');
    }
    if (strict === false || !REFUSING.has(request.kind)) return null;
    if (request.json === undefined)
      return errorReply(400, anthropic, 'invalid_request_error', 'the body is not JSON');
    if (anthropic && request.headers['anthropic-version'] === undefined)
      return errorReply(400, true, 'invalid_request_error', 'anthropic-version: header is required');
    const rules: Strictness = { unknownFields: false, demandReasoning: false, ...strict };
    const betas = String(request.headers['anthropic-beta'] ?? '').split(',');
    const refusal =
      request.kind === 'openai'
        ? refuseOpenai(request.json, rules)
        : request.kind === 'embeddings'
          ? refuseEmbeddings(request.json)
          : request.kind === 'responses'
            ? refuseResponses(request.json, rules)
            : refuseAnthropic(request.json, rules, betas, request.kind === 'count_tokens');
    return refusal
      ? errorReply(400, anthropic, 'invalid_request_error', refusal.message, refusal.param)
      : null;
  }

  #models(request: UpstreamRequest): Record<string, unknown> {
    const models = this.#options.models ?? ['scripted-model'];
    if (request.headers['anthropic-version'] === undefined)
      return {
        object: 'list',
        data: models.map((id) => ({ id, object: 'model', created: 1_760_000_000, owned_by: 'scripted' })),
      };
    return {
      data: models.map((id) => ({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' })),
      has_more: false,
      first_id: models[0] ?? null,
      last_id: models.at(-1) ?? null,
    };
  }
}

/** Starts it on a free port. */
export async function startUpstream(options: UpstreamOptions = {}): Promise<ScriptedUpstream> {
  const upstream = new ScriptedUpstream(options);
  await upstream.listen();
  return upstream;
}

/** An error in the service's own shape, e.g. `upstream.reply(errorReply(429, false, 'rate_limit_error', 'slow down'))`. */
export function errorReply(
  status: number,
  anthropic: boolean,
  type: string,
  message: string,
  param: string | null = null,
): RawReply {
  return {
    status,
    body: anthropic
      ? { type: 'error', error: { type, message }, request_id: 'req_scripted' }
      : { error: { message, type, param, code: null } },
  };
}

function kindOf(method: string, path: string): UpstreamKind {
  if (method === 'POST' && path.endsWith('/chat/completions')) return 'openai';
  if (method === 'POST' && path.endsWith('/messages/count_tokens')) return 'count_tokens';
  if (method === 'POST' && path.endsWith('/messages')) return 'anthropic';
  if (method === 'POST' && path.endsWith('/responses')) return 'responses';
  if (method === 'POST' && path.endsWith('/embeddings')) return 'embeddings';
  if (method === 'GET' && /\/models$/.test(path)) return 'models';
  return 'other';
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, reply: RawReply): void {
  const plain = reply.body === undefined ? '' : reply.body;
  const isJson = typeof plain === 'object' && !(plain instanceof Uint8Array);
  let bytes = Buffer.from(isJson ? JSON.stringify(plain) : (plain as string | Uint8Array));
  const headers: Record<string, string> = {
    ...(isJson ? { 'content-type': 'application/json' } : {}),
    ...reply.headers,
  };
  if (reply.wire?.gzip) {
    bytes = gzipSync(bytes);
    headers['content-encoding'] = 'gzip';
  }
  headers['content-length'] = String(bytes.length);
  setTimeout(() => {
    response.writeHead(reply.status, headers);
    response.end(bytes);
  }, reply.wire?.headersDelayMs ?? 0);
}

function play(request: UpstreamRequest, response: ServerResponse, reply: ScriptedReply): void {
  const wire = reply.wire ?? {};
  const anthropic = request.kind === 'anthropic';
  const body = (request.json ?? {}) as {
    model?: string;
    stream?: boolean;
    stream_options?: { include_usage?: boolean };
  };
  const model = body.model ?? 'scripted-model';
  const stream = wire.form ? wire.form === 'stream' : body.stream === true;
  const headers = { 'request-id': 'req_scripted', ...reply.headers };
  if (!stream) {
    const whole =
      request.kind === 'responses'
        ? responsesWhole(reply, model, request.json)
        : anthropic
          ? anthropicWhole(reply, model)
          : openaiWhole(reply, model);
    send(response, {
      status: 200,
      headers: { ...headers, 'content-type': wire.contentType ?? 'application/json' },
      body: JSON.stringify(whole),
      wire,
    });
    return;
  }
  const events =
    request.kind === 'responses'
      ? responsesEvents(reply, model, request.json)
      : anthropic
        ? anthropicEvents(reply, model)
        : openaiEvents(reply, model, body.stream_options?.include_usage === true);
  void playStream(response, events, wire, anthropic, headers);
}

async function playStream(
  response: ServerResponse,
  events: StreamEvent[],
  wire: ReplyWire,
  anthropic: boolean,
  headers: Record<string, string>,
): Promise<void> {
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  if (wire.headersDelayMs) await pause(wire.headersDelayMs);
  if (response.destroyed) return;
  response.writeHead(200, {
    ...headers,
    'content-type': wire.contentType ?? 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...(wire.gzip ? { 'content-encoding': 'gzip' } : {}),
  });
  response.flushHeaders();
  if (wire.firstDelayMs) await pause(wire.firstDelayMs);
  const shown = wire.ending && wire.after !== undefined ? events.slice(0, wire.after) : events;
  const frames = shown.map((event, n) => frame(event, wire, n));
  if (wire.ending === 'error') {
    const error = wire.error ?? { type: 'overloaded_error', message: 'Overloaded' };
    const responses = events[0]?.event === 'response.created';
    const event: StreamEvent = responses
      ? {
          event: 'error',
          data: JSON.stringify({
            type: 'error',
            code: error.type,
            message: error.message,
            param: null,
            sequence_number: 99,
          }),
        }
      : anthropic
        ? { event: 'error', data: JSON.stringify({ type: 'error', error }) }
        : { data: JSON.stringify({ error: { ...error, param: null, code: null } }) };
    frames.push(frame(event, wire, frames.length));
  }
  if (wire.bom && frames[0] !== undefined) frames[0] = `\uFEFF${frames[0]}`;
  if (wire.trailer) frames.push(wire.trailer);
  let packets: Buffer[] = frames.map((text) => Buffer.from(text));
  if (wire.gzip) packets = [gzipSync(Buffer.concat(packets))];
  if (wire.cut !== undefined) packets = cut(Buffer.concat(packets), wire.cut);
  for (const packet of packets) {
    if (response.destroyed) return;
    if (!response.write(packet)) await drained(response);
    if (wire.delayMs) await pause(wire.delayMs);
    // Separate packets stay separate reads on the other side only when the socket had a chance to flush.
    else if (wire.cut !== undefined) await new Promise((resolve) => setImmediate(resolve));
  }
  if (wire.ending === 'stall') return;
  if (wire.ending === 'reset') {
    await pause(20);
    response.socket?.resetAndDestroy();
    return;
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

function cut(bytes: Buffer, at: number | readonly number[]): Buffer[] {
  const out: Buffer[] = [];
  if (typeof at === 'number') {
    for (let from = 0; from < bytes.length; from += at) out.push(bytes.subarray(from, from + at));
    return out;
  }
  let from = 0;
  for (const to of [...at, bytes.length]) {
    if (to > from) out.push(bytes.subarray(from, to));
    from = Math.max(from, to);
  }
  return out;
}
