import type { ProviderTest, ProviderTestStep } from '../../../shared/contract.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Clock } from '../../ports.ts';
import { chatPath, providerWords, questionBody } from '../chat-model.ts';
import { type Asker, askOwn } from '../own-call.ts';
import type { Route } from '../route.ts';
import { describeProgram } from './find.ts';
import { type Program, programOf } from './programs.ts';

export interface ProgramTestDeps extends Asker {
  /** Its key is a stored sign-in token, or empty. */
  route: Route;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  signal: AbortSignal | null;
}

const STEPS = ['address', 'connection', 'key', 'models', 'answer'] as const;
/** A program starts slowly and thinks before it speaks. */
const ANSWER_MS = 120_000;
const MAX_BYTES = 8 * 1024 * 1024;
const QUESTION = { system: '', user: 'Reply with the word ready.', maxTokens: 64 };

type Finding = Pick<ProviderTestStep, 'state' | 'detail'> & { fix?: string };

/** The live test of a vendor's program: is it here, does it run, is somebody signed in, does it answer. */
export async function testProgram(deps: ProgramTestDeps): Promise<ProviderTest> {
  const { program: id, apiKey: token } = deps.route;
  if (id === null) throw new AppError('INTERNAL', `${deps.route.name} is no program`);
  const program = programOf(id);
  const steps: ProviderTestStep[] = [];
  const found = { installed: null as Awaited<ReturnType<typeof describeProgram>> };
  const checks: Readonly<Record<ProviderTestStep['id'], () => Finding | Promise<Finding>>> = {
    address: async () => {
      found.installed = await describeProgram(program, deps.env, token);
      return found.installed === null
        ? {
            state: 'failed',
            detail: `${program.title} is not installed on this computer.`,
            fix: `${program.install}, then sign in.`,
          }
        : { state: 'ok', detail: found.installed.path };
    },
    connection: () => {
      const version = found.installed?.version ?? null;
      return version === null
        ? {
            state: 'failed',
            detail: `${found.installed?.path} does not tell its version.`,
            fix: `Run \`${program.binary} --version\` in a terminal and see what keeps it from working.`,
          }
        : { state: 'ok', detail: `${program.title} ${version}` };
    },
    key: () => signIn(program, token, found.installed?.signedIn ?? null),
    models: () => ({ state: 'skipped', detail: `${program.title} lists no models.` }),
    answer: () => answer(deps, program),
  };
  for (const id of STEPS) {
    const began = performance.now();
    const { state, detail, fix } = await checks[id]();
    steps.push({ id, state, detail, ms: Math.round(performance.now() - began), fix: fix ?? null });
    if (state === 'failed') break;
  }
  for (const id of STEPS.slice(steps.length))
    steps.push({ id, state: 'skipped', detail: '', ms: 0, fix: null });
  return { ok: steps.every(({ state }) => state !== 'failed'), steps, models: [] };
}

function signIn(program: Program, token: string, signedIn: boolean | null): Finding {
  if (token !== '') return { state: 'ok', detail: 'The stored sign-in token is used.' };
  if (signedIn === null)
    return { state: 'skipped', detail: `${program.title} does not tell who is signed in.` };
  return signedIn
    ? { state: 'ok', detail: 'Somebody is signed in.' }
    : { state: 'failed', detail: `${program.title} is not signed in.`, fix: program.signIn };
}

async function answer(deps: ProgramTestDeps, program: Program): Promise<Finding> {
  const abort = new AbortController();
  let late = false;
  const cancel = deps.clock.after(ANSWER_MS, () => {
    late = true;
    abort.abort();
  });
  const onAbort = () => abort.abort();
  deps.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const body = questionBody(deps.route, QUESTION);
    const question = { path: chatPath(deps.route), body, signal: abort.signal };
    const { status, text } = await askOwn(deps, deps.route, question, MAX_BYTES);
    if (status === 200) return { state: 'ok', detail: `${program.title} answered.` };
    const fix =
      status === 401
        ? program.signIn
        : status === 404
          ? 'Choose another model, or `default`.'
          : `Run \`${program.binary}\` in a terminal and see whether it answers there.`;
    return { state: 'failed', detail: providerWords(text), fix };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return late
      ? {
          state: 'failed',
          detail: `${program.title} did not answer within ${ANSWER_MS / 1000} seconds.`,
          fix: `Run \`${program.binary}\` in a terminal and see whether it answers there.`,
        }
      : { state: 'failed', detail: error.message, fix: error.hint ?? 'Try again.' };
  } finally {
    cancel();
    deps.signal?.removeEventListener('abort', onAbort);
  }
}
