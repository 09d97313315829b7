import type { Command } from 'commander';
import { statePaths } from '../engine/platform/paths.ts';
import { FileSecretStore } from '../engine/platform/secrets.ts';
import type { VendorProgram } from '../shared/contract.ts';
import { AppError } from '../shared/errors.ts';
import { connectHost } from './client.ts';
import { openSettings, readSecret, wantsJson } from './config.ts';
import { type Context, openConfigFile, withCalls } from './context.ts';
import { table } from './terminal.ts';

/** `metaclaw auth …`: keys and sign-in tokens per provider. No part of one is ever printed. */
export function addAuthCommand(program: Command, context: Context): void {
  const { terminal } = context;
  const auth = program.command('auth').description('keep keys and tokens of providers; none is ever shown');
  auth
    .command('paste-key')
    .description('store the API key of a provider; asked for without an echo, or read from a pipe')
    .requiredOption('--provider <id>', 'e.g. openai, kimi, openrouter')
    .action(({ provider }: { provider: string }) => store(context, provider, 'key', 'API key'));
  auth
    .command('paste-token')
    .description('store a sign-in token of a provider; asked for without an echo, or read from a pipe')
    .option('--provider <id>', 'anthropic, openai-codex or gemini', 'anthropic')
    .action(({ provider }: { provider: string }) => store(context, provider, 'token', 'Token'));
  auth
    .command('status')
    .description('list what is stored, and the vendors’ programs that are signed in on this computer')
    .option('--json', 'print one JSON document')
    .action(async (_options, self: Command) => {
      const [{ names, detail }, found] = await Promise.all([list(context), programs(context)]);
      if (wantsJson(self)) {
        terminal.json({ kept: detail, secrets: names.map((name) => ({ name, set: true })), programs: found });
        return;
      }
      terminal.out(
        names.length === 0
          ? 'Nothing is stored.'
          : table(names.map((name) => [name.replace(/^auth\./, ''), 'set'])),
      );
      terminal.out(`Kept in ${detail}.`);
      if (found.length > 0)
        terminal.out(`\nPrograms that can answer as a provider:\n${table(found.map(programRow))}`);
    });
  auth
    .command('remove')
    .description('forget a stored key or token')
    .argument('<id>', 'a provider, or a name from `auth status`')
    .action(async (id: string) => {
      const { names } = await list(context);
      const gone = names.filter(
        (name) => name === id || name === `auth.${id}` || name.startsWith(`auth.${id}.`),
      );
      if (gone.length === 0)
        throw new AppError('NOT_FOUND', `Nothing is stored for ${JSON.stringify(id)}.`, {
          hint: 'See metaclaw auth status.',
        });
      for (const name of gone) await forget(context, name);
      terminal.out(`Removed ${gone.map((name) => name.replace(/^auth\./, '')).join(', ')}.`);
    });
}

/** None where no engine can be had to look: what is stored is told all the same. */
async function programs(context: Context): Promise<VendorProgram[]> {
  try {
    return await withCalls(context, (call) => call('setup.programs', {}));
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

function programRow({ provider, title, version, signedIn, path }: VendorProgram): string[] {
  const state = signedIn === null ? 'sign-in unknown' : signedIn ? 'signed in' : 'not signed in';
  return [provider, `${title} ${version ?? ''}`.trim(), state, path];
}

async function store(
  context: Context,
  provider: string,
  kind: 'key' | 'token',
  title: string,
): Promise<void> {
  if (!/^[\w-]+$/.test(provider))
    throw new AppError('BAD_INPUT', 'A provider is named by letters, digits, - and _.', {
      field: 'provider',
    });
  const value = await readSecret(context, `${title} of ${provider}`);
  const settings = await openSettings(context);
  try {
    await settings.setSecret(`auth.${provider}.${kind}`, value);
    context.terminal.out(`Stored the ${kind} of ${provider}.`);
    const chosen = String((await settings.get('llm.provider')).value);
    const method = String((await settings.get('llm.auth_method')).value);
    if (chosen !== provider) context.terminal.out(`To use it: metaclaw config llm.provider ${provider}`);
    if (kind === 'token' && method !== 'oauth_token')
      context.terminal.out('To use it: metaclaw config llm.auth_method oauth_token');
    if (kind === 'key' && (await settings.get('llm.api_key')).isSet && chosen === provider)
      context.terminal.out(
        'Note: llm.api_key is set, and goes first. Take it out with: metaclaw config unset llm.api_key',
      );
  } finally {
    await settings.close();
  }
}

async function list(context: Context): Promise<{ names: string[]; detail: string }> {
  const host = await connectHost(context.home, context.version);
  if (host === null) {
    const secrets = new FileSecretStore(statePaths(context.home).secrets);
    return { names: secrets.names(), detail: secrets.describe().detail };
  }
  try {
    return await host.call('secrets.list', {});
  } finally {
    await host.close();
  }
}

async function forget(context: Context, name: string): Promise<void> {
  const host = await connectHost(context.home, context.version);
  if (host === null) {
    openConfigFile(context).setSecret(name, null);
    return;
  }
  try {
    await host.call('secrets.clear', { name });
  } finally {
    await host.close();
  }
}
