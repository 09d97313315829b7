import type { Share } from '../../../shared/memory-eval.ts';

/** What entered a turn, by what is known of it. */
export interface CaseResult {
  /** Memories that were needed, and how many of them entered. */
  needed: number;
  found: number;
  /** Whether something entered that must not have; null where nothing is known of it. */
  isWrong: boolean | null;
  tokens: number;
  units: number;
}

/** z of a two-sided 95 % interval. */
const Z = 1.959964;
/** Fewer cases tell nothing of settings. */
export const FEWEST_CASES = 20;
const CHANCE = 0.025;

/** Wilson's interval; honest for few cases and for shares near 0 or 1. Null for none. */
export function shareOf(hits: number, of: number): Share | null {
  if (of === 0) return null;
  const value = hits / of;
  const spread = Z ** 2 / of;
  const middle = (value + spread / 2) / (1 + spread);
  const half = (Z / (1 + spread)) * Math.sqrt((value * (1 - value)) / of + spread / (4 * of));
  return { value, low: hits === 0 ? 0 : middle - half, high: hits === of ? 1 : middle + half, of };
}

/** How a case went, 0 to 1: what was needed is there, and nothing that must not be. */
export function scoreOf({ needed, found, isWrong }: CaseResult): number {
  return (needed === 0 ? 1 : found / needed) * (isWrong ? 0 : 1);
}

/** The same cases with two settings, one against the other. */
export interface Comparison {
  better: number;
  worse: number;
  verdict: 'better' | 'worse' | 'no difference shown' | 'too few cases';
}

/** A sign test over the cases that changed; nothing is assumed of how large a change is. */
export function compare(present: readonly CaseResult[], other: readonly CaseResult[]): Comparison {
  let better = 0;
  let worse = 0;
  present.forEach((before, at) => {
    const after = other[at];
    if (after === undefined) return;
    const change = scoreOf(after) - scoreOf(before);
    if (change > 0) better += 1;
    if (change < 0) worse += 1;
  });
  const verdict =
    present.length < FEWEST_CASES
      ? 'too few cases'
      : atLeast(better, better + worse) < CHANCE
        ? 'better'
        : atLeast(worse, better + worse) < CHANCE
          ? 'worse'
          : 'no difference shown';
  return { better, worse, verdict };
}

/** How likely a fair coin shows heads at least `heads` times in `throws`. */
export function atLeast(heads: number, throws: number): number {
  // Of all throws as one fraction, from the last term on; logarithms, since the terms leave the range of numbers.
  let sum = 0;
  let logTerm = -throws * Math.LN2;
  for (let count = throws; count >= heads; count -= 1) {
    sum += Math.exp(logTerm);
    logTerm += Math.log(count) - Math.log(throws - count + 1);
  }
  return Math.min(1, sum);
}
