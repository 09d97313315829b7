import { type Command, Option } from 'commander';
import { localUrl } from '../../engine/platform/address.ts';
import {
  type MemoryDetail,
  type MemoryHit,
  type MemoryKind,
  type MemoryScope,
  type MemoryStats,
  type MemoryStatus,
  scopeName,
} from '../../shared/memory.ts';
import { wantsJson } from '../config.ts';
import { type Context, withCalls } from '../context.ts';
import { table } from '../terminal.ts';
import { localTime, oneLine } from '../text.ts';
import { count, findId, kindOption, memories, parseLimit, scopeOption, shortId, unitRow } from './shared.ts';

const STATUSES = ['active', 'superseded', 'expired', 'forgotten'] as const;

interface ListOptions {
  scope?: MemoryScope;
  kind?: MemoryKind;
  status?: MemoryStatus | 'all';
  pinned?: true;
  session?: string;
  text?: string;
  sort: 'newest' | 'oldest' | 'used';
  limit: number;
  after?: string;
}

/** Reading what is remembered: `status`, `list`, `search`, `show`, `stats`, `scopes`. */
export function addLooks(memory: Command, context: Context): void {
  const { terminal } = context;
  memory
    .command('status')
    .description('say whether anything is remembered, by whom it is read, and what waits')
    .option('--json', 'print one JSON document')
    .action((_options, self: Command) =>
      withCalls(context, async (call) => {
        const stats = await call('memory.stats', {});
        const sidecar = await call('memory.sidecar', {});
        if (wantsJson(self)) return terminal.json({ ...stats, sidecar });
        for (const line of describeStats(stats)) terminal.out(line);
        if (sidecar.address !== null) terminal.out(`The sidecar answers at ${localUrl(sidecar.address)}.`);
        if (sidecar.failure !== null) terminal.out(`The sidecar is not served: ${sidecar.failure}`);
      }),
    );
  memory
    .command('list')
    .description('list memories')
    .addOption(scopeOption('only those of this scope'))
    .addOption(kindOption())
    .addOption(
      new Option('--status <status>', 'in this state').choices([...STATUSES, 'all']).default('active'),
    )
    .option('--pinned', 'only pinned ones')
    .option('--session <id>', 'only what a conversation left')
    .option('--text <words>', 'only those that fit these words, the best first')
    .addOption(new Option('--sort <by>', 'order').choices(['newest', 'oldest', 'used']).default('newest'))
    .option('--limit <n>', 'most lines', parseLimit(1000), 50)
    .option('--after <mark>', 'go on behind a page; its end says how')
    .option('--json', 'print one JSON document')
    .action((options: ListOptions, self: Command) =>
      withCalls(context, async (call) => {
        const { scope, kind, status, pinned, session, text, sort, limit, after } = options;
        const page = await call('memory.list', {
          ...(scope === undefined ? {} : { scopes: [scope] }),
          ...(kind === undefined ? {} : { kinds: [kind] }),
          statuses: status === 'all' ? [...STATUSES] : [status ?? 'active'],
          ...(pinned === undefined ? {} : { pinned }),
          ...(session === undefined ? {} : { sessionId: session }),
          ...(text === undefined ? {} : { text }),
          ...(after === undefined ? {} : { after }),
          sort,
          limit,
        });
        if (wantsJson(self)) return terminal.json(page);
        if (page.total === 0) return terminal.out('Nothing is remembered that fits.');
        terminal.out(table(page.units.map(unitRow)));
        if (page.next !== null)
          terminal.err(`${memories(page.total)} in all; go on with --after '${page.next}'`);
      }),
    );
  memory
    .command('search')
    .description('show what a text would bring to mind')
    .argument('<text...>')
    .addOption(scopeOption('as a turn of this scope would find it'))
    .option('--explain', 'also why, and what is too weak to enter a turn')
    .option('--limit <n>', 'most results', parseLimit(200), 20)
    .option('--no-turns', 'only memories, not what was said')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nWhat would enter a turn is marked with *.\n\nExamples:\n  metaclaw memory search which database do we use\n  metaclaw memory search --explain --scope user:alice deploys',
    )
    .action(
      (
        words: string[],
        options: { scope?: MemoryScope; explain?: true; limit: number; turns: boolean },
        self: Command,
      ) =>
        withCalls(context, async (call) => {
          const { scope, explain, limit, turns } = options;
          const all = await call('memory.search', {
            text: words.join(' '),
            ...(scope === undefined ? {} : { scope }),
            limit,
            turns,
          });
          const hits = explain ? all : all.filter(({ enters }) => enters);
          if (wantsJson(self)) return terminal.json(hits);
          if (hits.length > 0) return terminal.out(table(hits.map((hit) => hitRow(hit, explain ?? false))));
          const weak =
            all.length === 0 ? '' : ` ${count(all.length, 'weak match', 'weak matches')}: add --explain.`;
          terminal.out(`Nothing comes to mind.${weak}`);
        }),
    );
  memory
    .command('show')
    .description('show a memory, where it comes from, and what became of it')
    .argument('<id>', 'the beginning is enough')
    .option('--json', 'print one JSON document')
    .action((id: string, _options, self: Command) =>
      withCalls(context, async (call) => {
        const unit = await call('memory.get', { id: await findId(call, id) });
        if (wantsJson(self)) terminal.json(unit);
        else for (const line of describe(unit)) terminal.out(line);
      }),
    );
  memory
    .command('stats')
    .description('count memories by kind, state and age')
    .option('--json', 'print one JSON document')
    .action((_options, self: Command) =>
      withCalls(context, async (call) => {
        const facets = await call('memory.facets', {});
        const stats = await call('memory.stats', {});
        if (wantsJson(self)) return terminal.json({ ...stats, ...facets });
        terminal.out(
          table([
            ['memories', String(stats.units)],
            ['said', String(stats.turns)],
            ['pinned', String(facets.pinned)],
            ['expire soon', String(facets.expiringSoon)],
            ['in forgetting', String(stats.forgotten)],
            ['in doubt', String(stats.conflicts)],
            ['today', String(facets.today)],
            ['last 7 days', String(facets.last7Days)],
            ['older', String(facets.older)],
            ...facets.kinds.map(({ kind, count }) => [`kind ${kind}`, String(count)]),
            ...facets.statuses.map(({ status, count }) => [`state ${status}`, String(count)]),
          ]),
        );
      }),
    );
  memory
    .command('scopes')
    .description('list whose memories there are')
    .option('--json', 'print one JSON document')
    .action((_options, self: Command) =>
      withCalls(context, async (call) => {
        const scopes = await call('memory.scopes', {});
        if (wantsJson(self)) return terminal.json(scopes);
        if (scopes.length === 0) return terminal.out('Nothing is remembered yet.');
        terminal.out(
          table(
            scopes.map(({ scope, units, turns }) => [scopeName(scope), memories(units), `${turns} said`]),
          ),
        );
      }),
    );
}

function describeStats(stats: MemoryStats): string[] {
  return [
    stats.enabled ? 'Memory is on.' : `Memory is off: ${stats.reason ?? 'memory.enabled is false'}`,
    ...(stats.enabled && stats.reason !== null ? [stats.reason] : []),
    `${memories(stats.units)} and ${count(stats.turns, 'thing')} said, in ${count(stats.scopes, 'scope')}.`,
    ...(stats.pending > 0 ? [`${count(stats.pending, 'turn waits', 'turns wait')} to be read.`] : []),
    ...(stats.conflicts > 0
      ? [`${count(stats.conflicts, 'pair is', 'pairs are')} in doubt: metaclaw memory conflicts`]
      : []),
    ...(stats.forgotten > 0 ? [`${memories(stats.forgotten)} can still be restored.`] : []),
    `Read by ${stats.extractor === 'llm' ? 'the model' : 'rules'}, found by ${stats.mode}. ${stats.embeddings}`.trim(),
    ...(stats.lastError === null ? [] : [`Last error: ${stats.lastError}`]),
  ];
}

function hitRow(hit: MemoryHit, explain: boolean): string[] {
  const [id, kind, at, text] =
    hit.type === 'unit'
      ? [shortId(hit.unit.id), hit.unit.kind, hit.unit.observedAt, hit.unit.content]
      : [hit.turn.id, `${hit.turn.speaker} said`, hit.turn.saidAt, hit.turn.text];
  return [
    hit.enters ? '*' : ' ',
    hit.score.toFixed(2),
    id,
    kind,
    localTime(at).slice(0, 10),
    ...(explain ? [hit.reason] : []),
    oneLine(text),
  ];
}

function describe(unit: MemoryDetail): string[] {
  const until = unit.validTo === null ? '' : ` until ${localTime(unit.validTo)}`;
  const from = unit.validFrom === null ? '' : ` from ${localTime(unit.validFrom)}`;
  return [
    unit.content,
    '',
    table(
      [
        ['id', unit.id],
        ['kind', unit.kind],
        ['scope', scopeName(unit.scope)],
        ['state', `${unit.status}${unit.pinned ? ', pinned' : ''}`],
        ['said', localTime(unit.observedAt)],
        ...(from === '' && until === '' ? [] : [['holds', `${from}${until}`.trim()]]),
        ...(unit.expiresAt === null ? [] : [['expires', localTime(unit.expiresAt)]]),
        ...(unit.supersededBy === null ? [] : [['replaced by', shortId(unit.supersededBy)]]),
        ...(unit.tags.length === 0 ? [] : [['tags', unit.tags.join(', ')]]),
        ['learned by', unit.origin],
        [
          'used in',
          `${count(unit.usedIn, 'turn')}${unit.lastUsedAt === null ? '' : `, last ${localTime(unit.lastUsedAt)}`}`,
        ],
        ['tokens', String(unit.tokens)],
      ].map(([name = '', value = '']) => [name, value]),
    ),
    ...(unit.sources.length === 0 ? [] : ['', 'Where it comes from:']),
    ...unit.sources.map(
      ({ saidAt, speaker, quote, turnId, sessionId }) =>
        `  ${localTime(saidAt)} ${speaker}: ${oneLine(quote)}\n    ${turnId === null ? `session ${sessionId}` : `turn ${turnId}, session ${sessionId}`}`,
    ),
    ...(unit.replaced.length === 0 ? [] : ['', 'It replaced:']),
    ...unit.replaced.map((older) => `  ${unitRow(older).join('  ')}`),
    ...(unit.history.length === 0 ? [] : ['', 'What happened to it:']),
    ...unit.history.map(
      ({ at, what, by, detail }) =>
        `  ${localTime(at)} ${what} by ${by}${detail === '' ? '' : `: ${oneLine(detail)}`}`,
    ),
  ];
}
