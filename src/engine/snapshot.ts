import type { Config } from '../shared/config.ts';
import type { Snapshot } from '../shared/status.ts';
import type { Bus } from './bus.ts';
import { localUrl } from './platform/address.ts';
import type { Clock } from './ports.ts';

/** At most so many snapshots a second reach the screens. */
const INTERVAL_MS = 250;

/** Sends a fresh snapshot when told that something changed: at once, then at most four times a second. */
export class SnapshotFeed {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #build: () => Snapshot;
  #waiting: (() => void) | null = null;
  #lastAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(deps: { bus: Bus; clock: Clock; build: () => Snapshot }) {
    this.#bus = deps.bus;
    this.#clock = deps.clock;
    this.#build = deps.build;
  }

  /** Something visible changed. Cheap: the snapshot is built when it is sent, and only when somebody listens. */
  touch(): void {
    if (this.#waiting !== null || this.#stopped) return;
    const waitMs = Math.max(0, this.#lastAt + INTERVAL_MS - this.#clock.now());
    this.#waiting = this.#clock.after(waitMs, () => {
      this.#waiting = null;
      this.#lastAt = this.#clock.now();
      if (this.#bus.hears('snapshot')) this.#bus.emit('snapshot', this.#build());
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting?.();
    this.#waiting = null;
  }
}

/** Where agents reach the proxy, and a request to try it with. */
export function endpoints(
  proxy: Snapshot['proxy'],
  config: Config,
): { openai: string; anthropic: string; model: string; keySet: boolean; curl: string } {
  const address =
    proxy.state === 'running'
      ? { host: proxy.host, port: proxy.port }
      : { host: '127.0.0.1', port: config.proxy.port };
  const base = localUrl(address);
  const model = config.llm.model_id || 'metaclaw';
  const keySet = config.proxy.api_key !== '';
  const key = keySet ? ` -H 'Authorization: Bearer KEY'` : '';
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  return {
    openai: `${base}/v1`,
    anthropic: base,
    model,
    keySet,
    curl: `curl ${base}/v1/chat/completions -H 'Content-Type: application/json'${key} -d '${body.replaceAll("'", `'\\''`)}'`,
  };
}
