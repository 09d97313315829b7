import { describe, expect, it } from 'vitest';
import { isCourtesy, isPlain } from '../../../src/engine/memory/search/plain-words.ts';

describe('courtesies', () => {
  it.each([
    'hi',
    'Hello!',
    'thanks a lot',
    'Thank you so much, you’re the best',
    "thanks, that's perfect!",
    'ok 👍',
    '👍',
    'lol ok',
    'merci beaucoup, c’est parfait',
    'd’accord, à demain',
    '¡muchas gracias!',
    'vale, hasta luego',
    'Guten Morgen!',
    'grazie mille',
    '好的,谢谢',
    '辛苦了,明天见',
    '早上好',
    '哈哈哈',
    'ありがとう、助かった',
    'お疲れさま、また明日',
    'おはよう',
    'なるほど、わかった',
    '…',
  ])('%s is nothing else', (text) => {
    expect(isCourtesy(text)).toBe(true);
  });
  it.each([
    'hi, which port does staging use?',
    'Where do I live?',
    'thanks, now deploy it',
    'merci, et le port ?',
    '好的,部署到测试环境',
    '早上跑步',
    '明天见张伟',
    'ありがとう、次はテストを書いて',
    '私の犬',
    'yes, Thursday',
    '42',
    'Привет',
  ])('%s says more', (text) => {
    expect(isCourtesy(text)).toBe(false);
  });
  it('are short', () => {
    expect(isCourtesy('thanks '.repeat(40))).toBe(false);
  });
});

it('plain words stand in any text', () => {
  expect(['called', 'uses', 'jour', 'semana', 'was', '什么', 'peanut', 'postgres'].map(isPlain)).toEqual([
    true,
    true,
    true,
    true,
    false,
    true,
    false,
    false,
  ]);
});
