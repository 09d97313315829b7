import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bus } from '../../src/engine/bus.ts';
import type { InjectionPlan } from '../../src/engine/inject/index.ts';
import { systemClock } from '../../src/engine/platform/clock.ts';
import { type ProxyDeps, ProxyServer } from '../../src/engine/proxy/index.ts';
import { type OpenTurn, SessionLog } from '../../src/engine/sessions/index.ts';
import { type Database, openDatabase } from '../../src/engine/store/database.ts';
import { Upstream } from '../../src/engine/upstream/index.ts';
import { type Config, configSchema } from '../../src/shared/config.ts';
import { openMeter } from './meter.ts';
import { strictLog } from './sessions.ts';
import { type ScriptedUpstream, startUpstream, type UpstreamOptions } from './upstream.ts';

/** The host's clock, for tests over real sockets. */
export const REAL_CLOCK = systemClock();

export interface ProxyLabOptions {
  wire?: 'openai' | 'anthropic' | 'responses';
  /** Model names: what the provider knows and what else may be asked for. */
  model?: string;
  config?: Record<string, unknown>;
  /** Text that every main turn gets in its system part, unless `compose` is given. */
  inject?: string;
  compose?: ProxyDeps['compose'];
  upstream?: UpstreamOptions;
  deps?: Partial<ProxyDeps>;
}

export interface ProxyLab {
  upstream: ScriptedUpstream;
  proxy: ProxyServer;
  sessions: SessionLog;
  provider: Upstream;
  database: Database;
  /** `http://127.0.0.1:PORT`, without `/v1`. */
  url: string;
  port: number;
  /** What was logged as an error. */
  errors: unknown[];
  config: Config;
  close(): Promise<void>;
}

/** The real proxy with the real session log on a real database, in front of the scripted upstream. */
export async function startProxyLab(options: ProxyLabOptions = {}): Promise<ProxyLab> {
  const wire = options.wire ?? 'openai';
  const upstream = await startUpstream({ apiKey: 'sk-up', ...options.upstream });
  const folder = mkdtempSync(join(tmpdir(), 'proxy-lab-'));
  const { database } = openDatabase(join(folder, 'state.db'));
  const errors: unknown[] = [];
  const log = strictLog(errors);
  const config = configSchema.parse({
    llm: {
      provider: 'custom',
      wire,
      api_base: upstream.url,
      api_key: 'sk-up',
      model_id: options.model ?? 'served',
    },
    proxy: { port: 0 },
    ...options.config,
  });
  const sessions = new SessionLog({ database, clock: REAL_CLOCK, log, bus: new Bus(), config: () => config });
  sessions.start();
  const provider = new Upstream({
    config: () => config,
    clock: REAL_CLOCK,
    log,
    database,
    meter: openMeter(),
  });
  const proxy = new ProxyServer({
    config: () => config,
    clock: REAL_CLOCK,
    log,
    database,
    sessions,
    upstream: provider,
    compose: options.compose ?? ((turn) => addToSystem(turn, options.inject ?? null)),
    feedback: () => {
      throw new Error('no test gives feedback here');
    },
    memory: NO_MEMORY,
    version: '0.0.0-test',
    ...options.deps,
  });
  const { port } = await proxy.start();
  return {
    upstream,
    proxy,
    sessions,
    provider,
    database,
    url: `http://127.0.0.1:${port}`,
    port,
    errors,
    config,
    async close() {
      await proxy.stop();
      sessions.stop();
      await provider.close();
      await upstream.close();
      database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** For tests of the proxy alone: nothing of memory may be asked. */
const NO_MEMORY = new Proxy({} as ProxyDeps['memory'], {
  get: (_target, name) => () => {
    throw new Error(`no test asks memory for ${String(name)} here`);
  },
});

/** A plan that puts one text into the system part. */
export function addToSystem(
  turn: OpenTurn,
  text: string | null,
  messages: InjectionPlan['messages'] = [],
): InjectionPlan {
  const items =
    text === null && messages.length === 0
      ? []
      : [
          {
            kind: 'skill' as const,
            id: 'test-skill',
            title: 'Test',
            place: 'system' as const,
            tokens: 9,
            score: 1,
            reason: 'test',
          },
        ];
  return {
    system: text,
    messages,
    report: { items, leftOut: [], tokens: items.length * 9, skipped: null },
    injection: { ...turn.injection, system: text === null ? null : { text, items } },
  };
}
