import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bus } from '../../../src/engine/bus.ts';
import { SessionLog } from '../../../src/engine/sessions/index.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { bundleForNode, startChild } from '../../support/child.ts';
import { SILENT_LOG } from '../../support/sessions.ts';

let folder: string;
let bundle: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mc-kill-'));
  bundle = await bundleForNode('test/support/children/recorder.ts', folder);
  symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Kills the recorder as soon as `when` says so; returns what it had said by then. */
async function killWhen(file: string, prefix: string, when: (line: string, count: number) => boolean) {
  const sent: string[] = [];
  const done: string[] = [];
  let killed = false;
  const child = startChild(bundle, [file, prefix], (line) => {
    const [what, id = ''] = line.split(' ');
    (what === 'sent' ? sent : done).push(id);
    if (!killed && when(line, sent.length + done.length)) {
      killed = true;
      child.kill('SIGKILL');
    }
  });
  await once(child, 'close');
  return { sent, done };
}

describe('kill -9', () => {
  // Only the turn in flight may be lost, and nothing of what was said to be there (issue, item 5).
  it('at any moment keeps every committed turn, its end and the job of its end', async () => {
    const file = join(folder, 'state.db');
    const sent: string[] = [];
    const done: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const lines = await killWhen(file, `r${round}`, (_line, count) => count >= 20 + round * 13);
      sent.push(...lines.sent);
      done.push(...lines.done);
    }
    const { database, setAside } = openDatabase(file);
    expect(setAside).toBeNull();
    expect(database.get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
    expect(database.all('PRAGMA foreign_key_check')).toEqual([]);
    const log = new SessionLog({
      database,
      clock: { now: () => Date.now(), after: () => () => {} },
      log: SILENT_LOG,
      bus: new Bus(),
      config: () => ({ sessions: { idle_minutes: 5 }, record: { bodies: true } }),
    });
    log.start();
    for (const id of done) {
      const turn = log.get(id);
      expect(turn.status).toBe('answered');
      expect(turn.replyText).toBe(`reply ${turn.sessionId}`);
      expect(JSON.parse(turn.requestBody as string).messages).toHaveLength(3);
      expect(JSON.parse(turn.replyBody as string)).toEqual({ content: turn.replyText });
    }
    for (const id of sent) {
      const turn = log.get(id);
      if (turn.status !== 'answered') expect(turn).toMatchObject({ status: 'failed', error: 'interrupted' });
      expect(turn.requestBody).toContain(turn.sessionId);
    }
    // An end and its job are there together or not at all.
    const ended = database.all<{ id: string }>(
      "SELECT id FROM sessions WHERE end_reason = 'flag' ORDER BY id",
    );
    const jobs = database.all<{ id: string }>('SELECT subject AS id FROM jobs ORDER BY subject');
    expect(jobs).toEqual(ended);
    expect(ended.length).toBeGreaterThanOrEqual(done.length);
    database.close();
  });

  it('between request and reply leaves the turn, marked as interrupted', async () => {
    const file = join(folder, 'between.db');
    const { sent } = await killWhen(file, 'b', (line) => line.startsWith('sent'));
    const { database } = openDatabase(file);
    const open = database.get<{ status: string }>('SELECT status FROM turns WHERE id = ?', sent[0] as string);
    expect(open).not.toBeNull();
    database.close();
  });
});
