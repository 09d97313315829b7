import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Call } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import { wantsJson } from '../config.ts';
import type { Context } from '../context.ts';
import { editText, readText } from '../text.ts';
import { withLibrary } from './shared.ts';

/** Changing the library: `add`, `edit`, switches, locks, `remove`, `import`, `export`. */
export function addChanges(skills: Command, context: Context): void {
  const { terminal } = context;
  skills
    .command('add')
    .description('add a skill from a SKILL.md')
    .argument('<file>', 'path of the file, or - for standard input')
    .action((file: string) =>
      withLibrary(context, async (call) => {
        const content = await readText(context, file);
        const { name } = await naming(file, call('skills.add', { content }));
        terminal.out(`Added: ${name}.`);
      }),
    );
  skills
    .command('edit')
    .description('change a skill in $EDITOR, or put a file in its place')
    .argument('<name>')
    .option('--file <path>', 'the new text, or - for standard input')
    .action((name: string, { file }: { file?: string }) =>
      withLibrary(context, async (call) => {
        const skill = await call('skills.get', { name });
        const content =
          file === undefined
            ? await editText(context, skill.content, {
                name: 'SKILL.md',
                hint: `Set EDITOR, or give the new text with --file; or edit ${skill.path} itself.`,
              })
            : await readText(context, file);
        if (content === skill.content) return terminal.out('Nothing was changed.');
        const edit = call('skills.edit', { name, content, base: skill.hash });
        const { version } = await (file === undefined ? edit : naming(file, edit));
        terminal.out(`Changed: ${name} is now at version ${version}.`);
      }),
    );

  /** A command that does one thing to each of the named skills. */
  const each = (
    command: string,
    description: string,
    done: string,
    change: (call: Call, name: string) => Promise<unknown>,
  ) =>
    skills
      .command(command)
      .description(description)
      .argument('<name...>')
      .action((names: string[]) =>
        withLibrary(context, async (call) => {
          for (const name of names) {
            await change(call, name);
            terminal.out(`${done}: ${name}.`);
          }
        }),
      );
  const setEnabled = (enabled: boolean) => (call: Call, name: string) =>
    call('skills.setEnabled', { name, enabled });
  each('enable', 'let skills enter turns again', 'Switched on', setEnabled(true));
  each('disable', 'keep skills out of turns', 'Switched off', setEnabled(false));
  const lock = (locked: boolean) => (call: Call, name: string) => call('skills.lock', { name, locked });
  each('lock', 'keep skills from being changed, by you or by learning', 'Locked', lock(true));
  each('unlock', 'let skills be changed again', 'Unlocked', lock(false));

  skills
    .command('scope')
    .description('say for which agents and projects a skill is meant; for all when none is named')
    .argument('<name>')
    .option('--agent <id...>', 'agents, e.g. openclaw')
    .option('--project <id...>', 'workspaces as clients name them (x-workspace-id)')
    .action((name: string, { agent = [], project = [] }: { agent?: string[]; project?: string[] }) =>
      withLibrary(context, async (call) => {
        await call('skills.setScope', { name, agents: agent, projects: project });
        const where = [...agent, ...project];
        terminal.out(`${name} is for ${where.length === 0 ? 'all agents and projects' : where.join(', ')}.`);
      }),
    );
  skills
    .command('remove')
    .description('move skills into the trash; restore brings them back')
    .argument('<name...>')
    .action((names: string[]) =>
      withLibrary(context, async (call) => {
        for (const name of names) {
          await call('skills.remove', { name });
          terminal.out(`Removed: ${name}. Bring it back with metaclaw skills restore ${name}.`);
        }
      }),
    );
  skills
    .command('import')
    .description('copy skills in from a folder; nothing is overwritten')
    .argument('<path>', 'a skill’s folder, or a folder of such folders')
    .option('--json', 'print one JSON document')
    .action((path: string, _options, self: Command) =>
      withLibrary(context, async (call) => {
        const result = await call('skills.import', { path: resolve(path) });
        if (wantsJson(self)) return terminal.json(result);
        for (const name of result.added) terminal.out(`Added: ${name}.`);
        for (const { path: at, reason } of result.skipped) terminal.err(`skipped: ${at}: ${reason}`);
        if (result.added.length === 0) context.exit(1);
      }),
    );
  skills
    .command('export')
    .description('copy skills into a folder, as other agents read them')
    .argument('<folder>')
    .argument('[name...]', 'all when left out')
    .option('--json', 'print one JSON document')
    .action((folder: string, names: string[], _options, self: Command) =>
      withLibrary(context, async (call) => {
        const result = await call('skills.export', { names, to: resolve(folder) });
        if (wantsJson(self)) return terminal.json(result);
        terminal.out(`Exported ${result.exported.length} to ${resolve(folder)}.`);
        for (const { path: at, reason } of result.skipped) terminal.err(`skipped: ${at}: ${reason}`);
      }),
    );
}

/** A text that is no skill is refused with the name of the file that it came from. */
async function naming<T>(file: string, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'SKILL_INVALID') throw error;
    throw new AppError(error.code, `${file === '-' ? 'standard input' : file}: ${error.message}`, {
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      field: 'file',
    });
  }
}
