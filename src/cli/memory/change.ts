import type { Command } from 'commander';
import type { Call } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { MemoryKind, MemoryScope } from '../../shared/memory.ts';
import { wantsJson } from '../config.ts';
import { type Context, withCalls } from '../context.ts';
import { editText, readText } from '../text.ts';
import { findId, findIds, kindOption, memories, parseExpiry, scopeOption, shortId } from './shared.ts';

interface AddOptions {
  kind?: MemoryKind;
  scope?: MemoryScope;
  pin?: true;
  tag?: string[];
  expires?: string | null;
}

interface EditOptions extends Omit<AddOptions, 'pin'> {
  text?: string;
  file?: string;
}

const EXPIRES = 'from when on it is no longer used, e.g. 2027-01-31';

/** Changing what is remembered: `add`, `edit`, `pin`, `unpin`, `merge`. */
export function addChanges(memory: Command, context: Context): void {
  const { terminal } = context;
  memory
    .command('add')
    .description('remember something')
    .argument('<text...>', 'in your own words, or - for standard input')
    .addOption(kindOption().default('semantic'))
    .addOption(scopeOption())
    .option('--pin', 'always the first to enter')
    .option('--tag <tag>', 'a word to find it by; may be said again', collect)
    .option('--expires <when>', EXPIRES, parseExpiry)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  metaclaw memory add --kind preference I like short answers\n  metaclaw memory add --scope workspace:api --pin Deploys run on Fridays only\n  metaclaw memory add - < note.txt',
    )
    .action((words: string[], options: AddOptions, self: Command) =>
      withCalls(context, async (call) => {
        const { kind, scope, pin, tag, expires } = options;
        const content = words.length === 1 && words[0] === '-' ? await terminal.readAll() : words.join(' ');
        if (content.trim() === '')
          throw new AppError('BAD_INPUT', 'The text is empty; nothing was remembered.', { field: 'text' });
        const result = await call('memory.add', {
          content,
          ...(kind === undefined ? {} : { kind }),
          ...(scope === undefined ? {} : { scope }),
          pinned: pin ?? false,
          tags: tag ?? [],
          expiresAt: expires ?? null,
        });
        if (wantsJson(self)) return terminal.json(result);
        terminal.out(`${result.merged ? 'Known already' : 'Remembered'}: ${shortId(result.id)}.`);
        if (result.superseded.length > 0)
          terminal.out(`It replaces ${result.superseded.map(shortId).join(', ')}, which is kept as history.`);
      }),
    );
  memory
    .command('edit')
    .description('change a memory; its text in $EDITOR when no change is named')
    .argument('<id>', 'the beginning is enough')
    .option('--text <text>', 'the new text')
    .option('--file <path>', 'the new text, or - for standard input')
    .addOption(kindOption())
    .addOption(scopeOption('move it there'))
    .option('--tag <tag>', 'in place of its tags; may be said again, and be empty', collect)
    .option('--expires <when>', `${EXPIRES}; none for never`, parseExpiry)
    .action((given: string, options: EditOptions) =>
      withCalls(context, async (call) => {
        const id = await findId(call, given);
        const unit = await call('memory.get', { id });
        const { kind, scope, tag, expires } = options;
        const named = [options.text, options.file, kind, scope, tag, expires].some(
          (one) => one !== undefined,
        );
        const text = named
          ? await newText(context, options)
          : await editText(context, `${unit.content}\n`, {
              name: 'memory.md',
              hint: 'Set EDITOR, or give the new text with --text or --file.',
            });
        const content = text?.trim();
        if (content === '')
          throw new AppError('BAD_INPUT', 'The text is empty; nothing was changed.', {
            hint: `To take the memory away: metaclaw memory forget ${shortId(id)}`,
          });
        if (!named && content === unit.content) return terminal.out('Nothing was changed.');
        await call('memory.edit', {
          id,
          base: unit.updatedAt,
          ...(content === undefined ? {} : { content }),
          ...(kind === undefined ? {} : { kind }),
          ...(scope === undefined ? {} : { scope }),
          ...(tag === undefined ? {} : { tags: tag.filter((one) => one !== '') }),
          ...(expires === undefined ? {} : { expiresAt: expires }),
        });
        terminal.out(`Changed: ${shortId(id)}.`);
      }),
    );

  const pin = (name: string, pinned: boolean, description: string, done: string) =>
    memory
      .command(name)
      .description(description)
      .argument('<id...>', 'the beginnings are enough')
      .action((given: string[]) =>
        withCalls(context, async (call) => {
          const ids = await findIds(call, given);
          await call('memory.pin', { ids, pinned });
          terminal.out(`${done}: ${memories(ids.length)}.`);
        }),
      );
  pin('pin', true, 'let memories enter before all others, and never fade', 'Pinned');
  pin('unpin', false, 'let memories enter as others do', 'Unpinned');

  memory
    .command('merge')
    .description('make one memory of several; they stay as its history')
    .argument('<id...>', 'two or more; the beginnings are enough')
    .option('--text <text>', 'what the one memory says; in $EDITOR when left out')
    .option('--file <path>', 'what the one memory says, or - for standard input')
    .option('--json', 'print one JSON document')
    .action((given: string[], options: { text?: string; file?: string }, self: Command) =>
      withCalls(context, async (call) => {
        const ids = await findIds(call, given);
        if (ids.length < 2)
          throw new AppError('BAD_INPUT', 'Two or more memories are needed to merge them.', { field: 'id' });
        const content = (
          (await newText(context, options)) ?? (await mergedInEditor(context, call, ids))
        ).trim();
        if (content === '') throw new AppError('BAD_INPUT', 'The text is empty; nothing was changed.');
        const result = await call('memory.merge', { ids, content });
        if (wantsJson(self)) terminal.json(result);
        else terminal.out(`Merged: ${memories(ids.length)} are ${shortId(result.id)} now.`);
      }),
    );
}

/** Values of an option that is given several times. */
function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** The text that options give; undefined when they give none. */
async function newText(
  context: Context,
  { text, file }: { text?: string; file?: string },
): Promise<string | undefined> {
  if (text !== undefined && file !== undefined)
    throw new AppError('BAD_INPUT', '--text and --file cannot go together.', { field: 'file' });
  return file === undefined ? text : readText(context, file);
}

async function mergedInEditor(context: Context, call: Call, ids: readonly string[]): Promise<string> {
  const texts: string[] = [];
  for (const id of ids) texts.push((await call('memory.get', { id })).content);
  return editText(context, `${texts.join('\n')}\n`, {
    name: 'memory.md',
    hint: 'Set EDITOR, or say what the one memory is with --text or --file.',
  });
}
