import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Bus } from '../../../src/engine/bus.ts';
import { MemoryBook } from '../../../src/engine/memory/index.ts';
import { silentLogger } from '../../../src/engine/platform/logger.ts';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';
import { UndoLog } from '../../../src/engine/store/undo.ts';
import { DEFAULT_CONFIG } from '../../../src/shared/config.ts';
import { AppError } from '../../../src/shared/errors.ts';
import { fakeClock } from '../../support/clock.ts';
import { NO_EMBEDDER } from '../../support/embedder.ts';

const HOUR = 60 * 60 * 1000;
const SCOPE = { user: '', workspace: '', agent: '' };

let root: string;
let database: Database;
let book: MemoryBook;
let asked: string[];
let answer: () => Promise<string>;
let heldUntil: number | null;
const clock = fakeClock();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'metaclaw-held-'));
  database = openDatabase(join(root, 'state.db')).database;
  asked = [];
  heldUntil = null;
  answer = async () => '[]';
  book = new MemoryBook({
    database,
    clock,
    log: silentLogger(),
    bus: new Bus(),
    undo: new UndoLog({ database, clock }),
    config: () => ({ ...DEFAULT_CONFIG, memory: { ...DEFAULT_CONFIG.memory, flush_every: 1 } }),
    embedder: NO_EMBEDDER,
    chatModel: () => ({
      async complete({ user }) {
        asked.push(user);
        return { text: await answer(), model: 'scripted' };
      },
    }),
    heldUntil: () => heldUntil,
  });
  book.start();
});
afterEach(async () => {
  await book.stop();
  database.close();
  rmSync(root, { recursive: true, force: true });
});

const tell = (user: string, sessionId = 's1') =>
  book.conversations.tell([{ sessionId, scope: SCOPE, user, reply: 'All right.', id: '' }]);
const pending = () => book.conversations.status().pending;
const contents = () =>
  database
    .all<{ content: string }>("SELECT content FROM memory_units WHERE kind <> 'working_summary' ORDER BY id")
    .map(({ content }) => content);

it('waits for the model while the cap of the day holds it', async () => {
  heldUntil = clock.now() + 5 * HOUR;
  tell('I live in Lyon. Tell me about it.');
  clock.advance(4 * HOUR);
  await new Promise((resolve) => setImmediate(resolve));
  expect([asked.length, pending()]).toEqual([0, 2]);
  heldUntil = null;
  answer = async () => JSON.stringify([{ kind: 'semantic', content: 'The user lives in Lyon', turns: [1] }]);
  clock.advance(2 * HOUR);
  await expect.poll(pending, { timeout: 8000 }).toBe(0);
  expect(contents()).toEqual(['The user lives in Lyon']);
});

it('does not wait longer than a day: rules read then', async () => {
  heldUntil = clock.now() + 300 * HOUR;
  tell('I live in Lyon. Tell me about it.');
  clock.advance(23 * HOUR);
  await new Promise((resolve) => setImmediate(resolve));
  expect(pending()).toBe(2);
  clock.advance(2 * HOUR);
  await expect.poll(pending, { timeout: 8000 }).toBe(0);
  expect(asked).toEqual([]);
  expect(contents()).toEqual(['I live in Lyon.']);
});

it('gives a model two minutes, and asks again after ever longer waits', async () => {
  answer = () => new Promise(() => {});
  tell('I live in Lyon. Tell me about it.');
  await expect.poll(() => asked.length, { timeout: 8000 }).toBe(1);
  answer = async () => {
    throw new AppError('UPSTREAM_UNREACHABLE', 'nobody there');
  };
  clock.advance(2 * 60_000);
  // The model does not listen to being cancelled; what waits for it goes on all the same.
  await expect.poll(() => book.conversations.status().lastError, { timeout: 8000 }).toMatch(/too long/);
  expect(pending()).toBe(2);
  clock.advance(16_000);
  await expect.poll(() => book.conversations.status().lastError, { timeout: 8000 }).toBe('nobody there');
  expect(asked).toHaveLength(2);
  clock.advance(16_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toHaveLength(2);
});

it('asks a provider that is not there for ever, but reads by rules when somebody asks for it now', async () => {
  answer = async () => {
    throw new AppError('UPSTREAM_UNREACHABLE', 'nobody there');
  };
  tell('I live in Lyon. Tell me about it.');
  await expect.poll(() => book.conversations.status().lastError, { timeout: 8000 }).toBe('nobody there');
  expect(await book.conversations.readNow('s1')).toBe(1);
  expect(contents()).toEqual(['I live in Lyon.']);
  expect(pending()).toBe(0);
});

it('adds nothing from words that were forgotten while the model thought', async () => {
  let reply: (text: string) => void = () => {};
  answer = () =>
    new Promise((resolve) => {
      reply = resolve;
    });
  tell('I live in Lyon. Tell me about it.');
  await expect.poll(() => asked.length, { timeout: 8000 }).toBe(1);
  book.forgetSession('s1', false);
  reply(JSON.stringify([{ kind: 'semantic', content: 'The user lives in Lyon', turns: [1] }]));
  await expect.poll(pending, { timeout: 8000 }).toBe(0);
  expect(contents()).toEqual([]);
});

it('keeps an exchange that is told again once, and never brings back what was forgotten for good', async () => {
  tell('I live in Lyon. Tell me about it.');
  await expect.poll(pending, { timeout: 8000 }).toBe(0);
  expect(tell('I live in Lyon. Tell me about it.')).toBe(0);
  book.forgetSession('s1', true);
  expect(tell('I live in Lyon. Tell me about it.')).toBe(0);
  expect(database.get('SELECT count(*) AS n FROM memory_turns')).toEqual({ n: 0 });
});
