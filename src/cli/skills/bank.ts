import type { Command } from 'commander';
import { wantsJson } from '../config.ts';
import type { Context } from '../context.ts';
import { withLibrary } from './shared.ts';

/** Built-in skills that were edited: `bank`. */
export function addBank(skills: Command, context: Context): void {
  const { terminal } = context;
  skills
    .command('bank')
    .description('show what the built-in skills have newer than your edits, or take it')
    .argument('[name]', 'take the built-in text of this skill')
    .option('--keep', 'keep your text of it, and do not show this one again')
    .option('--json', 'print one JSON document')
    .action((name: string | undefined, { keep }: { keep?: boolean }, self: Command) =>
      withLibrary(context, async (call) => {
        if (name !== undefined && keep) {
          await call('skills.keepMine', { name });
          return terminal.out(`Kept as you have it: ${name}.`);
        }
        if (name !== undefined) {
          await call('skills.takeFromBank', { name });
          return terminal.out(`Taken from the bank: ${name}.`);
        }
        const updates = await call('skills.bank', {});
        if (wantsJson(self)) return terminal.json(updates);
        if (updates.length === 0) return terminal.out('The bank has nothing newer than your edits.');
        for (const { diff } of updates) terminal.out(`${diff.trimEnd()}\n`);
        terminal.out('Take one with: metaclaw skills bank <name>; keep yours with --keep.');
      }),
    );
}
