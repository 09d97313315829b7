import type { Call } from '../shared/contract.ts';
import type { Snapshot } from '../shared/status.ts';
import type { Bus } from './bus.ts';
import type { Ports } from './ports.ts';

/** The whole product without a screen; hosts build ports and call `createEngine`. */
export interface Engine {
  readonly bus: Bus;
  /** The one door for screens, CLI and tests. */
  readonly call: Call;
  snapshot(): Snapshot;
  /** Starts the proxy and learning. A proxy that cannot listen is reported in the snapshot and by the rejected promise; the engine stays usable. */
  start(): Promise<void>;
  /** Drains running turns (at most 5 s), flushes records, closes everything and gives up the state folder. */
  stop(): Promise<void>;
}

/**
 * Takes the state folder (rejects with ALREADY_RUNNING when another host owns it), loads config, opens the store.
 * Nothing listens until `start`.
 */
export async function createEngine(_ports: Ports): Promise<Engine> {
  throw new Error('not built yet');
}
