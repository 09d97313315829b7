import { constants, existsSync, readdirSync, statSync } from 'node:fs';
import { access, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../shared/config.ts';
import { isLoopback, listenAddress } from '../shared/config-rules.ts';
import type { ConfigProblem, DoctorCheck, ProviderTest } from '../shared/contract.ts';
import { messageOf } from '../shared/errors.ts';
import { createTranslator } from '../shared/i18n/index.ts';
import type { Snapshot } from '../shared/status.ts';
import { type CapState, describeCap } from '../shared/usage.ts';
import { placed } from './platform/config-entry.ts';
import { isOpen } from './platform/files.ts';
import { resolveConfigPath, type StatePaths } from './platform/paths.ts';
import type { Clock, SecretStore } from './ports.ts';

export interface DoctorDeps {
  paths: StatePaths;
  config: () => Config;
  problems: () => ConfigProblem[];
  /** Secrets that stand in the config file itself, by path. */
  plainSecrets: () => string[];
  secrets: Pick<SecretStore, 'describe'>;
  /** What is wrong with the database, or null. */
  databaseTrouble: () => string | null;
  proxy: () => Snapshot['proxy'];
  /** Names the process that holds a port, when that can be found out. */
  portOwner?: (port: number) => Promise<string | null>;
  providerConfigured: () => boolean;
  testProvider: () => Promise<ProviderTest>;
  /** The daily cap on our own calls; null without one. */
  cap: () => CapState | null;
  clock: Clock;
}

type Finding = Pick<DoctorCheck, 'state' | 'detail'> & { fix?: string | null };
type Check = { id: string; title: string; run: (deps: DoctorDeps) => Promise<Finding> | Finding };

/** In this order: a later check often fails because of an earlier one. */
const CHECKS: readonly Check[] = [
  { id: 'config', title: 'Config file', run: checkConfig },
  { id: 'state', title: 'State folder', run: checkStateFolder },
  { id: 'database', title: 'Database', run: checkDatabase },
  { id: 'port', title: 'Proxy port', run: checkPort },
  { id: 'provider', title: 'Provider', run: checkProvider },
  { id: 'provider-answers', title: 'Provider answers', run: checkProviderAnswers },
  { id: 'skills', title: 'Skill folder', run: checkSkills },
  { id: 'secrets', title: 'Secrets', run: checkSecrets },
  { id: 'permissions', title: 'File permissions', run: checkPermissions },
  { id: 'exposure', title: 'Reach of the proxy', run: checkExposure },
  { id: 'cap', title: 'Daily cap', run: checkCap },
  { id: 'clock', title: 'Clock', run: checkClock },
];

/** Runs every health check; each that is not in order says what to do. A check that breaks is itself a finding. */
export async function runDoctor(deps: DoctorDeps): Promise<DoctorCheck[]> {
  const results: DoctorCheck[] = [];
  for (const { id, title, run } of CHECKS) {
    let finding: Finding;
    try {
      finding = await run(deps);
    } catch (error) {
      finding = { state: 'problem', detail: messageOf(error), fix: 'See the log for details.' };
    }
    results.push({ id, title, state: finding.state, detail: finding.detail, fix: finding.fix ?? null });
  }
  return results;
}

function checkConfig({ problems, paths }: DoctorDeps): Finding {
  const found = problems();
  const first = found.find((problem) => problem.severity === 'error') ?? found[0];
  if (first === undefined)
    return {
      state: 'ok',
      detail: existsSync(paths.config)
        ? paths.config
        : `${paths.config} does not exist yet; the defaults hold.`,
    };
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  return {
    state: first.severity === 'error' ? 'problem' : 'warning',
    detail: `${placed(first)}${more}`,
    fix: first.hint ?? `Edit ${paths.config}.`,
  };
}

async function checkStateFolder({ paths }: DoctorDeps): Promise<Finding> {
  const probe = join(paths.home, `.doctor-${process.pid}`);
  try {
    await writeFile(probe, '', { mode: 0o600 });
    await rm(probe, { force: true });
    return { state: 'ok', detail: `${paths.home} is writable.` };
  } catch (error) {
    return {
      state: 'problem',
      detail: `${paths.home} cannot be written: ${messageOf(error)}`,
      fix: 'Mend its owner and permissions or free disk space, or set METACLAW_HOME to another folder.',
    };
  }
}

function checkDatabase({ databaseTrouble, paths }: DoctorDeps): Finding {
  const trouble = databaseTrouble();
  if (trouble !== null)
    return {
      state: 'problem',
      detail: trouble,
      fix: 'Restart MetaClaw: a damaged file is set aside and kept.',
    };
  const size = existsSync(paths.database) ? statSync(paths.database).size : 0;
  return { state: 'ok', detail: `${paths.database} is sound (${(size / 1024 / 1024).toFixed(1)} MB).` };
}

async function checkPort(deps: DoctorDeps): Promise<Finding> {
  const proxy = deps.proxy();
  if (proxy.state === 'running')
    return { state: 'ok', detail: `The proxy listens on ${proxy.host}:${proxy.port}.` };
  if (proxy.state === 'failed')
    return {
      state: 'problem',
      detail: proxy.message,
      fix: proxy.hint ?? 'Choose another port: metaclaw config proxy.port N',
    };
  const { host, port } = listenAddress(deps.config());
  const trouble = await tryListen(host, port);
  if (trouble === null) return { state: 'ok', detail: `Port ${port} is free; the proxy is not running.` };
  const owner = (await deps.portOwner?.(port)) ?? null;
  return {
    state: 'problem',
    detail:
      trouble === 'EADDRINUSE'
        ? `Port ${port} is held by ${owner ?? 'another program'}.`
        : `The proxy cannot listen on ${host}:${port} (${trouble}).`,
    fix: 'End that program, or choose another port: metaclaw config proxy.port N',
  };
}

function checkProvider({ providerConfigured, config }: DoctorDeps): Finding {
  const { llm } = config();
  if (!providerConfigured())
    return {
      state: 'problem',
      detail: 'No provider is set, so nobody can answer.',
      fix: 'Run metaclaw setup.',
    };
  return { state: 'ok', detail: `${llm.provider}, model ${llm.model_id || 'as asked for'}` };
}

async function checkProviderAnswers({ providerConfigured, testProvider }: DoctorDeps): Promise<Finding> {
  if (!providerConfigured()) return { state: 'skipped', detail: 'There is no provider to ask.' };
  const test = await testProvider();
  const failed = test.steps.find((step) => step.state === 'failed');
  if (failed) return { state: 'problem', detail: failed.detail, fix: failed.fix };
  const answer = test.steps.find((step) => step.id === 'answer');
  return test.ok
    ? { state: 'ok', detail: answer?.detail ?? 'It answers.' }
    : { state: 'problem', detail: 'The provider does not answer.', fix: 'Run metaclaw setup.' };
}

async function checkSkills({ config, paths }: DoctorDeps): Promise<Finding> {
  const dir = resolveConfigPath(paths.home, config().skills.dir);
  if (!existsSync(dir))
    return { state: 'warning', detail: `${dir} does not exist yet.`, fix: 'It is made on the first start.' };
  await access(dir, constants.R_OK | constants.W_OK);
  const count = readdirSync(dir).filter((name) => existsSync(join(dir, name, 'SKILL.md'))).length;
  if (count === 0)
    return { state: 'warning', detail: `${dir} holds no skill.`, fix: 'Start MetaClaw: it brings its own.' };
  return { state: 'ok', detail: `${count} skills in ${dir}.` };
}

function checkSecrets({ plainSecrets, secrets, paths }: DoctorDeps): Finding {
  const plain = plainSecrets();
  if (plain.length === 0) return { state: 'ok', detail: `Kept in ${secrets.describe().detail}.` };
  return {
    state: 'warning',
    detail: `${plain.join(', ')} ${plain.length === 1 ? 'stands' : 'stand'} in ${paths.config} in plain text.`,
    fix: `Move ${plain.length === 1 ? 'it' : 'each'} into the secret store: metaclaw config set ${plain[0]} (it asks for the value).`,
  };
}

function checkPermissions({ paths }: DoctorDeps): Finding {
  const open = [paths.config, paths.lastGoodConfig, paths.secrets, paths.controlToken, paths.database].filter(
    isOpen,
  );
  if (open.length === 0) return { state: 'ok', detail: 'Only you can read what MetaClaw keeps.' };
  return {
    state: 'warning',
    detail: `Other users of this computer can read ${open.join(', ')}.`,
    fix: `chmod 600 ${open.map((path) => `'${path.replaceAll("'", `'\\''`)}'`).join(' ')}`,
  };
}

function checkExposure({ config }: DoctorDeps): Finding {
  const { host, warning } = listenAddress(config());
  const { listeners } = config().proxy;
  if (warning !== null)
    return { state: 'warning', detail: warning, fix: 'metaclaw config proxy.host 127.0.0.1' };
  if (isLoopback(host) && listeners.length === 0)
    return { state: 'ok', detail: 'Only this computer reaches the proxy.' };
  const where = [
    ...(isLoopback(host) ? [] : [host]),
    ...listeners.map((listener) => `${listener.host}:${listener.port}`),
  ];
  return {
    state: 'warning',
    detail: `Other computers reach the proxy at ${where.join(', ')}, if they have its key.`,
    fix: 'If that is not wanted: metaclaw config proxy.host 127.0.0.1, and take proxy.listeners out.',
  };
}

function checkCap({ cap }: DoctorDeps): Finding {
  const state = cap();
  if (state === null) return { state: 'ok', detail: 'Learning has no daily cap (usage.daily_cap).' };
  const detail = describeCap(state, createTranslator('en'));
  if (state.state === 'open') return { state: 'ok', detail };
  return {
    state: 'warning',
    detail,
    fix:
      state.state === 'unpriced'
        ? `metaclaw config usage.prices '{"${state.model}": {input: 1, output: 4}}', in dollars per million tokens`
        : 'If that is too early, raise the cap: metaclaw config usage.daily_cap VALUE',
  };
}

/** A clock that was set back leaves files that seem to come from the future. */
function checkClock({ clock, paths }: DoctorDeps): Finding {
  const now = clock.now();
  const newest = Math.max(
    0,
    ...[paths.database, paths.config].filter(existsSync).map((path) => statSync(path).mtimeMs),
  );
  if (newest <= now + 3_600_000) return { state: 'ok', detail: new Date(now).toString() };
  return {
    state: 'warning',
    detail: `It is ${new Date(now).toString()}, but files of MetaClaw were written later than that.`,
    fix: 'Set the clock of this computer: sign-ins and windows of the scheduler depend on it.',
  };
}

function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}
