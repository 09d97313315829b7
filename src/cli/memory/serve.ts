import type { Command } from 'commander';
import { localUrl } from '../../engine/platform/address.ts';
import { statePaths } from '../../engine/platform/paths.ts';
import { AppError } from '../../shared/errors.ts';
import { connectHost, type HostClient } from '../client.ts';
import type { Context } from '../context.ts';
import { createPorts } from '../ports.ts';
import { parsePort } from '../run-options.ts';
import { waitForEnd } from '../wait.ts';

interface ServeOptions {
  port?: number;
  host?: string;
  scope?: string;
  key?: string;
}

/** `metaclaw memory serve`: the original's sidecar, by the host that runs, or by one for memory alone. */
export function addServe(memory: Command, context: Context): void {
  memory
    .command('serve')
    .description('answer as the original’s memory sidecar, for the OpenClaw memory plugin, until interrupted')
    .option('--port <n>', 'port, 19823 unless memory.sidecar.port says otherwise', parsePort)
    .option('--host <address>', 'address, 127.0.0.1 unless memory.sidecar.host says otherwise')
    .option('--scope <scope>', 'scope of calls that name none, e.g. workspace:api')
    .option('--key <key>', 'callers must send it; better kept as memory.sidecar.api_key')
    .addHelpText(
      'after',
      '\nA MetaClaw that runs already serves it. To have it served whenever MetaClaw runs:\n  metaclaw config memory.sidecar.enabled true',
    )
    .action(async (options: ServeOptions) => {
      const host = await connectHost(context.home, context.version);
      if (host === null) await serveAlone(context, options);
      else await serveByHost(context, host, options).finally(() => host.close());
    });
}

/** The running host serves; this command only holds it open, and ends with it. */
async function serveByHost({ terminal }: Context, host: HostClient, options: ServeOptions): Promise<void> {
  const served = await host.call('memory.serve', options);
  if (served.already) {
    terminal.out(`MetaClaw (pid ${host.info.pid}) serves the sidecar already: ${localUrl(served)}`);
    return;
  }
  terminal.out(`The sidecar answers at ${localUrl(served)}, served by MetaClaw (pid ${host.info.pid}).`);
  const wait = waitForEnd();
  const gone = new AbortController();
  try {
    const ended = host
      .events(gone.signal, () => {})
      .then(
        () => 'gone' as const,
        () => 'gone' as const,
      );
    if ((await Promise.race([wait.ended, ended])) === 'gone')
      throw new AppError(
        'NOT_RUNNING',
        `MetaClaw (pid ${host.info.pid}) has ended, and the sidecar with it.`,
      );
    await host.call('memory.unserve', {});
    terminal.out('The sidecar has stopped.');
  } finally {
    gone.abort();
    wait.release();
  }
}

/** An engine for memory alone, in this process. */
async function serveAlone({ env, home, version, terminal }: Context, options: ServeOptions): Promise<void> {
  const ports = createPorts({
    env,
    home,
    version,
    configFile: statePaths(home).config,
    overrides: {},
    logToStderr: true,
  });
  terminal.outlive();
  const { createEngine } = await import('../../engine/index.ts');
  const engine = await createEngine({ ...ports, memoryOnly: true });
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => engine.mishap(error));
  const wait = waitForEnd(engine.bus);
  try {
    await engine.start();
    const served = await engine.call('memory.serve', options);
    terminal.out(`The sidecar answers at ${localUrl(served)}. End it with Ctrl-C.`);
    await wait.ended;
  } finally {
    wait.release();
    await engine.stop();
  }
  terminal.out('The sidecar has stopped.');
}
