import { expect, it } from 'vitest';
import { configSchema } from '../../../src/shared/config.ts';
import { formatMoney } from '../../../src/shared/format.ts';
import { knownCost, NO_USAGE, parseCap } from '../../../src/shared/usage.ts';

it.each([
  ['200000', { unit: 'tokens', amount: 200_000 }],
  ['200k', { unit: 'tokens', amount: 200_000 }],
  ['200k tokens', { unit: 'tokens', amount: 200_000 }],
  ['1.5M tokens', { unit: 'tokens', amount: 1_500_000 }],
  ['200,000', { unit: 'tokens', amount: 200_000 }],
  ['0', { unit: 'tokens', amount: 0 }],
  ['$2', { unit: 'usd', amount: 2 }],
  ['$ 0.50', { unit: 'usd', amount: 0.5 }],
  ['2 usd', { unit: 'usd', amount: 2 }],
  ['2.50 USD', { unit: 'usd', amount: 2.5 }],
  ['1 dollar', { unit: 'usd', amount: 1 }],
])('reads a cap of %s', (text, cap) => {
  expect(parseCap(text)).toEqual(cap);
});

it.each(['', 'lots', '-1', '2 eur', '$', '2k usd', '$2k', '1e9 dollars', '1,5'])(
  'reads no cap in %j',
  (text) => {
    expect(parseCap(text)).toBeNull();
  },
);

it('keeps a cap in the config as it is written there', () => {
  const cap = (value: unknown) => configSchema.parse({ usage: { daily_cap: value } }).usage.daily_cap;
  expect(cap(200_000)).toBe(200_000);
  expect(cap('200k tokens')).toBe(200_000);
  expect(cap('2 usd')).toBe('$2');
  expect(cap(cap('$2.50'))).toBe('$2.5');
  expect(cap(null)).toBeUndefined();
  expect(configSchema.safeParse({ usage: { daily_cap: '2 eur' } }).success).toBe(false);
});

it.each([
  [0, '$0.00'],
  [0.000003, '< $0.0001'],
  [0.0034, '$0.0034'],
  [0.012, '$0.012'],
  [0.25, '$0.25'],
  [1234.5, '$1,234.50'],
])('writes %d dollars as %s', (usd, text) => {
  expect(formatMoney(usd, 'en')).toBe(text);
});

it('says how much of a cost is known', () => {
  expect(knownCost(NO_USAGE)).toBe('all');
  expect(knownCost({ ...NO_USAGE, calls: 3 })).toBe('all');
  expect(knownCost({ ...NO_USAGE, calls: 3, unpriced: 2 })).toBe('at-least');
  expect(knownCost({ ...NO_USAGE, calls: 3, refused: 1, unpriced: 2 })).toBe('nothing');
});
