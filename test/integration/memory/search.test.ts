import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TurnRow } from '../../../src/engine/memory/rows.ts';
import { MemoryIndex, type MemoryMatch, type MemoryQuery } from '../../../src/engine/memory/search/index.ts';
import { unitVector, vectorKey } from '../../../src/engine/platform/vectors.ts';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';
import { fakeClock } from '../../support/clock.ts';
import { NO_EMBEDDER } from '../../support/embedder.ts';

let folder: string;
let database: Database;
let index: MemoryIndex;
let lastRow: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-search-'));
  database = openDatabase(join(folder, 'metaclaw.db')).database;
  index = new MemoryIndex(database);
  lastRow = 0;
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

function say(text: string, over: { scope?: number; session?: string; speaker?: string } = {}): number {
  lastRow += 1;
  const { scope = 1, session = 's', speaker = 'user' } = over;
  const row = {
    id: lastRow,
    scope,
    session_id: session,
    role: speaker === 'assistant' ? ('assistant' as const) : ('user' as const),
    speaker,
    text,
    said_at: '2026-03-02T09:00:00Z',
  };
  database.tx(() => index.indexTurn(row));
  return lastRow;
}

function ask(text: string, over: Partial<MemoryQuery> = {}): MemoryMatch[] {
  return index.search({ ...question(text), ...over });
}

const question = (text: string): MemoryQuery => ({
  text,
  scopeIds: [1],
  limit: 10,
  mode: 'keyword',
  queryVector: null,
  nowMs: Date.parse('2026-06-01T00:00:00Z'),
  types: ['turn', 'unit'],
});

/** Says it and keeps the row, too. */
function keep(text: string, into: MemoryIndex = index): number {
  database.run(`INSERT OR IGNORE INTO memory_scopes (id, user, workspace, agent) VALUES (1, '', '', '')`);
  const row = database.get<TurnRow>(
    `INSERT INTO memory_turns (key, scope, session_id, role, speaker, text, said_at)
     VALUES (?, 1, 's', 'user', 'user', ?, '2026-03-02T09:00:00Z') RETURNING *`,
    text,
    text,
  ) as TurnRow;
  database.tx(() => into.indexTurn(row));
  return row.id;
}

const found = (matches: readonly MemoryMatch[]) => matches.map(({ ref }) => ref.id);

/** Talk that no question here is about. */
function fill(count: number, over: { scope?: number } = {}): void {
  for (let n = 0; n < count; n += 1) say(`Filler ${n} talks about drawer ${n * 3} and lamp ${n * 5}.`, over);
}

describe('what was said', () => {
  it('is found by its words, however they are inflected, and however much was said since', () => {
    const flight = say('My flights to Oslo are leaving on Friday.');
    fill(700);
    expect(found(ask('When does the flight to Oslo leave?'))[0]).toBe(flight);
  });

  it('is found in Chinese, Japanese, Korean, French, Spanish, German and Russian', () => {
    const said: Record<string, number> = {
      公司的数据库是什么: say('我们公司的数据库用的是 PostgreSQL。'),
      東京の引っ越しはいつ: say('来月、東京に引っ越します。'),
      '고양이 이름이 뭐야': say('우리 고양이는 나비라고 해요.'),
      'Quelle est ma préférence pour les sièges ?': say('Je préfère un siège côté fenêtre dans le train.'),
      '¿A qué es alérgica mi hermana?': say('Mi hermana es alérgica a los cacahuetes.'),
      'Wie heißen die Häuser am See?': say('Das Haus am See heißt Möwennest.'),
      'Где живут мои родители?': say('Мои родители живут в Казани.'),
    };
    fill(40);
    for (const [question, id] of Object.entries(said))
      expect([question, found(ask(question))[0]]).toEqual([question, id]);
  });

  it('never comes from another scope', () => {
    say('The vault code is on the fridge.', { scope: 2 });
    fill(10);
    expect(ask('vault code fridge')).toEqual([]);
    expect(found(ask('vault code fridge', { scopeIds: [1, 2] }))).toHaveLength(1);
  });

  it('is found by what stands next to it in the same conversation', () => {
    say('Which colour shall the garden fence get?', { speaker: 'assistant' });
    const answer = say('Dark green, like the shutters.');
    fill(200);
    expect(found(ask('colour of the garden fence')).slice(0, 2)).toContain(answer);
  });

  it('is found by a word for its kind, behind what has the word itself', () => {
    const cat = say('My kitten Miso sleeps on the radiator.', { session: 'a' });
    fill(100);
    const pet = say('A pet needs a passport to cross the border.', { session: 'b' });
    expect(found(ask('Which pet do I have?')).slice(0, 2)).toEqual([pet, cat]);
  });

  it('is gone with every trace of its words when it is dropped, and back when it is indexed again', () => {
    fill(100);
    const secret = say('The treasure lies under the walnut tree.');
    const later = say('Nothing else to say of the garden.');
    fill(100);
    expect(found(ask('walnut treasure'))[0]).toBe(secret);
    database.tx(() => index.drop({ type: 'turn', id: secret }));
    expect(found(ask('walnut treasure'))).not.toContain(secret);
    expect(database.all(`SELECT term FROM memory_postings WHERE term LIKE 'walnut%'`)).toEqual([]);
    expect(database.all(`SELECT doc FROM memory_docs WHERE terms LIKE '%walnut%'`)).toEqual([]);
    lastRow = secret - 1;
    say('The treasure lies under the walnut tree.');
    expect(found(ask('walnut treasure'))[0]).toBe(secret);
    lastRow = later + 100;
  });

  it('stays as it was when the transaction that changed it is rolled back', () => {
    const kept = say('The boat is moored in Kiel.');
    expect(() =>
      database.tx(() => {
        index.drop({ type: 'turn', id: kept });
        index.indexTurn({
          id: 99,
          scope: 1,
          session_id: 's',
          role: 'user',
          speaker: 'user',
          text: 'The boat is moored in Lübeck.',
          said_at: '2026-03-02T09:00:00Z',
        });
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(found(ask('Where is the boat moored?'))).toEqual([kept]);
  });
});

describe('the reasons', () => {
  it('name the words that stand there, who said it and when', () => {
    fill(30);
    say('The regatta in Lisbon was a feast.', { speaker: 'Anna' });
    const [match] = ask('What did Anna say of the regatta in March 2026?');
    expect(match?.reason).toBe('words: regatta; said by the one who is named; said at that time');
  });
});

describe('an index of another version', () => {
  const stored = () =>
    database.all<{ version: number; turn: number | null }>('SELECT version, turn FROM memory_index');

  it('serves until its successor is complete, and takes what comes meanwhile', () => {
    const texts = Array.from({ length: 450 }, (_, n) => `Entry ${n} tells of parcel ${n * 7}.`);
    for (const text of texts) keep(text);
    database.run('UPDATE memory_index SET version = -1');
    const clock = fakeClock();
    const live = new MemoryIndex(database, { embedder: NO_EMBEDDER, clock });
    live.start();
    const first = () => live.search(question('parcel 63'))[0]?.ref.id;
    for (let step = 0; step < 4; step += 1) {
      clock.advance(20);
      expect(first()).toBe(10);
    }
    expect(stored().some(({ turn }) => turn !== null)).toBe(true);
    const early = keep('The trombone is in the attic.', live);
    database.tx(() => live.drop({ type: 'turn', id: 10 }));
    database.run('UPDATE memory_turns SET forgotten_at = said_at WHERE id = 10');
    for (let step = 0; step < 60; step += 1) clock.advance(20);
    expect(stored()).toEqual([{ version: 1, turn: null }]);
    expect(database.all('SELECT DISTINCT generation FROM memory_postings')).toHaveLength(1);
    expect(live.search(question('trombone'))[0]?.ref.id).toBe(early);
    expect(live.search(question('parcel 70'))[0]?.ref.id).toBe(11);
    expect(live.search(question('parcel 63')).map(({ ref }) => ref.id)).not.toContain(10);
    live.stop();
  });

  it('is built from what was remembered before there was one', () => {
    for (let n = 0; n < 250; n += 1) keep(`Note ${n} mentions crane ${n * 3}.`);
    database.run('DELETE FROM memory_index');
    for (const table of ['memory_postings', 'memory_docs', 'memory_doc_meta', 'memory_index_scopes'])
      database.run(`DELETE FROM ${table}`);
    const clock = fakeClock();
    const live = new MemoryIndex(database, { embedder: NO_EMBEDDER, clock });
    expect(live.search(question('crane 300'))).toEqual([]);
    live.start();
    for (let step = 0; step < 20; step += 1) clock.advance(20);
    expect(live.search(question('crane 300'))[0]?.ref.id).toBe(101);
    live.stop();
  });

  it('can be made anew at will', () => {
    for (let n = 0; n < 120; n += 1) keep(`Note ${n} mentions crane ${n * 3}.`);
    const clock = fakeClock();
    const live = new MemoryIndex(database, { embedder: NO_EMBEDDER, clock });
    live.rebuild();
    for (let step = 0; step < 40; step += 1) clock.advance(20);
    expect(database.all('SELECT generation FROM memory_index')).toEqual([{ generation: 2 }]);
    expect(live.search(question('crane 300'))[0]?.ref.id).toBe(101);
    live.stop();
  });
});

describe('meaning', () => {
  /** Vectors by theme: texts of one theme are near, whatever their words. */
  const themes = ['ship', 'bread', 'law', 'snow'];
  const vectorFor = (theme: string, salt: number): Float32Array => {
    const values = Array.from({ length: 96 }, (_, at) =>
      Math.sin((at + 1) * (themes.indexOf(theme) + 2) * 1.7),
    );
    return unitVector(
      values.map((value, at) => value + 0.6 * Math.sin((at + 3) * (salt + 11) * 2.3)),
    ) as Float32Array;
  };

  it('finds what shares no word with the question, once its vector is there', () => {
    const vectors = new Map<string, Float32Array>();
    const listeners = new Set<(keys: readonly string[]) => void>();
    const clock = fakeClock();
    const live = new MemoryIndex(database, {
      clock,
      embedder: {
        ...NO_EMBEDDER,
        id: 'fake',
        stored: (keys) =>
          new Map(keys.flatMap((key) => (vectors.has(key) ? [[key, vectors.get(key) as Float32Array]] : []))),
        onStored: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
    });
    const texts = Array.from({ length: 600 }, (_, n) => ({
      text: `Item ${n} of the list.`,
      theme: themes[1 + (n % 3)] as string,
    }));
    texts[217] = { text: 'We moored the yawl behind the breakwater.', theme: 'ship' };
    for (const { text } of texts) keep(text, live);
    const query = {
      ...question('vessel harbour'),
      mode: 'hybrid' as const,
      queryVector: vectorFor('ship', 999),
    };
    expect(live.search(query)).toEqual([]);
    for (const [n, { text, theme }] of texts.entries()) vectors.set(vectorKey(text), vectorFor(theme, n));
    for (const listener of listeners) listener([...vectors.keys()]);
    for (let step = 0; step < 20; step += 1) {
      live.search(query);
      clock.advance(20);
    }
    for (const mode of ['hybrid', 'embedding'] as const) {
      const [best, next] = live.search({ ...query, mode });
      expect(best?.ref.id).toBe(218);
      expect(best?.similarity).toBeGreaterThan(0.5);
      expect(best?.score).toBeGreaterThan(0.5);
      expect(best?.lexical).toBeLessThan(0.5);
      expect(best?.reason).toMatch(/^meaning: 0\.\d\d$/);
      expect(next?.score ?? 0).toBeLessThan(0.5);
    }
    expect(live.search({ ...query, mode: 'keyword' })).toEqual([]);
    database.tx(() => live.drop({ type: 'turn', id: 218 }));
    expect(live.search(query).map(({ ref }) => ref.id)).not.toContain(218);
    live.stop();
  });
});
