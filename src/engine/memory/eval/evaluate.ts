import { setImmediate } from 'node:timers/promises';
import type { Config } from '../../../shared/config.ts';
import type { EvalRow, RecallSettings } from '../../../shared/memory-eval.ts';
import { type CaseResult, compare, FEWEST_CASES, shareOf } from './measure.ts';
import type { Replay, ReplayCase } from './replay.ts';
import { isOverBudget } from './settings.ts';

/** Replays cases with some settings, a case at a time, so that nothing else waits for it. */
export async function replayAll(
  replay: Replay,
  cases: readonly ReplayCase[],
  settings: RecallSettings,
  signal?: AbortSignal,
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const one of cases) {
    signal?.throwIfAborted();
    results.push(await replay.result(one, settings));
    await setImmediate();
  }
  return results;
}

/** The present settings and others on the same cases, the present ones first. */
export async function evaluate(
  replay: Replay,
  cases: readonly ReplayCase[],
  present: RecallSettings,
  others: readonly RecallSettings[],
  config: Config,
): Promise<EvalRow[]> {
  const before = await replayAll(replay, cases, present);
  const rows: EvalRow[] = [
    {
      ...sumsOf(before),
      settings: present,
      verdict: 'present',
      better: 0,
      worse: 0,
      isOverBudget: isOverBudget(present, config),
    },
  ];
  for (const settings of others) {
    const results = await replayAll(replay, cases, settings);
    rows.push({
      ...sumsOf(results),
      settings,
      ...compare(before, results),
      isOverBudget: isOverBudget(settings, config),
    });
  }
  return rows;
}

/** What limits what the cases can tell, in words. */
export function limitsOf(cases: readonly ReplayCase[]): string[] {
  const wanting = cases.filter(({ want }) => want.length > 0).length;
  const telling = cases.filter(({ nothing, not }) => nothing || not.length > 0).length;
  return [
    ...(cases.length < FEWEST_CASES
      ? [`Too few cases to tell settings apart: ${cases.length}; ${FEWEST_CASES} are needed at least.`]
      : []),
    ...(wanting === 0 ? ['No case needs a memory, so nothing is known of what is missed.'] : []),
    ...(telling === 0 ? ['No case tells what must stay out, so nothing is known of false memories.'] : []),
  ];
}

function sumsOf(results: readonly CaseResult[]): Pick<EvalRow, 'recall' | 'wrong' | 'tokens' | 'units'> {
  const sum = (pick: (result: CaseResult) => number) => results.reduce((total, one) => total + pick(one), 0);
  const judged = results.filter(({ isWrong }) => isWrong !== null);
  return {
    recall: shareOf(
      sum(({ found }) => found),
      sum(({ needed }) => needed),
    ),
    wrong: shareOf(judged.filter(({ isWrong }) => isWrong).length, judged.length),
    tokens: sum(({ tokens }) => tokens) / Math.max(1, results.length),
    units: sum(({ units }) => units) / Math.max(1, results.length),
  };
}
