/** Records turns as fast as it can until it is killed; a line says what is committed. Run by the kill tests. */

import { writeSync } from 'node:fs';
import { Bus } from '../../../src/engine/bus.ts';
import { SessionLog } from '../../../src/engine/sessions/index.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { chat, factsOf, SILENT_LOG } from '../sessions.ts';

const [file = '', prefix = ''] = process.argv.slice(2);
const { database } = openDatabase(file);
const log = new SessionLog({
  database,
  clock: { now: () => Date.now(), after: () => () => {} },
  log: SILENT_LOG,
  bus: new Bus(),
  config: () => ({ sessions: { idle_minutes: 5 }, record: { bodies: true } }),
});
log.onEnded((end) => {
  database.run(
    "INSERT INTO jobs (id, kind, subject, state, run_at, created_at, updated_at) VALUES (?, 'evolve', ?, 'queued', '', '', '')",
    `job-${end.sessionId}`,
    end.sessionId,
  );
});
log.start();

for (let i = 0; ; i += 1) {
  const id = `${prefix}-${i}`;
  const request = {
    ...chat(`question ${id} ${'x'.repeat(2000)}`, 'answer', `more ${id}`),
    headers: { 'x-session-id': id, 'x-session-done': '1' },
  };
  const bytes = Buffer.from(JSON.stringify(request.body));
  const turn = log.open(factsOf(request));
  log.recordRequest(turn, {
    upstream: 'fake',
    host: 'fake.example',
    model: 'm',
    requestBody: bytes,
    sentBody: bytes,
    report: { items: [], leftOut: [], tokens: 0, skipped: null },
    injection: turn.injection,
  });
  writeSync(1, `sent ${turn.id}\n`);
  log.recordReply(turn, {
    status: 'answered',
    httpStatus: 200,
    firstByteMs: 1,
    usage: null,
    replyText: `reply ${id}`,
    replyBody: { content: `reply ${id}` },
    error: null,
  });
  writeSync(1, `done ${turn.id}\n`);
}
