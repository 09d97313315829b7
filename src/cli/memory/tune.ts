import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Adaptive, EvalRow, MemoryEval, RecallSettings, Share } from '../../shared/memory-eval.ts';
import { wantsJson } from '../config.ts';
import { type Context, withCalls } from '../context.ts';
import { table } from '../terminal.ts';
import { localTime } from '../text.ts';
import { count } from './shared.ts';

/** How well memories are found, and what follows from it: `eval`, `adaptive`. */
export function addTuning(memory: Command, context: Context): void {
  const { terminal } = context;
  memory
    .command('eval')
    .description('replay cases on a copy of the store, with the present settings and with others')
    .option('--cases <file>', 'labelled cases (YAML, JSON, JSONL) in place of your own feedback')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Your own cases are turns that you called good or bad, praised or corrected. A file holds a list such as
  - {ask: "Which port does staging use?", want: ["port 8081"]}
  - {ask: "Thanks, bye!", nothing: true}
where want and not name memories by id or by words of them.`,
    )
    .action(({ cases }: { cases?: string }, self: Command) =>
      withCalls(context, async (call) => {
        const report = await call('memory.eval', { cases: cases === undefined ? null : resolve(cases) });
        if (wantsJson(self)) return terminal.json(report);
        for (const line of describeEval(report)) terminal.out(line);
      }),
    );
  memory
    .command('adaptive')
    .description('say what memory.adaptive has taken up, and why')
    .option('--look', 'look at your cases now')
    .option('--undo <id>', 'take an adoption back', parseId)
    .option('--json', 'print one JSON document')
    .action(({ look, undo }: { look?: true; undo?: number }, self: Command) =>
      withCalls(context, async (call) => {
        if (undo !== undefined) await call('memory.undoAdoption', { id: undo });
        if (look) await call('memory.adapt', {});
        const state = await call('memory.adaptive', {});
        if (wantsJson(self)) return terminal.json(state);
        for (const line of describeAdaptive(state)) terminal.out(line);
      }),
    );
}

function parseId(text: string): number {
  const id = Number(text);
  if (Number.isInteger(id) && id >= 1) return id;
  throw new InvalidArgumentError(
    'The number of an adoption is expected; metaclaw memory adaptive lists them.',
  );
}

function describeEval({ cases, sources, rows, notes }: MemoryEval): string[] {
  if (cases === 0)
    return [
      'There are no cases yet: they come from turns that you call good or bad, or correct.',
      ...notes.filter((note) => note.startsWith('Left out')),
    ];
  const from = [
    [sources.file, 'from the file'],
    [sources.good, 'good'],
    [sources.bad, 'bad'],
    [sources.missed, 'with a memory that was missing'],
    [sources.forgotten, 'with memories that you forgot'],
  ] as const;
  return [
    `${count(cases, 'case')}: ${from
      .filter(([number]) => number > 0)
      .map(([number, what]) => `${number} ${what}`)
      .join(', ')}.`,
    table([
      ['settings', 'found %', '95 %', 'wrong %', '95 %', 'tokens', 'memories', 'better', 'worse', ''],
      ...rows.map((row) => evalRow(row, rows[0]?.settings)),
    ]),
    ...notes,
  ];
}

function evalRow(row: EvalRow, present: RecallSettings | undefined): string[] {
  const isPresent = row.verdict === 'present';
  return [
    isPresent || present === undefined ? describeSettings(row.settings) : difference(row.settings, present),
    ...describeShare(row.recall),
    ...describeShare(row.wrong),
    row.tokens.toFixed(0),
    row.units.toFixed(1),
    isPresent ? '' : String(row.better),
    isPresent ? '' : String(row.worse),
    `${row.verdict}${row.isOverBudget ? ' (over your limits)' : ''}`,
  ];
}

function describeSettings({ mode, units, tokens, relevance }: RecallSettings): string {
  return `${mode}, ${units} memories, ${tokens} tokens, relevance ${relevance}`;
}

function difference(settings: RecallSettings, present: RecallSettings): string {
  const names = ['mode', 'units', 'tokens', 'relevance'] as const;
  return names
    .filter((name) => settings[name] !== present[name])
    .map((name) => `${name} ${settings[name]}`)
    .join(', ');
}

function describeShare(share: Share | null): [string, string] {
  if (share === null) return ['-', ''];
  const percent = (value: number) => (value * 100).toFixed(0);
  return [percent(share.value), `${percent(share.low)}–${percent(share.high)}`];
}

function describeAdaptive({ enabled, settings, adoptions, lastLook }: Adaptive): string[] {
  return [
    enabled
      ? 'memory.adaptive is on: settings that prove better on your own cases are taken up.'
      : 'memory.adaptive is off: settings stay as configured. Turn it on with metaclaw config memory.adaptive true.',
    `In force: ${describeSettings(settings)}.`,
    lastLook === null
      ? 'Your cases have not been looked at yet.'
      : `Last look, ${localTime(lastLook.at)}: ${lastLook.what}`,
    ...adoptions.map(({ id, at, state, why }) => `${id}  ${localTime(at)}  ${state}  ${why}`),
  ];
}
