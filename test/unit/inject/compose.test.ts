import { describe, expect, it } from 'vitest';
import {
  type Candidate,
  composeInjection,
  isRepeated,
  type SessionInjection,
  skipInjection,
  type TurnView,
  withoutMemories,
} from '../../../src/engine/inject/index.ts';

const skill = (id: string, tokens = 100): Candidate => ({
  kind: 'skill',
  id,
  title: id,
  body: `Do ${id} well.`,
  tokens,
  score: 1,
  reason: 'words: test',
});

/** A conversation as the proxy sees it: the digests are the texts of the non-system messages. */
function view(texts: string[], over: Partial<TurnView> = {}): TurnView {
  return {
    userIndex: texts.length - 1,
    hasAssistant: texts.length > 1,
    digestAt: (index) => texts[index],
    digests: () => texts,
    systemText: 'You are an agent.',
    ...over,
  };
}

const fresh: SessionInjection = { messages: [] };
const limits = { skillTokens: 1200, memoryUnits: 6, memoryTokens: 800, roomTokens: 100_000 };

describe('composeInjection', () => {
  it('puts the first match into the system part and repeats it byte for byte (J01, J02)', () => {
    const first = composeInjection(fresh, view(['fix the flaky test']), [skill('flaky')], limits);
    expect(first.system).toContain('Do flaky well.');
    expect(first.messages).toEqual([]);
    const second = composeInjection(
      first.injection,
      view(['fix the flaky test', 'done', 'now write an email']),
      [skill('email')],
      limits,
    );
    expect(second.system).toBe(first.system);
    expect(second.messages).toEqual([{ index: 2, text: expect.stringContaining('Do email well.') }]);
    const third = composeInjection(
      second.injection,
      view(['fix the flaky test', 'done', 'now write an email', 'sent', 'thanks']),
      [],
      limits,
    );
    expect(third.system).toBe(first.system);
    expect(third.messages).toEqual(second.messages);
    expect(third.report.tokens).toBe(second.report.tokens);
  });

  it('keeps an empty system part empty for the session, so that a later match cannot break the cache (J07)', () => {
    const hi = composeInjection(fresh, view(['hi']), [], limits);
    expect(hi.system).toBeNull();
    expect(hi.report).toMatchObject({ items: [], tokens: 0 });
    const later = composeInjection(hi.injection, view(['hi', 'hello', 'fix it']), [skill('flaky')], limits);
    expect(later.system).toBeNull();
    expect(later.messages.map((message) => message.index)).toEqual([2]);
  });

  it('does not touch the system part of a conversation that began without us', () => {
    const plan = composeInjection(fresh, view(['a', 'b', 'c']), [skill('flaky')], limits);
    expect(plan.system).toBeNull();
    expect(plan.messages).toHaveLength(1);
  });

  it('adds no skill twice, also when a turn is retried (J03)', () => {
    const first = composeInjection(fresh, view(['a']), [skill('x')], limits);
    const retry = composeInjection(first.injection, view(['a']), [skill('x')], limits);
    expect(retry).toMatchObject({ system: first.system, messages: [] });
    expect(retry.report.leftOut).toEqual([{ kind: 'skill', id: 'x', reason: 'already-in-session' }]);
  });

  it('stays within the session budget and the room that is left, and says what was cut (J06)', () => {
    const plan = composeInjection(
      fresh,
      view(['a']),
      [skill('big', 900), skill('more', 900), skill('small', 50)],
      limits,
    );
    expect(plan.report.items.map((item) => item.id)).toEqual(['big', 'small']);
    expect(plan.report.tokens).toBeLessThanOrEqual(limits.skillTokens);
    expect(plan.report.leftOut).toEqual([{ kind: 'skill', id: 'more', reason: 'budget' }]);
    const tight = composeInjection(fresh, view(['a']), [skill('x')], {
      skillTokens: 1200,
      memoryUnits: 6,
      memoryTokens: 800,
      roomTokens: 20,
    });
    expect(tight).toMatchObject({ system: null, messages: [] });
    expect(tight.report.leftOut[0]?.reason).toBe('no-room');
  });

  it('leaves a skill out that the client offers under the same name (J08)', () => {
    const own = view(['a'], { systemText: '<skill><name>deploy</name></skill>' });
    const plan = composeInjection(fresh, own, [skill('deploy')], limits);
    expect(plan.system).toBeNull();
    expect(plan.report.leftOut[0]?.reason).toBe('same-name-as-client-skill');
  });

  it('finds its message again after the client cut the history, and drops the block with the message', () => {
    const base = composeInjection(fresh, view(['hi']), [], limits);
    const placed = composeInjection(base.injection, view(['hi', 'yo', 'fix']), [skill('flaky')], limits);
    const cut = composeInjection(placed.injection, view(['fix', 'done', 'next']), [], limits);
    expect(cut.messages.map((message) => message.index)).toEqual([0]);
    const gone = composeInjection(
      placed.injection,
      view(['sum', 'ok', 'fix it again']),
      [skill('flaky')],
      limits,
    );
    expect(gone.messages.map((message) => message.index)).toEqual([2]);
    expect(gone.report.items.map((item) => item.id)).toEqual(['flaky']);
  });

  it('keeps what the session carries when a turn is skipped, so that the prefix stays whole', () => {
    const first = composeInjection(fresh, view(['a']), [skill('x')], limits);
    const skipped = skipInjection(first.injection, view(['a', 'b', 'c']), 'deadline');
    expect(skipped.system).toBe(first.system);
    expect(skipped.report.skipped).toBe('deadline');
  });

  it('adds nothing at all when the client switched it off for the turn', () => {
    const first = composeInjection(fresh, view(['a']), [skill('x')], limits);
    const off = skipInjection(first.injection, view(['a', 'b', 'c']), 'header');
    expect(off).toMatchObject({ system: null, messages: [], report: { tokens: 0 } });
    expect(off.injection).toBe(first.injection);
  });
});

const memory = (id: string, over: Partial<Candidate> = {}): Candidate => ({
  kind: 'memory',
  id,
  title: `fact ${id}`,
  body: `[fact, 2026-11-03] ${id} holds.`,
  tokens: 40,
  score: 0.9,
  reason: `words: ${id}`,
  ...over,
});

describe('memories', () => {
  it('stand before the words, also on the first turn; skills and pinned memories in the system part', () => {
    const plan = composeInjection(
      fresh,
      view(['a']),
      [skill('x'), memory('m'), memory('p', { pinned: true })],
      limits,
    );
    expect(plan.system).toMatch(
      /<\/metaclaw_skills>\n\n<metaclaw_memory>[\s\S]*- \[fact, 2026-11-03\] p holds\./,
    );
    expect(plan.messages).toEqual([
      {
        index: 0,
        text: expect.stringMatching(/^<metaclaw_memory>[\s\S]* m holds\.\n\n<\/metaclaw_memory>\n\n$/),
      },
    ]);
    expect(plan.report.items.map(({ id, place }) => [id, place])).toEqual([
      ['x', 'system'],
      ['p', 'system'],
      ['m', 'message'],
    ]);
  });

  it('and skills have budgets of their own; neither takes the other’s, nor all of a small window', () => {
    const full = { skillTokens: 150, memoryUnits: 1, memoryTokens: 800, roomTokens: 100_000 };
    const plan = composeInjection(
      fresh,
      view(['a']),
      [skill('x', 90), skill('y', 90), memory('m'), memory('n')],
      full,
    );
    expect(plan.report.items.map(({ id }) => id)).toEqual(['x', 'm']);
    expect(plan.report.leftOut).toEqual([
      { kind: 'skill', id: 'y', reason: 'budget' },
      { kind: 'memory', id: 'n', reason: 'budget' },
    ]);
    const small = composeInjection(fresh, view(['a']), [skill('x', 300), skill('y', 300), memory('m')], {
      ...limits,
      roomTokens: 800,
    });
    expect(small.report.items.map(({ id }) => id)).toEqual(['x', 'm']);
    expect(small.report.tokens).toBeLessThanOrEqual(800);
  });

  it('of a long session take no more than four turns may add', () => {
    let session = fresh;
    const texts: string[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      texts.push(`question ${turn}`);
      const plan = composeInjection(session, view(texts), [memory(`m${turn}`, { tokens: 200 })], {
        ...limits,
        memoryTokens: 300,
      });
      session = plan.injection;
      expect(plan.report.tokens).toBeLessThanOrEqual(1200);
      texts.push('answer');
    }
    expect(session.messages).toHaveLength(4);
  });

  it('are not added to a request that comes again', () => {
    const first = composeInjection(fresh, view(['a']), [memory('m')], limits);
    expect(isRepeated(first.injection, view(['a']))).toBe(true);
    const again = composeInjection(first.injection, view(['a']), [memory('n')], limits);
    expect(again.messages).toEqual(first.messages);
    expect(isRepeated(first.injection, view(['a', 'b', 'c']))).toBe(false);
  });

  it('leave without a trace when they are forgotten, and what stands beside them stays', () => {
    const first = composeInjection(fresh, view(['a']), [skill('x'), memory('p', { pinned: true })], limits);
    const second = composeInjection(
      first.injection,
      view(['a', 'b', 'c']),
      [memory('m'), memory('n')],
      limits,
    );
    expect(withoutMemories(second.injection, new Set(['other']))).toBeNull();
    const cleaned = withoutMemories(second.injection, new Set(['m', 'p']));
    if (cleaned === null) throw new Error('nothing was taken out');
    expect(JSON.stringify(cleaned)).not.toMatch(/[mp] holds/);
    const plan = composeInjection(cleaned, view(['a', 'b', 'c', 'd', 'e']), [], limits);
    expect(plan.system).toContain('Do x well.');
    expect(plan.system).not.toContain('metaclaw_memory');
    expect(plan.messages[0]?.text).toContain('n holds');
    const nothing = withoutMemories(cleaned, new Set(['n']));
    expect(
      nothing && composeInjection(nothing, view(['a', 'b', 'c', 'd', 'e']), [], limits).messages,
    ).toEqual([]);
  });

  it('are left out where the request wants none, and stand there again afterwards', () => {
    const first = composeInjection(fresh, view(['a']), [skill('x'), memory('m')], limits);
    const off = composeInjection(first.injection, view(['a', 'b', 'c']), [], limits, {
      skills: true,
      memories: false,
    });
    expect([off.system, off.messages]).toEqual([first.system, []]);
    const on = composeInjection(off.injection, view(['a', 'b', 'c', 'd', 'e']), [], limits);
    expect(on.messages).toEqual(first.messages);
  });

  it('go on from what an older version kept of a session', () => {
    const old: SessionInjection = {
      system: { text: 'OLD', items: [] },
      messages: [],
    };
    const plan = composeInjection(old, view(['a', 'b', 'c']), [memory('m')], limits);
    expect(plan.messages).toHaveLength(1);
  });
});
