import { type Command, InvalidArgumentError } from 'commander';
import { formatNumber, formatPercent } from '../shared/format.ts';
import type { CachedTurn, PrefixState, SessionCache, SessionSummary } from '../shared/sessions.ts';
import { wantsJson } from './config.ts';
import { type Context, withCalls } from './context.ts';
import { table } from './terminal.ts';

const PREFIX: Readonly<Record<PrefixState, string>> = {
  first: 'first',
  kept: 'kept',
  broken: 'changed by MetaClaw',
  client: 'changed by the agent',
  cut: 'cut to the limit',
  'other-model': 'another model before',
  unknown: 'not recorded',
};

/** `metaclaw sessions list|show` */
export function addSessionsCommand(program: Command, context: Context): void {
  const { terminal } = context;
  const sessions = program
    .command('sessions')
    .description('show conversations, and what the provider’s prompt cache gave them');
  sessions
    .command('list')
    .description('list conversations, the last used first')
    .option('--limit <n>', 'how many', limit, 20)
    .option('--json', 'print one JSON document')
    .action(async (options: { limit: number }, self: Command) => {
      const { sessions: all } = await withCalls(context, (call) =>
        call('sessions.list', { limit: options.limit }),
      );
      if (wantsJson(self)) return terminal.json(all);
      if (all.length === 0) return terminal.out('No conversation is recorded yet.');
      terminal.out(table([['session', 'agent', 'turns', 'prompt', 'cached', 'words'], ...all.map(listRow)]));
    });
  sessions
    .command('show')
    .description('show a conversation’s turns: prompt tokens, cache hits, and whether their start was kept')
    .argument('<id>')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nA provider’s cache gives back the start that two prompts have in common. “kept”: all that was sent before\nstands at the start of this prompt, byte for byte.',
    )
    .action(async (id: string, _options, self: Command) => {
      const report = await withCalls(context, (call) => call('sessions.cache', { id }));
      if (wantsJson(self)) return terminal.json(report);
      if (report.turns.length === 0) return terminal.out('It has no recorded turn.');
      const head = ['turn', 'model', 'prompt', 'cached', 'share', 'written', 'added', 'start'];
      terminal.out(table([head, ...report.turns.map(turnRow)]));
      terminal.out(inOneLine(report));
    });
}

function limit(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 500)
    throw new InvalidArgumentError('A whole number from 1 to 500 is expected.');
  return count;
}

function listRow({ id, agent, turns, words, ...tokens }: SessionSummary): string[] {
  const prompt = tokens.promptTokens;
  return [
    id,
    agent,
    String(turns),
    number(prompt),
    share(tokens.cacheReadTokens, prompt),
    words.replace(/\s+/g, ' '),
  ];
}

function turnRow(turn: CachedTurn): string[] {
  const { promptTokens: prompt } = turn;
  return [
    String(turn.seq),
    turn.model,
    prompt === null ? '-' : number(prompt),
    prompt === null ? '-' : number(turn.cacheReadTokens),
    share(turn.cacheReadTokens, prompt ?? 0),
    prompt === null ? '-' : number(turn.cacheWriteTokens),
    number(turn.addedTokens),
    PREFIX[turn.prefix],
  ];
}

function inOneLine({ promptTokens, cacheReadTokens, broken, turns }: SessionCache): string {
  const hits = `${share(cacheReadTokens, promptTokens)} of ${number(promptTokens)} prompt tokens came from the cache.`;
  const kept = turns.filter(({ prefix }) => prefix === 'kept').length;
  return broken === 0
    ? `${hits} What MetaClaw added changed no start (${kept} kept).`
    : `${hits} What MetaClaw added changed the start of ${broken === 1 ? 'one turn' : `${broken} turns`}.`;
}

function number(value: number): string {
  return formatNumber(value, 'en');
}

function share(part: number, whole: number): string {
  return whole === 0 ? '-' : formatPercent(part / whole, 'en');
}
