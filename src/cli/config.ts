import type { Command } from 'commander';
import { withFix } from '../engine/platform/config-entry.ts';
import type { ConfigEntry, ConfigProblem } from '../shared/contract.ts';
import { AppError } from '../shared/errors.ts';
import { connectHost } from './client.ts';
import { type Context, openConfigFile } from './context.ts';
import { table } from './terminal.ts';

/** The configuration through the running host, or straight from the file when none runs. */
interface Settings {
  list(): Promise<ConfigEntry[]>;
  get(path: string): Promise<ConfigEntry>;
  set(path: string, value: unknown): Promise<ConfigEntry>;
  unset(path: string): Promise<ConfigEntry>;
  setSecret(name: string, value: string): Promise<void>;
  problems(): Promise<ConfigProblem[]>;
  close(): Promise<void>;
}

export async function openSettings(context: Context): Promise<Settings> {
  const host = await connectHost(context.home, context.version);
  if (host !== null) {
    const { call } = host;
    return {
      list: () => call('config.list', {}),
      get: (path) => call('config.get', { path }),
      set: (path, value) => call('config.set', { path, value }),
      unset: (path) => call('config.unset', { path }),
      setSecret: async (name, value) => void (await call('secrets.set', { name, value })),
      problems: () => call('config.problems', {}),
      close: () => host.close(),
    };
  }
  const file = openConfigFile(context);
  return {
    list: async () => file.entries(),
    get: async (path) => file.entry(path),
    set: async (path, value) => file.set(path, value),
    unset: async (path) => file.unset(path),
    setSecret: async (name, value) => file.setSecret(name, value),
    problems: async () => file.problems(),
    close: async () => {},
  };
}

/** `metaclaw config …` */
export function addConfigCommand(program: Command, context: Context): void {
  const { terminal } = context;
  const command = program
    .command('config')
    .description('read and change settings; secrets are never shown')
    .argument('[key]', 'dotted key, e.g. llm.model_id')
    .argument('[value]', 'new value; for a secret, leave it out to be asked')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\n`config KEY` shows one key, `config KEY VALUE` sets it.')
    .action(async (key: string | undefined, value: string | undefined, options: { json?: boolean }) => {
      if (key === undefined) await show(context, undefined, options.json ?? false);
      else if (value === undefined) await get(context, key, options.json ?? false);
      else await set(context, key, value);
    });
  command
    .command('show')
    .description('list settings; changed ones are marked with *')
    .argument('[section]', 'only keys of this section, e.g. llm')
    .option('--json', 'print one JSON document')
    .action((section: string | undefined, _options, self: Command) =>
      show(context, section, wantsJson(self)),
    );
  command
    .command('get')
    .description('show one setting')
    .argument('<key>')
    .option('--json', 'print one JSON document')
    .action((key: string, _options, self: Command) => get(context, key, wantsJson(self)));
  command
    .command('set')
    .description('change one setting; a secret is asked for, or read from a pipe, when no value is given')
    .argument('<key>')
    .argument('[value]')
    .action((key: string, value: string | undefined) => set(context, key, value));
  command
    .command('unset')
    .description('take one setting out of the file, so that its default holds')
    .argument('<key>')
    .action((key: string) =>
      use(context, async (settings) => {
        const entry = await settings.unset(key);
        terminal.out(`Unset ${key}; it is ${spell(entry)} now.`);
      }),
    );
}

/** `--json` stands behind a command or behind its parent; both count. */
export function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json === true;
}

async function show(context: Context, section: string | undefined, json: boolean): Promise<void> {
  const { terminal } = context;
  await use(context, async (settings) => {
    const all = await settings.list();
    const entries =
      section === undefined
        ? all
        : all.filter(({ path }) => path === section || path.startsWith(`${section}.`));
    if (section !== undefined && entries.length === 0) await settings.get(section);
    const problems = await settings.problems();
    if (json) {
      terminal.json({ entries, problems });
      return;
    }
    terminal.out(
      table(
        entries.map((entry) => [entry.isDefault ? ' ' : '*', entry.path, `${spell(entry)}${origin(entry)}`]),
      ),
    );
    for (const problem of problems) terminal.err(describeProblem(problem));
  });
}

async function get(context: Context, key: string, json: boolean): Promise<void> {
  await use(context, async (settings) => {
    if (key === 'llm.oauth_token') {
      const { value } = await settings.get('llm.auth_method');
      context.terminal.out(`llm.oauth_token: see \`metaclaw auth status\` (llm.auth_method is ${value})`);
      return;
    }
    const entry = await settings.get(key);
    if (json) context.terminal.json(entry);
    else context.terminal.out(`${key}: ${spell(entry)}${origin(entry)}`);
  });
}

async function set(context: Context, key: string, given: string | undefined): Promise<void> {
  const { terminal } = context;
  await use(context, async (settings) => {
    if (key === 'llm.oauth_token') {
      await setToken(context, settings, given);
      return;
    }
    const before = await settings.get(key);
    if (given === undefined && !before.secret)
      throw new AppError('BAD_INPUT', `A value for ${key} is missing.`, { hint: before.help, field: key });
    const value = given ?? (await readSecret(context, before.label));
    const entry = await settings.set(key, value);
    const isOverridden = entry.overriddenBy !== null;
    if (entry.secret) terminal.out(`Set ${key} (kept in the secret store).`);
    else terminal.out(`Set ${key} = ${isOverridden ? value : spell(entry)}`);
    if (isOverridden) terminal.err(`Note: ${entry.overriddenBy} still overrides it.`);
    if (entry.restart) terminal.err('It holds from the next start of the proxy.');
  });
}

/** `config llm.oauth_token T`, as with the original: a token for the configured provider. */
async function setToken(context: Context, settings: Settings, given: string | undefined): Promise<void> {
  const provider = String((await settings.get('llm.provider')).value);
  if (provider === 'custom')
    throw new AppError('BAD_INPUT', 'A token belongs to a provider, and none is set.', {
      hint: 'First: metaclaw config llm.provider anthropic',
      field: 'llm.provider',
    });
  const token = given ?? (await readSecret(context, `Token of ${provider}`));
  await settings.setSecret(`auth.${provider}.token`, token);
  await settings.set('llm.auth_method', 'oauth_token');
  context.terminal.out(
    `Set the token of ${provider} (kept in the secret store); llm.auth_method = oauth_token`,
  );
}

/** Asks for a secret, or takes it from a pipe; an empty one is refused. */
export async function readSecret(context: Context, question: string): Promise<string> {
  const value = await context.terminal.readSecret(question);
  if (value === '') throw new AppError('BAD_INPUT', 'The value is empty; nothing was changed.');
  return value;
}

/** A problem of the config as one line. */
function describeProblem(problem: ConfigProblem): string {
  return `${problem.severity}: ${withFix(problem)}`;
}

function spell(entry: ConfigEntry): string {
  if (entry.secret) return entry.isSet ? 'set (hidden)' : '(not set)';
  if (entry.value === '' || entry.value === null || entry.value === undefined) return '(not set)';
  return typeof entry.value === 'string' ? entry.value : JSON.stringify(entry.value);
}

/** What stands above the file, where that is so. */
function origin({ overriddenBy }: ConfigEntry): string {
  return overriddenBy === null ? '' : `   (from ${overriddenBy})`;
}

async function use(context: Context, work: (settings: Settings) => Promise<void>): Promise<void> {
  const settings = await openSettings(context);
  try {
    await work(settings);
  } finally {
    await settings.close();
  }
}
