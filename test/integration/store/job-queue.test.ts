import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Bus } from '../../../src/engine/bus.ts';
import { silentLogger } from '../../../src/engine/platform/logger.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { JobQueue } from '../../../src/engine/store/job-queue.ts';
import { fakeClock } from '../../support/clock.ts';

// A full disk made an unhandled rejection of a background job's note, which ends the process and with it the proxy.
it('waits out a store that cannot be written, and does the job afterwards', async () => {
  const root = mkdtempSync(join(tmpdir(), 'metaclaw-queue-'));
  const { database } = openDatabase(join(root, 'state.db'));
  const clock = fakeClock();
  const done: string[] = [];
  const queue = new JobQueue({
    kind: 'evolve',
    database,
    clock,
    log: silentLogger(),
    bus: new Bus(),
    ready: () => true,
    heldUntil: () => null,
    run: async (job) => {
      done.push(job.subject);
    },
  });
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  try {
    queue.enqueue('s');
    database.get('PRAGMA query_only = ON');
    queue.start();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(done).toEqual([]);
    database.get('PRAGMA query_only = OFF');
    clock.advance(60_000);
    await expect.poll(() => queue.status().queued).toBe(0);
    expect(done).toEqual(['s']);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
    await queue.stop();
    database.close();
    rmSync(root, { recursive: true, force: true });
  }
});
