import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Bus } from '../../../src/engine/bus.ts';
import { systemClock } from '../../../src/engine/platform/clock.ts';
import { silentLogger } from '../../../src/engine/platform/logger.ts';
import { SkillBook } from '../../../src/engine/skills/index.ts';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';
import { UndoLog } from '../../../src/engine/store/undo.ts';
import { DEFAULT_CONFIG } from '../../../src/shared/config.ts';
import { NO_EMBEDDER } from '../../support/embedder.ts';

const clock = systemClock();
let root: string;
let database: Database;
const opened: SkillBook[] = [];

const text = (name: string, body: string) =>
  `---\nname: ${name}\ndescription: Use when making ${name}\n---\n\n${body}\n`;
const file = (name: string) => join(root, 'skills', name, 'SKILL.md');
const put = (name: string, content: string) => {
  mkdirSync(join(root, 'skills', name), { recursive: true });
  writeFileSync(file(name), content);
};

async function open(): Promise<{ book: SkillBook; undo: UndoLog }> {
  const undo = new UndoLog({ database, clock });
  const book = new SkillBook({
    dir: join(root, 'skills'),
    bank: join(root, 'bank'),
    trash: join(root, 'trash'),
    database,
    clock,
    log: silentLogger(),
    bus: new Bus(),
    undo,
    config: () => DEFAULT_CONFIG,
    embedder: NO_EMBEDDER,
  });
  opened.push(book);
  await book.start();
  return { book, undo };
}

const told = (book: SkillBook, name: string) =>
  book.history.list(name).map(({ version, author, removed, note }) => [version, author, removed, note]);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'metaclaw-history-'));
  mkdirSync(join(root, 'bank'));
  database = openDatabase(join(root, 'state.db')).database;
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((book) => book.stop()));
  database.close();
  rmSync(root, { recursive: true, force: true });
});

describe('versions', () => {
  it('every text is one, whoever wrote it; going back is a new one (R110)', async () => {
    put('tea', text('tea', 'Steep.'));
    const { book, undo } = await open();
    const base = book.get('tea').hash;
    const before = book.generation;
    const edited = book.edits.edit('tea', text('tea', 'Boil.'), { base });
    expect(book.generation).toBe(before + 1);
    writeFileSync(file('tea'), text('tea', 'Microwave.'));
    await vi.waitUntil(() => book.get('tea').version === 3, { timeout: 5000 });
    expect(book.edits.restore('tea', 1)).toMatchObject({ version: 4 });
    expect(readFileSync(file('tea'), 'utf8')).toBe(text('tea', 'Steep.'));
    expect(told(book, 'tea')).toEqual([
      [4, 'user', false, 'Restored version 1'],
      [3, 'outside', false, ''],
      [2, 'user', false, ''],
      [1, 'outside', false, ''],
    ]);
    expect(book.edits.textOf('tea', 3)).toContain('Microwave.');
    // What it would take back is no longer there.
    expect(() => undo.apply(edited.undo.token)).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(() => book.edits.textOf('tea', 9)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });

  it('changes, additions and removals while nobody watched are versions at the next start', async () => {
    put('tea', text('tea', 'Steep.'));
    put('jam', text('jam', 'Stir.'));
    const first = await open();
    await first.book.stop();
    put('tea', text('tea', 'Boil.'));
    rmSync(join(root, 'skills', 'jam'), { recursive: true });
    const { book } = await open();
    expect(told(book, 'tea').map(([version]) => version)).toEqual([2, 1]);
    expect(told(book, 'jam')[0]).toEqual([2, 'outside', true, '']);
    book.edits.restore('jam', 1);
    expect(book.get('jam')).toMatchObject({ version: 3, content: text('jam', 'Stir.') });
  });

  it('a file that is broken for a moment is not gone', async () => {
    put('tea', text('tea', 'Steep.'));
    const { book } = await open();
    writeFileSync(file('tea'), 'no front matter yet');
    await vi.waitUntil(() => book.list().problems.length === 1, { timeout: 5000 });
    writeFileSync(file('tea'), text('tea', 'Steep.'));
    await vi.waitUntil(() => book.list().problems.length === 0, { timeout: 5000 });
    expect(told(book, 'tea')).toHaveLength(1);
  });

  it('those that are old and far back go, with texts that nothing else needs', async () => {
    put('tea', text('tea', 'Steep.'));
    const old = '2020-01-01T00:00:00.000Z';
    const insert = (version: number, at: string) => {
      const body = text('tea', `Round ${version}.`);
      const hash = createHash('sha256').update(body).digest('hex');
      database.run('INSERT INTO skill_texts (hash, text) VALUES (?, ?)', hash, body);
      database.run(
        "INSERT INTO skill_versions (skill, version, hash, author, at) VALUES ('tea', ?, ?, 'user', ?)",
        version,
        hash,
        at,
      );
      return hash;
    };
    const hashes = Array.from({ length: 300 }, (_, n) =>
      insert(n + 1, n === 50 ? '2999-01-01T00:00:00Z' : old),
    );
    database.run(
      "INSERT INTO undo (token, kind, payload, label, expires_at) VALUES ('u', 'k', ?, '', '2999')",
      JSON.stringify({ before: hashes[1] }),
    );
    const { book } = await open();
    const versions = database
      .all<{ version: number }>("SELECT version FROM skill_versions WHERE skill = 'tea' ORDER BY version")
      .map(({ version }) => version);
    // What was found at the start is version 301.
    expect(versions).toEqual([51, ...Array.from({ length: 200 }, (_, n) => n + 102)]);
    expect(book.edits.textOf('tea', 102)).toContain('Round 102.');
    expect(book.history.text(hashes[0] ?? '')).toBeNull();
    expect(book.history.text(hashes[1] ?? '')).toContain('Round 2.');
    expect(book.history.text(hashes[50] ?? '')).toContain('Round 51.');
    expect(() => book.edits.restore('tea', 7)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });

  it('a second start adds none', async () => {
    put('tea', text('tea', 'Steep.'));
    await (await open()).book.stop();
    expect(told((await open()).book, 'tea')).toHaveLength(1);
  });
});

describe('changes', () => {
  it('an edit of an older text, of another name or of something broken changes nothing', async () => {
    put('tea', text('tea', 'Steep.'));
    const { book } = await open();
    const { hash } = book.get('tea');
    // The watcher may not have seen it yet: what counts is what is on the disk.
    writeFileSync(file('tea'), text('tea', 'Mine.'));
    const edit = (content: string, base?: string) => () => book.edits.edit('tea', content, { base });
    expect(edit(text('tea', 'Boil.'), hash)).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(edit(text('coffee', 'Boil.'))).toThrow(expect.objectContaining({ code: 'SKILL_INVALID' }));
    expect(edit('nothing')).toThrow(expect.objectContaining({ code: 'SKILL_INVALID' }));
    expect(readFileSync(file('tea'), 'utf8')).toBe(text('tea', 'Mine.'));
    // An edit that names no base keeps what it replaces as a version.
    book.edits.edit('tea', text('tea', 'Boil.'));
    expect(told(book, 'tea').map(([, author]) => author)).toEqual(['user', 'outside', 'outside']);
  });

  it('each can be taken back once: edit, addition, removal with its other files', async () => {
    put('tea', text('tea', 'Steep.'));
    writeFileSync(join(root, 'skills', 'tea', 'table.csv'), 'a,b');
    const { book, undo } = await open();
    const edited = book.edits.edit('tea', text('tea', 'Boil.'));
    undo.apply(edited.undo.token);
    expect(book.get('tea').content).toBe(text('tea', 'Steep.'));
    const added = book.edits.add(text('jam', 'Stir.'));
    undo.apply(added.undo.token);
    expect(book.list().skills.map(({ name }) => name)).toEqual(['tea']);
    const removed = book.edits.remove('tea');
    expect(existsSync(join(root, 'skills', 'tea'))).toBe(false);
    undo.apply(removed.undo.token);
    expect(readFileSync(join(root, 'skills', 'tea', 'table.csv'), 'utf8')).toBe('a,b');
    expect(() => undo.apply(removed.undo.token)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });

  it('a locked skill is neither changed nor removed', async () => {
    put('tea', text('tea', 'Steep.'));
    const first = await open();
    const { undo: unlock } = first.book.edits.lock('tea', true);
    await first.book.stop();
    const { book, undo } = await open();
    expect(book.get('tea').locked).toBe(true);
    for (const change of [
      () => book.edits.edit('tea', text('tea', 'Boil.')),
      () => book.edits.remove('tea'),
      () => book.edits.restore('tea', 1),
    ])
      expect(change).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
    undo.apply(unlock.token);
    expect(book.get('tea').locked).toBe(false);
  });
});

describe('import and export', () => {
  it('brings in whole folders, overwrites nothing, follows no link', async () => {
    put('tea', text('tea', 'Mine.'));
    const { book } = await open();
    const from = join(root, 'from');
    for (const name of ['tea', 'jam', 'broken']) mkdirSync(join(from, name, 'more'), { recursive: true });
    writeFileSync(join(from, 'tea', 'SKILL.md'), text('tea', 'Theirs.'));
    writeFileSync(join(from, 'jam', 'SKILL.md'), text('jam', 'Stir.'));
    writeFileSync(join(from, 'jam', 'more', 'sugar.txt'), 'much');
    symlinkSync('/etc/hostname', join(from, 'jam', 'more', 'link'));
    writeFileSync(join(from, 'broken', 'SKILL.md'), 'x');
    expect(book.edits.import(from)).toEqual({
      added: ['jam'],
      skipped: [
        { path: join(from, 'broken'), reason: expect.stringContaining('front matter') },
        { path: join(from, 'tea'), reason: expect.stringContaining('already a skill') },
      ],
    });
    expect(readFileSync(join(root, 'skills', 'jam', 'more', 'sugar.txt'), 'utf8')).toBe('much');
    expect(existsSync(join(root, 'skills', 'jam', 'more', 'link'))).toBe(false);
    expect(book.get('tea').content).toContain('Mine.');
    expect(told(book, 'jam')).toEqual([[1, 'user', false, 'Imported from jam']]);
    const to = join(root, 'to');
    expect(book.edits.export(['jam', 'tea'], to)).toMatchObject({ exported: ['jam', 'tea'], skipped: [] });
    expect(readFileSync(join(to, 'jam', 'more', 'sugar.txt'), 'utf8')).toBe('much');
    expect(book.edits.export(['jam'], to).skipped).toHaveLength(1);
    expect(() => book.edits.import(join(root, 'nowhere'))).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND' }),
    );
  });
});

describe('a file that somebody broke', () => {
  it('gets its last text back, and what stood there comes again with the undo', async () => {
    put('tea', text('tea', 'Steep.'));
    const { book, undo } = await open();
    writeFileSync(join(root, 'skills', 'tea', 'notes.txt'), 'mine');
    writeFileSync(file('tea'), 'half a thought');
    book.reload('tea');
    expect(book.list().skills).toEqual([]);
    expect(() => book.get('tea')).toThrow(/The skill tea cannot be used: It has no front matter/);
    const restored = book.edits.restore('tea', 1);
    expect(book.get('tea').content).toBe(text('tea', 'Steep.'));
    expect(readFileSync(join(root, 'skills', 'tea', 'notes.txt'), 'utf8')).toBe('mine');
    undo.apply(restored.undo.token);
    expect(readFileSync(file('tea'), 'utf8')).toBe('half a thought');
  });

  it('is not written over where it is a link to somebody else’s', async () => {
    put('tea', text('tea', 'Steep.'));
    const { book } = await open();
    const theirs = join(root, 'theirs.md');
    writeFileSync(theirs, 'not a skill');
    rmSync(file('tea'));
    symlinkSync(theirs, file('tea'));
    book.reload('tea');
    expect(() => book.edits.restore('tea', 1)).toThrow(/is in the way and is not written over/);
    expect(readFileSync(theirs, 'utf8')).toBe('not a skill');
  });
});
