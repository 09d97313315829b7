import type { Command } from 'commander';
import type { Call, ProviderPreset } from '../shared/contract.ts';
import { AppError } from '../shared/errors.ts';
import { type Context, withCalls } from './context.ts';
import { modeOption, parsePort } from './run-options.ts';
import { describeTest, type ProviderAnswers, type SetupOptions, storedProvider } from './setup-answers.ts';

/** `metaclaw setup`: as questions on a terminal, or from flags. Everything that is not asked stays as it is. */
export function addSetupCommand(program: Command, context: Context): void {
  program
    .command('setup')
    .description('choose the provider that answers, and test it; other settings stay as they are')
    .option('-y, --yes', 'ask nothing; take the flags')
    .option('--provider <id>', 'openai, anthropic, openrouter, kimi, ollama, … or custom')
    .option('--api-base <url>', 'address of the provider; its usual one by default')
    .option('--model <name>', 'model that answers')
    .option('--api-key-env <name>', 'environment variable that holds the key')
    .option('--port <n>', 'port of the proxy', parsePort)
    .addOption(modeOption())
    .option('--no-test', 'save without the live test')
    .action(async (options: SetupOptions) => {
      if (!options.yes && !context.terminal.interactive)
        throw new AppError('BAD_INPUT', 'There is no terminal to ask on.', {
          hint: 'Use flags: metaclaw setup --yes --provider openai --model gpt-5.2 --api-key-env OPENAI_API_KEY',
        });
      const run = async (call: Call, live: boolean) => {
        if (options.yes) {
          await setupFromFlags(context, call, options);
        } else {
          const { setupByQuestions } = await import('./setup-questions.ts');
          await setupByQuestions(context, call, options);
        }
        context.terminal.out(
          live ? 'MetaClaw is running and uses it from now on.' : 'Next: metaclaw start --daemon',
        );
      };
      // The library is begun here, so that the built-in skills are there before the first start.
      await withCalls(context, run, { library: true });
    });
}

async function setupFromFlags(context: Context, call: Call, options: SetupOptions): Promise<void> {
  const { terminal } = context;
  const presets = await call('setup.presets', {});
  const stored = await storedProvider(call);
  const id = options.provider ?? (stored.isSet ? stored.provider : undefined);
  if (id === undefined)
    throw new AppError('BAD_INPUT', 'The provider is missing.', {
      hint: `--provider with one of ${names(presets)}`,
      field: 'provider',
    });
  const preset = presets.find((one) => one.id === id);
  if (!preset)
    throw new AppError('BAD_INPUT', `There is no provider ${JSON.stringify(id)}.`, {
      hint: `One of ${names(presets)}.`,
      field: 'provider',
    });
  const same = stored.isSet && stored.provider === id;
  const answers: ProviderAnswers = {
    provider: id,
    wire: same ? stored.wire : 'auto',
    baseUrl: options.apiBase ?? (same ? stored.baseUrl : ''),
    model: options.model ?? ((same && stored.model) || preset.suggestedModel),
    ...keyFrom(context, preset, options.apiKeyEnv, stored.hasKeyFor(id)),
  };
  if (answers.baseUrl === '' && preset.baseUrl === '' && preset.program === null)
    throw new AppError('BAD_INPUT', `${preset.name} needs its address.`, {
      hint: 'Add --api-base URL.',
      field: 'api-base',
    });
  if (answers.model === '')
    throw new AppError('BAD_INPUT', 'The model is missing.', { hint: 'Add --model NAME.', field: 'model' });
  if (options.test) {
    const test = await call('setup.testProvider', answers);
    terminal.out(describeTest(test));
    if (!test.ok)
      throw new AppError('UPSTREAM_REFUSED', 'The provider does not answer; nothing was saved.', {
        hint: 'Mend what the test found, or save anyway with --no-test.',
      });
  }
  await call('setup.saveProvider', answers);
  if (options.port !== undefined) await call('config.set', { path: 'proxy.port', value: options.port });
  await call('setup.finish', options.mode === undefined ? {} : { mode: options.mode });
  terminal.out(`Saved: ${preset.name}, model ${answers.model}.`);
}

/** The key that a named (or the preset's usual) environment variable holds. */
function keyFrom(
  context: Pick<Context, 'env'>,
  preset: ProviderPreset,
  named: string | undefined,
  stored: boolean,
): { apiKey?: string } {
  if (named !== undefined) {
    const value = context.env[named]?.trim();
    if (!value)
      throw new AppError('BAD_INPUT', `The environment variable ${named} is not set.`, {
        field: 'api-key-env',
      });
    return { apiKey: value };
  }
  if (stored) return {};
  const usual = preset.keyEnv === null ? undefined : context.env[preset.keyEnv]?.trim();
  if (usual) return { apiKey: usual };
  if (preset.needsKey)
    throw new AppError('BAD_INPUT', `${preset.name} needs a key.`, {
      hint: `Put it into an environment variable and add --api-key-env ${preset.keyEnv ?? 'NAME'}, or store it first: metaclaw config set llm.api_key`,
      field: 'api-key-env',
    });
  return {};
}

function names(presets: readonly ProviderPreset[]): string {
  return presets.map((preset) => preset.id).join(', ');
}
