import {
  cancel,
  confirm,
  intro,
  isCancel,
  log,
  note,
  outro,
  password,
  select,
  spinner,
  text,
} from '@clack/prompts';
import { statePaths } from '../engine/platform/paths.ts';
import type { Call, LocalServer, ProviderPreset, ProviderTest } from '../shared/contract.ts';
import { AppError } from '../shared/errors.ts';
import type { Context } from './context.ts';
import {
  describeTest,
  type ProviderAnswers,
  type SetupOptions,
  type StoredProvider,
  storedProvider,
} from './setup-answers.ts';
import { harmless } from './terminal.ts';

/** The wizard on a terminal. Ctrl-C at any question leaves everything as it was. */
export async function setupByQuestions(context: Context, call: Call, options: SetupOptions): Promise<void> {
  intro('MetaClaw setup');
  const [presets, local, stored] = await Promise.all([
    call('setup.presets', {}),
    call('setup.detectLocal', {}),
    storedProvider(call),
  ]);
  // What was answered before, by an earlier setup or the round that failed, is offered again.
  const wanted = options.provider ?? (stored.isSet ? stored.provider : null);
  const same = wanted === stored.provider;
  let before: Pick<StoredProvider, 'baseUrl' | 'model' | 'wire'> & { provider: string | null } = {
    provider: wanted,
    baseUrl: options.apiBase ?? (same ? stored.baseUrl : ''),
    model: options.model ?? (same ? stored.model : ''),
    wire: same ? stored.wire : 'auto',
  };
  for (;;) {
    const preset = await askProvider(presets, local, before.provider);
    const answers = await askDetails(context, preset, local, {
      ...before,
      same: before.provider === preset.id,
      hasKey: stored.hasKeyFor(preset.id),
      keyEnv: options.apiKeyEnv,
    });
    before = answers;
    if (options.test) {
      const test = await runTest(call, answers);
      if (
        !test.ok &&
        (await ask(
          confirm({ message: 'Change the answers? (No saves them as they are)', initialValue: true }),
        ))
      )
        continue;
    }
    await call('setup.saveProvider', answers);
    break;
  }
  const autoAccept = await ask(
    select({
      message: 'What happens to a skill that was learned?',
      initialValue: 'safe',
      options: [
        { value: 'safe', label: 'Goes live when it is new and passes the safety scan', hint: 'with undo' },
        { value: 'ask', label: 'Always waits for me' },
        { value: 'always', label: 'Goes live also when it resembles another', hint: 'flagged ones wait' },
      ],
    }),
  );
  const recordBodies = await ask(
    confirm({
      message: 'Keep conversations on this computer, with secrets masked, to learn from them?',
      initialValue: true,
    }),
  );
  const proxyKey = await ask(
    confirm({ message: 'Make agents send a key to the proxy?', initialValue: false }),
  );
  if (options.port !== undefined) await call('config.set', { path: 'proxy.port', value: options.port });
  await call('setup.finish', {
    ...(options.mode === undefined ? {} : { mode: options.mode }),
    autoAccept: autoAccept as 'safe' | 'ask' | 'always',
    recordBodies,
    ...(proxyKey ? { proxyKey } : {}),
  });
  const { openai, anthropic } = await call('proxy.endpoints', {});
  // Secrets are never printed; their owner may read the file.
  const key = proxyKey ? `\nKey                 proxy.api_key in ${statePaths(context.home).secrets}` : '';
  note(`OpenAI base URL     ${openai}\nAnthropic base URL  ${anthropic}${key}`, 'Point your agent at');
  outro('Saved.');
}

async function askProvider(
  presets: readonly ProviderPreset[],
  local: readonly LocalServer[],
  before: string | null,
): Promise<ProviderPreset> {
  const running = new Set(local.map((server) => server.preset));
  // A program takes no tools of an agent's: it is there to be found, not the first choice.
  const isFirst = ({ id, program }: ProviderPreset) => program === null && running.has(id);
  const ordered = [...presets].sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
  const id = await ask(
    select({
      message: 'Which provider answers?',
      initialValue: presets.some((preset) => preset.id === before) ? before : ordered[0]?.id,
      maxItems: 12,
      options: ordered.map((preset) => ({
        value: preset.id,
        label: preset.name,
        hint: running.has(preset.id) ? 'found on this computer' : preset.hint,
      })),
    }),
  );
  const preset = presets.find((one) => one.id === id);
  if (!preset) throw new AppError('INTERNAL', `no preset ${String(id)}`);
  return preset;
}

async function askDetails(
  context: Context,
  preset: ProviderPreset,
  local: readonly LocalServer[],
  before: Pick<StoredProvider, 'baseUrl' | 'model' | 'wire'> & {
    same: boolean;
    hasKey: boolean;
    keyEnv: string | undefined;
  },
): Promise<ProviderAnswers> {
  const server = local.find((one) => one.preset === preset.id);
  const address = (before.same && before.baseUrl) || server?.baseUrl || preset.baseUrl;
  const baseUrl =
    preset.program === null
      ? await ask(
          text({
            message: 'Address',
            initialValue: address,
            validate: (value) =>
              /^https?:\/\/\S+$/.test(value ?? '') ? undefined : 'An address begins with http:// or https://',
          }),
        )
      : '';
  const key = await askKey(context, preset, before.hasKey, before.keyEnv);
  const models = server?.models ?? [];
  const suggested = (before.same && before.model) || models[0] || preset.suggestedModel;
  const model =
    models.length > 1
      ? await ask(
          select({
            message: 'Model',
            initialValue: suggested,
            maxItems: 12,
            options: models.map((value) => ({ value, label: harmless(value) })),
          }),
        )
      : await ask(
          text({
            message: 'Model',
            initialValue: suggested,
            validate: (value) => (value?.trim() ? undefined : 'Name a model'),
          }),
        );
  return {
    provider: preset.id,
    wire: before.same ? before.wire : 'auto',
    baseUrl: baseUrl === preset.baseUrl ? '' : baseUrl,
    model: model.trim(),
    ...key,
  };
}

async function askKey(
  context: Context,
  preset: ProviderPreset,
  stored: boolean,
  named: string | undefined,
): Promise<{ apiKey?: string }> {
  const variable = named ?? preset.keyEnv;
  const fromEnv = variable === null || variable === undefined ? undefined : context.env[variable]?.trim();
  if (fromEnv && (await ask(confirm({ message: `Use the key in ${variable}?`, initialValue: true }))))
    return { apiKey: fromEnv };
  if (!preset.needsKey && preset.id !== 'custom') return {};
  const message = stored
    ? 'Key (leave empty to keep the stored one)'
    : preset.needsKey
      ? 'Key'
      : 'Key (leave empty if it needs none)';
  const value = await ask(
    password({
      message,
      validate: (given) => (preset.needsKey && !stored && !given?.trim() ? 'A key is needed' : undefined),
    }),
  );
  const trimmed = (value ?? '').trim();
  return trimmed === '' ? {} : { apiKey: trimmed };
}

async function runTest(call: Call, answers: ProviderAnswers): Promise<ProviderTest> {
  const busy = spinner();
  busy.start('Asking the provider');
  const test = await call('setup.testProvider', answers).catch((error: unknown) => {
    busy.stop('The test could not be made');
    throw error;
  });
  busy.stop(test.ok ? 'The provider answers' : 'The provider does not answer');
  log.message(harmless(describeTest(test)));
  return test;
}

/** The answer, or an end of the wizard. */
async function ask<T>(question: Promise<T>): Promise<Exclude<T, symbol>> {
  const answer = await question;
  if (isCancel(answer)) {
    cancel('Nothing more was changed.');
    throw new AppError('CANCELLED', 'Setup was left.');
  }
  return answer as Exclude<T, symbol>;
}
