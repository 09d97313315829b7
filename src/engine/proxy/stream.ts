import type { ServerResponse } from 'node:http';
import type { Dialect } from '../../shared/model.ts';
import type { Clock } from '../ports.ts';
import type { BodySink } from '../upstream/index.ts';
import { HEARTBEAT, type Pump } from './pump.ts';
import type { WireError } from './translate/types.ts';

/** A body of an upstream answer, decoded or not. */
export interface Flow {
  pipe(sink: BodySink): void;
  resume(): void;
  abort(): void;
}

type StreamOutcome = { status: 'answered' } | { status: 'aborted' } | { status: 'failed'; error: WireError };

export interface StreamRelay {
  body: Flow;
  /** Its head has been sent. */
  response: ServerResponse;
  pump: Pump;
  dialect: Dialect;
  clock: Clock;
  heartbeatMs: number;
  firstByte: () => void;
  /** Called once, before the last bytes go out; must not throw. */
  ending: (outcome: StreamOutcome) => void;
  /** Words for what broke the upstream stream. */
  explain: (error: Error) => WireError;
}

/**
 * Hands an event stream on as it arrives. A slow client slows the upstream down, a client that leaves ends it, and an
 * upstream that breaks is reported in-band. Resolves when nothing more will be written.
 */
export function relayStream(relay: StreamRelay): Promise<void> {
  const { body, response, pump, clock } = relay;
  return new Promise((resolve) => {
    let over = false;
    let told = false;
    let waiting = false;
    let lastAt = clock.now();
    let cancelBeat = () => {};

    const ending = (outcome: StreamOutcome) => {
      if (told) return;
      told = true;
      relay.ending(outcome);
    };
    const finish = () => {
      over = true;
      cancelBeat();
      response.off('close', onClose);
      resolve();
    };
    const onClose = () => {
      if (over) return;
      ending({ status: 'aborted' });
      finish();
      body.abort();
    };
    const write = (bytes: Buffer | string): boolean => {
      if (bytes.length === 0) return !waiting;
      relay.firstByte();
      if (response.write(bytes) || waiting) return !waiting;
      waiting = true;
      response.once('drain', () => {
        waiting = false;
        if (!over) body.resume();
      });
      return false;
    };
    const breakOff = (error: WireError) => {
      const last = pump.fail(error);
      ending({ status: 'failed', error });
      if (last !== '') response.write(last);
      finish();
      response.end();
    };
    const beat = () => {
      cancelBeat = clock.after(relay.heartbeatMs / 2, () => {
        if (over) return;
        const silent = clock.now() - lastAt >= relay.heartbeatMs;
        if (silent && !waiting && !pump.ended && pump.atBoundary) response.write(HEARTBEAT[relay.dialect]);
        beat();
      });
    };

    response.on('close', onClose);
    beat();
    body.pipe({
      data: (chunk) => {
        if (over) return true;
        lastAt = clock.now();
        try {
          const out = pump.push(chunk);
          if (pump.ended) ending({ status: 'answered' });
          return write(out);
        } catch (error) {
          breakOff({ type: 'api_error', message: `The answer could not be read: ${String(error)}` });
          body.abort();
          return true;
        }
      },
      end: () => {
        if (over) return;
        const last = pump.end();
        const { complete, error } = pump.result();
        const failed = error ?? (complete ? null : { type: 'api_error', message: 'The answer was cut off.' });
        ending(failed ? { status: 'failed', error: failed } : { status: 'answered' });
        if (last.length > 0) {
          relay.firstByte();
          response.write(last);
        }
        finish();
        response.end();
      },
      fail: (error) => {
        if (over) return;
        // The client's leaving also breaks the upstream, and may be noticed here first.
        if (response.destroyed) onClose();
        else breakOff(relay.explain(error));
      },
    });
  });
}
