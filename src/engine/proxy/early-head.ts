import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Dialect } from '../../shared/model.ts';
import type { Clock } from '../ports.ts';
import { HEARTBEAT } from './pump.ts';

export interface EarlyHeadOptions {
  response: ServerResponse;
  dialect: Dialect;
  clock: Clock;
  heartbeatMs: number;
  /** Headers of ours, as they are known when the head has to go out. */
  headers: OutgoingHttpHeaders;
}

/** What every event stream of ours says about itself. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

/**
 * A provider may think for minutes before its response even begins. A client that asked for a stream then gets the
 * head and signs of life (S46); what follows, be it an answer or an error, goes into that stream.
 */
export class EarlyHead {
  readonly #options: EarlyHeadOptions;
  #cancel = () => {};
  #isSent = false;

  constructor(options: EarlyHeadOptions) {
    this.#options = options;
    this.#wait();
    options.response.once('close', () => this.end());
  }

  /** From now on somebody else writes. True when the head is out already. */
  end(): boolean {
    this.#cancel();
    return this.#isSent;
  }

  #wait(): void {
    const { clock, heartbeatMs } = this.#options;
    this.#cancel = clock.after(heartbeatMs, () => this.#beat());
  }

  #beat(): void {
    const { response, dialect, headers } = this.#options;
    if (response.destroyed) return;
    if (!this.#isSent) {
      response.writeHead(200, { ...headers, ...STREAM_HEADERS });
      this.#isSent = true;
    }
    response.write(HEARTBEAT[dialect]);
    this.#wait();
  }
}
