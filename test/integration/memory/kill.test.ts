import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { bundleForNode, startChild } from '../../support/child.ts';

const SESSIONS = 8;
const TURNS = 3;
/** The reading that was killed is the first of the next run, and is not killed again: the queue would wait longer each time. */
const KILLED_AT = 3;

let folder: string;
let bundle: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mc-memory-kill-'));
  bundle = await bundleForNode('test/support/children/reader.ts', folder);
  symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the reader and kills it when it has asked so often; true when it was through before. */
async function run(file: string, killAt: number): Promise<boolean> {
  let asked = 0;
  let done = false;
  const child = startChild(bundle, [file], (line) => {
    if (line === 'asked') asked += 1;
    if (line === 'done') done = true;
    if (done || asked >= killAt) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return done;
}

// Issue 5.2: idempotent, resumed after a crash.
it('a reading that is killed at any moment goes on afterwards, and remembers nothing twice', async () => {
  const file = join(folder, 'state.db');
  const { database } = openDatabase(file);
  database.run("INSERT INTO memory_scopes (user, workspace, agent) VALUES ('', '', '')");
  for (let n = 0; n < SESSIONS * TURNS; n += 1)
    database.run(
      `INSERT INTO memory_turns (key, scope, session_id, turn_id, role, speaker, text, said_at, unread)
       VALUES (?, 1, ?, ?, 'user', 'user', ?, ?, 1)`,
      `k${n}`,
      `s${n % SESSIONS}`,
      `turn-${n}`,
      `I live at number ${100 + n} of the street, and I moved there with my family.`,
      new Date().toISOString(),
    );
  database.close();

  let runs = 0;
  while (!(await run(file, KILLED_AT))) {
    runs += 1;
    expect(runs).toBeLessThan(60);
  }
  expect(runs).toBeGreaterThan(1);
  const after = openDatabase(file).database;
  const rows = after.all<{ content: string; sources: number; mentions: number }>(
    `SELECT u.content, u.mentions, (SELECT count(*) FROM memory_sources s WHERE s.unit = u.id) AS sources
     FROM memory_units u WHERE kind = 'semantic' ORDER BY u.content`,
  );
  const jobs = after.all<{ state: string }>("SELECT DISTINCT state FROM jobs WHERE kind = 'remember'");
  after.close();
  expect(rows.map(({ content }) => content)).toEqual(
    Array.from(
      { length: SESSIONS * TURNS },
      (_, n) => `The user lives at number ${100 + n} of the street`,
    ).sort(),
  );
  expect(rows.every(({ sources, mentions }) => sources === 1 && mentions === 1)).toBe(true);
  expect(jobs).toEqual([{ state: 'done' }]);
}, 60_000);
