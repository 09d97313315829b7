import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/engine/store/database.ts';
import type { InjectionReport } from '../../../src/shared/model.ts';
import { fakeClock } from '../../support/clock.ts';
import { type ClientRequest, chat, factsOf, type SessionLab, sessionLab } from '../../support/sessions.ts';

let lab: SessionLab;
beforeEach(() => {
  lab = sessionLab();
});
afterEach(() => {
  expect(lab.errors).toEqual([]);
  lab.close();
});

const named = (request: ClientRequest, id = 's') => ({ ...request, headers: { 'x-session-id': id } });
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const report = (over: Partial<InjectionReport> = {}): InjectionReport => ({
  items: [],
  leftOut: [],
  tokens: 0,
  skipped: null,
  ...over,
});
const skill = (id: string) => ({
  kind: 'skill' as const,
  id,
  title: id,
  place: 'system' as const,
  tokens: 100,
  score: 1,
  reason: `words: ${id}`,
});
/** Everything that the process has written for this database, as one text. */
const onDisk = () =>
  readdirSync(lab.folder)
    .map((name) => readFileSync(join(lab.folder, name), 'latin1'))
    .join('');

describe('a recorded turn', () => {
  it('comes back whole after a restart', () => {
    const request = named({
      body: {
        model: 'asked-for',
        temperature: 0.5,
        messages: [
          { role: 'system', content: 'Be kind. '.repeat(50) },
          { role: 'user', content: 'Fix the flaky test' },
        ],
        tools: [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }],
        metadata: { a: null, b: [1, 'ü 漢字 🎉'] },
      },
    });
    const sent = { ...request.body, messages: [{ role: 'system', content: 'Be kind, and use skills.' }] };
    const turn = lab.turn(
      request,
      {
        firstByteMs: 120.5,
        replyText: 'Done.',
        replyBody: { id: 'x', choices: [{ message: { content: 'Done.' } }] },
        usage: {
          inputTokens: 10,
          outputTokens: 3,
          cacheReadTokens: 5,
          cacheWriteTokens: 0,
          estimated: false,
        },
      },
      { sentBody: bytes(sent), report: report({ items: [skill('tests')], tokens: 130 }) },
    );
    lab.restart();
    const detail = lab.log.get(turn.id);
    expect(detail).toMatchObject({
      id: turn.id,
      sessionId: 's',
      seq: 1,
      kind: 'main',
      agent: 'test-agent',
      dialect: 'openai',
      requestedModel: 'asked-for',
      model: 'real-model',
      upstream: 'fake',
      status: 'answered',
      httpStatus: 200,
      startedAt: '2026-01-06T12:00:00.000Z',
      firstByteMs: 120.5,
      durationMs: 0,
      userText: 'Fix the flaky test',
      replyText: 'Done.',
      masked: false,
      error: null,
    });
    expect(JSON.parse(detail.requestBody as string)).toEqual(request.body);
    expect(Object.keys(JSON.parse(detail.requestBody as string))).toEqual(Object.keys(request.body));
    expect(JSON.parse(detail.sentBody as string)).toEqual(sent);
    expect(JSON.parse(detail.replyBody as string)).toEqual({
      id: 'x',
      choices: [{ message: { content: 'Done.' } }],
    });
    expect(detail.injection.items).toHaveLength(1);
    expect(detail.usage?.cacheReadTokens).toBe(5);
  });

  it('is there, as open, before its answer', () => {
    const request = named(chat('hello'));
    const turn = lab.log.open(factsOf(request));
    expect(lab.log.list({ limit: 5 }).turns).toEqual([]);
    lab.send(turn, request);
    const reader = openDatabase(lab.file).database;
    expect(reader.get('SELECT status FROM turns WHERE id = ?', turn.id)).toEqual({ status: 'open' });
    lab.answer(turn, { status: 'aborted' });
    expect(reader.get('SELECT status FROM turns WHERE id = ?', turn.id)).toEqual({ status: 'aborted' });
    reader.close();
  });

  it('an interrupted one is marked at the next start', () => {
    const request = named(chat('hello'));
    const turn = lab.log.open(factsOf(request));
    lab.send(turn, request);
    lab.restart();
    expect(lab.log.get(turn.id)).toMatchObject({ status: 'failed', error: 'interrupted' });
    expect(lab.turn(request).seq).toBe(2);
  });

  it('leaves no trace when it never went out', () => {
    lab.log.abandon(lab.log.open(factsOf(named(chat('hello')))));
    expect(lab.log.list({ limit: 5 }).turns).toEqual([]);
    expect(lab.database.all('SELECT * FROM sessions')).toEqual([]);
  });

  it('keeps the session’s injection byte for byte', () => {
    const system = { text: 'Skill:\n  keep  spaces\n', items: [skill('tests')] };
    lab.turn(named(chat('a')), {}, { injection: { system, messages: [] } });
    lab.restart();
    expect(lab.log.open(factsOf(named(chat('b')))).injection).toEqual({ system, messages: [] });
  });

  it('a body that is no JSON is kept as text', () => {
    const turn = lab.turn(
      named(chat('a')),
      {},
      { requestBody: Buffer.from('{"half": '), sentBody: Buffer.from('{"half": ') },
    );
    expect(lab.log.get(turn.id).requestBody).toBe('{"half": ');
  });
});

describe('secrets (L03)', () => {
  const KEY = 'sk-TEST1234567890abcdef';
  const TEXT = `my key is ${KEY}, password hunter2`;

  it('never reach the disk, in no field, and mark the turn', () => {
    const request = named({
      body: {
        model: 'm',
        messages: [
          { role: 'user', content: TEXT },
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: '1',
                type: 'function',
                function: { name: 'f', arguments: JSON.stringify({ password: 'swordfish', text: TEXT }) },
              },
            ],
          },
          { role: 'tool', tool_call_id: '1', content: `Authorization: Bearer ${KEY}` },
        ],
        metadata: { api_key: 'qwertyuiop1' },
      },
    });
    const turn = lab.turn(
      request,
      { replyText: `I saw ${KEY}`, replyBody: { content: `I saw ${KEY}` }, error: `bad key ${KEY}` },
      { report: report({ items: [{ ...skill('x'), reason: `words: hunter2 ${KEY} password hunter2` }] }) },
    );
    lab.turn({ ...chat('x'), headers: { 'x-session-id': KEY } });
    lab.log.list({ limit: 10 });
    expect(onDisk()).not.toMatch(/TEST1234567890|swordfish|qwertyuiop1/);
    lab.restart();
    const detail = lab.log.get(turn.id);
    expect(detail.masked).toBe(true);
    const all = JSON.stringify(detail);
    expect(all).not.toMatch(/TEST1234567890|hunter2[^ ]|swordfish|qwertyuiop1/);
    expect(all).toContain('[redacted:api-key]');
  });

  it('a turn is marked as long as the secret is in its history', () => {
    expect(lab.log.get(lab.turn(named(chat(TEXT))).id).masked).toBe(true);
    expect(lab.log.get(lab.turn(named(chat(TEXT, 'ok', 'go on'))).id).masked).toBe(true);
    lab.restart();
    expect(lab.log.get(lab.turn(named(chat(TEXT, 'ok', 'go on', 'ok', 'more'))).id).masked).toBe(true);
    expect(lab.log.get(lab.turn(named(chat('clean'), 'other')).id).masked).toBe(false);
  });

  it('cutting the words never cuts a secret out of its disguise', () => {
    for (const length of [380, 390, 396, 400]) {
      const turn = lab.turn(named(chat(`${'x '.repeat(length / 2)}${KEY}`), `s${length}`));
      expect(lab.log.get(turn.id).userText).not.toContain('TEST1');
      expect(lab.log.list({ limit: 1 }).turns[0]?.userText.length).toBeLessThanOrEqual(400);
    }
  });
});

describe('record.bodies: false', () => {
  it('keeps only what says nothing of the conversation', () => {
    lab.settings.bodies = false;
    const turn = lab.turn(
      named({ body: { model: 'm', messages: [{ role: 'user', content: 'the zebra plan' }] } }),
      { replyText: 'zebra it is', replyBody: { content: 'zebra it is' } },
      { report: report({ items: [{ ...skill('animals'), reason: 'words: zebra' }], tokens: 9 }) },
    );
    expect(lab.log.get(turn.id)).toMatchObject({
      userText: '',
      replyText: '',
      requestBody: null,
      sentBody: null,
      replyBody: null,
      status: 'answered',
    });
    expect(onDisk()).not.toContain('zebra');
    expect(lab.log.today()).toMatchObject({ turns: 1, addedTokens: 9 });
  });
});

describe('size', () => {
  it('a conversation stores each message once (C4)', () => {
    const system = { role: 'system', content: 'You are careful. '.repeat(1500) };
    const messages: object[] = [system];
    const filler = (i: number) =>
      `message ${i} ${Array.from({ length: 100 }, (_, k) => `w${(i * 7919 + k * 104729) % 9973}`).join(' ')}`;
    const sizes: number[] = [];
    lab.database.tx(() => {
      for (let i = 0; i < 160; i += 1) {
        messages.push({ role: 'user', content: filler(i) });
        lab.turn(named({ body: { model: 'm', messages: [...messages] } }), {
          replyText: '',
          replyBody: null,
        });
        messages.push({ role: 'assistant', content: filler(i + 1000) });
        if ((i + 1) % 80 === 0) sizes.push(storedBytes());
      }
    });
    const [first = 0, second = 0] = sizes;
    // Twice the turns, about twice the bytes; stored whole it would be four times as much.
    expect(second / first).toBeLessThan(2.4);
    expect(second).toBeLessThan(500_000);
    const last = lab.log.list({ limit: 1 }).turns[0];
    const body = JSON.parse(lab.log.get(last?.id ?? '').requestBody as string) as { messages: object[] };
    expect(JSON.stringify(body.messages) === JSON.stringify(messages.slice(0, -1))).toBe(true);
  });

  function storedBytes(): number {
    const parts = lab.database.get<{ bytes: number }>(
      'SELECT sum(length(data) + length(hash)) AS bytes FROM parts',
    );
    const turns = lab.database.get<{ bytes: number }>(
      "SELECT sum(length(request_body) + length(coalesce(sent_body, '')) + length(injection) + length(user_text)) AS bytes FROM turns",
    );
    return (parts?.bytes ?? 0) + (turns?.bytes ?? 0);
  }

  it('pictures are noted, not kept', () => {
    const image = `data:image/png;base64,${'iVBORw0KGgo'.repeat(200_000)}`;
    const request = named({
      body: {
        model: 'm',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'look' },
              { type: 'image_url', image_url: { url: image } },
            ],
          },
        ],
      },
    });
    const turn = lab.turn(request);
    expect(lab.log.get(turn.id).requestBody).toMatch(
      /\[not kept: image\/png, \d+ characters, sha256 [0-9a-f]+\]/,
    );
    expect(statSync(`${lab.file}-wal`).size).toBeLessThan(1_000_000);
  });
});

describe('lists and sums', () => {
  it('pages through everything, newest first, also when many turns share a millisecond', () => {
    const ids: string[] = [];
    for (let i = 0; i < 25; i += 1) {
      if (i % 7 === 0) lab.clock.advance(1);
      ids.push(lab.turn(named(chat(`t${i}`), i % 2 === 0 ? 'even' : 'odd')).id);
    }
    const seen: string[] = [];
    let before: string | undefined;
    do {
      const page = lab.log.list({ limit: 4, before });
      seen.push(...page.turns.map((turn) => turn.id));
      before = page.next ?? undefined;
    } while (before !== undefined);
    expect(seen).toHaveLength(25);
    expect(new Set(seen)).toEqual(new Set(ids));
    expect(lab.log.list({ limit: 100, sessionId: 'odd' }).turns).toHaveLength(12);
  });

  it('filters by kind, and the evolver gets main turns in order', () => {
    lab.turn(named(chat('one')));
    lab.turn({ ...named(chat('probe')), headers: { 'x-session-id': 's', 'x-turn-type': 'side' } });
    lab.clock.advance(1);
    lab.turn(named(chat('two')));
    expect(lab.log.list({ limit: 9, kind: 'side' }).turns.map((turn) => turn.userText)).toEqual(['probe']);
    const turns = lab.log.turnsOf('s');
    expect(turns.map((turn) => turn.userText)).toEqual(['one', 'two']);
    expect(JSON.parse(turns[1]?.requestBody as string)).toEqual(chat('two').body);
    expect(JSON.parse(JSON.stringify(turns[0])).replyBody).toContain('fine');
  });

  it('counts the local day', () => {
    const midnight = new Date(2026, 2, 3).getTime();
    const day = sessionLab({ clock: fakeClock(midnight - 60_000) });
    day.turn(named(chat('yesterday')));
    day.clock.advance(60_000);
    day.turn(named(chat('a')), {}, { report: report({ items: [skill('x'), skill('y')], tokens: 200 }) });
    day.clock.advance(3 * 3_600_000);
    day.turn(named(chat('b'), 'other'), {}, { report: report({ items: [skill('x')], tokens: 100 }) });
    expect(day.log.today()).toEqual({ turns: 2, sessions: 2, addedTokens: 300, skillsPerTurn: 1.5 });
    const { day: name, hours } = day.log.histogram();
    expect(name).toBe('2026-03-03');
    expect(hours).toHaveLength(24);
    expect([hours[0], hours[3], hours.reduce((a, b) => a + b)]).toEqual([1, 1, 2]);
    expect(day.log.histogram('2026-03-02').hours[23]).toBe(1);
    expect(day.errors).toEqual([]);
    day.close();
  });

  it('an unknown turn is an error', () => {
    expect(() => lab.log.get('nope')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(lab.log.list({ limit: 5, before: 'garbage' }).turns).toEqual([]);
    expect(lab.log.today()).toEqual({ turns: 0, sessions: 0, addedTokens: 0, skillsPerTurn: 0 });
  });

  it('lists stay quick with 100,000 turns', () => {
    lab.turn(named(chat('first')));
    lab.database.run(
      `INSERT INTO turns (id, session_id, seq, kind, agent, dialect, upstream, requested_model, model, status, started_at, injection)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
       SELECT 'n' || i, 's', i, CASE i % 50 WHEN 0 THEN 'side' ELSE 'main' END, 'a', 'openai', 'u', 'm', 'm', 'answered',
         strftime('%Y-%m-%dT%H:%M:%fZ', 1700000000 + i, 'unixepoch'), '{"items":[],"leftOut":[],"tokens":0,"skipped":null}' FROM n`,
    );
    const start = performance.now();
    for (const options of [{}, { kind: 'side' as const }, { kind: 'main' as const }, { sessionId: 's' }]) {
      const first = lab.log.list({ limit: 50, ...options });
      expect(first.turns).toHaveLength(50);
      const deep = lab.log.list({ limit: 50, before: '2023-11-15T12:00:00.000Z|x', ...options });
      expect(deep.turns).toHaveLength(50);
    }
    lab.log.today();
    expect(performance.now() - start).toBeLessThan(200);
  });
});

describe('news of recorded turns', () => {
  // Learning every n turns and the use of skills hang on it; side turns must not count.
  it('come for answered main turns, with what they carried, and commit with them', () => {
    const news: string[] = [];
    lab.log.onRecorded(({ turnId, sessionId, turns, skills }) => {
      news.push(`${sessionId} ${turns} ${skills.join(',')}`);
      lab.database.run('INSERT INTO settings (key, value) VALUES (?, ?)', turnId, 'told');
    });
    lab.log.onRecorded(() => {
      throw new Error('broken');
    });
    const turn = lab.turn(named(chat('a')), {}, { report: report({ items: [skill('x'), skill('y')] }) });
    lab.turn({ ...named(chat('b')), headers: { 'x-session-id': 's', 'x-turn-type': 'side' } });
    lab.turn(named(chat('c')), { replyText: 'NO_REPLY' });
    lab.turn(named(chat('d')));
    expect(news).toEqual(['s 1 x,y', 's 2 ']);
    expect(lab.database.get('SELECT value FROM settings WHERE key = ?', turn.id)).toEqual({ value: 'told' });
    expect(lab.errors).toHaveLength(2);
    lab.errors.length = 0;
  });
});

describe('a database that refuses', () => {
  // A full disk must not break the answer, and what can be written later is written later.
  it('loses no turn when the first write fails', () => {
    const request = named(chat('hello'));
    const turn = lab.log.open(factsOf(request));
    lab.database.run('ALTER TABLE turns RENAME TO hidden');
    lab.send(turn, request);
    expect(lab.database.all('SELECT * FROM sessions')).toEqual([]);
    lab.database.run('ALTER TABLE hidden RENAME TO turns');
    lab.answer(turn);
    expect(lab.log.get(turn.id)).toMatchObject({ status: 'answered', userText: 'hello' });
    expect(JSON.parse(lab.log.get(turn.id).requestBody as string)).toEqual(request.body);
    expect(lab.errors).toHaveLength(1);
    lab.errors.length = 0;
  });

  // The user must hear that turns are lost, and that they no longer are.
  it('says how many turns are not kept, until one is kept again', () => {
    const request = named(chat('hello'));
    const talk = () => {
      const turn = lab.log.open(factsOf(request));
      lab.send(turn, request);
      lab.answer(turn);
    };
    lab.database.all('PRAGMA query_only = ON');
    talk();
    talk();
    expect(lab.log.trouble()).toMatchObject({ turns: 2, message: expect.stringMatching(/readonly/) });
    lab.database.all('PRAGMA query_only = OFF');
    talk();
    expect(lab.log.trouble()).toBeNull();
    lab.errors.length = 0;
  });
});
