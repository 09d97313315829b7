import { describe, expect, it } from 'vitest';
import { extend, mergeText } from '../../../src/engine/learning/merge.ts';

describe('extend', () => {
  it('goes on with the numbers, after lines that belong to the last step', () => {
    expect(
      extend('1. Boil water.\n2. Steep:\n   three minutes\n\nServe hot.', '- Warm the cups before pouring.'),
    ).toBe('1. Boil water.\n2. Steep:\n   three minutes\n3. Warm the cups before pouring.\n\nServe hot.');
  });

  it('adds at the end where there are no numbers, and warnings always', () => {
    expect(extend('Boil water.', '1. Warm the cups first.\n\n**Anti-pattern:** cold porcelain.')).toBe(
      'Boil water.\n\n- Warm the cups first.\n**Anti-pattern:** cold porcelain.',
    );
  });

  it('is null when nothing is new', () => {
    expect(
      extend('1. Boil fresh water.\n2. Steep three minutes.', '# Tea\n\n- Steep three minutes'),
    ).toBeNull();
  });
});

describe('mergeText', () => {
  const base = 'a\nb\nc\nd\ne\nf\ng\nh';
  it('does the change to the newer text', () => {
    expect(mergeText(base, base.replace('b', 'B'), base.replace('h', 'H'))).toBe('a\nB\nc\nd\ne\nf\ng\nH');
    expect(mergeText(base, `${base}\ni`, `0\n${base}`)).toBe(`0\n${base}\ni`);
  });
  it('either side alone, or both alike', () => {
    expect(mergeText(base, 'x', base)).toBe('x');
    expect(mergeText(base, base, 'y')).toBe('y');
    expect(mergeText(base, 'x', 'x')).toBe('x');
  });
  it('null when both changed one place', () => {
    expect(mergeText(base, base.replace('b', 'B'), base.replace('b', '8'))).toBeNull();
  });
});
