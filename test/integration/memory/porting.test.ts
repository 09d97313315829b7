import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROUTES, type RouteInput } from '../../../src/shared/contract.ts';
import { MemoryLab } from '../../support/memory.ts';
import { type OriginalMemory, writeOriginal } from '../../support/original-memory.ts';

let lab: MemoryLab;
beforeEach(() => {
  lab = new MemoryLab();
});
afterEach(() => lab.close());

const at = (name: string) => join(lab.root, name);
const imports = (path: string, input: Partial<RouteInput<'memory.import'>> = {}) =>
  lab.book.import(ROUTES['memory.import'].input.parse({ path, ...input }));
/** Writes a file that is a week old. */
const put = (name: string, text: string) => {
  writeFileSync(at(name), text);
  utimesSync(at(name), new Date('2025-12-30T00:00:00Z'), new Date('2025-12-30T00:00:00Z'));
  return at(name);
};
const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

const ORIGINAL: OriginalMemory[] = [
  {
    memory_id: id(1),
    content: 'User preference: window seats.',
    memory_type: 'preference',
    scope_id: 'user:alice|workspace:travel',
    summary: 'window seats',
    source_session_id: 'session-7',
    source_turn_start: 3,
    source_turn_end: 4,
    entities_json: '["Oslo"]',
    topics_json: '["flight", "seats"]',
    importance: 0.99,
    confidence: 0.82,
    access_count: 5,
    reinforcement_score: 0.15,
    embedding_json: '[0.5, 0.25]',
    last_accessed_at: '2025-04-01T00:00:00+00:00',
    tags_json: '["travel", "名前"]',
  },
  {
    memory_id: id(2),
    content: 'Project context: MySQL 5.',
    memory_type: 'project_state',
    status: 'superseded',
    superseded_by: id(3),
  },
  {
    memory_id: id(3),
    content: 'Project context: PostgreSQL 16.',
    memory_type: 'project_state',
    supersedes_json: JSON.stringify([id(2)]),
    created_at: '2025-06-01T10:00:00+00:00',
    scope_id: 'workspace:shop',
  },
  { memory_id: id(4), content: 'Put away by hand.', status: 'archived', memory_type: 'episodic' },
  {
    memory_id: id(5),
    content: 'Ran out.',
    expires_at: '2025-12-01T00:00:00+00:00',
    memory_type: 'procedural_observation',
  },
  {
    memory_id: id(6),
    content: 'Session covered 4 turns. 你好 — ünïcödé 🙂',
    memory_type: 'working_summary',
    scope_id: 'default|session:abc',
    expires_at: '2027-01-01T00:00:00+00:00',
  },
  { memory_id: 'not-a-uuid', content: 'An id of its own.', memory_type: 'mystery' },
  { memory_id: id(8), content: '   ' },
  {
    memory_id: id(9),
    content: 'The key is sk-TEST1234567890abcdefghij',
    summary: 'key sk-TEST1234567890abcdefghij',
  },
];

describe('the memory.db of the original', () => {
  const write = () =>
    writeOriginal(at('memory.db'), ORIGINAL, (database) => {
      database.run("INSERT INTO memory_links VALUES (?, ?, 'related', '2025-03-03')", id(1), id(3));
      database.run(
        "INSERT INTO memory_watches (memory_id, watcher, created_at) VALUES (?, 'bob', 'x')",
        id(1),
      );
      database.run(
        "INSERT INTO memory_annotations (memory_id, author, content, created_at) VALUES (?, 'bob', 'true', 'x')",
        id(1),
      );
      database.run(
        "INSERT INTO memory_events (timestamp, event_type, memory_id, scope_id, detail) VALUES ('x', 'create', ?, '', 'type=preference')",
        id(1),
      );
    });

  it('comes over whole: every state, every field, in its scope', async () => {
    write();
    const before = readFileSync(at('memory.db'));
    const result = await imports(at('memory.db'));
    expect(result).toMatchObject({ added: 8, merged: 0, turns: 0 });
    expect(result.skipped).toEqual([{ line: `memory ${id(8)}`, reason: 'It has no words.' }]);
    expect(readFileSync(at('memory.db')).equals(before)).toBe(true);

    expect(lab.book.get(id(1))).toMatchObject({
      content: 'User preference: window seats.',
      kind: 'preference',
      scope: { user: 'alice', workspace: 'travel', agent: '' },
      status: 'active',
      pinned: true,
      origin: 'import',
      importance: 0.99,
      confidence: 0.82,
      observedAt: '2025-03-01T10:00:00.000Z',
      createdAt: '2025-03-01T10:00:00.000Z',
      updatedAt: '2025-03-02T10:00:00.000Z',
      expiresAt: null,
      tags: ['travel', '名前'],
      sources: [{ sessionId: 'session-7', turnId: null, quote: 'window seats' }],
    });
    const extra = lab.database.get<{ extra: string }>('SELECT extra FROM memory_units WHERE uuid = ?', id(1));
    expect(JSON.parse(extra?.extra ?? '')).toMatchObject({
      from: 'metaclaw',
      scope_id: 'user:alice|workspace:travel',
      memory_type: 'preference',
      summary: 'window seats',
      source_session_id: 'session-7',
      source_turn_start: 3,
      source_turn_end: 4,
      entities: ['Oslo'],
      topics: ['flight', 'seats'],
      access_count: 5,
      reinforcement_score: 0.15,
      status: 'active',
      supersedes: [],
      embedding: [0.5, 0.25],
      last_accessed_at: '2025-04-01T00:00:00+00:00',
      links: [{ target_id: id(3), link_type: 'related' }],
      watches: [{ watcher: 'bob' }],
      annotations: [{ author: 'bob', content: 'true' }],
      events: [{ event_type: 'create', detail: 'type=preference' }],
    });
    expect(lab.book.get(id(2))).toMatchObject({
      status: 'superseded',
      supersededBy: id(3),
      validTo: '2025-06-01T10:00:00.000Z',
    });
    expect(lab.book.get(id(3)).replaced.map((unit) => unit.id)).toEqual([id(2)]);
    expect(lab.book.get(id(4)).status).toBe('expired');
    expect(lab.book.get(id(5)).status).toBe('expired');
    expect(lab.book.get(id(6))).toMatchObject({
      content: 'Session covered 4 turns. 你好 — ünïcödé 🙂',
      scope: { user: '', workspace: '', agent: '' },
      expiresAt: '2027-01-01T00:00:00.000Z',
    });
    expect(lab.unit('An id of its own.').kind).toBe('semantic');
    expect(JSON.stringify(lab.database.all('SELECT * FROM memory_units'))).not.toContain('sk-TEST1234567890');
  });

  it('twice adds nothing, and leaves alone what was changed since', async () => {
    write();
    await imports(at('memory.db'));
    lab.book.edit(id(1), { content: 'Prefers aisle seats now.' });
    lab.book.forget([id(3)], false);
    expect(await imports(at('memory.db'))).toMatchObject({ added: 0, merged: 8 });
    expect(lab.count('memory_units')).toBe(8);
    expect(lab.book.get(id(1)).content).toBe('Prefers aisle seats now.');
    expect(lab.book.get(id(3)).status).toBe('forgotten');
  });

  it('is forgotten with its conversation', async () => {
    write();
    await imports(at('memory.db'));
    expect(await lab.book.forgetSession('session-7', false)).toMatchObject({ forgotten: 1, turns: 0 });
    expect(lab.book.get(id(1)).status).toBe('forgotten');
  });

  it('is only looked at in a dry run', async () => {
    write();
    expect(await imports(at('memory.db'), { dryRun: true })).toMatchObject({ added: 8 });
    expect(lab.count('memory_units')).toBe(0);
    expect(lab.list().total).toBe(0);
  });

  it('of two current values keeps the newer one current', async () => {
    writeOriginal(at('memory.db'), [
      {
        memory_id: id(1),
        content: 'Project context: we use MySQL 5.7.',
        created_at: '2025-01-01T00:00:00+00:00',
      },
      {
        memory_id: id(2),
        content: 'Project context: we use PostgreSQL 16.',
        created_at: '2025-05-01T00:00:00+00:00',
      },
    ]);
    await imports(at('memory.db'));
    expect(lab.contents()).toEqual(['Project context: we use PostgreSQL 16.']);
    expect(lab.contents('superseded')).toHaveLength(1);
  });

  it('may be of an older schema, and go to one scope', async () => {
    writeOriginal(at('memory.db'), [{ memory_id: id(1), content: 'From long ago.' }], (database) => {
      database.run('ALTER TABLE memories DROP COLUMN tags_json');
      database.run('ALTER TABLE memories DROP COLUMN expires_at');
      database.run('DROP TABLE schema_version');
      database.run('DROP TABLE memory_events');
    });
    await imports(at('memory.db'), { scope: { user: 'carol' } });
    expect(lab.book.get(id(1)).scope.user).toBe('carol');
  });

  it('that is damaged or of another program is refused by name', async () => {
    write();
    const bytes = readFileSync(at('memory.db'));
    writeFileSync(at('damaged.db'), bytes.fill(0xff, 100, bytes.length));
    await expect(imports(at('damaged.db'))).rejects.toThrow(
      /damaged\.db is no SQLite database, or it is damaged/,
    );
    writeOriginal(at('other.db'), [], (database) => {
      database.run('DROP TABLE memories');
    });
    await expect(imports(at('other.db'))).rejects.toThrow(/other\.db is a database, but no memory\.db/);
    await expect(imports(at('nothing.db'))).rejects.toThrow(/There is no file .*nothing\.db/);
    await expect(imports(put('text.db', 'hello'), { format: 'original' })).rejects.toThrow(
      /text\.db is no SQLite/,
    );
    expect(lab.count('memory_units')).toBe(0);
  });
});

describe('an export of mem0', () => {
  const item = (n: number, memory: string, more: object = {}) => ({
    id: id(n),
    memory,
    hash: 'bc4e0b3c4d9b4e8f8f4f6a5b8a1c2d3e',
    metadata: null,
    score: null,
    created_at: '2025-02-03T04:05:06.789-08:00',
    updated_at: null,
    user_id: 'alice',
    ...more,
  });

  it.each([
    ['what get_all returns', (items: object[]) => ({ results: items })],
    ['with relations of v1.1', (items: object[]) => ({ results: items, relations: [] })],
    [
      'a page of the platform',
      (items: object[]) => ({ count: 3, next: null, previous: null, results: items }),
    ],
    ['a plain list', (items: object[]) => items],
    ['an export job', (items: object[]) => ({ memories: items })],
  ])('%s', async (_, wrap) => {
    const path = put(
      'mem0.json',
      JSON.stringify(
        wrap([
          item(1, 'Likes to play cricket on weekends', {
            metadata: { category: 'hobbies', importance: 0.9 },
            categories: ['sports'],
            run_id: 'run-1',
            agent_id: 'coach',
          }),
          item(2, 'Is vegetarian', {
            user_id: 'bob',
            updated_at: '2025-03-03T00:00:00Z',
            expiration_date: '2027-01-01',
          }),
          item(3, '', {}),
        ]),
      ),
    );
    const result = await imports(path);
    expect(result).toMatchObject({ added: 2, merged: 0 });
    expect(result.skipped).toEqual([{ line: 'entry 3', reason: 'It has no `memory`.' }]);
    expect(lab.book.get(id(1))).toMatchObject({
      scope: { user: 'alice', workspace: '', agent: '' },
      observedAt: '2025-02-03T12:05:06.789Z',
      tags: ['sports', 'hobbies'],
      importance: 0.9,
    });
    const extra = lab.database.get<{ extra: string }>('SELECT extra FROM memory_units WHERE uuid = ?', id(1));
    expect(JSON.parse(extra?.extra ?? '')).toMatchObject({
      from: 'mem0',
      hash: 'bc4e0b3c4d9b4e8f8f4f6a5b8a1c2d3e',
      metadata: { category: 'hobbies' },
      run_id: 'run-1',
      agent_id: 'coach',
    });
    expect(lab.book.get(id(2))).toMatchObject({
      scope: { user: 'bob' },
      expiresAt: '2027-01-01T00:00:00.000Z',
    });
    expect(await imports(path)).toMatchObject({ added: 0, merged: 2 });
  });

  it('that holds something else is refused by name', async () => {
    await expect(imports(put('x.json', '{"a": 1}'), { format: 'mem0' })).rejects.toThrow(
      /x\.json is no export of mem0/,
    );
    await expect(imports(put('cut.json', '{"results": [{"id"'), { format: 'mem0' })).rejects.toThrow(
      /cut\.json/,
    );
  });
});

describe('a Markdown list', () => {
  it('is read item by item, with headings and tasks as tags', async () => {
    const path = put(
      'notes.md',
      `---
title: My notes
---

# About me

Some words before the list.

- Allergic to **peanuts**
- Home server:
  - runs on an old \`ThinkPad\`
  - is called *Kepler*
* [x] Renewed the passport
* [ ] Book the dentist

## Work

1. Sprint reviews are on
   Thursdays
2. 会议用中文

\`\`\`
- not an item
\`\`\`
`,
    );
    const result = await imports(path);
    expect(lab.contents()).toEqual([
      'Allergic to peanuts',
      'Home server: runs on an old ThinkPad',
      'Home server: is called Kepler',
      'Renewed the passport',
      'Book the dentist',
      'Sprint reviews are on Thursdays',
      '会议用中文',
    ]);
    expect(lab.unit('Book the dentist').tags).toEqual(['About me', 'todo']);
    expect(lab.unit('Renewed the passport').tags).toEqual(['About me', 'done']);
    expect(lab.unit('会议用中文').tags).toEqual(['About me', 'Work']);
    expect(lab.unit('会议用中文').observedAt).toBe('2025-12-30T00:00:00.000Z');
    expect(result.skipped).toEqual([
      { line: 'line 7', reason: 'It is no item of a list.' },
      { line: 'line 22', reason: 'It is no item of a list.' },
    ]);
    expect(await imports(path)).toMatchObject({ added: 0, merged: 7 });
    expect(lab.unit('Allergic to peanuts').mentions).toBe(1);
  });

  it('that is old does not overrule what was said since', async () => {
    lab.add('We moved to PostgreSQL 16');
    await imports(put('old.md', '- We use MySQL 5.7\n- We ship on Linux'));
    expect(lab.contents()).toEqual(['We moved to PostgreSQL 16', 'We ship on Linux']);
    expect(await imports(at('old.md'))).toMatchObject({ added: 0, merged: 2 });
  });

  it('may be plain paragraphs', async () => {
    await imports(put('plain.txt', 'The heating is set to 19 degrees.\n\nThe plumber is Mr Ito.\n'));
    expect(lab.contents()).toEqual(['The heating is set to 19 degrees.', 'The plumber is Mr Ito.']);
  });

  it('that is empty or no text is refused by name', async () => {
    await expect(imports(put('empty.md', ' \n'))).rejects.toThrow(/empty\.md is empty/);
    await expect(imports(put('code.md', '```\nx\n```\n'))).rejects.toThrow(/code\.md has no memories/);
    await expect(imports(put('bytes.md', 'a\0b'))).rejects.toThrow(/bytes\.md is no text/);
    await expect(imports(lab.root)).rejects.toThrow(/is no file/);
  });
});

describe('loose JSON lines', () => {
  it('are read by whatever they call their words', async () => {
    const path = put(
      'loose.jsonl',
      [
        '{"text": "Bikes to work", "tags": ["habit"], "date": "2024-05-06"}',
        '{"content": "Plays the cello", "type": "fact", "user_id": "alice", "created_at": 1714953600}',
        '{"memory": "Is left-handed", "pinned": true, "scope": "user:bob|workspace:art"}',
        '"Speaks Catalan"',
        '{"broken": ',
        '{"nothing": 1}',
        '',
      ].join('\n'),
    );
    const result = await imports(path);
    expect(result).toMatchObject({ added: 4, merged: 0 });
    expect(result.skipped.map(({ line }) => line).sort()).toEqual(['line 5', 'line 6']);
    expect(lab.unit('Bikes to work')).toMatchObject({
      tags: ['habit'],
      observedAt: '2024-05-06T00:00:00.000Z',
    });
    expect(lab.unit('Plays the cello')).toMatchObject({
      scope: { user: 'alice' },
      observedAt: '2024-05-06T00:00:00.000Z',
    });
    expect(lab.unit('Is left-handed')).toMatchObject({
      pinned: true,
      scope: { user: 'bob', workspace: 'art' },
    });
    expect(await imports(path)).toMatchObject({ added: 0, merged: 4 });
  });

  it('need not be lines', async () => {
    expect(await imports(put('list.json', '["Sings bass", {"note": "Sings on Sundays"}]'))).toMatchObject({
      added: 2,
    });
    await expect(imports(put('bad.jsonl', '{\n{\n'))).rejects.toThrow(/bad\.jsonl has no line of JSON/);
  });
});

describe('our own export', () => {
  const fill = () => {
    const said = lab.say('We moved to PostgreSQL 16 😀', { turnId: 'turn-1' });
    lab.learn('We use MySQL 5.7');
    lab.clock.advance(3_600_000);
    lab.learn('We moved to PostgreSQL 16', { sources: [said] });
    lab.learn('The export supports comments');
    lab.learn('The export does not support comments');
    const pin = lab.add('Call me "Kate"\n— really', {
      kind: 'preference',
      tags: ['名前'],
      expiresAt: '2027-01-01T00:00:00Z',
      scope: { user: 'alice', workspace: 'w|x', agent: 'codex' },
    });
    lab.book.pin([pin], true);
    lab.book.edit(pin, { tags: ['name'] });
    lab.database.run("INSERT INTO memory_uses VALUES (?, 'turn-9', '2026-01-06T12:00:00.000Z')", pin);
    lab.book.forget([lab.add('Forget me: zebra')], false);
  };
  const dump = (of: MemoryLab) => ({
    units: of.database.all(
      `SELECT u.uuid, s.user, s.workspace, s.agent, kind, content, hash, slot, value, mentions, status, pinned, origin,
         importance, confidence, observed_at, created_at, updated_at, valid_from, valid_to, expires_at, superseded_by,
         merged, tags, extra FROM memory_units u JOIN memory_scopes s ON s.id = u.scope
       WHERE status <> 'forgotten' ORDER BY uuid`,
    ),
    turns: of.database.all(
      'SELECT key, session_id, turn_id, role, speaker, text, said_at FROM memory_turns ORDER BY key',
    ),
    sources: of.database.all(
      'SELECT u.uuid, t.key FROM memory_sources m JOIN memory_units u ON u.id = m.unit JOIN memory_turns t ON t.id = m.turn ORDER BY 1, 2',
    ),
    events: of.database.all(
      `SELECT u.uuid, at, what, by, detail FROM memory_events e JOIN memory_units u ON u.id = e.unit
       WHERE u.status <> 'forgotten' ORDER BY u.uuid, e.id`,
    ),
    uses: of.database.all('SELECT * FROM memory_uses ORDER BY memory, turn_id'),
    conflicts: of.database.all('SELECT * FROM memory_conflicts ORDER BY one, other'),
  });

  it('comes back without loss, on another computer too', async () => {
    fill();
    const result = lab.book.export(at('out/memories.jsonl'), 'jsonl');
    expect(result).toEqual({ units: 5, turns: 1 });
    if (process.platform !== 'win32') expect(statSync(at('out/memories.jsonl')).mode & 0o077).toBe(0);
    expect(readFileSync(at('out/memories.jsonl'), 'utf8')).not.toContain('zebra');

    const other = new MemoryLab();
    try {
      const input = ROUTES['memory.import'].input.parse({ path: at('out/memories.jsonl') });
      const first = await other.book.import(input);
      expect(first).toMatchObject({ added: 5, merged: 0, turns: 1, skipped: [] });
      other.undo.apply(first.undo?.token ?? '');
      expect([other.count('memory_units'), other.count('memory_turns')]).toEqual([0, 0]);
      expect(await other.book.import(input)).toMatchObject({ added: 5 });
      expect(dump(other)).toEqual(dump(lab));
      expect(await other.book.import(input)).toMatchObject({ added: 0, merged: 5, turns: 0, undo: null });
      expect(dump(other)).toEqual(dump(lab));
      expect(other.book.conflicts()).toEqual(lab.book.conflicts());
    } finally {
      await other.close();
    }
  });

  it('can be read by people', () => {
    fill();
    lab.book.export(at('memories.md'), 'markdown');
    const text = readFileSync(at('memories.md'), 'utf8');
    expect(text).toContain('# default\n\n## semantic\n');
    expect(text).toContain('- We use MySQL 5.7 _(until 2026-01-06)_');
    expect(text).toContain('- We moved to PostgreSQL 16\n');
    expect(text).toContain('# user:alice|workspace:w|x|agent:codex');
    expect(text).not.toContain('zebra');
  });

  it('goes nowhere but to a whole path', () => {
    expect(() => lab.book.export('memories.jsonl', 'jsonl')).toThrow(/no absolute path/);
  });
});
