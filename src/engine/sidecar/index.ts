import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../../shared/config.ts';
import { isLoopback } from '../../shared/config-rules.ts';
import type { RouteOutput } from '../../shared/contract.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { findPortOwner } from '../platform/port-owner.ts';
import type { Clock } from '../ports.ts';
import { createSidecarApp, type Retrieve, type SidecarMemory } from './app.ts';

/** Where the sidecar answers and for whom; each part is `memory.sidecar.*` where it is left out. */
export interface SidecarWish {
  host?: string | undefined;
  port?: number | undefined;
  scope?: string | undefined;
  key?: string | undefined;
}

export interface SidecarDeps {
  memory: SidecarMemory;
  retrieve: Retrieve;
  config: () => Config;
  clock: Clock;
  log: Logger;
  /** Told when it began or ceased to answer. */
  touch: () => void;
}

const DRAIN_MS = 1000;

interface Running {
  server: Server;
  address: { host: string; port: number };
  settings: Settings;
  /** Asked for by a command; otherwise by `memory.sidecar.enabled`. */
  byCommand: boolean;
}

type Settings = Required<{ [K in keyof SidecarWish]: NonNullable<SidecarWish[K]> }>;

/**
 * The HTTP service of the original's memory sidecar, on a port of its own: for the OpenClaw memory plugin and others
 * that know it. It runs in the engine, on the same store as everything else.
 */
export class Sidecar {
  readonly #deps: SidecarDeps;
  #running: Running | null = null;
  #failure: string | null = null;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(deps: SidecarDeps) {
    this.#deps = deps;
  }

  state(): RouteOutput<'memory.sidecar'> {
    return { address: this.#running?.address ?? null, failure: this.#failure };
  }

  /** Does what the configuration says. What fails is told by `warnings`; nothing else depends on it. */
  follow(): Promise<void> {
    return this.#inTurn(async () => {
      const { enabled } = this.#deps.config().memory.sidecar;
      const running = this.#running;
      if (running?.byCommand) return;
      const wanted = enabled ? this.#settings({}) : null;
      if (running !== null && wanted !== null && same(running.settings, wanted)) return;
      await this.#close();
      this.#failure = null;
      if (wanted === null) return;
      try {
        await this.#open(wanted, false);
      } catch (error) {
        this.#failure = messageOf(error);
        this.#deps.log.warn({ err: error }, 'the memory sidecar cannot be served');
      }
    });
  }

  /** Serves until `stop` or `unserve`. Throws PORT_IN_USE, CONFIG_INVALID, and CONFLICT when it is served elsewhere. */
  serve(wish: SidecarWish): Promise<RouteOutput<'memory.serve'>> {
    return this.#inTurn(async () => {
      const wanted = this.#settings(wish);
      const running = this.#running;
      if (running !== null) {
        const isWanted = same({ ...running.settings, port: running.address.port }, wanted);
        if (isWanted || same(running.settings, wanted)) return { ...running.address, already: true };
        throw new AppError('CONFLICT', `The sidecar is served at ${spell(running.address)} already.`, {
          hint: 'Stop that one first, or leave host, port, scope and key out to use it.',
        });
      }
      const { address } = await this.#open(wanted, true);
      this.#failure = null;
      return { ...address, already: false };
    });
  }

  /** Ends what a command asked for; what the configuration asks for goes on. */
  unserve(): Promise<null> {
    return this.#inTurn(async () => {
      if (this.#running?.byCommand) await this.#close();
      return null;
    });
  }

  stop(): Promise<void> {
    return this.#inTurn(() => this.#close());
  }

  warnings(): string[] {
    return this.#failure === null ? [] : [`The memory sidecar is not served: ${this.#failure}`];
  }

  #settings({ host, port, scope, key }: SidecarWish): Settings {
    const { sidecar } = this.#deps.config().memory;
    const settings = {
      host: (host ?? sidecar.host).trim() || '127.0.0.1',
      port: port ?? sidecar.port,
      scope: scope ?? sidecar.scope,
      key: key ?? sidecar.api_key,
    };
    if (settings.host === 'localhost') settings.host = '127.0.0.1';
    if (!isLoopback(settings.host) && settings.key === '')
      throw new AppError(
        'CONFIG_INVALID',
        `Other computers reach ${settings.host}, so the sidecar needs a key there.`,
        {
          hint: 'Set memory.sidecar.api_key, or leave memory.sidecar.host at 127.0.0.1.',
          field: 'memory.sidecar.api_key',
        },
      );
    return settings;
  }

  async #open(settings: Settings, byCommand: boolean): Promise<Running> {
    const { memory, retrieve, config, log } = this.#deps;
    const { host, port, scope, key } = settings;
    const listener = { host, port, ownKey: key };
    const server = createServer(
      { headersTimeout: 10_000, requestTimeout: 60_000, maxHeaderSize: 32 * 1024 },
      createSidecarApp({
        memory,
        retrieve,
        listener,
        scope: () => scope || config().memory.scope,
        allowedHosts: () => config().proxy.allowed_hosts,
        log,
      }),
    );
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port, exclusive: true }, resolve);
      });
    } catch (error) {
      throw await listenError(error, settings);
    }
    const address = { host, port: (server.address() as AddressInfo).port };
    const running: Running = { server, address, settings, byCommand };
    this.#running = running;
    log.info(address, 'the memory sidecar answers');
    this.#deps.touch();
    return running;
  }

  async #close(): Promise<void> {
    const server = this.#running?.server;
    this.#running = null;
    if (!server) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
      // Whoever is being answered gets the answer, unless it takes long.
      this.#deps.clock.after(DRAIN_MS, () => server.closeAllConnections());
    });
    this.#deps.touch();
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(step, step);
    this.#queue = result.catch(() => {});
    return result;
  }
}

function same(a: Settings, b: Settings): boolean {
  return a.host === b.host && a.port === b.port && a.scope === b.scope && a.key === b.key;
}

function spell({ host, port }: { host: string; port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function listenError(error: unknown, { host, port }: Settings): Promise<unknown> {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    const owner = await findPortOwner(port);
    const by = owner ? `by ${owner.name} (process ${owner.pid})` : 'by another program';
    return new AppError('PORT_IN_USE', `Port ${port} is already in use ${by}.`, {
      hint: 'If that is the original’s own sidecar, end it; or choose another port: metaclaw memory serve --port PORT',
      field: 'memory.sidecar.port',
      cause: error,
    });
  }
  if (code === 'EACCES')
    return new AppError('CONFIG_INVALID', `Port ${port} needs administrator rights.`, {
      hint: 'Choose a port above 1023.',
      field: 'memory.sidecar.port',
    });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new AppError('CONFIG_INVALID', `This computer has no address ${host}.`, {
      hint: 'Set memory.sidecar.host to 127.0.0.1.',
      field: 'memory.sidecar.host',
    });
  return error;
}
