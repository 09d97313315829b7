import type { Command } from 'commander';
import { clearStaleHost, isSameProcess, type RuntimeInfo, readHost } from '../engine/platform/lock.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import { connectHost } from './client.ts';
import type { Context } from './context.ts';
import { pollUntil } from './poll.ts';

const STOP_MS = 10_000;

/** `metaclaw stop`: ends the host of the state folder, and nothing else. */
export function addStopCommand(program: Command, context: Context): void {
  program
    .command('stop')
    .description('stop MetaClaw, daemon or tray application, and wait until it is gone')
    .addHelpText('after', '\nExit codes: 0 it is stopped (or did not run), 1 it could not be stopped.')
    .action(async () => {
      const { terminal, home } = context;
      const host = await readHost(home);
      if (host.state === 'none' || (host.state === 'running' && host.info.brief)) {
        terminal.out('MetaClaw is not running.');
        return;
      }
      if (host.state === 'stale') {
        await clearStaleHost(home);
        terminal.out(
          `MetaClaw is not running; a stale record${host.pid === null ? '' : ` of process ${host.pid}`} was removed.`,
        );
        return;
      }
      await stopHost(context, host.info);
      terminal.out(`MetaClaw has stopped (pid ${host.info.pid}).`);
    });
}

async function stopHost(context: Context, info: RuntimeInfo): Promise<void> {
  const asked = info.kind === 'app' || info.identity === null ? await askToQuit(context) : false;
  if (!asked) await signal(info, 'SIGTERM');
  const isGone = async () => ((await isSameProcess(info)) ? null : true);
  if ((await pollUntil(STOP_MS, isGone)) === null) {
    context.terminal.err(`It did not stop in ${STOP_MS / 1000} s and is killed now.`);
    await signal(info, 'SIGKILL');
    if ((await pollUntil(2000, isGone)) === null)
      throw new AppError('CONFLICT', `Process ${info.pid} does not end.`, { hint: 'End it by hand.' });
  }
  await clearStaleHost(context.home);
}

/** True when the host took the request; it then stops by itself. */
async function askToQuit(context: Context): Promise<boolean> {
  try {
    const host = await connectHost(context.home, context.version);
    if (host === null) return false;
    try {
      await host.call('host.quit', {});
      return true;
    } finally {
      await host.close();
    }
  } catch {
    // It hangs, or is of another version: a signal still reaches it.
    return false;
  }
}

/** Signals only the very process that wrote the record; a later owner of its pid is left alone. */
async function signal(info: RuntimeInfo, name: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (info.identity === null)
    throw new AppError(
      'CONFLICT',
      `It cannot be told whether process ${info.pid} is MetaClaw, so it was not signalled.`,
      {
        hint: 'Quit it from its window, or end it by hand.',
      },
    );
  if (!(await isSameProcess(info))) return;
  try {
    process.kill(info.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
    throw new AppError('FORBIDDEN', `Process ${info.pid} cannot be stopped: ${messageOf(error)}`, {
      hint: 'It belongs to another user.',
      cause: error,
    });
  }
}
