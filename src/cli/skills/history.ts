import { type Command, InvalidArgumentError } from 'commander';
import type { Call } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { SkillVersion } from '../../shared/model.ts';
import { wantsJson } from '../config.ts';
import type { Context } from '../context.ts';
import { table } from '../terminal.ts';
import { localTime } from '../text.ts';
import { patchOf, versionNumber, withLibrary } from './shared.ts';

/** What skills said before: `history`, `restore`, `log`. */
export function addHistory(skills: Command, context: Context): void {
  const { terminal } = context;
  skills
    .command('history')
    .description('list a skill’s versions, newest first')
    .argument('<name>')
    .option('--diff', 'with what each one changed')
    .option('--json', 'print one JSON document')
    .action((name: string, options: { diff?: boolean }, self: Command) =>
      withLibrary(context, async (call) => {
        const versions = await call('skills.history', { name });
        if (wantsJson(self)) return terminal.json(versions);
        if (versions.length === 0) throw noHistory(name);
        if (!options.diff) return terminal.out(table(versions.map((version) => row(version, false))));
        for (const [at, version] of versions.entries()) {
          terminal.out(row(version, false).join('  ').trimEnd());
          const before = versions[at + 1];
          terminal.out(patchOf(await textOf(call, before), await textOf(call, version)));
        }
      }),
    );
  skills
    .command('restore')
    .description('bring an earlier text back, as a new version; also of a skill that was removed')
    .argument('<name>')
    .argument(
      '[version]',
      'number from `skills history`; the text before the newest, or the last of a skill that is gone, when left out',
      versionNumber,
    )
    .action((name: string, number: number | undefined) =>
      withLibrary(context, async (call) => {
        const version = number ?? (await earlier(call, name));
        const { version: now } = await call('skills.restore', { name, version });
        terminal.out(`Restored: ${name} has the text of version ${version} again (now version ${now}).`);
      }),
    );
  skills
    .command('log')
    .description('list what was changed in the library, newest first')
    .option('--limit <n>', 'most lines', lineCount, 30)
    .option('--json', 'print one JSON document')
    .action((options: { limit: number }, self: Command) =>
      withLibrary(context, async (call) => {
        const versions = await call('skills.log', { limit: options.limit });
        if (wantsJson(self)) return terminal.json(versions);
        terminal.out(
          versions.length === 0 ? 'Nothing yet.' : table(versions.map((version) => row(version, true))),
        );
      }),
    );
}

function row(version: SkillVersion, named: boolean): string[] {
  const what = version.removed ? 'removed' : version.note;
  const from = version.turns.length === 0 ? '' : `from turn ${version.turns.join(', ')}`;
  return [
    String(version.version).padStart(3),
    localTime(version.at),
    ...(named ? [version.skill] : []),
    version.author,
    [what, from].filter(Boolean).join('; '),
  ];
}

/** The newest text that is not the one that stands now. */
async function earlier(call: Call, name: string): Promise<number> {
  const versions = await call('skills.history', { name });
  const [newest, ...older] = versions;
  if (!newest) throw noHistory(name);
  const { skills } = await call('skills.list', {});
  const isThere = skills.some((skill) => skill.name === name);
  const found = (isThere ? older : versions).find(({ removed }) => !removed);
  if (!found) throw new AppError('NOT_FOUND', `${name} has no earlier text.`);
  return found.version;
}

async function textOf(call: Call, version: SkillVersion | undefined): Promise<string> {
  if (!version || version.removed) return '';
  return (await call('skills.version', { name: version.skill, version: version.version })).content;
}

function noHistory(name: string): AppError {
  return new AppError('NOT_FOUND', `There was never a skill named ${JSON.stringify(name)}.`, {
    hint: 'See metaclaw skills list and metaclaw skills log.',
  });
}

function lineCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 500)
    throw new InvalidArgumentError('A whole number from 1 to 500 is expected.');
  return count;
}
