import { ConfigFile } from '../engine/platform/config-file.ts';
import { silentLogger } from '../engine/platform/logger.ts';
import { statePaths } from '../engine/platform/paths.ts';
import { FileSecretStore } from '../engine/platform/secrets.ts';
import type { Call } from '../shared/contract.ts';
import { connectHost } from './client.ts';
import { createPorts } from './ports.ts';
import type { Terminal } from './terminal.ts';

/** What every command is given; nothing reads the process's environment but the program's entry. */
export interface Context {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly version: string;
  /** Node and the program file, to start a daemon with. */
  readonly command: readonly [node: string, script: string];
  /** Ends the command with this exit code once its output is written. */
  exit(code: number): void;
}

/**
 * Runs `use` with the engine's calls: those of the running host, or else of an engine that lives for this command
 * only and listens to nothing. `library` makes such an engine read the skill library first.
 */
export async function withCalls<T>(
  context: Context,
  use: (call: Call, live: boolean) => Promise<T>,
  { library = false }: { library?: boolean } = {},
): Promise<T> {
  const host = await connectHost(context.home, context.version);
  if (host !== null) {
    try {
      return await use(host.call, true);
    } finally {
      await host.close();
    }
  }
  const { env, home, version } = context;
  const ports = createPorts({
    env,
    home,
    configFile: statePaths(home).config,
    version,
    overrides: {},
    logToStderr: false,
  });
  // Loaded on demand: most commands need no engine, and start faster without it.
  const { createEngine } = await import('../engine/index.ts');
  const engine = await createEngine({ ...ports, brief: true });
  try {
    if (library) await engine.start();
    return await use(engine.call, false);
  } finally {
    await engine.stop();
  }
}

/** The config file itself, for commands that work without a host. */
export function openConfigFile(context: Context, path: string = statePaths(context.home).config): ConfigFile {
  const paths = statePaths(context.home, path);
  const file = new ConfigFile({
    path: paths.config,
    lastGood: paths.lastGoodConfig,
    secrets: new FileSecretStore(paths.secrets),
    env: context.env,
    overrides: {},
    log: silentLogger(),
  });
  file.load();
  return file;
}
