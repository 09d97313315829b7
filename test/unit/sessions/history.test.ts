import { describe, expect, it } from 'vitest';
import { compare, fingerprint } from '../../../src/engine/sessions/history.ts';

const base = {
  agent: 'a',
  clientAddress: 'loopback',
  systemText: 'You help. It is Tuesday, 2026-12-01 10:15.',
  firstUserText: 'hello',
};

describe('fingerprint', () => {
  it('differs by agent, client, instructions and opening', () => {
    const prints = [
      base,
      { ...base, agent: 'b' },
      { ...base, clientAddress: '10.0.0.2' },
      { ...base, systemText: 'You are assistant 2.' },
      { ...base, systemText: 'You are assistant 3.' },
      { ...base, firstUserText: 'hello!' },
    ].map(fingerprint);
    expect(new Set(prints).size).toBe(prints.length);
  });

  // A clock in the system prompt would make every turn a session of its own.
  it.each(['You help. It is Wednesday, 2026-12-02 23:59.', 'You help. It is Friday, 2027-01-15 08:00.'])(
    'is the same at another time: %s',
    (systemText) => {
      expect(fingerprint({ ...base, systemText })).toBe(fingerprint(base));
    },
  );
});

describe('compare', () => {
  const list = (text: string) => text.split('');
  it.each([
    ['abc', 'abcde', 'extends'],
    ['a', 'abc', 'extends'],
    ['abc', 'abc', 'repeats'],
    ['abc', 'abx', 'none'], // edited last message
    ['abc', 'axc', 'none'], // another answer to the same opening
    ['abc', 'ab', 'none'],
    ['abcdef', 'cdefgh', 'slides'],
    ['abcdef', 'def', 'slides'],
    ['abcdef', 'efgh', 'none'], // too little in common
    ['abab', 'ababab', 'extends'],
    ['', 'a', 'none'],
    ['a', '', 'none'],
  ])('%s, then %s: %s', (known, request, expected) => {
    expect(compare(list(known), list(request))).toBe(expected);
  });
});
