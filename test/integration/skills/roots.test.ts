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
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Bus } from '../../../src/engine/bus.ts';
import { systemClock } from '../../../src/engine/platform/clock.ts';
import { silentLogger } from '../../../src/engine/platform/logger.ts';
import { SkillBook } from '../../../src/engine/skills/index.ts';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';
import { UndoLog } from '../../../src/engine/store/undo.ts';
import { DEFAULT_CONFIG } from '../../../src/shared/config.ts';
import { NO_EMBEDDER } from '../../support/embedder.ts';

let root: string;
let database: Database;
let book: SkillBook;
let undo: UndoLog;
/** Looks for missing folders are not waited for. */
const clock = {
  ...systemClock(),
  after: (ms: number, fn: () => void) => systemClock().after(Math.min(ms, 100), fn),
};
const at = (...parts: string[]) => join(root, ...parts);
const text = (name: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\nDo it well.\n`;
const put = (place: string, folder: string, content: string) => {
  mkdirSync(at(place, folder), { recursive: true });
  writeFileSync(at(place, folder, 'SKILL.md'), content);
};
const described = (name: string) => book.list().skills.find((skill) => skill.name === name)?.description;

async function open(): Promise<void> {
  undo = new UndoLog({ database, clock });
  book = new SkillBook({
    dir: at('skills'),
    roots: [at('claude'), at('openclaw'), at('skills')],
    bank: at('bank'),
    trash: at('trash'),
    database,
    clock,
    log: silentLogger(),
    bus: new Bus(),
    undo,
    config: () => DEFAULT_CONFIG,
    embedder: NO_EMBEDDER,
  });
  await book.start();
}

async function until(condition: () => boolean): Promise<void> {
  for (let n = 0; n < 400; n += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('condition not met');
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'metaclaw-roots-'));
  for (const place of ['bank', 'skills', 'claude', 'openclaw']) mkdirSync(at(place));
  database = openDatabase(at('state.db')).database;
});
afterEach(async () => {
  await book.stop();
  database.close();
  rmSync(root, { recursive: true, force: true });
});

it('reads other folders in their order after the library, and says who lost a name', async () => {
  put('skills', 'mine', text('deploy', 'Deploying as I do it'));
  put('claude', 'deploy', text('deploy', 'Deploying as Claude does it'));
  put('claude', 'brew', text('brew', 'Brewing oolong with patience'));
  put('openclaw', 'brew', text('brew', 'Brewing matcha with haste'));
  await open();
  expect(described('deploy')).toBe('Deploying as I do it');
  expect(described('brew')).toBe('Brewing oolong with patience');
  expect(book.list().problems.map(({ path, message }) => `${path} ${message}`)).toEqual([
    expect.stringMatching(/claude.deploy.SKILL\.md .*already used by .*skills.mine.SKILL\.md/),
    expect.stringMatching(/openclaw.brew.SKILL\.md .*already used by .*claude.brew.SKILL\.md/),
  ]);
  expect(book.retrieve('brewing oolong tea with patience').map(({ id }) => id)).toEqual(['brew']);
});

it('follows changes there, and the next in order takes over when a file goes', async () => {
  put('claude', 'brew', text('brew', 'Brewing oolong'));
  put('openclaw', 'brew', text('brew', 'Brewing matcha'));
  await open();
  put('claude', 'brew', text('brew', 'Brewing sencha'));
  await until(() => described('brew') === 'Brewing sencha');
  rmSync(at('claude', 'brew'), { recursive: true });
  await until(() => described('brew') === 'Brewing matcha');
  put('openclaw', 'knot', text('knot', 'Tying knots'));
  await until(() => described('knot') === 'Tying knots');
});

it('never writes there: no edit, removal or undo reaches it, and a copy of one is the user’s own', async () => {
  const original = text('brew', 'Brewing oolong');
  put('claude', 'brew', original);
  await open();
  const theirs = () => readFileSync(at('claude', 'brew', 'SKILL.md'), 'utf8');
  expect(book.list().skills.find(({ name }) => name === 'brew')?.writable).toBe(false);
  expect(() => book.remove('brew')).toThrow(/belongs to another program/);
  expect(() => book.edits.remove('brew')).toThrow(/belongs to another program/);
  expect(() => book.edits.edit('brew', text('brew', 'Mine'), {})).toThrow(/belongs to another program/);
  book.setEnabled('brew', false);
  expect(book.retrieve('brewing oolong').length).toBe(0);
  book.setEnabled('brew', true);
  expect(book.edits.import(at('claude', 'brew')).added).toEqual(['brew']);
  expect(existsSync(at('skills', 'brew', 'SKILL.md'))).toBe(true);
  book.edits.edit('brew', text('brew', 'Brewing as I like it'), {});
  expect(described('brew')).toBe('Brewing as I like it');
  const { undo: offer } = book.edits.remove('brew');
  expect(described('brew')).toBe('Brewing oolong');
  undo.apply(offer.token);
  expect(described('brew')).toBe('Brewing as I like it');
  expect(theirs()).toBe(original);
});

it('follows no link out of a folder, and goes on without a folder that is not there', async () => {
  put('elsewhere', 'secret', text('secret', 'A file of somebody else'));
  symlinkSync(at('elsewhere', 'secret'), at('claude', 'secret'), 'junction');
  rmSync(at('openclaw'), { recursive: true });
  put('claude', 'brew', text('brew', 'Brewing oolong'));
  await open();
  expect(book.list().skills.map(({ name }) => name)).toEqual(['brew']);
  expect(book.list().problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(/skills\.roots cannot be read/),
    expect.stringMatching(/link to a place outside/),
  ]);
});

it('takes other folders while it runs, as often as they change, and lets those go that are no longer named', async () => {
  put('skills', 'mine', text('deploy', 'Deploying as I do it'));
  put('claude', 'deploy', text('deploy', 'Deploying as Claude does it'));
  put('claude', 'brew', text('brew', 'Brewing oolong with patience'));
  put('openclaw', 'brew', text('brew', 'Brewing matcha with haste'));
  await open();
  const { generation } = book;
  await book.followRoots([at('openclaw'), at('claude')]);
  expect(described('brew')).toBe('Brewing matcha with haste');
  expect(book.generation).toBe(generation + 1);
  await book.followRoots([at('openclaw'), at('claude')]);
  expect(book.generation).toBe(generation + 1);
  await Promise.all([book.followRoots([]), book.followRoots([at('claude')]), book.followRoots([])]);
  expect(book.list().skills.map(({ name }) => name)).toEqual(['deploy']);
  expect(book.list().problems).toEqual([]);
  expect(book.retrieve('brewing oolong tea with patience')).toEqual([]);
  await book.followRoots([at('claude')]);
  expect(book.retrieve('brewing oolong tea with patience').map(({ id }) => id)).toEqual(['brew']);
  put('claude', 'brew', text('brew', 'Brewing sencha'));
  await until(() => described('brew') === 'Brewing sencha');
  put('openclaw', 'knot', text('knot', 'Tying knots'));
  put('skills', 'new', text('new', 'Something of my own'));
  await until(() => described('new') !== undefined);
  expect(described('knot')).toBeUndefined();
});

it('notices a folder again that went and came back, the library too, and one that was not there at first', async () => {
  put('skills', 'mine', text('deploy', 'Deploying as I do it'));
  put('claude', 'brew', text('brew', 'Brewing oolong'));
  rmSync(at('openclaw'), { recursive: true });
  await open();
  for (const place of ['skills', 'claude']) rmSync(at(place), { recursive: true });
  await until(() => book.list().skills.length === 0);
  await until(() => book.list().problems.length === 3);
  put('skills', 'new', text('knot', 'Tying knots'));
  put('claude', 'brew', text('brew', 'Brewing sencha'));
  put('openclaw', 'sail', text('sail', 'Mending sails'));
  await until(() => book.list().skills.length === 3);
  await until(() => book.list().problems.length === 0);
  put('skills', 'new', text('knot', 'Tying better knots'));
  await until(() => described('knot') === 'Tying better knots');
}, 30_000);
