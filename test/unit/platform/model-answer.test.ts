import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readItems } from '../../../src/engine/platform/model-answer.ts';

const readAnswer = (text: string) => readItems(text, (item) => 'name' in item && 'description' in item);
const skill = (name: string) => ({ name, description: 'd', body: 'b [x] {y}', category: 'coding' });
const list = JSON.stringify([skill('a'), skill('b')]);
const names = (text: string) => readAnswer(text).items.map(({ name }) => name);

describe('readItems', () => {
  it.each([
    ['a bare list', list],
    ['a fenced list', `\`\`\`json\n${list}\n\`\`\``],
    [
      'prose around it, with brackets (the original found nothing)',
      `Here are [two] skills {see below}:\n\n${list}\n\nHope [this] helps!`,
    ],
    ['a fence inside prose', `Sure.\n\`\`\`\n${list}\n\`\`\`\nDone [1].`],
    ['thinking before it', `<think>maybe [{"name": "x", "description": "no"}]</think>\n${list}`],
    ['thinking that lost its start', `so [{"name":"x","description":"no"}] hmm</think>${list}`],
    ['a wrapper object', `{"skills": ${list}, "note": "ok"}`],
    ['trailing commas', list.replace('}]', '},]')],
    ['indented JSON', JSON.stringify(JSON.parse(list), null, 2)],
    [
      'a list that holds other things',
      `["intro", ${JSON.stringify(skill('a'))}, null, 7, ${JSON.stringify(skill('b'))}]`,
    ],
    ['objects one after the other', `${JSON.stringify(skill('a'))}\n${JSON.stringify(skill('b'))}`],
    ['a list that was cut off', `${list.slice(0, -1)}, {"name": "c", "descr`],
  ])('reads %s', (_, text) => expect(names(text)).toEqual(['a', 'b']));

  it('reads single quotes', () => {
    expect(names("[{'name': 'a', 'description': 'it''s', 'body': 'x'}]")).toEqual(['a']);
  });

  // As Python prints a list; the body became one line with letters n in it.
  it('reads escapes in single quotes as they are meant', () => {
    const text = String.raw`[{'name': 'a', 'description': 'Don\'t "guess"', 'body': '1. One.\n2. Two.\r\n\tC:\\new'}]`;
    expect(readAnswer(text).items).toEqual([
      { name: 'a', description: `Don't "guess"`, body: '1. One.\n2. Two.\n\tC:\\new' },
    ]);
  });

  it('reads one object without a list', () =>
    expect(names(`Result: ${JSON.stringify(skill('a'))}`)).toEqual(['a']));

  it.each([['[]'], ['```json\n[]\n```'], ['{"skills": []}'], ['Nothing to learn here: []']])(
    '%s is an answer: nothing to learn',
    (text) => expect(readAnswer(text)).toEqual({ items: [], found: true }),
  );

  it.each([['I cannot help with that.'], [''], ['[1, 2'], ['{"error": "overloaded"}']])(
    '%s is no answer',
    (text) => expect(readAnswer(text)).toEqual({ items: [], found: false }),
  );

  it('never throws and never takes long', () => {
    fc.assert(fc.property(fc.string(), (text) => Array.isArray(readAnswer(text).items)));
    const start = performance.now();
    readAnswer('[{'.repeat(20_000));
    readAnswer(`${'[{"name":1,"description":"'.repeat(3000)}`);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
