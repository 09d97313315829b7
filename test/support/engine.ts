import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { createEngine, type Engine } from '../../src/engine/index.ts';
import { systemClock } from '../../src/engine/platform/clock.ts';
import { FileSecretStore } from '../../src/engine/platform/secrets.ts';
import type { Ports } from '../../src/engine/ports.ts';

export interface TestEngine {
  engine: Engine;
  home: string;
  /** Base of the OpenAI routes, e.g. `http://127.0.0.1:41234/v1`. */
  openai: string;
  anthropic: string;
  /** Stops the engine and starts another one on the same state folder. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** A whole engine on a throw-away state folder and a free port. `config` is the user's file. */
export async function startEngine(
  config: Record<string, unknown>,
  over: Partial<Ports> = {},
): Promise<TestEngine> {
  const home = await mkdtemp(join(tmpdir(), 'metaclaw-test-'));
  const configFile = join(home, 'config.yaml');
  // What is withheld is drawn by lot: tests that want it say so.
  await writeFile(configFile, stringify({ learning: { holdout: 0 }, ...config }), { mode: 0o600 });
  const ports: Ports = {
    host: 'daemon',
    version: '0.0.0-test',
    home,
    configFile,
    skillsBank: resolve('skills-bank'),
    env: {},
    clock: systemClock(),
    secrets: new FileSecretStore(join(home, 'secrets.json')),
    overrides: { 'proxy.port': 0 },
    logToStderr: false,
    ...over,
  };
  const result = { home } as TestEngine;
  const begin = async () => {
    result.engine = await createEngine(ports);
    await result.engine.start();
    const endpoints = await result.engine.call('proxy.endpoints', {});
    result.openai = endpoints.openai;
    result.anthropic = endpoints.anthropic;
  };
  await begin();
  result.restart = async () => {
    await result.engine.stop();
    await begin();
  };
  result.close = async () => {
    await result.engine.stop();
    await rm(home, { recursive: true, force: true });
  };
  return result;
}
