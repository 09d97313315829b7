import type { Command } from 'commander';
import type { Call } from '../shared/contract.ts';
import { AppError } from '../shared/errors.ts';
import type { SkillProposal } from '../shared/model.ts';
import { wantsJson } from './config.ts';
import { type Context, withCalls } from './context.ts';
import { table } from './terminal.ts';

/** `metaclaw skills …`, through the running host, or on the library itself when none runs. */
export function addSkillsCommand(program: Command, context: Context): void {
  const { terminal } = context;
  const skills = program.command('skills').description('see the skill library and decide on proposals');

  const listing = (name: string, description: string, run: (call: Call, json: boolean) => Promise<void>) =>
    skills
      .command(name)
      .description(description)
      .option('--json', 'print one JSON document')
      .action((_options, self: Command) => withLibrary(context, (call) => run(call, wantsJson(self))));

  listing('list', 'list the library', async (call, json) => {
    const { skills: all, problems } = await call('skills.list', {});
    if (json) return terminal.json({ skills: all, problems });
    terminal.out(
      table(
        all.map((skill) => [
          skill.enabled ? ' ' : 'off',
          skill.name,
          skill.source,
          `${skill.uses} uses`,
          oneLine(skill.description),
        ]),
      ),
    );
    for (const problem of problems) terminal.err(`warning: ${problem.path}: ${problem.message}`);
  });
  listing('proposals', 'list the proposals that wait', async (call, json) => {
    const waiting = await call('proposals.list', { state: 'waiting' });
    if (json) return terminal.json(waiting);
    if (waiting.length === 0) return terminal.out('Nothing waits.');
    terminal.out(waiting.map(describeProposal).join('\n\n'));
  });
  skills
    .command('accept')
    .description('accept a proposal')
    .argument('<id>', 'id or name from `skills proposals`')
    .option('--despite-findings', 'although the safety scan found something')
    .action((id: string, options: { despiteFindings?: boolean }) =>
      withLibrary(context, async (call) => {
        const proposal = await findProposal(call, id);
        const { skill } = await call('proposals.accept', {
          id: proposal.id,
          despiteFindings: options.despiteFindings ?? false,
        });
        terminal.out(`Accepted: ${skill} is in the library.`);
      }),
    );
  skills
    .command('reject')
    .description('reject a proposal')
    .argument('<id>', 'id or name from `skills proposals`')
    .option('--reason <text>', 'kept, so that the next proposal is better', '')
    .action((id: string, options: { reason: string }) =>
      withLibrary(context, async (call) => {
        const proposal = await findProposal(call, id);
        await call('proposals.reject', { id: proposal.id, reason: options.reason });
        terminal.out(`Rejected: ${proposal.name}.`);
      }),
    );
  skills
    .command('search')
    .description('show which skills a text would get, and why')
    .argument('<text...>')
    .option('--json', 'print one JSON document')
    .action((words: string[], _options, self: Command) =>
      withLibrary(context, async (call) => {
        const hits = await call('skills.search', { text: words.join(' ') });
        if (wantsJson(self)) return terminal.json(hits);
        if (hits.length === 0) return terminal.out('No skill fits.');
        terminal.out(
          table(hits.map((hit) => [hit.entered ? '*' : ' ', hit.score.toFixed(2), hit.name, hit.reason])),
        );
      }),
    );
}

/** Runs with the calls of whoever has the library. */
function withLibrary(context: Context, use: (call: Call) => Promise<void>): Promise<void> {
  return withCalls(context, use, { library: true });
}

async function findProposal(call: Call, id: string): Promise<SkillProposal> {
  const waiting = await call('proposals.list', { state: 'waiting' });
  const found = waiting.filter(
    (proposal) => proposal.id === id || proposal.name === id || proposal.id.startsWith(id),
  );
  if (found.length === 1) return found[0] as SkillProposal;
  throw new AppError(
    'NOT_FOUND',
    `${found.length === 0 ? 'No' : 'More than one'} waiting proposal is named ${JSON.stringify(id)}.`,
    {
      hint: 'See metaclaw skills proposals.',
    },
  );
}

function describeProposal(proposal: SkillProposal): string {
  const flagged = proposal.findings.map((finding) => `\n  ! ${oneLine(finding.message)}`).join('');
  return `${proposal.id}  ${proposal.name} (${proposal.kind})\n  ${oneLine(proposal.description)}\n  Why: ${oneLine(proposal.reason)}${flagged}`;
}

function oneLine(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > 200 ? `${flat.slice(0, 199)}…` : flat;
}
