import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { connectHost, type HostClient } from '../../../src/cli/client.ts';
import type { Dialect, TurnSummary } from '../../../src/shared/model.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { PROXY_KEY } from './clients/kind.ts';
import { runProgram } from './process.ts';
import { Tap } from './tap.ts';

/** The name under which clients ask for the model; the provider has it under the same one. */
export const MODEL = 'big-model';
export const EVOLVER = 'evolver';

/** The provider's key. */
const PROVIDER_KEY = 'sk-provider-conformance';
const cli = resolve('out/main/cli.cjs');

/** A provider, a whole MetaClaw as its users start it, and a tap where clients come in. */
export interface Lab {
  upstream: ScriptedUpstream;
  tap: Tap;
  host: HostClient;
  /** Every recorded turn, oldest first. */
  turns(): Promise<TurnSummary[]>;
  /** The daemon's log, for a failure. */
  log(): Promise<string>;
  close(): Promise<void>;
}

/** Starts them; `wire` is what the provider speaks. */
export async function startLab(wire: Dialect): Promise<Lab> {
  const upstream = await startUpstream({ apiKey: PROVIDER_KEY, models: [MODEL, EVOLVER] });
  const home = await mkdtemp(join(tmpdir(), 'metaclaw-conformance-'));
  const config = {
    mode: 'skills_only',
    proxy: { api_key: PROXY_KEY },
    llm: { provider: 'custom', wire, api_base: upstream.url, api_key: PROVIDER_KEY, model_id: MODEL },
    rl: { evolver_model: EVOLVER },
    skills: { auto_accept: 'ask' },
    learning: { holdout: 0 },
  };
  await writeFile(join(home, 'config.yaml'), stringify(config), { mode: 0o600 });
  const env = { PATH: process.env.PATH, HOME: home, METACLAW_HOME: home };
  const metaclaw = (...args: string[]) =>
    runProgram([process.execPath, cli, ...args], { env, timeoutMs: 30_000 });
  const log = () => readFile(join(home, 'logs', 'daemon-metaclaw.log'), 'utf8').catch(() => '(no log)');

  const started = await metaclaw('start', '--daemon', '--port', '0');
  if (started.code !== 0) throw new Error(`metaclaw start failed:\n${started.stderr}\n${await log()}`);
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  const host = await connectHost(home, version);
  if (host?.info.proxy == null) throw new Error(`MetaClaw does not run:\n${await log()}`);
  const tap = new Tap(`http://127.0.0.1:${host.info.proxy.port}`);
  await tap.listen();
  return {
    upstream,
    tap,
    host,
    turns: async () => (await host.call('turns.list', { limit: 500 })).turns.reverse(),
    log,
    close: async () => {
      await host.close();
      await metaclaw('stop');
      await tap.close();
      await upstream.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
