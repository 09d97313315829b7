import type { Command } from 'commander';
import type { SkillSummary } from '../../shared/model.ts';
import { wantsJson } from '../config.ts';
import type { Context } from '../context.ts';
import { table } from '../terminal.ts';
import { oneLine } from '../text.ts';
import { versionNumber, withLibrary } from './shared.ts';

/** Reading the library: `list`, `show`, `search`, `stats`, `lint`. */
export function addLooks(skills: Command, context: Context): void {
  const { terminal } = context;
  skills
    .command('list')
    .description('list the library')
    .option('--json', 'print one JSON document')
    .action((_options, self: Command) =>
      withLibrary(context, async (call) => {
        const { skills: all, problems, matching } = await call('skills.list', {});
        if (wantsJson(self)) return terminal.json({ skills: all, problems, matching });
        if (all.length === 0) terminal.out('The library is empty.');
        else
          terminal.out(
            table(
              all.map((skill) => [
                stateOf(skill),
                skill.name,
                skill.source,
                `${skill.uses} uses`,
                oneLine(skill.description),
              ]),
            ),
          );
        for (const problem of problems) terminal.err(`warning: ${problem.path}: ${problem.message}`);
        terminal.out(matching);
      }),
    );
  skills
    .command('show')
    .description('print a skill’s file')
    .argument('<name>')
    .argument('[version]', 'as it was in this version', versionNumber)
    .option('--json', 'print one JSON document')
    .action((name: string, version: number | undefined, _options, self: Command) =>
      withLibrary(context, async (call) => {
        const skill =
          version === undefined
            ? await call('skills.get', { name })
            : await call('skills.version', { name, version });
        if (wantsJson(self)) return terminal.json(skill);
        terminal.out(skill.content.trimEnd());
      }),
    );
  skills
    .command('search')
    .description('show which skills a text would get, and why')
    .argument('<text...>')
    .option('--explain', 'also what stayed below the threshold')
    .option('--json', 'print one JSON document')
    .action((words: string[], options: { explain?: boolean }, self: Command) =>
      withLibrary(context, async (call) => {
        const all = await call('skills.search', { text: words.join(' ') });
        const hits = options.explain ? all : all.filter(({ entered }) => entered);
        if (wantsJson(self)) return terminal.json(hits);
        if (options.explain) terminal.err((await call('skills.list', {})).matching);
        if (hits.length === 0) return terminal.out('No skill fits.');
        terminal.out(
          table(hits.map((hit) => [hit.entered ? '*' : ' ', hit.score.toFixed(2), hit.name, hit.reason])),
        );
      }),
    );
  skills
    .command('stats')
    .description('show what each skill is worth: how sessions went with it and without it')
    .option('--json', 'print one JSON document')
    .action((_options, self: Command) =>
      withLibrary(context, async (call) => {
        const { skills: all } = await call('skills.list', {});
        const known = all
          .filter(({ uses, worth }) => uses > 0 || worth !== null)
          .sort(
            (a, b) =>
              (b.worth?.effect?.difference ?? -9) - (a.worth?.effect?.difference ?? -9) || b.uses - a.uses,
          );
        if (wantsJson(self))
          return terminal.json(
            known.map(({ name, version, uses, worth }) => ({ name, version, uses, worth })),
          );
        if (known.length === 0) return terminal.out('No skill has been used yet.');
        const head = ['skill', 'version', 'uses', 'good with', 'good without', 'points (95 %)', ''];
        terminal.out(table([head, ...known.map(statsRow)]));
      }),
    );
  skills
    .command('lint')
    .description('say what is wrong with skills, or could be better')
    .argument('[name...]', 'all when left out')
    .option('--json', 'print one JSON document')
    .action((names: string[], _options, self: Command) =>
      withLibrary(context, async (call) => {
        const { skills: all, problems } = await call('skills.list', {});
        const wanted = names.length > 0 ? names : all.map(({ name }) => name);
        const found: { name: string; problem: string | null; remarks: string[] }[] = [];
        for (const name of wanted) {
          const { content } = await call('skills.get', { name });
          const { problem, remarks } = await call('skills.check', { content, name });
          if (problem !== null || remarks.length > 0) found.push({ name, problem, remarks });
        }
        const overlaps = (await call('skills.overlaps', {})).filter(({ name }) => wanted.includes(name));
        if (wantsJson(self)) terminal.json({ skills: found, problems, overlaps });
        else {
          for (const { path, message } of problems) terminal.out(`${path}: ${message}`);
          for (const { name, problem, remarks } of found)
            for (const remark of [problem, ...remarks]) if (remark) terminal.out(`${name}: ${remark}`);
          for (const { name, message } of overlaps) terminal.out(`${name}: ${message}`);
          if (found.length + problems.length + overlaps.length === 0) terminal.out('Nothing to remark.');
        }
        if (problems.length > 0 || found.some(({ problem }) => problem !== null)) context.exit(1);
      }),
    );
}

function stateOf({ enabled, locked }: SkillSummary): string {
  return [enabled ? '' : 'off', locked ? 'locked' : ''].filter(Boolean).join(' ');
}

const ADVICE = { hurts: 'hurts: consider switching it off', 'no-help': 'makes no difference' } as const;

function statsRow({ name, version, uses, worth }: SkillSummary): string[] {
  const share = (group: { sessions: number; good: number | null } | undefined) =>
    group && group.good !== null ? `${Math.round(group.good * 100)} % of ${group.sessions}` : '-';
  const points = (value: number) => `${value < 0 ? '' : '+'}${Math.round(value * 100)}`;
  const effect = worth?.effect;
  return [
    name,
    String(version),
    String(uses),
    share(worth?.with),
    share(worth?.without),
    effect
      ? `${points(effect.difference)} (${points(effect.low)} to ${points(effect.high)})`
      : 'too few sessions',
    worth?.advice ? ADVICE[worth.advice] : '',
  ];
}
