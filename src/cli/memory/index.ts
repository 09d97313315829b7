import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { addChanges } from './change.ts';
import { addForgetting } from './forget.ts';
import { addLooks } from './look.ts';
import { addPorting } from './porting.ts';
import { addServe } from './serve.ts';
import { addSettling } from './settle.ts';
import { addTuning } from './tune.ts';

/** `metaclaw memory …`, through the running host, or on the store itself when none runs. */
export function addMemoryCommand(program: Command, context: Context): void {
  const memory = program
    .command('memory')
    .description('see, change and forget what is remembered across conversations');
  addLooks(memory, context);
  addChanges(memory, context);
  addForgetting(memory, context);
  addSettling(memory, context);
  addPorting(memory, context);
  addTuning(memory, context);
  addServe(memory, context);
}
