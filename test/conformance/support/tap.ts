import {
  createServer,
  request as forward,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as the client sent it, before MetaClaw saw it. */
export interface Tapped {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
  status: number;
  replyHeaders: IncomingMessage['headers'];
  /** From the end of the request to the first byte of the answer. */
  firstByteMs: number;
}

/**
 * Stands between a client and MetaClaw and keeps what passes: the only witness of a client's own bytes that is not
 * MetaClaw itself. A request waits until the one before it is being answered, so that requests stand in one order here,
 * in MetaClaw's records and at the provider.
 */
export class Tap {
  readonly requests: Tapped[] = [];
  #before: Promise<void> = Promise.resolve();
  readonly #server: Server;
  readonly #target: URL;

  constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', () => {});
      incoming.on('end', () => {
        this.#before = this.#before.then(() => this.#pass(incoming, Buffer.concat(chunks), outgoing));
      });
    });
  }

  /** `http://127.0.0.1:PORT`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  /** Resolves when the answer begins, or will not come. */
  #pass(incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const { hostname, port, host } = this.#target;
    return new Promise((resolve) => {
      const start = performance.now();
      const onward = forward({ hostname, port, method, path, headers: { ...headers, host } }, (reply) => {
        const { statusCode: status = 502, headers: replyHeaders } = reply;
        const firstByteMs = performance.now() - start;
        this.requests.push({ method, path, headers, body, status, replyHeaders, firstByteMs });
        outgoing.writeHead(status, replyHeaders);
        reply.on('error', () => outgoing.destroy());
        reply.pipe(outgoing);
        resolve();
      });
      onward.on('error', () => outgoing.destroy());
      outgoing.on('close', () => {
        onward.destroy();
        resolve();
      });
      onward.end(body);
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
