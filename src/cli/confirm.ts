import { AppError } from '../shared/errors.ts';
import type { Context } from './context.ts';

/** Asks before what cannot be taken back, or says that `--yes` is missing where nobody can be asked. */
export async function confirmed(
  { terminal }: Context,
  question: string,
  yes: boolean | undefined,
): Promise<void> {
  if (yes) return;
  if (!terminal.interactive)
    throw new AppError('BAD_INPUT', `Not without being sure: ${question}`, {
      hint: 'Add --yes.',
      field: 'yes',
    });
  const { confirm } = await import('@clack/prompts');
  if ((await confirm({ message: question, initialValue: false })) !== true)
    throw new AppError('CANCELLED', 'Nothing was changed.');
}
