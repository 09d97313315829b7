import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unitVector, vectorKey } from '../../../src/engine/platform/vectors.ts';
import type { Embedder } from '../../../src/engine/ports.ts';
import { SkillVectors } from '../../../src/engine/skills/vectors.ts';
import { DEFAULT_CONFIG } from '../../../src/shared/config.ts';
import { type FakeClock, fakeClock } from '../../support/clock.ts';
import { NO_EMBEDDER } from '../../support/embedder.ts';

const SIZE = 384;
let clock: FakeClock;
let known: Map<string, Float32Array>;
let wanted: string[];
let tell: (keys: readonly string[]) => void;
let embedder: Embedder & { id: string | null };
let vectors: SkillVectors;

/** A direction of its own for each number; neighbours of `like` share most of theirs with it. */
function direction(n: number, like?: Float32Array): Float32Array {
  let state = n * 7919 + 17;
  const values = Array.from({ length: SIZE }, (_, at) => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647 - 0.5 + (like ? (like[at] ?? 0) * 8 : 0);
  });
  return unitVector(values) ?? new Float32Array(SIZE);
}
const skill = (n: number) => ({ description: `Skill number ${n}`, triggers: [] });
const keyOf = (n: number) => vectorKey(`skill ${n}: Skill number ${n}\n`);
const fill = (count: number) => {
  for (let n = 0; n < count; n += 1) {
    known.set(keyOf(n), direction(n));
    vectors.add(`skill-${n}`, skill(n));
  }
  for (let n = 0; n <= count / 200 + 1; n += 1) clock.advance(30);
};

beforeEach(() => {
  clock = fakeClock();
  known = new Map();
  wanted = [];
  embedder = {
    ...NO_EMBEDDER,
    id: 'model',
    stored: (keys) =>
      new Map(keys.flatMap((key) => (known.has(key) ? [[key, known.get(key) as Float32Array]] : []))),
    want: (texts) => wanted.push(...texts),
    onStored: (listener) => {
      tell = listener;
      return () => {};
    },
  };
  vectors = new SkillVectors({ embedder, clock, config: () => DEFAULT_CONFIG });
  vectors.start();
});
afterEach(() => vectors.stop());

describe('skills by their vectors', () => {
  it('are near a question that points their way, and to no other', () => {
    fill(60);
    const near = vectors.near(direction(5000, direction(7)));
    expect([...near].filter(([, { share }]) => share > 0.6).map(([name]) => name)).toEqual(['skill-7']);
    expect(near.get('skill-7')?.share).toBeGreaterThan(1);
    expect([...vectors.near(direction(6000)).values()].every(({ share }) => share < 1)).toBe(true);
  });

  it('are asked for when they are new, and known as soon as they are stored', () => {
    fill(20);
    vectors.add('skill-900', skill(900));
    clock.advance(30);
    expect(wanted).toEqual(['skill 900: Skill number 900\n']);
    known.set(keyOf(900), direction(900));
    tell([keyOf(900), 'of something else']);
    expect(vectors.near(direction(5000, direction(900))).get('skill-900')?.share).toBeGreaterThan(1);
    vectors.remove('skill-900');
    expect(vectors.near(direction(900)).has('skill-900')).toBe(false);
  });

  it('are none of another model', () => {
    fill(20);
    known.clear();
    tell([]);
    expect(vectors.near(direction(7)).size).toBe(0);
    clock.advance(30);
    expect(wanted).toHaveLength(20);
  });

  it('are found among ten thousand in a few milliseconds', () => {
    fill(10_000);
    const question = direction(50_000, direction(7777));
    const rounds: number[] = [];
    for (let n = 0; n < 9; n += 1) {
      const start = performance.now();
      const near = vectors.near(question);
      rounds.push(performance.now() - start);
      expect(near.get('skill-7777')?.share).toBeGreaterThan(1);
    }
    // The middle of the rounds: the computer may do other things at the same time.
    expect(rounds.sort((a, b) => a - b)[4]).toBeLessThan(30);
  });

  it('are not compared in the mode template, nor without an endpoint', () => {
    expect(vectors.areWanted).toBe(true);
    embedder.id = null;
    expect(vectors.areWanted).toBe(false);
  });
});
