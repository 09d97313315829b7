import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programs } from '../programs.ts';

/** A home and a workspace of a client's own. */
export interface Home {
  home: string;
  workspace: string;
  /** All that the client's programs get to know. */
  env: NodeJS.ProcessEnv;
  remove(): Promise<void>;
}

/** Reached by nothing: whatever does not go to this machine fails at once. */
export const NOWHERE = 'http://127.0.0.1:9';

export async function makeHome(): Promise<Home> {
  const root = await mkdtemp(join(tmpdir(), 'metaclaw-client-'));
  const home = join(root, 'home');
  const workspace = join(root, 'workspace');
  await mkdir(home);
  await mkdir(workspace);
  const env: NodeJS.ProcessEnv = {
    HOME: home,
    PATH: [programs.nodeFolder, '/usr/local/bin', '/usr/bin', '/bin'].filter(Boolean).join(':'),
    TMPDIR: root,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    CI: '1',
    DO_NOT_TRACK: '1',
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    NO_PROXY: '127.0.0.1,localhost',
  };
  return { home, workspace, env, remove: () => rm(root, { recursive: true, force: true, maxRetries: 5 }) };
}

/** The JSON object that a client printed after whatever else it had to say; an empty one where there is none. */
export function lastJson(text: string): Record<string, unknown> {
  const from = text.search(/^\{/m);
  try {
    return JSON.parse(text.slice(from)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
