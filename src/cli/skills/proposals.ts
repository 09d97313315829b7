import type { Command } from 'commander';
import type { Call } from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { SkillProposal } from '../../shared/model.ts';
import { wantsJson } from '../config.ts';
import type { Context } from '../context.ts';
import { oneLine } from '../text.ts';
import { patchOf, withLibrary } from './shared.ts';

/** What was learned and waits: `proposals`, `accept`, `reject`. */
export function addProposals(skills: Command, context: Context): void {
  const { terminal } = context;
  skills
    .command('proposals')
    .description('list the proposals that wait, or show one whole')
    .argument('[id]', 'id or name of one')
    .option('--json', 'print one JSON document')
    .action((id: string | undefined, _options, self: Command) =>
      withLibrary(context, async (call) => {
        if (id !== undefined) {
          const proposal = await findProposal(call, id);
          if (wantsJson(self)) return terminal.json(proposal);
          return terminal.out(`${describe(proposal)}\n\n${textOf(proposal)}`);
        }
        const waiting = await call('proposals.list', { state: 'waiting' });
        if (wantsJson(self)) return terminal.json(waiting);
        if (waiting.length === 0) return terminal.out('Nothing waits.');
        terminal.out(waiting.map(describe).join('\n\n'));
      }),
    );
  skills
    .command('accept')
    .description('accept a proposal')
    .argument('<id>', 'id or name from `skills proposals`')
    .option('--despite-findings', 'although the safety scan found something')
    .action((id: string, options: { despiteFindings?: boolean }) =>
      withLibrary(context, async (call) => {
        const proposal = await findProposal(call, id);
        const base = proposal.edit?.hash ?? undefined;
        const { skill } = await call('proposals.accept', {
          id: proposal.id,
          despiteFindings: options.despiteFindings ?? false,
          ...(base === undefined ? {} : { base }),
        });
        terminal.out(
          proposal.kind === 'edit'
            ? `Accepted: ${skill} has its new text.`
            : `Accepted: ${skill} is in the library.`,
        );
      }),
    );
  skills
    .command('reject')
    .description('reject a proposal; the same lesson is not proposed again')
    .argument('<id>', 'id or name from `skills proposals`')
    .option('--reason <text>', 'kept, so that the next proposal is better', '')
    .action((id: string, options: { reason: string }) =>
      withLibrary(context, async (call) => {
        const proposal = await findProposal(call, id);
        await call('proposals.reject', { id: proposal.id, reason: options.reason });
        terminal.out(`Rejected: ${proposal.name}.`);
      }),
    );
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

const EDIT_STATES = {
  fresh: '',
  merged: '\n  The skill has changed since; the edit is made to its newer text.',
  conflict: '\n  ! The skill has changed in the same place since; only the window can settle that.',
  gone: '\n  ! The skill is gone.',
} as const;

function describe(proposal: SkillProposal): string {
  const flagged = proposal.findings.map((finding) => `\n  ! ${oneLine(finding.message)}`).join('');
  const state = proposal.edit ? EDIT_STATES[proposal.edit.state] : '';
  return `${proposal.id}  ${proposal.name} (${proposal.kind})\n  ${oneLine(proposal.description)}\n  Why: ${oneLine(proposal.reason)}${state}${flagged}`;
}

/** The whole text of a new skill; of an edit, what it changes. */
function textOf({ description, body, edit }: SkillProposal): string {
  if (!edit) return body;
  return patchOf(`${edit.base.description}\n\n${edit.base.body}`, `${description}\n\n${body}`);
}
