import { EventEmitter } from 'node:events';
import type { DemoEvent } from '../shared/contract.ts';
import type { Snapshot } from '../shared/status.ts';

/** Topics whose queries a screen must ask again. */
type Topic =
  | 'turns'
  | 'sessions'
  | 'skills'
  | 'memory'
  | 'proposals'
  | 'config'
  | 'jobs'
  | 'usage'
  | 'agents';

export interface BusEvents {
  snapshot: [Snapshot];
  invalidate: [Topic];
  demo: [DemoEvent];
  /** Somebody asked the host to end (CLI `stop`, tray). */
  quit: [];
}

/** Broadcasts what became visible. Events state facts; nothing in the engine waits for one. */
export class Bus {
  readonly #emitter = new EventEmitter<BusEvents>().setMaxListeners(50);

  emit<K extends keyof BusEvents>(event: K, ...args: BusEvents[K]): void {
    // EventEmitter's own generic signature cannot relate K to its arguments.
    (this.#emitter as EventEmitter).emit(event, ...args);
  }

  /** Whether anybody listens: what is costly to say need not be made for nobody. */
  hears(event: keyof BusEvents): boolean {
    return this.#emitter.listenerCount(event) > 0;
  }

  /** Returns the disposer. */
  on<K extends keyof BusEvents>(event: K, listener: (...args: BusEvents[K]) => void): () => void {
    const emitter = this.#emitter as EventEmitter;
    emitter.on(event, listener);
    return () => emitter.off(event, listener);
  }
}
