import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitThink, ThinkTags } from '../../../../../src/engine/proxy/translate/think-tags.ts';

describe('think tags', () => {
  it.each([
    ['<think>r</think>Hi', 'r', 'Hi'],
    ['\n <think>\nr</think>\n\nHi', '\nr', 'Hi'],
    ['</think>Hi', '', 'Hi'],
    ['Use <think> tags', '', 'Use <think> tags'],
    ['`<think>` opens, </think> closes', '', '`<think>` opens, </think> closes'],
    ['<think>a</think>b <think>c</think>', 'a', 'b <think>c</think>'],
    ['<think></think>x', '', 'x'],
    ['<thin', '', '<thin'],
    ['<think>never closed </thin', 'never closed </thin', ''],
    ['  leading space', '', '  leading space'],
    ['<b>bold</b>', '', '<b>bold</b>'],
  ])('S12: %j', (input, thinking, text) => {
    expect(splitThink(input, '')).toEqual({ thinking, text });
  });

  it.each([
    ['<think>r</think>Hi', 'r', 'Hi'],
    ['<think> r ', 'r', ''],
    ['<think>other</think>Hi', 'r', '<think>other</think>Hi'],
    ['Hi <think>r</think>', 'r', 'Hi <think>r</think>'],
  ])('S10: %j beside a reasoning field is told once', (input, separate, text) => {
    expect(splitThink(input, separate)).toEqual({ thinking: '', text });
  });

  it('S12: a tag cut at any place gives the same', () => {
    const word = fc.constantFrom('<think>', '</think>', '<', '/', 'think', '>', ' ', '\n', 'a', '🌍');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.boolean(), (words, separate) => {
        const whole = words.join('');
        const expected = splitThink(whole, separate ? 'a' : '');
        const tags = new ThinkTags();
        if (separate) tags.separated('a');
        const got = { text: '', thinking: '' };
        for (const char of whole) for (const piece of tags.push(char)) got[piece.kind] += piece.text;
        for (const piece of tags.flush()) got[piece.kind] += piece.text;
        expect(got).toEqual(expected);
      }),
    );
  });
});
