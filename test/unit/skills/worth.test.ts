import { describe, expect, it } from 'vitest';
import { WorthBook, worthOf } from '../../../src/engine/skills/worth.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { fakeClock } from '../../support/clock.ts';

const open = () => {
  const { database } = openDatabase(':memory:');
  const book = new WorthBook({ database, clock: fakeClock() });
  book.load();
  return { database, book };
};

function carry(book: WorthBook, skill: string, sessions: number): void {
  for (let n = 0; n < sessions; n += 1)
    book.record({ sessionId: `c${n}`, turnId: `${n}` }, [{ skill, version: 1, withheld: false }]);
}

describe('withholding', () => {
  it('begins once a skill was carried by five sessions', () => {
    const { book } = open();
    carry(book, 'tea', 4);
    carry(book, 'tea', 4);
    expect(book.isWithheld('s', 'tea', 1)).toBe(false);
    carry(book, 'tea', 5);
    expect(book.isWithheld('s', 'tea', 1)).toBe(true);
    expect(book.isWithheld('s', 'jam', 1)).toBe(false);
  });

  it('is drawn once per session and skill, close to the share, and the same after a restart', () => {
    const { database, book } = open();
    for (const skill of ['tea', 'jam']) carry(book, skill, 5);
    const drawn = Array.from({ length: 5000 }, (_, n) => book.isWithheld(`s${n}`, 'tea', 0.1));
    const share = drawn.filter(Boolean).length / drawn.length;
    expect(share).toBeGreaterThan(0.08);
    expect(share).toBeLessThan(0.12);
    const again = new WorthBook({ database, clock: fakeClock() });
    again.load();
    expect(drawn).toEqual(Array.from({ length: 5000 }, (_, n) => again.isWithheld(`s${n}`, 'tea', 0.1)));
    // Skills are drawn apart from one another.
    const both = drawn.filter((held, n) => held && book.isWithheld(`s${n}`, 'jam', 0.1)).length;
    expect(both).toBeLessThan(100);
  });

  it('0 withholds nothing, 1 all', () => {
    const { book } = open();
    carry(book, 'tea', 5);
    expect(book.isWithheld('s', 'tea', 0)).toBe(false);
    expect(book.isWithheld('s', 'tea', 1)).toBe(true);
  });
});

describe('worthOf', () => {
  it('says nothing with few sessions', () => {
    expect(worthOf({ sessions: 200, good: 0.9 }, { sessions: 4, good: 0.5 })).toMatchObject({
      effect: null,
      advice: null,
    });
  });

  it('gives the interval of Newcombe\u2019s method (his example: 56/70 against 48/80)', () => {
    const { effect } = worthOf({ sessions: 70, good: 56 / 70 }, { sessions: 80, good: 48 / 80 });
    expect(effect?.difference).toBeCloseTo(0.2, 4);
    expect(effect?.low).toBeCloseTo(0.0524, 3);
    expect(effect?.high).toBeCloseTo(0.3339, 3);
  });

  it('advises only when the interval does', () => {
    expect(worthOf({ sessions: 60, good: 0.4 }, { sessions: 40, good: 0.9 }).advice).toBe('hurts');
    expect(worthOf({ sessions: 8, good: 0.5 }, { sessions: 8, good: 0.75 }).advice).toBeNull();
    expect(worthOf({ sessions: 60, good: 1 }, { sessions: 40, good: 1 }).advice).toBeNull();
  });
});

it('a session counts once, from the turn on at which the skill fitted, in the newest version only', () => {
  const { database, book } = open();
  const outcome = (session: string, turn: string, good: number) =>
    database.run(
      'INSERT INTO outcomes (turn_id, session_id, good, why) VALUES (?, ?, ?, ?)',
      turn,
      session,
      good,
      'went-on',
    );
  book.record({ sessionId: 's1', turnId: 'b' }, [{ skill: 'tea', version: 2, withheld: false }]);
  book.record({ sessionId: 's1', turnId: 'c' }, [{ skill: 'tea', version: 2, withheld: false }]);
  book.record({ sessionId: 's2', turnId: 'k' }, [{ skill: 'tea', version: 2, withheld: true }]);
  book.record({ sessionId: 's3', turnId: 'm' }, [{ skill: 'tea', version: 1, withheld: false }]);
  for (const [turn, good] of [
    ['a', 0],
    ['b', 1],
    ['c', 1],
    ['d', 0],
    ['e', 1],
  ] as const)
    outcome('s1', turn, good);
  outcome('s2', 'k', 0);
  outcome('s3', 'm', 0);
  expect(book.measure(() => 2).get('tea')).toMatchObject({
    with: { sessions: 1, good: 0.75 },
    without: { sessions: 1, good: 0 },
    effect: null,
  });
});
