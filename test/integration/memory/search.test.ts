import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryIndex, type MemoryMatch, type MemoryQuery } from '../../../src/engine/memory/search/index.ts';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';

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
  return index.search({
    text,
    scopeIds: [1],
    limit: 10,
    mode: 'keyword',
    queryVector: null,
    nowMs: Date.parse('2026-06-01T00:00:00Z'),
    types: ['turn', 'unit'],
    ...over,
  });
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
