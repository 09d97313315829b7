import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { addBank } from './bank.ts';
import { addChanges } from './change.ts';
import { addHistory } from './history.ts';
import { addLooks } from './look.ts';
import { addProposals } from './proposals.ts';

/** `metaclaw skills …`, through the running host, or on the library itself when none runs. */
export function addSkillsCommand(program: Command, context: Context): void {
  const skills = program
    .command('skills')
    .description('see and change the skill library, its history, and what was learned');
  addLooks(skills, context);
  addChanges(skills, context);
  addBank(skills, context);
  addHistory(skills, context);
  addProposals(skills, context);
}
