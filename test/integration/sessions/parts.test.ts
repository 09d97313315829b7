import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PartStore } from '../../../src/engine/sessions/parts.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { isReadAlikeEverywhere } from '../../support/json.ts';

function makeStore() {
  const { database } = openDatabase(':memory:');
  const store = new PartStore(database);
  const put = (text: string) => {
    const kept = database.tx(() => store.putBytes(Buffer.from(text)));
    store.settle(true);
    return { ...kept, text: store.read(kept.outline) };
  };
  const count = () => database.get<{ n: number }>('SELECT count(*) AS n FROM parts')?.n;
  return { put, count };
}

const words = fc.string({ unit: 'grapheme', maxLength: 300 }).map((text) => `w ${text}`);
const body = fc
  .record(
    {
      model: words,
      messages: fc.array(fc.record({ role: fc.constantFrom('user', 'assistant'), content: words }), {
        maxLength: 40,
      }),
      größe: fc.jsonValue({ maxDepth: 2 }),
      extra: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: ['messages'] },
  )
  .filter(isReadAlikeEverywhere);

describe('parts of bodies', () => {
  it('give back what was put in, however it was spaced, and store it once', () => {
    const { put, count } = makeStore();
    fc.assert(
      fc.property(body, fc.constantFrom(0, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const first = put(text);
        if (!first.masked) expect(JSON.parse(first.text ?? '')).toEqual(JSON.parse(text));
        const before = count();
        expect(put(text).outline).toBe(first.outline);
        expect(count()).toBe(before);
      }),
    );
  });

  it.each([
    ['an array', '[1,{"a":2}]', '[1,{"a":2}]'],
    ['a byte order mark', '\ufeff{"a":1}', null],
    ['two values', '{"a":1}{"b":2}', '{"a":1}{"b":2}'],
    ['broken strings in a message', '{"messages":[{"content":"a\nb"}]}', '{"messages":[{"content":"a\nb"}]}'],
    ['keys of other scripts', '{"ключ":"値","messages":[]}', '{"ключ":"値","messages":[]}'],
    ['a list that holds no objects', '{"input":["a",null,3]}', '{"input":["a",null,3]}'],
  ])('keep %s', (_, text, kept) => {
    const { text: back } = makeStore().put(text);
    if (kept === null) expect(back).toContain('"a":1');
    else if (back?.startsWith('"')) expect(JSON.parse(back)).toBe(kept);
    else expect(back).toBe(kept);
  });

  it('mask the same secret each time it comes by', () => {
    const { put } = makeStore();
    const secret = 'sk-proj-abcdefghijklmnopqrstuvwx1234567890';
    const text = JSON.stringify({ messages: [{ role: 'user', content: `my key is ${secret}` }] });
    for (const kept of [put(text), put(text), put(text.replace('{', '{ '))]) {
      expect(kept.masked).toBe(true);
      expect(kept.text).not.toContain(secret);
    }
  });
});
