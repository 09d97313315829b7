import { Argument, type Command } from 'commander';
import { systemClock } from '../engine/platform/clock.ts';
import type { DoctorCheck } from '../shared/contract.ts';
import { AppError } from '../shared/errors.ts';
import { connectHost } from './client.ts';
import { openSettings, wantsJson } from './config.ts';
import { type Context, withCalls } from './context.ts';
import { findSkillsBank } from './ports.ts';

const MARKS: Record<DoctorCheck['state'], string> = {
  ok: 'ok     ',
  warning: 'warning',
  problem: 'PROBLEM',
  skipped: 'skipped',
};

/** `metaclaw doctor`, `demo` and `bypass`. */
export function addCheckCommands(program: Command, context: Context): void {
  const { terminal } = context;
  program
    .command('doctor')
    .description('check the installation, and say what to do')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExit codes: 0 no problem (warnings are allowed), 1 at least one problem.')
    .action(async (_options, self: Command) => {
      const checks = await examine(context);
      if (wantsJson(self)) terminal.json(checks);
      else for (const check of checks) terminal.out(describeCheck(check));
      if (checks.some((check) => check.state === 'problem')) context.exit(1);
    });
  program
    .command('demo')
    .description(
      'show the whole loop offline in half a minute, with a scripted model and a throw-away folder',
    )
    .action(async () => {
      const [{ createEngine }, { runDemo }] = await Promise.all([
        import('../engine/index.ts'),
        import('../engine/demo/index.ts'),
      ]);
      await runDemo({
        createEngine,
        skillsBank: findSkillsBank(),
        version: context.version,
        clock: systemClock(),
        onEvent: ({ text }) => terminal.out(text),
      });
    });
  program
    .command('bypass')
    .description('make the proxy a plain pass-through: nothing added, recorded or learned')
    .addArgument(new Argument('<on|off>').choices(['on', 'off']))
    .action(async (word: string) => {
      await setBypass(context, word === 'on');
      terminal.out(word === 'on' ? 'Bypass is on: turns pass through untouched.' : 'Bypass is off.');
    });
}

async function setBypass(context: Context, on: boolean): Promise<void> {
  const host = await connectHost(context.home, context.version);
  if (host !== null) {
    await host.call('proxy.bypass', { on }).finally(() => host.close());
    return;
  }
  const settings = await openSettings(context);
  await settings.set('bypass', on);
}

/** An engine that cannot even be built is the first finding. */
async function examine(context: Context): Promise<DoctorCheck[]> {
  try {
    return await withCalls(context, (call) => call('doctor.run', {}));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [
      { id: 'engine', title: 'MetaClaw', state: 'problem', detail: error.message, fix: error.hint ?? null },
    ];
  }
}

function describeCheck(check: DoctorCheck): string {
  const fix = check.fix === null || check.state === 'ok' ? '' : `\n         → ${check.fix}`;
  return `${MARKS[check.state]}  ${check.title}: ${check.detail}${fix}`;
}
