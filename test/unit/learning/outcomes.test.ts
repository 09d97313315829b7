import { describe, expect, it } from 'vitest';
import { pickLessons } from '../../../src/engine/learning/lessons.ts';
import { rateSession } from '../../../src/engine/learning/outcomes.ts';
import { makeTurn } from '../../support/turns.ts';

const loop = (text: string, ...results: string[]) => ({
  requestBody: JSON.stringify({
    messages: [
      { role: 'user', content: text },
      ...results.flatMap((content, n) => [
        {
          role: 'assistant',
          tool_calls: [{ id: `c${n}`, function: { name: 'bash', arguments: `{"n":${n}}` } }],
        },
        { role: 'tool', tool_call_id: `c${n}`, content },
      ]),
    ],
  }),
});
const said = (...texts: string[]) =>
  texts.map((userText, n) => makeTurn({ id: `t${n + 1}`, seq: n + 1, userText, replyText: 'Done.' }));
const rated = (...texts: string[]) =>
  rateSession(said(...texts), new Map()).map(({ turnId, good, why }) => [turnId, good, why]);
const told = (label: 'good' | 'bad', text = '', at = '2026-01-02') => ({ label, text, at });

describe('rateSession', () => {
  it('by what the user said next; the newest request is left open', () => {
    expect(
      rated(
        'Write the report for March',
        'No, that is wrong: use the new numbers',
        'Perfect. Now send it',
        'thanks',
      ),
    ).toEqual([
      ['t1', false, 'corrected'],
      ['t2', true, 'praised'],
      ['t3', true, 'went-on'],
    ]);
    const ask = 'Show me the failing integration tests of the export module';
    expect(rated(ask, `Please ${ask.toLowerCase()} again`)).toEqual([['t1', false, 'repeated']]);
  });

  it('feedback decides, on any turn of a tool loop, also on the newest request', () => {
    const turns = [...said('Do it', 'No, wrong'), makeTurn({ id: 't3', seq: 3, userText: 'No, wrong' })];
    expect(
      rateSession(
        turns,
        new Map([
          ['t1', told('good')],
          ['t3', told('bad')],
        ]),
      ),
    ).toMatchObject([
      { turnId: 't1', good: true, why: 'feedback' },
      { turnId: 't2', good: false, why: 'feedback' },
    ]);
  });

  it('tools that failed to the end are no success', () => {
    const text = 'Run the migration';
    const turns = (last: string) => [
      makeTurn({ id: 't1', seq: 1, userText: text }),
      makeTurn({ id: 't2', seq: 2, userText: text, ...loop(text, 'Error: locked', last) }),
      makeTurn({ id: 't3', seq: 3, userText: 'And now the docs' }),
    ];
    expect(rateSession(turns('Error: still locked'), new Map())).toMatchObject([
      { good: false, why: 'tool-error' },
    ]);
    expect(rateSession(turns('ok'), new Map())).toMatchObject([{ good: true, why: 'went-on' }]);
  });
});

describe('what teaches', () => {
  const text = 'Run the migration on the staging database';
  const recovered = [
    makeTurn({ id: 't1', seq: 1, userText: text, replyText: '' }),
    makeTurn({
      id: 't2',
      seq: 2,
      userText: text,
      replyText: 'Migrated.',
      ...loop(text, 'Error: lock timeout', 'ok'),
    }),
  ];

  it('tools that failed and then worked, with what was called', () => {
    expect(pickLessons(recovered, 0)).toMatchObject([
      {
        signal: 'recovered',
        tools: [
          { call: 'bash {"n":0}', failed: true, error: 'Error: lock timeout' },
          { call: 'bash {"n":1}', failed: false },
        ],
      },
    ]);
  });

  it('feedback above all, in the user\u2019s words, and once more when it is newer than the last look', () => {
    const turns = said('Summarise the thread for the team', 'Always keep it under five lines', 'ok');
    const heard = { byTurn: new Map([['t1', told('bad', 'far too long')]]), since: '2026-01-01' };
    expect(pickLessons(turns, 3, heard)).toMatchObject([
      { turnId: 't1', signal: 'feedback', feedback: { label: 'bad', text: 'far too long' } },
    ]);
    expect(pickLessons(turns, 3, { ...heard, since: '2026-01-03' })).toEqual([]);
  });

  it('the strongest of a long session, not the last ones (K4)', () => {
    const chat = Array.from(
      { length: 40 },
      (_, n) => `Explain part number ${n} of the module called m${n} to me`,
    );
    chat[3] = 'No, never explain with code; I asked for words';
    const lessons = pickLessons(said(...chat), 0);
    expect(lessons).toHaveLength(8);
    expect(lessons.map(({ turnId }) => turnId)).toContain('t4');
  });
});
