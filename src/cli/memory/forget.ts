import type { Command } from 'commander';
import type { Call } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import { type MemoryScope, scopeName } from '../../shared/memory.ts';
import { wantsJson } from '../config.ts';
import { confirmed } from '../confirm.ts';
import { type Context, withCalls } from '../context.ts';
import { table } from '../terminal.ts';
import { count, findIds, memories, scopeOption, unitRow } from './shared.ts';

interface ForgetOptions {
  query?: string;
  session?: string;
  scope?: MemoryScope;
  now?: true;
  yes?: true;
}

const ALL_BACK = 'Bring them back within a day: metaclaw memory restore --all';
const RECOVERABLE = 'Bring it back within a day: metaclaw memory restore';

/** Forgetting, and taking that back: `forget`, `restore`, `wipe`. */
export function addForgetting(memory: Command, context: Context): void {
  const { terminal } = context;
  memory
    .command('forget')
    .description('take memories out of use at once; they can be restored for a day')
    .argument('[id...]', 'the beginnings are enough')
    .option('--query <text>', 'those that this would bring to mind')
    .addOption(scopeOption('with --query: as a turn of this scope would find them'))
    .option('--session <id>', 'all that a conversation left, and what was said in it')
    .option('--now', 'for good: nothing of them stays')
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  metaclaw memory forget 3fa2\n  metaclaw memory forget --query "my old address"\n  metaclaw memory forget --session 5d1c --now --yes',
    )
    .action((given: string[], options: ForgetOptions, self: Command) =>
      withCalls(context, async (call) => {
        const { query, session, now, yes } = options;
        if ([given.length > 0, query !== undefined, session !== undefined].filter(Boolean).length !== 1)
          throw new AppError('BAD_INPUT', 'Say what to forget: ids, or --query, or --session.', {
            field: 'id',
          });
        if (session !== undefined) {
          const what = `Forget ${now ? 'for good ' : ''}all that session ${session} left?`;
          if (now) await confirmed(context, what, yes);
          const result = await call('memory.forgetSession', { sessionId: session, now: now ?? false });
          if (wantsJson(self)) return terminal.json(result);
          const said = count(result.turns, 'thing');
          terminal.out(`Forgotten${now ? ' for good' : ''}: ${memories(result.forgotten)} and ${said} said.`);
          return result.undo === null ? undefined : terminal.out(ALL_BACK);
        }
        const ids =
          query === undefined ? await findIds(call, given) : await found(context, call, query, options);
        if (query !== undefined && ids.length === 0) {
          if (wantsJson(self)) terminal.json({ forgotten: 0, undo: null, note: null });
          else terminal.out('Nothing comes to mind, so nothing was forgotten.');
          return context.exit(1);
        }
        if (now || query !== undefined)
          await confirmed(context, `Forget ${memories(ids.length)}${now ? ' for good' : ''}?`, yes);
        const result = await call('memory.forget', { ids, now: now ?? false });
        if (wantsJson(self)) return terminal.json(result);
        const isSaid = ids.every((id) => id.startsWith('t'));
        const what = isSaid ? `${count(ids.length, 'thing')} said` : memories(result.forgotten);
        terminal.out(`Forgotten${now ? ' for good' : ''}: ${what}.`);
        if (result.undo !== null)
          terminal.out(
            `${RECOVERABLE} ${ids
              .map((id) => id.slice(0, 8))
              .slice(0, 20)
              .join(' ')}`,
          );
        if (result.note !== null) terminal.out(result.note);
      }),
    );
  memory
    .command('restore')
    .description('bring forgotten memories back')
    .argument('[id...]', 'the beginnings are enough')
    .option('--all', 'all that can still be brought back')
    .option('--json', 'print one JSON document')
    .action((given: string[], options: { all?: true }, self: Command) =>
      withCalls(context, async (call) => {
        if ((given.length === 0) !== (options.all ?? false))
          throw new AppError('BAD_INPUT', 'Name memories, or say --all.', {
            hint: 'See metaclaw memory list --status forgotten.',
            field: 'id',
          });
        const ids = await findIds(call, given);
        const result = await call('memory.restore', { ids, all: options.all ?? false });
        if (wantsJson(self)) terminal.json(result);
        else terminal.out(`Restored: ${withSaid(memories(result.restored), result.turns)}.`);
        if (result.restored + result.turns === 0) context.exit(1);
      }),
    );
  memory
    .command('wipe')
    .description('forget everything, or everything of one scope')
    .addOption(scopeOption('only this one'))
    .option('--now', 'for good: nothing stays')
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON document')
    .action((options: { scope?: MemoryScope; now?: true; yes?: true }, self: Command) =>
      withCalls(context, async (call) => {
        const { scope, now, yes } = options;
        const whose = scope === undefined ? 'everything' : `everything of ${scopeName(scope)}`;
        await confirmed(context, `Forget ${whose}${now ? ' for good' : ''}?`, yes);
        const result = await call('memory.wipe', {
          ...(scope === undefined ? {} : { scope }),
          now: now ?? false,
        });
        if (wantsJson(self)) return terminal.json(result);
        const said = count(result.turns, 'thing');
        terminal.out(`Forgotten${now ? ' for good' : ''}: ${memories(result.forgotten)} and ${said} said.`);
        if (result.undo !== null) terminal.out(ALL_BACK);
      }),
    );
}

/** Ids of the memories that a text would bring to mind, shown to the user first. */
async function found(
  { terminal }: Context,
  call: Call,
  text: string,
  { scope }: ForgetOptions,
): Promise<string[]> {
  const hits = await call('memory.search', {
    text,
    turns: false,
    limit: 200,
    ...(scope === undefined ? {} : { scope }),
  });
  const units = hits.flatMap((hit) => (hit.type === 'unit' && hit.enters ? [hit.unit] : []));
  if (units.length > 0) terminal.err(table(units.map(unitRow)));
  return units.map(({ id }) => id);
}

/** Memories, and what was said where there is any. */
function withSaid(units: string, turns: number): string {
  return turns === 0 ? units : `${units} and ${count(turns, 'thing')} said`;
}
