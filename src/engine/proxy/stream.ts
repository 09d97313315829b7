import type { ServerResponse } from 'node:http';
import { messageOf } from '../../shared/errors.ts';
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

/** A provider's answer whose body may be read in another form than it came. */
export interface FlowReply {
  status: number;
  /** Lower-cased names. */
  headers: Record<string, string | string[]>;
  body: Flow;
}

type StreamOutcome = { status: 'answered' } | { status: 'aborted' } | { status: 'failed'; error: WireError };

const CUT_OFF: WireError = { type: 'api_error', message: 'The answer was cut off.' };

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

/** How long a provider may take to close a stream that has said its last word. */
const LINGER_MS = 1000;

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
    let cancelLinger: (() => void) | null = null;

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
    /** The last bytes; `cause` is what ended an answer that has no end. */
    const conclude = (last: Buffer | string, cause: WireError) => {
      const { complete, error } = pump.result();
      const failure = error ?? (complete ? null : cause);
      ending(failure ? { status: 'failed', error: failure } : { status: 'answered' });
      if (last.length > 0) {
        relay.firstByte();
        response.write(last);
      }
      finish();
      response.end();
    };
    const breakOff = (error: WireError) => conclude(pump.fail(error), error);
    /** A provider that has said all need not be waited for. */
    const linger = () => {
      cancelLinger ??= clock.after(LINGER_MS, () => {
        if (!over) conclude(pump.end(), CUT_OFF);
        body.abort();
      });
    };
    const beat = () => {
      cancelBeat = clock.after(relay.heartbeatMs / 2, () => {
        if (over) return;
        const silent = clock.now() - lastAt >= relay.heartbeatMs;
        if (silent && !waiting && !pump.over && pump.atBoundary) response.write(HEARTBEAT[relay.dialect]);
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
          const open = write(out);
          if (pump.over) linger();
          if (pump.silent) conclude('', CUT_OFF);
          return open || over;
        } catch (error) {
          breakOff({ type: 'api_error', message: `The answer could not be read: ${messageOf(error)}` });
          body.abort();
          return true;
        }
      },
      end: () => {
        cancelLinger?.();
        if (!over) conclude(pump.end(), CUT_OFF);
      },
      fail: (error) => {
        cancelLinger?.();
        if (over) return;
        // The client's leaving also breaks the upstream, and may be noticed here first.
        if (response.destroyed) onClose();
        else breakOff(relay.explain(error));
      },
    });
  });
}
