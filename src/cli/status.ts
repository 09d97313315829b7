import type { Command } from 'commander';
import { clearStaleHost, type RuntimeInfo, readHost } from '../engine/platform/lock.ts';
import { messageOf } from '../shared/errors.ts';
import { createTranslator, matchLocale, type Translate } from '../shared/i18n/index.ts';
import { describe, type Snapshot } from '../shared/status.ts';
import { describeCap } from '../shared/usage.ts';
import { connectHost } from './client.ts';
import { wantsJson } from './config.ts';
import type { Context } from './context.ts';
import { isHealthy } from './daemon.ts';
import { table } from './terminal.ts';

const NOT_RUNNING = 3;
const UNKNOWN = 4;

/** `metaclaw status` */
export function addStatusCommand(program: Command, context: Context): void {
  program
    .command('status')
    .description('say in one sentence what MetaClaw does')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExit codes: 0 running, 3 not running, 4 running but without an answer.')
    .action(async (_options, self: Command) => {
      const json = wantsJson(self);
      const host = await readHost(context.home);
      if (host.state === 'running' && !host.info.brief) {
        await showRunning(context, host.info, json);
        return;
      }
      const stale = host.state === 'stale' && (await clearStaleHost(context.home));
      const sentence = stale
        ? 'MetaClaw is not running; a stale record was removed.'
        : 'MetaClaw is not running.';
      if (json) context.terminal.json({ running: false, sentence });
      else context.terminal.out(`${sentence} Start it: metaclaw start --daemon`);
      context.exit(NOT_RUNNING);
    });
}

async function showRunning(context: Context, info: RuntimeInfo, json: boolean): Promise<void> {
  const { terminal, env } = context;
  let snapshot: Snapshot;
  let endpoints: { openai: string; anthropic: string };
  try {
    const client = await connectHost(context.home, context.version);
    if (client === null) throw new Error('it has just stopped');
    try {
      snapshot = await client.call('app.snapshot', {});
      endpoints = await client.call('proxy.endpoints', {});
    } finally {
      await client.close();
    }
  } catch (error) {
    const healthy = info.proxy !== null && (await isHealthy(info.proxy));
    const sentence = `MetaClaw (${info.kind}, pid ${info.pid}) ${healthy ? 'answers agents, but not this command' : 'runs, but does not answer'}: ${messageOf(error)}`;
    if (json) terminal.json({ running: true, answers: false, sentence, pid: info.pid, kind: info.kind });
    else terminal.out(sentence);
    context.exit(UNKNOWN);
    return;
  }
  const t = createTranslator(matchLocale([env.LC_ALL, env.LC_MESSAGES, env.LANG]));
  const status = describe(snapshot, t, Date.now());
  if (json) {
    terminal.json({
      running: true,
      answers: true,
      ...status,
      startedAt: info.startedAt,
      endpoints,
      ...snapshot,
    });
    return;
  }
  terminal.out(status.sentence);
  const { detail } = status;
  const cap = snapshot.usage.cap && describeCap(snapshot.usage.cap, t);
  const capLine = cap === detail ? null : cap;
  if (detail !== null && detail !== status.sentence && !snapshot.warnings.includes(detail))
    terminal.out(detail);
  terminal.out(table(rows(info, snapshot, endpoints, capLine, t)));
  for (const warning of snapshot.warnings) terminal.err(`warning: ${warning}`);
}

function rows(
  info: RuntimeInfo,
  snapshot: Snapshot,
  endpoints: { openai: string; anthropic: string },
  cap: string | null,
  t: Translate,
): string[][] {
  const { provider, today, proxy } = snapshot;
  const mode =
    snapshot.modeReason === null
      ? snapshot.effectiveMode
      : `${snapshot.effectiveMode} (set: ${snapshot.mode}). ${t(`status.training.${snapshot.modeReason}`)}`;
  return [
    [
      'Host',
      `${info.kind === 'app' ? 'tray application' : 'daemon'}, pid ${info.pid}, version ${snapshot.version}`,
    ],
    ...(proxy.state === 'running'
      ? [
          ['OpenAI base URL', endpoints.openai],
          ['Anthropic base URL', endpoints.anthropic],
        ]
      : [['Proxy', proxy.state]]),
    [
      'Provider',
      provider.configured ? `${provider.name} ${provider.model}`.trim() : 'not set (metaclaw setup)',
    ],
    ['Mode', mode],
    [
      'Today',
      `${count(today.turns, 'turn')} in ${count(today.sessions, 'session')}, ${count(today.addedTokens, 'token')} added`,
    ],
    ['Waiting', count(snapshot.waiting.proposals, 'proposal')],
    ['Memory', memoryWords(snapshot.memory)],
    ...(cap === null ? [] : [['Daily cap', cap]]),
  ];
}

function memoryWords({ enabled, pending, lastError }: Snapshot['memory']): string {
  if (!enabled) return 'off (memory.enabled)';
  const waits = pending === 0 ? '' : `, ${count(pending, 'statement')} to be read`;
  return `on${waits}${lastError === null ? '' : `. Reading fails: ${lastError}`}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
