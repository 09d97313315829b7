import type { Command } from 'commander';
import { wantsJson } from './config.ts';
import { type Context, withCalls } from './context.ts';
import { table } from './terminal.ts';

/** `metaclaw quirks list|forget` */
export function addQuirksCommand(program: Command, context: Context): void {
  const { terminal } = context;
  const quirks = program
    .command('quirks')
    .description('see and forget what providers were found not to take, by host and model');
  quirks
    .command('list')
    .description('show what refusals taught')
    .option('--json', 'print one JSON document')
    .action(async (_: unknown, self: Command) => {
      const known = await withCalls(context, (call) => call('quirks.list', {}));
      if (known === undefined) return;
      if (wantsJson(self)) terminal.json({ quirks: known });
      else if (known.length === 0) terminal.out('No provider has refused a form of a request so far.');
      else terminal.out(table(known.map(({ host, model, effects }) => [host, model, effects.join('; ')])));
    });
  quirks
    .command('forget')
    .description('forget it, so that requests go out in their own form again')
    .argument('[host]', 'e.g. api.deepseek.com, as `metaclaw quirks list` shows it; all hosts when left out')
    .argument('[model]', 'one model of the host; all of them when left out')
    .option('--json', 'print one JSON document')
    .action(async (host: string | undefined, model: string | undefined, _: unknown, self: Command) => {
      const done = await withCalls(context, (call) =>
        call('quirks.forget', {
          ...(host === undefined ? {} : { host }),
          ...(model === undefined ? {} : { model }),
        }),
      );
      if (done === undefined) return;
      if (wantsJson(self)) terminal.json(done);
      else if (done.forgotten === 0) terminal.out('Nothing was known.');
      else terminal.out(`Forgotten for ${done.forgotten} ${done.forgotten === 1 ? 'model' : 'models'}.`);
    });
}
