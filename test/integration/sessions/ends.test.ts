import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chat, factsOf, type SessionLab, sessionLab } from '../../support/sessions.ts';

let lab: SessionLab;
beforeEach(() => {
  lab = sessionLab();
});
afterEach(() => {
  expect(lab.errors).toEqual([]);
  lab.close();
});

const MINUTE = 60_000;
const named = (id: string, text = 'work', headers: Record<string, string> = {}) => ({
  ...chat(text),
  headers: { 'x-session-id': id, ...headers },
});
const ends = () => lab.ended.map(({ sessionId, turns, reason }) => `${sessionId} ${turns} ${reason}`);
const row = (id: string) =>
  lab.database.get('SELECT ended_at, end_reason, turns FROM sessions WHERE id = ?', id);

describe('the flag', () => {
  it('ends the session after the reply, once', () => {
    const request = named('s', 'bye', { 'x-session-done': 'yes' });
    const turn = lab.log.open(factsOf(request));
    lab.send(turn, request);
    expect(ends()).toEqual([]);
    lab.answer(turn);
    expect(ends()).toEqual(['s 1 flag']);
    lab.log.end('s', 'flag');
    lab.clock.advance(30 * MINUTE);
    expect(ends()).toEqual(['s 1 flag']);
  });

  it('counts on a side turn, on a failed one and on one that never went out', () => {
    for (const id of ['side', 'failed', 'never']) lab.turn(named(id));
    lab.turn(named('side', 'x', { 'x-turn-type': 'side', 'x-session-done': '1' }));
    lab.turn(named('failed', 'x', { 'x-session-done': '1' }), { status: 'failed', error: 'no' });
    lab.log.abandon(lab.log.open(factsOf(named('never', 'x', { 'x-session-done': '1' }))));
    expect(ends()).toEqual(['side 1 flag', 'failed 2 flag', 'never 1 flag']);
  });

  it('a later turn opens the session again, and it may end again', () => {
    lab.turn(named('s', 'a', { 'x-session-done': '1' }));
    lab.restart();
    const turn = lab.turn(named('s', 'b'));
    expect(turn.seq).toBe(2);
    expect(row('s')).toEqual({ ended_at: null, end_reason: null, turns: 2 });
    lab.turn(named('s', 'c', { 'x-session-done': '1' }));
    expect(ends()).toEqual(['s 1 flag', 's 3 flag']);
  });
});

describe('idling', () => {
  // The original never ended a session without the flag, which no client sends (C1, R016).
  it('ends a session by a timer, not by the next request', () => {
    lab.turn(named('s'));
    lab.clock.advance(4 * MINUTE);
    lab.turn(named('s'));
    lab.clock.advance(4 * MINUTE);
    expect(ends()).toEqual([]);
    lab.clock.advance(MINUTE);
    expect(ends()).toEqual(['s 2 idle']);
    expect(lab.clock.pending()).toBe(0);
  });

  it('another conversation ends nothing', () => {
    lab.turn(named('a'));
    lab.turn(named('b'));
    lab.turn(chat('c'));
    expect(ends()).toEqual([]);
  });

  it('waits for an answer that takes long', () => {
    const request = named('s');
    const turn = lab.log.open(factsOf(request));
    lab.send(turn, request);
    lab.clock.advance(20 * MINUTE);
    expect(ends()).toEqual([]);
    lab.answer(turn);
    lab.clock.advance(4 * MINUTE);
    expect(ends()).toEqual([]);
    lab.clock.advance(MINUTE);
    expect(ends()).toEqual(['s 1 idle']);
  });

  it('counts the time that the machine slept', () => {
    lab.turn(named('s'));
    lab.clock.sleep(8 * 60 * MINUTE);
    lab.clock.advance(MINUTE);
    expect(ends()).toEqual(['s 1 idle']);
  });

  it('a turn right after the sleep belongs to a new stretch of the session', () => {
    lab.turn(named('s'));
    lab.clock.sleep(8 * 60 * MINUTE);
    lab.turn(named('s'));
    expect(ends()).toEqual(['s 1 idle']);
    expect(row('s')).toEqual({ ended_at: null, end_reason: null, turns: 2 });
  });

  it('goes on after a restart, and ends at once what idled meanwhile', () => {
    lab.turn(named('old'));
    lab.clock.advance(4 * MINUTE);
    lab.turn(named('young'));
    lab.clock.sleep(2 * MINUTE);
    lab.restart();
    expect(ends()).toEqual(['old 1 idle']);
    lab.clock.advance(3 * MINUTE);
    expect(ends()).toEqual(['old 1 idle', 'young 1 idle']);
  });

  it('follows a changed setting', () => {
    lab.turn(named('s'));
    lab.settings.idleMinutes = 0.5;
    lab.clock.advance(MINUTE);
    expect(ends()).toEqual(['s 1 idle']);
  });

  it('is not held up by a clock that was set back', () => {
    lab.turn(named('s'));
    lab.clock.sleep(-60 * MINUTE);
    lab.clock.advance(7 * MINUTE);
    expect(ends()).toEqual(['s 1 idle']);
  });

  // Heartbeats every few minutes would keep a session open for ever, or wake the evolver for nothing.
  it('side turns neither keep a session open, nor open it again, nor end as sessions', () => {
    lab.turn(named('s'));
    const heartbeat = named('s', 'x', { 'x-turn-type': 'heartbeat' });
    for (let i = 0; i < 3; i += 1) {
      lab.clock.advance(2 * MINUTE);
      lab.turn(heartbeat);
    }
    lab.turn(named('only-side', 'x', { 'x-turn-type': 'side' }));
    lab.clock.advance(20 * MINUTE);
    expect(ends()).toEqual(['s 1 idle']);
    expect(row('s')).toMatchObject({ turns: 1, end_reason: 'idle' });
    expect(row('only-side')).toMatchObject({ turns: 0, end_reason: 'idle' });
  });

  it('an answer that says nothing makes the turn a side turn', () => {
    lab.turn(named('s'));
    const turn = lab.turn(named('s', 'anything new?'), { replyText: 'NO_REPLY' });
    expect(lab.log.get(turn.id).kind).toBe('side');
    expect(row('s')).toMatchObject({ turns: 1 });
    expect(lab.log.turnsOf('s')).toHaveLength(1);
  });

  it('forgets ended sessions', () => {
    // Ten thousand sessions that never say that they are done (R016).
    lab.database.tx(() => {
      for (let i = 0; i < 2000; i += 1) lab.turn(named(`s${i}`));
    });
    lab.clock.advance(6 * MINUTE);
    expect(lab.ended).toHaveLength(2000);
    expect(lab.clock.pending()).toBe(0);
    expect(lab.turn(named('s7')).seq).toBe(2);
  });
});

describe('/new and /reset', () => {
  it('inside a session: it ends, and what follows is a new stretch', () => {
    lab.turn(named('s'));
    lab.turn(named('s', '/new'));
    expect(ends()).toEqual(['s 1 new-command']);
    lab.turn(named('s', 'fresh'));
    lab.clock.advance(6 * MINUTE);
    expect(ends()).toEqual(['s 1 new-command', 's 3 idle']);
  });

  it('with a new id: the session that was used last ends, others of other agents stay', () => {
    lab.turn(named('a'));
    lab.turn({ ...named('b'), agent: 'other' });
    lab.turn({ ...named('c'), clientAddress: '10.0.0.9' });
    lab.turn(named('d', '/reset'));
    expect(ends()).toEqual(['a 1 new-command']);
  });

  const runtime = (session: string, lane: string) =>
    `\n\nRuntime: agent=main | session=${lane} | sessionId=3f2504e0-4f89-11d3-9a0c-0305e82c${session} | host=h`;
  const openclaw = (session: string, lane: string, text: string, more: object[] = []) => ({
    agent: 'openclaw',
    body: { model: 'm', messages: [{ role: 'user', content: text + runtime(session, lane) }, ...more] },
  });

  it('OpenClaw’s announcement ends the chat that it replaces, once, over its whole tool loop', () => {
    const opening = 'A new session was started via /new or /reset. Run your start-up sequence.';
    const first = lab.turn(openclaw('0001', 'agent:main:main', 'work')).sessionId;
    lab.turn(openclaw('0002', 'agent:main:telegram:7', 'other chat'));
    lab.turn(openclaw('0003', 'agent:main:main', opening));
    lab.turn(
      openclaw('0003', 'agent:main:main', opening, [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: '1', type: 'function', function: { name: 'read', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: '1', content: 'text' },
      ]),
    );
    expect(ends()).toEqual([`${first} 1 new-command`]);
  });

  it('talking about the commands ends nothing', () => {
    lab.turn(named('a'));
    lab.turn(named('b', 'what does /new do?'));
    lab.turn(named('a', 'please explain /reset'));
    expect(ends()).toEqual([]);
  });
});

describe('listeners', () => {
  // A crash between the end and the job that it starts would lose the learning (C29).
  it('what a listener writes is committed with the end', () => {
    lab.log.onEnded((end) => {
      lab.database.run('INSERT INTO settings (key, value) VALUES (?, ?)', 'job', end.sessionId);
      expect(lab.database.get('SELECT ended_at FROM sessions WHERE id = ?', end.sessionId)).not.toBeNull();
    });
    lab.turn(named('s', 'bye', { 'x-session-done': '1' }));
    expect(lab.database.get('SELECT value FROM settings')).toEqual({ value: 's' });
  });

  it('one that fails harms neither the record nor the others', () => {
    lab.log.onEnded(() => {
      throw new Error('broken');
    });
    const seen: string[] = [];
    lab.log.onEnded((end) => seen.push(end.sessionId));
    const turn = lab.turn(named('s', 'bye', { 'x-session-done': '1' }));
    expect(seen).toEqual(['s']);
    expect(lab.log.get(turn.id).status).toBe('answered');
    expect(lab.errors).toHaveLength(1);
    lab.errors.length = 0;
  });

  it('hears nothing after it left', () => {
    const seen: string[] = [];
    const leave = lab.log.onEnded((end) => seen.push(end.sessionId));
    leave();
    lab.turn(named('s', 'bye', { 'x-session-done': '1' }));
    expect(seen).toEqual([]);
  });
});

it('ending an unknown session is an error', () => {
  expect(() => lab.log.end('nope', 'flag')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
});
