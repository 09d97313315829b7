import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bus } from '../../../src/engine/bus.ts';
import { silentLogger } from '../../../src/engine/platform/logger.ts';
import { SkillBook } from '../../../src/engine/skills/index.ts';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';
import { UndoLog } from '../../../src/engine/store/undo.ts';
import { type Config, DEFAULT_CONFIG } from '../../../src/shared/config.ts';
import { fakeClock } from '../../support/clock.ts';
import { NO_EMBEDDER } from '../../support/embedder.ts';

const BANK = join(import.meta.dirname, '../../../skills-bank');

let root: string;
let database: Database;
let config: Config;
const opened: SkillBook[] = [];
const fake = fakeClock();
/** Days pass by hand, but the watcher's quiet time is real: it stands against real file events. */
const clock = {
  now: fake.now,
  advance: fake.advance,
  after(ms: number, fn: () => void) {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

const text = (name: string, description: string, body = 'Do it well.') =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
const put = (folder: string, content: string) => {
  mkdirSync(join(root, 'skills', folder), { recursive: true });
  writeFileSync(join(root, 'skills', folder, 'SKILL.md'), content);
};
const names = (book: SkillBook) => book.list().skills.map(({ name }) => name);

async function open(bank = join(root, 'bank')): Promise<{ book: SkillBook; undo: UndoLog }> {
  const undo = new UndoLog({ database, clock });
  const book = new SkillBook({
    dir: join(root, 'skills'),
    bank,
    trash: join(root, 'trash'),
    database,
    clock,
    log: silentLogger(),
    bus: new Bus(),
    undo,
    config: () => config,
    embedder: NO_EMBEDDER,
  });
  opened.push(book);
  await book.start();
  return { book, undo };
}

async function until(condition: () => boolean): Promise<void> {
  for (let n = 0; n < 400; n += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('condition not met');
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'metaclaw-skills-'));
  mkdirSync(join(root, 'bank'));
  database = openDatabase(join(root, 'state.db')).database;
  config = DEFAULT_CONFIG;
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((book) => book.stop()));
  database.close();
  rmSync(root, { recursive: true, force: true });
});

describe('seeding', () => {
  const seedBank = (body: string) => {
    mkdirSync(join(root, 'bank', 'bake-bread'), { recursive: true });
    writeFileSync(
      join(root, 'bank', 'bake-bread', 'SKILL.md'),
      text('bake-bread', 'Use when baking bread', body),
    );
  };
  const file = () => join(root, 'skills', 'bake-bread', 'SKILL.md');

  it('brings the real bank in on the first start, marked built-in, without problems', async () => {
    const { book } = await open(BANK);
    const { skills, problems } = book.list();
    expect(problems).toEqual([]);
    expect(skills.length).toBe(readdirSync(BANK).length);
    expect(new Set(skills.map(({ source }) => source))).toEqual(new Set(['built-in']));
  });

  it('leaves a folder of the user alone, even after they delete it', async () => {
    seedBank('ours');
    put('bake-bread', text('bake-bread', 'mine', 'my own way'));
    const { book } = await open();
    expect(book.get('bake-bread')).toMatchObject({
      source: 'user',
      content: text('bake-bread', 'mine', 'my own way'),
    });
    await book.stop();
    rmSync(join(root, 'skills', 'bake-bread'), { recursive: true });
    expect(names((await open()).book)).toEqual([]);
  });

  it('a deleted built-in skill does not come back', async () => {
    seedBank('ours');
    const first = await open();
    await first.book.stop();
    rmSync(join(root, 'skills', 'bake-bread'), { recursive: true });
    expect(names((await open()).book)).toEqual([]);
  });

  it('a bank update refreshes an untouched file and never an edited one', async () => {
    seedBank('version 1');
    await (await open()).book.stop();
    seedBank('version 2');
    await (await open()).book.stop();
    expect(readFileSync(file(), 'utf8')).toContain('version 2');
    writeFileSync(file(), text('bake-bread', 'Use when baking bread', 'version 2, edited'));
    seedBank('version 3');
    const { book } = await open();
    expect(readFileSync(file(), 'utf8')).toContain('version 2, edited');
    expect(book.get('bake-bread').source).toBe('user');
  });

  it('a crash before the result was stored, or in the middle of a copy, is made good', async () => {
    seedBank('ours');
    await (await open()).book.stop();
    database.run("DELETE FROM settings WHERE key = 'skills.seeded'");
    mkdirSync(join(root, 'skills', '.new-0123456789ab'));
    const { book } = await open();
    expect(book.get('bake-bread').source).toBe('built-in');
    expect(readdirSync(join(root, 'skills'))).toEqual(['bake-bread']);
  });

  it('a missing bank stops nothing', async () => {
    put('a', text('a', 'first'));
    const { book } = await open(join(root, 'nowhere'));
    expect(names(book)).toEqual(['a']);
  });
});

describe('the folder', () => {
  it('names every file it cannot use, with the reason', async () => {
    put('bare', 'no front matter');
    put('odd', '---\nname: Not Valid\ndescription: x\n---\nBody');
    put('binary', text('binary', 'x'));
    writeFileSync(join(root, 'skills', 'binary', 'SKILL.md'), Buffer.from([0x2d, 0xff, 0xfe, 0x00]));
    put('first', text('same', 'one'));
    put('second', text('same', 'two'));
    put('fine', text('fine', 'works'));
    mkdirSync(join(root, 'skills', 'notes'));
    const { book } = await open();
    expect(names(book)).toEqual(['fine', 'same']);
    expect(book.get('same').description).toBe('one');
    expect(book.list().problems.map(({ path, message }) => `${path.split('/').at(-2)}: ${message}`)).toEqual([
      expect.stringMatching(/^bare: .*front matter/),
      expect.stringMatching(/^binary: .*UTF-8/),
      expect.stringMatching(/^odd: .*not valid/),
      expect.stringMatching(/^second: .*already used by first\/SKILL\.md/),
    ]);
  });

  it('does not follow links out of the folder (a skill could pull in any file)', async () => {
    mkdirSync(join(root, 'outside'));
    writeFileSync(join(root, 'outside', 'SKILL.md'), text('stolen', 'x'));
    mkdirSync(join(root, 'skills', 'file-link'), { recursive: true });
    symlinkSync(join(root, 'outside'), join(root, 'skills', 'dir-link'));
    symlinkSync(join(root, 'outside', 'SKILL.md'), join(root, 'skills', 'file-link', 'SKILL.md'));
    symlinkSync(join(root, 'gone'), join(root, 'skills', 'dangling'));
    const { book } = await open();
    expect(names(book)).toEqual([]);
    expect(book.list().problems).toHaveLength(3);
  });

  it('follows additions, edits, deletions and repairs while it runs', async () => {
    const { book } = await open();
    const start = book.generation;
    put('tea', text('tea', 'Use when brewing oolong tea'));
    await until(() => names(book).includes('tea'));
    expect(book.retrieve('How do I brew oolong tea?').map(({ id }) => id)).toEqual(['tea']);
    put('tea', text('tea', 'Use when grinding espresso beans'));
    await until(() => book.list().skills[0]?.description.includes('espresso') === true);
    expect(book.retrieve('How do I brew oolong?')).toEqual([]);
    put('tea', 'broken now');
    await until(() => book.list().problems.length === 1);
    expect(names(book)).toEqual([]);
    put('tea', text('tea', 'Use when grinding espresso beans'));
    await until(() => names(book).length === 1);
    rmSync(join(root, 'skills', 'tea'), { recursive: true });
    await until(() => names(book).length === 0);
    expect(book.list().problems).toEqual([]);
    expect(book.generation).toBe(start + 5);
  });

  // A name that every object has a value for took the whole process down, now and at every later start.
  it('takes a skill named constructor like any other, and questions about constructors', async () => {
    const { book } = await open();
    put('constructor', text('constructor', 'When an ibex constructor climbs'));
    await until(() => names(book).includes('constructor'));
    expect(book.retrieve('my ibex constructor climbs again')[0]?.id).toBe('constructor');
    book.setEnabled('constructor', false);
    expect(book.retrieve('my ibex constructor climbs again')).toEqual([]);
    await book.stop();
    expect(names((await open()).book)).toContain('constructor');
  });

  it('the second of two equal names takes over when the first goes', async () => {
    put('first', text('same', 'one'));
    put('second', text('same', 'two'));
    const { book } = await open();
    rmSync(join(root, 'skills', 'first'), { recursive: true });
    await until(() => book.list().problems.length === 0);
    expect(book.get('same').description).toBe('two');
  });

  it('a folder that cannot be made is a problem in the list, not a crash of the host', async () => {
    writeFileSync(join(root, 'skills'), 'a file is in the way');
    const { book } = await open();
    expect(book.list()).toMatchObject({ skills: [], problems: [{ path: join(root, 'skills') }] });
    expect(book.retrieve('anything at all')).toEqual([]);
  });
});

describe('control', () => {
  it('switches a skill without touching its file, with undo, across restarts', async () => {
    const content = text('tea', 'Use when brewing oolong tea');
    put('tea', content);
    const first = await open();
    const { undo } = first.book.setEnabled('tea', false);
    expect(first.book.retrieve('brew oolong tea please')).toEqual([]);
    expect(readFileSync(join(root, 'skills', 'tea', 'SKILL.md'), 'utf8')).toBe(content);
    await first.book.stop();
    const second = await open();
    expect(second.book.get('tea').enabled).toBe(false);
    second.undo.apply(undo.token);
    expect(second.book.retrieve('brew oolong tea please')).toHaveLength(1);
    expect(() => second.undo.apply(undo.token)).toThrow(/no longer/);
  });

  it('an undo expires after 24 hours', async () => {
    put('tea', text('tea', 'Use when brewing oolong tea'));
    const { book, undo } = await open();
    const token = book.setEnabled('tea', false).undo.token;
    clock.advance(25 * 3600 * 1000);
    expect(() => undo.apply(token)).toThrow(/no longer/);
  });

  it('counts what the live library was across restarts (training depends on it)', async () => {
    put('a', text('a', 'first'));
    const first = await open();
    const seen = first.book.generation;
    await first.book.stop();
    const same = await open();
    expect(same.book.generation).toBe(seen);
    await same.book.stop();
    put('b', text('b', 'second'));
    const changed = await open();
    expect(changed.book.generation).toBe(seen + 1);
    changed.book.setEnabled('a', false);
    expect(changed.book.generation).toBe(seen + 2);
  });

  it('writes whole new skills only, and never over anything', async () => {
    put('mine', text('mine', 'x'));
    mkdirSync(join(root, 'skills', 'empty'));
    const { book } = await open();
    book.write('fresh', text('fresh', 'Use when brewing oolong tea'));
    expect(book.retrieve('brew oolong tea')).toHaveLength(1);
    for (const name of ['mine', 'fresh', 'empty'])
      expect(() => book.write(name, text(name, 'other'))).toThrow(
        expect.objectContaining({ code: 'CONFLICT' }),
      );
    expect(() => book.write('../../evil', text('../../evil', 'x'))).toThrow(
      expect.objectContaining({ code: 'SKILL_INVALID' }),
    );
    expect(() => book.write('other', text('another', 'x'))).toThrow(
      expect.objectContaining({ code: 'SKILL_INVALID' }),
    );
    expect(readFileSync(join(root, 'skills', 'mine', 'SKILL.md'), 'utf8')).toBe(text('mine', 'x'));
    expect(readdirSync(join(root, 'skills')).sort()).toEqual(['empty', 'fresh', 'mine']);
  });

  it('removes into the trash', async () => {
    put('tea', text('tea', 'x'));
    const { book } = await open();
    const where = book.remove('tea');
    expect(names(book)).toEqual([]);
    expect(existsSync(join(where, 'SKILL.md'))).toBe(true);
    expect(() => book.remove('tea')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });

  it('counts uses once per turn', async () => {
    put('tea', text('tea', 'x'));
    const { book } = await open();
    book.recordUse('turn-1', ['tea']);
    book.recordUse('turn-1', ['tea']);
    book.recordUse('turn-2', ['tea']);
    expect(book.list().skills[0]).toMatchObject({ uses: 2, lastUsedAt: expect.stringMatching(/^20/) });
  });
});

describe('retrieve', () => {
  it('obeys its limits and switches, and offers what injection needs', async () => {
    const { book } = await open(BANK);
    const question =
      'My flaky test fails in ci; debug it, then write an email about it and summarize the thread';
    expect(book.retrieve(question, { limit: 2 })).toHaveLength(2);
    expect(book.retrieve(question).length).toBeGreaterThan(2);
    const [best] = book.retrieve(question);
    expect(best).toMatchObject({
      kind: 'skill',
      title: best?.id,
      body: expect.stringContaining('**Anti-pattern:**'),
    });
    expect(best?.tokens).toBeGreaterThan(100);
    config = { ...config, skills: { ...config.skills, enabled: false } };
    expect(book.retrieve(question)).toEqual([]);
  });

  it('explains what entered and what stayed below the threshold', async () => {
    const { book } = await open(BANK);
    const found = await book.search('Why does my flaky test fail, is the night shift slow?');
    expect(found[0]).toMatchObject({ name: 'hunt-a-flaky-test', entered: true });
    expect(found.some(({ entered }) => !entered)).toBe(true);
  });

  it('template mode keeps to the category and adds nothing to small talk (K1: the original injected 13 skills)', async () => {
    config = { ...config, skills: { ...config.skills, retrieval_mode: 'template' } };
    const { book } = await open(BANK);
    expect(book.retrieve('hello', { limit: 20 })).toEqual([]);
    const ids = book.retrieve('compile error in my typescript function', { limit: 20 }).map(({ id }) => id);
    expect(ids).toContain('reproduce-before-fixing');
    expect(ids).not.toContain('email-with-one-ask');
  });

  it('embedding mode without an endpoint says so and matches by words', async () => {
    config = { ...config, skills: { ...config.skills, retrieval_mode: 'embedding' } };
    const { book } = await open(BANK);
    expect(book.matching()).toMatch(/no embeddings endpoint is set/i);
    expect(book.retrieve('my test is flaky')).not.toEqual([]);
  });

  it('starts before thousands of skills are read, says so, and then has them all', async () => {
    for (let n = 0; n < 120; n += 1) put(`skill-${n}`, text(`skill-${n}`, `Handling topic${n} with care`));
    let now = 0;
    // Each look at the clock costs a second, so that the start is over after its first look.
    const hurried = { ...clock, now: () => (now += 1000) };
    const book = new SkillBook({
      dir: join(root, 'skills'),
      bank: join(root, 'bank'),
      trash: join(root, 'trash'),
      database,
      clock: hurried,
      log: silentLogger(),
      bus: new Bus(),
      undo: new UndoLog({ database, clock }),
      config: () => config,
      embedder: NO_EMBEDDER,
    });
    opened.push(book);
    await book.start();
    expect(names(book).length).toBeLessThan(120);
    expect(book.list().problems).toEqual([
      { path: join(root, 'skills'), message: expect.stringMatching(/^\d+ skills are still being read\.$/) },
    ]);
    expect(book.generation).toBe(0);
    await book.loaded();
    expect(names(book)).toHaveLength(120);
    expect(book.list().problems).toEqual([]);
    expect(book.generation).toBe(1);
    put('skill-7', text('skill-7', 'Brewing oolong'));
    await until(() => book.get('skill-7').description === 'Brewing oolong');
  });

  it('offers a newer text of the bank for an edited skill, and takes it only when asked', async () => {
    const bankFile = (words: string) => {
      mkdirSync(join(root, 'bank', 'brew'), { recursive: true });
      writeFileSync(join(root, 'bank', 'brew', 'SKILL.md'), text('brew', 'Brewing tea', words));
    };
    const mine = text('brew', 'Brewing tea', 'Boil it as I like it.');
    const onDisk = () => readFileSync(join(root, 'skills', 'brew', 'SKILL.md'), 'utf8');
    bankFile('Boil it.');
    const first = await open();
    expect(first.book.bankUpdates()).toEqual([]);
    first.book.edits.edit('brew', mine, {});
    expect(first.book.bankUpdates()).toEqual([]);
    await first.book.stop();
    bankFile('Steep it.');
    const { book, undo } = await open();
    expect(onDisk()).toBe(mine);
    expect(book.bankUpdates()).toEqual([
      { name: 'brew', diff: expect.stringMatching(/-Boil it as I like it\.\n\+Steep it\./) },
    ]);
    const taken = book.takeFromBank('brew');
    expect(onDisk()).toContain('Steep it.');
    expect(book.bankUpdates()).toEqual([]);
    expect(() => book.takeFromBank('brew')).toThrow(/nothing newer/);
    undo.apply(taken.undo.token);
    expect(onDisk()).toBe(mine);
    await book.stop();
    bankFile('Steep it cold.');
    const { book: later } = await open();
    later.keepMine('brew');
    expect(onDisk()).toBe(mine);
    expect(later.bankUpdates()).toEqual([]);
    await later.stop();
    bankFile('Steep it twice.');
    expect((await open()).book.bankUpdates()).toHaveLength(1);
  });

  it('remarks on what gets in the way of other skills', async () => {
    const claim = (name: string) =>
      `---\nname: ${name}\ndescription: Use when ${name} is asked for\nmetadata:\n  triggers: brew tea\n---\n\nDo ${name}.\n`;
    put('one', claim('one'));
    put('two', claim('two'));
    const { book } = await open();
    expect(book.overlaps()).toContainEqual({
      name: 'two',
      other: 'one',
      message: 'The trigger "brew tea" is claimed also by one.',
    });
  });

  it('puts the user’s own skills before built-in ones where only few may enter', async () => {
    put('my-way', text('my-way', 'Use when a flaky test fails in ci: my own way'));
    const { book } = await open(BANK);
    const question = 'my flaky test fails in ci';
    const ids = book.retrieve(question).map(({ id }) => id);
    expect(ids.slice(0, 2)).toEqual(['my-way', 'hunt-a-flaky-test']);
    expect(book.retrieve(question, { limit: 1 }).map(({ id }) => id)).toEqual(['my-way']);
  });
});

describe('odd files', () => {
  it('a pipe is no file, and nobody waits for what comes out of it', async () => {
    mkdirSync(join(root, 'skills', 'pipe'), { recursive: true });
    execFileSync('mkfifo', [join(root, 'skills', 'pipe', 'SKILL.md')]);
    put('brew', text('brew', 'Brewing oolong'));
    const { book } = await open();
    expect(names(book)).toEqual(['brew']);
    expect(book.list().problems).toEqual([
      {
        path: join(root, 'skills', 'pipe', 'SKILL.md'),
        message: expect.stringContaining('is no plain file'),
      },
    ]);
  });

  it('a file of nearly the right name is told of, and taken once it has the right one', async () => {
    mkdirSync(join(root, 'skills', 'brew'), { recursive: true });
    writeFileSync(join(root, 'skills', 'brew', 'Skill.md'), text('brew', 'Brewing oolong'));
    const { book } = await open();
    expect(book.list().problems[0]?.message).toMatch(/named Skill\.md; the name has to be SKILL\.md/);
    put('brew', text('brew', 'Brewing oolong'));
    await until(() => names(book).length === 1 && book.list().problems.length === 0);
  });
});
