import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ClientRequest, chat, factsOf, type SessionLab, sessionLab } from '../../support/sessions.ts';

let lab: SessionLab;
beforeEach(() => {
  lab = sessionLab();
});
afterEach(() => {
  expect(lab.errors).toEqual([]);
  lab.close();
});

const session = (request: ClientRequest) => lab.turn(request).sessionId;

describe('captured clients', () => {
  const folder = new URL('../../fixtures/clients/', import.meta.url);
  interface Captured {
    url: string;
    headers: [string, string][];
    body: object | string | null;
  }

  /** Fixtures name uuids `<uuid-1>`; `salt` makes them those of one run of the client. */
  function load(name: string, salt: string): ClientRequest[] {
    const text = readFileSync(new URL(name, folder), 'utf8')
      .replace(/<uuid-(\d)>/g, (_all, digit) => `3f2504e0-4f89-11d3-9a0${digit}-0305e82c${salt}`)
      .replace(/<id-(\d)>/g, (_all, digit) => `ses_${salt}${digit}`)
      .replaceAll('Run echo', `Run echo ${salt}`);
    return (JSON.parse(text) as { requests: Captured[] }).requests.flatMap(({ url, headers, body }) => {
      const dialect = url.includes('/messages') ? ('anthropic' as const) : ('openai' as const);
      if (!/\/(chat\/completions|messages)(\?|$)/.test(url) || body === null || typeof body === 'string')
        return [];
      const lowered = headers.map(([key, value]) => [key.toLowerCase(), value]);
      return [{ dialect, body, headers: Object.fromEntries(lowered), agent: null }];
    });
  }

  const names = readdirSync(folder).filter(
    (name) => name.endsWith('.json') && name !== 'sdk.json' && load(name, '1111').length > 1,
  );

  it('covers the clients that were run', () => {
    expect(names.length).toBeGreaterThanOrEqual(9);
  });

  // One conversation torn into a session per request, or two runs of a client mixed into one (C24).
  it.each(names)('%s: one conversation is one session, another run is another', (name) => {
    const first = load(name, '1111');
    const second = load(name, '2222');
    const firstIds = new Set<string>();
    const secondIds = new Set<string>();
    // Both at the same time, turn by turn.
    first.forEach((request, index) => {
      firstIds.add(session(request));
      secondIds.add(session(second[index] as ClientRequest));
    });
    expect(firstIds.size).toBe(1);
    expect(secondIds.size).toBe(1);
    expect([...firstIds][0]).not.toBe([...secondIds][0]);
    expect(lab.ended).toEqual([]);
  });

  it('the title call of opencode is a side turn of the same session', () => {
    const kinds = load('opencode.json', '1111').map((request) => lab.turn(request).kind);
    expect(kinds).toEqual(['side', 'main', 'main']);
  });

  it('all other captured turns of agents are main turns', () => {
    for (const name of names.filter((name) => name !== 'opencode.json'))
      for (const request of load(name, '1111')) expect(lab.turn(request).kind, name).toBe('main');
  });
});

describe('named sessions', () => {
  it('keeps the client’s id as it is', () => {
    expect(session({ ...chat('a'), headers: { 'x-session-id': 'ses_1' } })).toBe('ses_1');
  });

  // Two agents that both call their session "main" learn from each other's turns.
  it('the same id from two agents means two sessions', () => {
    const request = (agent: string) => ({ ...chat('a'), agent, headers: { 'x-session-id': 'main' } });
    const first = session(request('one'));
    const second = session(request('two'));
    expect(first).toBe('main');
    expect(second).toBe('main~two');
    expect(session(request('two'))).toBe(second);
    lab.restart();
    expect(session(request('two'))).toBe(second);
    expect(session(request('one'))).toBe(first);
  });

  it('our own id, sent back, finds the session again', () => {
    const id = session(chat('a question'));
    expect(session({ ...chat('something else'), headers: { 'x-metaclaw-session': id } })).toBe(id);
  });

  it('numbers turns without gaps, also over a restart', () => {
    const request = { ...chat('a'), headers: { 'x-session-id': 's' } };
    expect([lab.turn(request), lab.turn(request)].map((turn) => turn.seq)).toEqual([1, 2]);
    lab.log.abandon(lab.log.open(factsOf(request)));
    expect(lab.turn(request).seq).toBe(3);
    lab.restart();
    expect(lab.turn(request).seq).toBe(4);
  });
});

describe('sessions recognised by history (L07)', () => {
  it('follows a conversation over model switches, tool loops and restarts', () => {
    const first = session(chat('hi there', 'hello', 'fix it'));
    const request = chat('hi there', 'hello', 'fix it', 'done', 'thanks');
    expect(session({ ...request, body: { ...request.body, model: 'another' } })).toBe(first);
    lab.restart();
    expect(session(chat('hi there', 'hello', 'fix it', 'done', 'thanks', 'sure', 'one more'))).toBe(first);
  });

  it('chats with the same opening part where they differ, whoever speaks next', () => {
    const a = session(chat('hi'));
    session(chat('hi'));
    expect(session(chat('hi', 'hello', 'about cats'))).toBe(a);
    const b = session(chat('hi', 'hello', 'about dogs'));
    expect(b).not.toBe(a);
    expect(session(chat('hi', 'hello', 'about cats', 'they purr', 'why'))).toBe(a);
    expect(session(chat('hi', 'hello', 'about dogs', 'they bark', 'why'))).toBe(b);
    expect(session(chat('hi'))).not.toBe(a);
  });

  // Two turns that were opened before either was recorded both extended the same session, and their chats were mixed.
  it('parts chats that differ while neither turn is recorded yet', () => {
    const first = session(chat('hi'));
    const cats = lab.log.open(factsOf(chat('hi', 'hello', 'about cats')));
    const dogs = lab.log.open(factsOf(chat('hi', 'hello', 'about dogs')));
    expect([cats.sessionId, dogs.sessionId]).toEqual([first, expect.not.stringMatching(`^${first}$`)]);
    lab.log.abandon(cats);
    expect(session(chat('hi', 'hello', 'about birds'))).toBe(first);
    lab.log.abandon(dogs);
  });

  it('a retry stays in its session', () => {
    const request = chat('hi', 'hello', 'go on');
    const id = session(request);
    expect(lab.turn(request, { status: 'failed' }).sessionId).toBe(id);
    expect(session(request)).toBe(id);
  });

  // An edited message cannot be told from another chat with the same beginning: it goes on beside the first.
  it('an edited message starts a branch, and both go on', () => {
    const first = session(chat('plan a trip', 'where to?', 'Rome'));
    const branch = session(chat('plan a trip', 'where to?', 'Oslo'));
    expect(branch).not.toBe(first);
    expect(session(chat('plan a trip', 'where to?', 'Oslo', 'cold', 'fine'))).toBe(branch);
    expect(session(chat('plan a trip', 'where to?', 'Rome', 'warm', 'fine'))).toBe(first);
  });

  it('differs by agent, client and instructions', () => {
    const request = chat('hello');
    const instructed = (text: string) => ({
      body: {
        model: 'm',
        messages: [
          { role: 'system', content: text },
          { role: 'user', content: 'hello' },
        ],
      },
    });
    const ids = [
      request,
      { ...request, agent: 'other' },
      { ...request, clientAddress: '172.17.0.2' },
      instructed('You are A.'),
      instructed('You are B.'),
    ].map(session);
    expect(new Set(ids).size).toBe(5);
  });

  // PicoClaw and others drop old messages: each turn would become a session.
  it('follows a client that cuts its history from the front', () => {
    const words = ['q1', 'a1', 'q2', 'a2', 'q3', 'a3', 'q4', 'a4', 'q5'];
    const id = session(chat(...words.slice(0, 5)));
    expect(session(chat(...words.slice(2, 7)))).toBe(id);
    expect(session(chat(...words.slice(4, 9)))).toBe(id);
    lab.restart();
    expect(session(chat(...words.slice(4, 9), 'a5', 'q6'))).toBe(id);
  });

  it('a known header wins over the history', () => {
    const id = session(chat('hi', 'hello', 'go on'));
    const named = { ...chat('hi', 'hello', 'go on', 'ok', 'more'), headers: { 'x-session-id': 'named' } };
    expect(session(named)).toBe('named');
    expect(session(chat('hi', 'hello', 'go on', 'ok', 'more'))).toBe(id);
  });

  it('comes back after its end only when there is something new', () => {
    const request = chat('hi', 'hello', 'go on');
    const id = session(request);
    lab.clock.advance(6 * 60_000);
    expect(lab.ended.map((end) => end.sessionId)).toEqual([id]);
    expect(session(chat('hi', 'hello', 'go on', 'ok', 'more'))).toBe(id);
    const again = lab.turn(chat('hi'));
    expect(again.sessionId).not.toBe(id);
    lab.clock.advance(6 * 60_000);
    lab.restart();
    expect(session(chat('hi', 'hello', 'go on', 'ok', 'more', 'yes', 'last'))).toBe(id);
  });
});
