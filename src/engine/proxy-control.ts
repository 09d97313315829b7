import { AppError, messageOf } from '../shared/errors.ts';
import type { Snapshot } from '../shared/status.ts';
import type { HostLock } from './platform/lock.ts';
import type { Clock } from './ports.ts';
import type { ProxyServer } from './proxy/index.ts';

/** The proxy as the handlers drive it; its state is what the snapshot shows. */
export interface ProxyControl {
  state(): Snapshot['proxy'];
  /** What the user should know of how it listens. */
  warnings(): readonly string[];
  start(): Promise<{ host: string; port: number }>;
  stop(): Promise<void>;
}

export interface ProxyControlDeps {
  server: ProxyServer;
  /** The configured port. */
  port: () => number;
  clock: Clock;
  lock: HostLock;
  /** Told after each change. */
  touch: () => void;
}

/** Keeps what the snapshot and `runtime.json` say of the proxy true through starts, stops and failures. */
export function controlProxy(deps: ProxyControlDeps): ProxyControl {
  const { server, clock, lock } = deps;
  let state: Snapshot['proxy'] = { state: 'stopped' };
  let warnings: readonly string[] = [];
  let queue: Promise<unknown> = Promise.resolve();

  const enter = (next: Snapshot['proxy']) => {
    state = next;
    lock.update({ proxy: next.state === 'running' ? { host: next.host, port: next.port } : null });
    deps.touch();
  };
  /** Starts and stops never overlap, however fast the switch is clicked. */
  const inTurn = <T>(step: () => Promise<T>): Promise<T> => {
    const result = queue.then(step, step);
    queue = result.catch(() => {});
    return result;
  };

  return {
    state: () => state,
    warnings: () => warnings,
    start: () =>
      inTurn(async () => {
        if (state.state === 'running') return { host: state.host, port: state.port };
        const port = deps.port();
        enter({ state: 'starting', port });
        try {
          const address = await server.start();
          warnings = address.warnings;
          const startedAt = new Date(clock.now()).toISOString();
          enter({ state: 'running', host: address.host, port: address.port, startedAt });
          return { host: address.host, port: address.port };
        } catch (error) {
          const hint = error instanceof AppError ? (error.hint ?? null) : null;
          enter({ state: 'failed', port, message: messageOf(error), hint });
          throw error;
        }
      }),
    stop: () =>
      inTurn(async () => {
        if (state.state === 'running') await server.stop();
        enter({ state: 'stopped' });
      }),
  };
}
