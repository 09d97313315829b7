import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';
import { ResponseStore } from '../../../src/engine/store/response-store.ts';

const HOUR = 3600_000;
let folder: string;
let database: Database;
let store: ResponseStore;
let now: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'responses-'));
  ({ database } = openDatabase(join(folder, 'state.db')));
  now = 1_800_000_000_000;
  const clock = { now: () => now, after: () => () => {} };
  store = new ResponseStore({ database, clock });
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

function save(id: string, previousId: string | null, persist = true): void {
  store.save(
    {
      id,
      previousId,
      sessionId: 's',
      input: [{ role: 'user', content: `to ${id}` }],
      response: { id, output: [{ id: `msg_${id}`, type: 'message' }] },
    },
    persist,
  );
}

describe.each([
  ['on disk', true],
  ['in memory', false],
])('responses kept %s', (_, persist) => {
  it('are none of a conversation when they continue themselves, in one step or two', () => {
    save('same', null, persist);
    save('same', 'same', persist);
    save('same', 'same', persist);
    save('one', 'two', persist);
    save('two', 'one', persist);
    save('one', 'two', persist);
    for (const id of ['same', 'one', 'two']) expect(store.history(id)).toBeNull();
  });

  it('go after a day, unless the conversation went on', () => {
    save('a', null, persist);
    save('lonely', null, persist);
    now += 20 * HOUR;
    save('b', 'a', persist);
    now += 20 * HOUR;
    expect(store.history('b')?.map((item) => item.content ?? item.id)).toEqual([
      'to a',
      'msg_a',
      'to b',
      'msg_b',
    ]);
    expect(store.get('lonely')).toBeNull();
    now += 5 * HOUR;
    expect(store.history('b')).toBeNull();
    // The next write clears them away.
    save('c', null, persist);
    expect(database.get<{ n: number }>('SELECT count(*) AS n FROM responses')?.n).toBe(persist ? 1 : 0);
    expect(store.item('msg_a')).toBeNull();
    expect(store.item('msg_c')).toMatchObject({ type: 'message' });
  });

  it('a chain with a missing link is not half a conversation', () => {
    save('a', null, persist);
    save('b', 'a', persist);
    store.delete('a');
    expect(store.history('b')).toBeNull();
    expect(store.get('b')).not.toBeNull();
  });
});

it('a conversation may begin on disk and go on in memory (it became private)', () => {
  save('a', null, true);
  now += 20 * HOUR;
  save('b', 'a', false);
  now += 20 * HOUR;
  expect(store.history('b')).toHaveLength(4);
  expect(database.get<{ n: number }>('SELECT count(*) AS n FROM responses')?.n).toBe(1);
});

it('keeps secrets exactly in memory, where they go back to the model, and masked on disk', () => {
  const key = 'sk-TEST1234567890abcdefghij';
  store.save(
    {
      id: 'a',
      previousId: null,
      sessionId: 's',
      input: [{ role: 'user', content: `my key is ${key}` }],
      response: { id: 'a', output: [] },
    },
    true,
  );
  expect(JSON.stringify(store.history('a'))).toContain(key);
  expect(JSON.stringify(database.all('SELECT * FROM responses'))).not.toContain(key);
  const restarted = new ResponseStore({ database, clock: { now: () => now, after: () => () => {} } });
  expect(JSON.stringify(restarted.history('a'))).toContain('[redacted:');
});
