import { describe, expect, it } from 'vitest';
import {
  atLeast,
  type CaseResult,
  compare,
  scoreOf,
  shareOf,
} from '../../../src/engine/memory/eval/measure.ts';

const hit: CaseResult = { needed: 1, found: 1, isWrong: null, tokens: 20, units: 1 };
const miss: CaseResult = { needed: 1, found: 0, isWrong: null, tokens: 0, units: 0 };

function cases(hits: number, misses: number): CaseResult[] {
  return [...Array.from({ length: hits }, () => hit), ...Array.from({ length: misses }, () => miss)];
}

describe('a share and its interval', () => {
  it('is Wilson’s', () => {
    const share = shareOf(8, 10);
    expect(share?.value).toBe(0.8);
    expect(share?.low).toBeCloseTo(0.4902, 3);
    expect(share?.high).toBeCloseTo(0.9433, 3);
  });
  it('stays unsure when all of few were hit', () => {
    expect(shareOf(3, 3)?.low).toBeLessThan(0.5);
    expect(shareOf(3, 3)?.high).toBe(1);
    expect(shareOf(0, 5)?.low).toBe(0);
  });
  it('is nothing of nothing', () => {
    expect(shareOf(0, 0)).toBeNull();
  });
});

describe('a coin', () => {
  it.each([
    [0, 0, 1],
    [5, 5, 1 / 32],
    [6, 6, 1 / 64],
    [4, 5, 6 / 32],
    [1, 10, 1 - 1 / 1024],
  ])('shows heads at least %i times in %i throws with the right chance', (heads, throws, chance) => {
    expect(atLeast(heads, throws)).toBeCloseTo(chance, 10);
  });
  it('does not leave the range of numbers', () => {
    expect(atLeast(3000, 5000)).toBeLessThan(1e-20);
    expect(atLeast(2500, 5000)).toBeCloseTo(0.5056, 3);
  });
});

describe('two settings on the same cases', () => {
  it('differ only where chance is unlikely to do it', () => {
    expect(compare(cases(20, 10), cases(25, 5))).toEqual({
      better: 5,
      worse: 0,
      verdict: 'no difference shown',
    });
    expect(compare(cases(20, 10), cases(26, 4)).verdict).toBe('better');
    expect(compare(cases(26, 4), cases(20, 10)).verdict).toBe('worse');
  });
  it('are not told apart by few cases', () => {
    expect(compare(cases(0, 10), cases(10, 0)).verdict).toBe('too few cases');
  });
  it('count what must not enter', () => {
    const wrong = { ...hit, needed: 0, found: 0, isWrong: true };
    expect(scoreOf(wrong)).toBe(0);
    expect(scoreOf({ ...wrong, isWrong: false })).toBe(1);
    expect(scoreOf({ ...hit, needed: 2, found: 1 })).toBe(0.5);
    expect(scoreOf({ ...hit, isWrong: true })).toBe(0);
  });
});
