import { type Command, InvalidArgumentError } from 'commander';
import { dayOf, shiftDay } from '../shared/days.ts';
import { formatNumber, formatPercent } from '../shared/format.ts';
import { createTranslator, type Translate } from '../shared/i18n/index.ts';
import {
  addUsage,
  cacheShare,
  describeCap,
  formatCost,
  promptTokens,
  type UsageRow,
  type UsageSummary,
  type UsageSums,
} from '../shared/usage.ts';
import { wantsJson } from './config.ts';
import { type Context, withCalls } from './context.ts';
import { table } from './terminal.ts';

const FIGURES = ['calls', 'own', 'prompt', 'cached', 'answer', 'added', 'cost'];

/** `metaclaw usage` */
export function addUsageCommand(program: Command, context: Context): void {
  const { terminal } = context;
  program
    .command('usage')
    .description('show what calls took and cost, by day, model and purpose, and where the daily cap stands')
    .option('--days <n>', 'how many days, today included', days, 7)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nCosts are list prices, or those of usage.prices. Private and bypassed turns are not counted.',
    )
    .action(async (options: { days: number }, self: Command) => {
      const to = dayOf(Date.now());
      const from = shiftDay(to, 1 - options.days);
      const [byDay, byModel, byPurpose] = await withCalls(context, async (call) => [
        await call('usage.summary', { from, to, by: 'day' }),
        await call('usage.summary', { from, to, by: 'model' }),
        await call('usage.summary', { from, to, by: 'purpose' }),
      ]);
      if (byDay === undefined || byModel === undefined || byPurpose === undefined) return;
      if (wantsJson(self)) {
        const { total, cap } = byDay;
        terminal.json({
          from,
          to,
          days: byDay.rows,
          models: byModel.rows,
          purposes: byPurpose.rows,
          total,
          cap,
        });
        return;
      }
      for (const text of describe(byDay, byModel, byPurpose, createTranslator('en'))) terminal.out(text);
    });
}

function days(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 400)
    throw new InvalidArgumentError('A whole number from 1 to 400 is expected.');
  return count;
}

function describe(
  byDay: UsageSummary,
  byModel: UsageSummary,
  byPurpose: UsageSummary,
  t: Translate,
): string[] {
  const { from, to, total, cap } = byDay;
  const all = addUsage(total.relayed, total.own);
  const capLine = cap === null ? 'No daily cap (usage.daily_cap).' : describeCap(cap, t);
  if (all.calls === 0) return [`No calls from ${from} to ${to}.`, capLine];
  const used = byDay.rows.filter(({ relayed, own }) => relayed.calls + own.calls > 0);
  const notes = [
    all.unpriced > 0
      ? `${count(all.unpriced, 'call has', 'calls have')} no known cost. Set prices: metaclaw config usage.prices '{"MODEL": {input: 1, output: 4}}'`
      : null,
    all.estimated > 0
      ? `The tokens of ${count(all.estimated, 'call', 'calls')} are estimated: the provider did not count them.`
      : null,
    all.refused > 0 ? `${count(all.refused, 'call was', 'calls were')} refused or reached nobody.` : null,
  ].filter((note) => note !== null);
  return [
    figures('day', [...used, { key: 'total', upstream: null, ...total }], t),
    '',
    figures('model', byModel.rows, t),
    '',
    figures('for', byPurpose.rows, t),
    '',
    ...notes,
    capLine,
  ];
}

function count(number: number, one: string, many: string): string {
  return `${formatNumber(number, 'en')} ${number === 1 ? one : many}`;
}

function figures(title: string, rows: readonly UsageRow[], t: Translate): string {
  const cells = rows.map((row) => [nameOf(row), ...figuresOf(row, t)]);
  const all = [[title, ...FIGURES], ...cells];
  const widths = all.reduce<number[]>(
    (most, row) => row.map((cell, n) => Math.max(most[n] ?? 0, cell.length)),
    [],
  );
  return table(all.map((row) => row.map((cell, n) => (n === 0 ? cell : cell.padStart(widths[n] ?? 0)))));
}

function nameOf({ key, upstream }: UsageRow): string {
  return upstream === null || upstream === 'custom' ? key : `${key} (${upstream})`;
}

function figuresOf({ relayed, own }: UsageRow, t: Translate): string[] {
  const sums: UsageSums = addUsage(relayed, own);
  const share = cacheShare(sums);
  const number = (value: number) => formatNumber(value, 'en');
  return [
    number(sums.calls),
    number(own.calls),
    number(promptTokens(sums)),
    share === null ? '-' : formatPercent(share, 'en'),
    number(sums.outputTokens),
    number(sums.addedTokens),
    formatCost(sums, t),
  ];
}
