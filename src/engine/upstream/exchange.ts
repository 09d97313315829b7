import type { Readable } from 'node:stream';
import { type Dispatcher, errors, Pool, ProxyAgent } from 'undici';
import { AppError } from '../../shared/errors.ts';
import { type Env, envProxyFor } from './env-proxy.ts';
import { ProxyTrouble } from './failure.ts';

export interface ExchangeRequest {
  origin: string;
  /** Path and query. */
  path: string;
  method: string;
  headers: Record<string, string | string[]>;
  body: Uint8Array | Readable | null;
  signal?: AbortSignal;
  /** Milliseconds until the response headers; 30 minutes by default: a long answer is no failure. */
  headersTimeoutMs?: number;
}

/** Receives a body; returning false from `data` asks for a pause until `resume`. */
export interface BodySink {
  data(chunk: Buffer): boolean;
  end(): void;
  fail(error: Error): void;
}

const LONG_MS = 30 * 60_000;
const CONNECT_MS = 10_000;

/** A response body that waits until somebody takes it; chunks are handed on as they arrive. */
export class ReplyBody {
  #sink: BodySink | null = null;
  #resume: () => void = () => {};
  #abort: (error?: Error) => void = () => {};
  #end: { error: Error | null } | null = null;

  /** Starts the flow. */
  pipe(sink: BodySink): void {
    this.#sink = sink;
    if (this.#end) this.#finish(sink, this.#end.error);
    else this.#resume();
  }

  resume(): void {
    this.#resume();
  }

  /** Closes the upstream connection; the sink gets `fail`. */
  abort(): void {
    this.#abort(new errors.RequestAbortedError());
  }

  /** The whole body; rejects beyond `limitBytes`. */
  bytes(limitBytes = 256 * 1024 * 1024): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      this.pipe({
        data: (chunk) => {
          size += chunk.length;
          if (size > limitBytes) this.#abort(new Error(`the answer is larger than ${limitBytes} bytes`));
          chunks.push(chunk);
          return true;
        },
        end: () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
        fail: reject,
      });
    });
  }

  /** For whoever sends the body. */
  attach(resume: () => void, abort: (error?: Error) => void): void {
    this.#resume = resume;
    this.#abort = abort;
  }

  push(chunk: Buffer): boolean {
    return this.#sink?.data(chunk) ?? false;
  }

  finish(error: Error | null): void {
    if (this.#end) return;
    this.#end = { error };
    if (this.#sink) this.#finish(this.#sink, error);
  }

  #finish(sink: BodySink, error: Error | null): void {
    if (error) sink.fail(error);
    else sink.end();
  }
}

export interface UpstreamReply {
  status: number;
  /** Lower-cased names. */
  headers: Record<string, string | string[]>;
  body: ReplyBody;
}

/** HTTP connections to providers, pooled per origin and kept open between an agent's calls. */
export class Connections {
  readonly #env: Env;
  readonly #pools = new Map<string, Dispatcher>();

  /** `env` may name proxies for addresses that are not on this machine. */
  constructor(env: Env = {}) {
    this.#env = env;
  }

  /**
   * Sends one request; resolves with the response's head. A kept connection that the other side had closed in the
   * meantime is replaced once when not a byte of an answer arrived: nothing was processed then.
   */
  async send(request: ExchangeRequest): Promise<UpstreamReply> {
    try {
      return await this.#dispatch(request);
    } catch (error) {
      if (!isStaleConnection(error) || (request.body !== null && !(request.body instanceof Uint8Array)))
        throw this.#withProxy(error, request.origin);
      return this.#dispatch(request);
    }
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #pool(origin: string): Dispatcher {
    let pool = this.#pools.get(origin);
    if (!pool) {
      const options = {
        pipelining: 1,
        connect: { timeout: CONNECT_MS },
        autoSelectFamily: true,
        headersTimeout: LONG_MS,
        bodyTimeout: LONG_MS,
        keepAliveTimeout: 15_000,
      };
      const proxy = envProxyFor(origin, this.#env);
      pool =
        proxy === null
          ? new Pool(origin, options)
          : new ProxyAgent({ ...options, uri: proxy, proxyTls: { timeout: CONNECT_MS } });
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  /** Behind a proxy, a connection that fails is the proxy's, not the provider's. */
  #withProxy(error: unknown, origin: string): unknown {
    const proxy = error instanceof AppError ? null : envProxyFor(origin, this.#env);
    return proxy === null ? error : new ProxyTrouble(proxy, error);
  }

  #dispatch(request: ExchangeRequest): Promise<UpstreamReply> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(new errors.RequestAbortedError());
        return;
      }
      const body = new ReplyBody();
      let abort: ((error?: Error) => void) | null = null;
      let begun = false;
      const onAbort = () => {
        const error = new errors.RequestAbortedError();
        if (abort) abort(error);
        else finish(error);
      };
      const finish = (error: Error | null) => {
        signal?.removeEventListener('abort', onAbort);
        if (begun) body.finish(error);
        else reject(error ?? new Error('the provider closed the connection without an answer'));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pool(request.origin).dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: request.method as Dispatcher.HttpMethod,
          headers: request.headers,
          body: request.body,
          ...(request.headersTimeoutMs === undefined ? {} : { headersTimeout: request.headersTimeoutMs }),
        },
        {
          onConnect: (abortRequest) => {
            abort = abortRequest;
            if (signal?.aborted) abortRequest(new errors.RequestAbortedError());
          },
          onHeaders: (status, rawHeaders, resume) => {
            if (status < 200) return true;
            begun = true;
            body.attach(resume, (error) => abort?.(error));
            resolve({ status, headers: headersOf(rawHeaders), body });
            // Nobody listens yet; the flow starts with `pipe`.
            return false;
          },
          onData: (chunk) => body.push(chunk),
          onComplete: () => finish(null),
          onError: finish,
        },
      );
    });
  }
}

function headersOf(raw: readonly Buffer[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = String(raw[at]).toLowerCase();
    const value = (raw[at + 1] as Buffer).toString('latin1');
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else headers[name] = Array.isArray(before) ? [...before, value] : [before, value];
  }
  return headers;
}

function isStaleConnection(error: unknown): boolean {
  const { code, socket } = error as { code?: string; socket?: { bytesRead?: number } | null };
  return (
    (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') && (socket?.bytesRead ?? 0) > 0
  );
}
