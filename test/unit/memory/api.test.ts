import { expect, it } from 'vitest';
import { MemoryApi } from '../../../src/engine/memory/api/index.ts';
import { DEFAULT_CONFIG } from '../../../src/shared/config.ts';
import { fakeClock } from '../../support/clock.ts';

const OWNER = { headers: {}, agent: '' };
const NOBODY = { user: '', workspace: '', agent: '' };

/** An API whose conversations wait to be read; each reading ends when it is told to. */
function waiting(sessions: string[]) {
  const clock = fakeClock();
  const begun: string[] = [];
  let finish: (added: number) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const api = new MemoryApi({
    book: {} as ConstructorParameters<typeof MemoryApi>[0]['book'],
    conversations: {
      tell: () => 0,
      unread: (sessionId) =>
        sessions
          .filter((session) => sessionId === undefined || session === sessionId)
          .map((session) => ({ sessionId: session, exchanges: 2, scope: NOBODY })),
      readNow: (sessionId) => {
        begun.push(sessionId ?? '');
        return new Promise((resolve, reject) => {
          finish = resolve;
          fail = reject;
        });
      },
    },
    counts: () => [],
    config: () => DEFAULT_CONFIG,
    clock,
    recall: async () => [],
  });
  return {
    api,
    clock,
    begun,
    finish: async (added: number) => {
      finish(added);
      await new Promise(setImmediate);
    },
    fail: (error: Error) => fail(error),
  };
}

it('answers after ten seconds with what there is, and reads on, one session at a time', async () => {
  const { api, clock, begun, finish } = waiting(['a', 'b', 'c']);
  const answer = api.ingest(OWNER, '', []);
  await finish(3);
  expect(begun).toEqual(['a', 'b']);
  clock.advance(10_000);
  expect(await answer).toEqual({
    added: 3,
    buffered_turns: 6,
    sessions: [
      { session_id: 'a', added: 3, turns: 2 },
      { session_id: 'b', added: 0, turns: 2 },
      { session_id: 'c', added: 0, turns: 2 },
    ],
  });
  expect(begun).toEqual(['a', 'b']);
  await finish(1);
  expect(begun).toEqual(['a', 'b', 'c']);
  expect(clock.pending()).toBe(0);
});

it('says why a reading failed in time, and lets a late failure harm nobody', async () => {
  const early = waiting(['a']);
  const refused = early.api.flushSession(OWNER, 'a');
  early.fail(new Error('the store is gone'));
  await expect(refused).rejects.toThrow('the store is gone');
  const late = waiting(['a']);
  const answered = late.api.flushSession(OWNER, 'a');
  late.clock.advance(10_000);
  expect(await answered).toEqual({ added: 0 });
  late.fail(new Error('the store is gone'));
  await new Promise(setImmediate);
});
