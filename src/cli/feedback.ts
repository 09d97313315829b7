import { Argument, type Command, Option } from 'commander';
import { AppError } from '../shared/errors.ts';
import { type Context, withCalls } from './context.ts';

/** `metaclaw feedback` */
export function addFeedbackCommand(program: Command, context: Context): void {
  program
    .command('feedback')
    .description('say of an answer that it was good or bad; learning reads it')
    .argument('<turn>', 'id of the turn (x-metaclaw-turn), or last')
    .addArgument(new Argument('<good|bad|none>', 'none takes it back').choices(['good', 'bad', 'none']))
    .addOption(new Option('--text <text>', 'what should have been different').default(''))
    .action((turn: string, word: 'good' | 'bad' | 'none', { text }: { text: string }) =>
      withCalls(context, async (call) => {
        const turnId =
          turn === 'last' ? (await call('turns.list', { kind: 'main', limit: 1 })).turns[0]?.id : turn;
        if (turnId === undefined) throw new AppError('NOT_FOUND', 'There is no turn yet.');
        await call('feedback.set', { turnId, label: word === 'none' ? null : word, text });
        context.terminal.out(word === 'none' ? `Taken back: ${turnId}.` : `Noted: ${turnId} was ${word}.`);
      }),
    );
}
