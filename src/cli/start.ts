import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Engine } from '../engine/index.ts';
import { localUrl } from '../engine/platform/address.ts';
import { expandHome, statePaths } from '../engine/platform/paths.ts';
import { AppError } from '../shared/errors.ts';
import type { Mode } from '../shared/model.ts';
import type { Snapshot } from '../shared/status.ts';
import { connectHost } from './client.ts';
import type { Context } from './context.ts';
import { startDaemon } from './daemon.ts';
import { createPorts } from './ports.ts';
import { modeOption, parsePort } from './run-options.ts';
import type { Terminal } from './terminal.ts';
import { waitForEnd } from './wait.ts';

interface StartOptions {
  mode?: Mode;
  port?: number;
  config?: string;
  daemon?: boolean;
  logFile?: string;
}

/** `metaclaw start`: the engine in this process, or in a detached one. */
export function addStartCommand(program: Command, context: Context): void {
  program
    .command('start')
    .description('start the proxy; flags hold for this run only')
    .addOption(modeOption())
    .option('--port <n>', 'port of the proxy', parsePort)
    .option('-c, --config <file>', 'another config file')
    .option('-d, --daemon', 'run in the background; returns when the proxy answers')
    .option('--log-file <file>', 'what the daemon prints goes here')
    .action(async (options: StartOptions) => {
      if (options.logFile !== undefined && !options.daemon)
        throw new AppError('BAD_INPUT', '--log-file goes with --daemon.', {
          hint: 'In the foreground the log is shown here.',
        });
      const configFile = options.config === undefined ? undefined : resolve(expandHome(options.config));
      if (configFile !== undefined && statSync(configFile, { throwIfNoEntry: false })?.isFile() !== true)
        throw new AppError('NOT_FOUND', `There is no file ${configFile}.`, { field: 'config' });
      if (options.daemon) await startInBackground(context, options, configFile);
      else await startHere(context, options, configFile);
    });
}

async function startInBackground(
  context: Context,
  options: StartOptions,
  configFile: string | undefined,
): Promise<void> {
  const logFile = resolve(
    options.logFile === undefined ? statePaths(context.home).daemonLog : expandHome(options.logFile),
  );
  const args = [
    ...(options.mode === undefined ? [] : ['--mode', options.mode]),
    ...(options.port === undefined ? [] : ['--port', String(options.port)]),
    ...(configFile === undefined ? [] : ['--config', configFile]),
  ];
  const info = await startDaemon(context, args, logFile);
  const { terminal } = context;
  terminal.out(`MetaClaw runs in the background. PID=${info.pid}`);
  if (info.proxy !== null) terminal.out(addresses(info.proxy));
  terminal.out(`Log: ${logFile}`);
  terminal.out('See how it is: metaclaw status. End it: metaclaw stop.');
  const snapshot = await snapshotOf(context);
  if (snapshot !== null) remark(snapshot, terminal);
}

/** The daemon’s own output goes to the log; what it has to say is asked for. */
async function snapshotOf({ home, version }: Context): Promise<Snapshot | null> {
  try {
    const host = await connectHost(home, version);
    return host === null ? null : await host.call('app.snapshot', {}).finally(() => host.close());
  } catch {
    return null;
  }
}

/** Runs until a signal or `host.quit`; then stops cleanly and ends with 0. */
async function startHere(
  context: Context,
  options: StartOptions,
  configFile: string | undefined,
): Promise<void> {
  const { env, home, version, terminal } = context;
  const ports = createPorts({
    env,
    home,
    version,
    configFile: configFile ?? statePaths(home).config,
    overrides: {
      ...(options.mode === undefined ? {} : { mode: options.mode }),
      ...(options.port === undefined ? {} : { 'proxy.port': options.port }),
    },
    logToStderr: true,
  });
  terminal.outlive();
  const { createEngine } = await import('../engine/index.ts');
  const engine = await createEngine(ports);
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => engine.mishap(error));
  const wait = waitForEnd(engine.bus);
  try {
    await Promise.race([engine.start(), wait.ended]);
    greet(engine, terminal);
    await wait.ended;
  } finally {
    wait.release();
    await engine.stop();
  }
  terminal.out('MetaClaw has stopped.');
}

function greet(engine: Engine, terminal: Terminal): void {
  const snapshot = engine.snapshot();
  if (snapshot.proxy.state !== 'running') return;
  terminal.out(`MetaClaw is ready. ${addresses(snapshot.proxy)}`);
  remark(snapshot, terminal);
}

/** What keeps a proxy that runs from being of use. */
function remark({ provider, warnings }: Snapshot, terminal: Terminal): void {
  if (!provider.configured) terminal.out('No provider is set yet, so nobody can answer: run metaclaw setup.');
  for (const warning of warnings) terminal.err(`warning: ${warning}`);
}

function addresses(proxy: { host: string; port: number }): string {
  const base = localUrl(proxy);
  return `OpenAI base URL: ${base}/v1   Anthropic base URL: ${base}`;
}
