import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../engine/platform/clock.ts';
import { statePaths } from '../engine/platform/paths.ts';
import { FileSecretStore } from '../engine/platform/secrets.ts';
import type { Ports } from '../engine/ports.ts';

export interface NodeHost {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  configFile: string;
  version: string;
  overrides: Readonly<Record<string, unknown>>;
  logToStderr: boolean;
}

/** The engine's ports for plain Node: a secret file instead of a keychain. */
export function createPorts(host: NodeHost): Ports {
  return {
    host: 'daemon',
    version: host.version,
    home: host.home,
    configFile: host.configFile,
    skillsBank: findSkillsBank(),
    env: host.env,
    clock: systemClock(),
    secrets: new FileSecretStore(statePaths(host.home).secrets),
    overrides: host.overrides,
    logToStderr: host.logToStderr,
  };
}

/** The built-in skills stand beside the program, wherever the bundler put this file in it. */
export function findSkillsBank(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const bank = join(dir, 'skills-bank');
    if (existsSync(bank)) return bank;
    const parent = dirname(dir);
    if (parent === dir) return bank;
    dir = parent;
  }
}
