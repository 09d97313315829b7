import { Argument, type Command } from 'commander';
import { AppError } from '../../shared/errors.ts';
import { wantsJson } from '../config.ts';
import { type Context, withCalls } from '../context.ts';
import { oneLine } from '../text.ts';
import { count, memories, shortId } from './shared.ts';

/** What only the user can settle, and tidying: `conflicts`, `settle`, `consolidate`. */
export function addSettling(memory: Command, context: Context): void {
  const { terminal } = context;
  memory
    .command('conflicts')
    .description('list pairs of memories that cannot both hold, or nearly say the same')
    .option('--json', 'print one JSON document')
    .action((_options, self: Command) =>
      withCalls(context, async (call) => {
        const pairs = await call('memory.conflicts', {});
        if (wantsJson(self)) return terminal.json(pairs);
        if (pairs.length === 0) return terminal.out('Nothing is in doubt.');
        for (const { id, message, one, other } of pairs)
          terminal.out(
            `${id}  ${message}\n  one:   ${shortId(one.id)}  ${oneLine(one.content)}\n  other: ${shortId(other.id)}  ${oneLine(other.content)}`,
          );
        terminal.out('Settle one with: metaclaw memory settle <id> one|other|both');
      }),
    );
  memory
    .command('settle')
    .description('say which memory of a pair holds; both when they do not contradict')
    .argument('<id>', 'from metaclaw memory conflicts; the beginning is enough')
    .addArgument(new Argument('<keep>', 'which one holds').choices(['one', 'other', 'both']))
    .action((given: string, keep: 'one' | 'other' | 'both') =>
      withCalls(context, async (call) => {
        const pairs = await call('memory.conflicts', {});
        const exact = pairs.filter(({ id }) => id === given);
        const found = exact.length > 0 ? exact : pairs.filter(({ id }) => id.startsWith(given));
        const [pair] = found;
        if (pair === undefined || found.length > 1)
          throw new AppError(
            'NOT_FOUND',
            `${pair === undefined ? 'No pair' : 'More than one pair'} in doubt is named ${JSON.stringify(given)}.`,
            { hint: 'See metaclaw memory conflicts.' },
          );
        await call('memory.settle', { id: pair.id, keep });
        terminal.out(
          keep === 'both'
            ? 'Settled: both hold.'
            : `Settled: ${shortId(pair[keep].id)} holds; the other is kept as history.`,
        );
      }),
    );
  memory
    .command('consolidate')
    .description('merge what says the same, replace what has changed, and end what has run out')
    .option('--dry-run', 'only say what would be done')
    .option('--json', 'print one JSON document')
    .action((options: { dryRun?: true }, self: Command) =>
      withCalls(context, async (call) => {
        const dryRun = options.dryRun ?? false;
        const result = await call('memory.consolidate', { dryRun });
        if (wantsJson(self)) return terminal.json(result);
        terminal.out(
          `${dryRun ? 'Would replace' : 'Replaced'}: ${memories(result.superseded)}. ${dryRun ? 'Would end' : 'Ended'}: ${result.expired}. ${count(result.conflicts, 'pair')} in doubt.`,
        );
      }),
    );
}
