import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { writeOriginal } from '../../support/original-memory.ts';

let host: TestEngine;
beforeEach(async () => {
  host = await startEngine({});
});
afterEach(() => host.close());

describe('memories by the calls of screens and commands', () => {
  it('are added, found, changed, forgotten and taken back, and survive a restart', async () => {
    const { call } = host.engine;
    const heard: string[] = [];
    host.engine.bus.on('invalidate', (topic) => heard.push(topic));
    await call('memory.add', { content: 'We use MySQL 5.7', kind: 'project_state' });
    const moved = await call('memory.add', { content: 'We moved to PostgreSQL 16', kind: 'project_state' });
    expect(moved.superseded).toHaveLength(1);
    expect(heard).toContain('memory');
    const current = async () => (await call('memory.list', {})).units.map(({ content }) => content);
    expect(await current()).toEqual(['We moved to PostgreSQL 16']);
    const hits = await call('memory.search', { text: 'Which database do we use, PostgreSQL or MySQL?' });
    const found = hits.flatMap((hit) => (hit.type === 'unit' ? [[hit.unit.content, hit.unit.status]] : []));
    expect(found).toContainEqual(['We moved to PostgreSQL 16', 'active']);
    expect(found).not.toContainEqual(['We use MySQL 5.7', 'active']);

    const { undo } = await call('memory.forget', { ids: [moved.id] });
    expect(await current()).toEqual([]);
    await host.restart();
    const again = host.engine.call;
    await again('undo.apply', { token: undo?.token ?? '' });
    expect((await again('memory.list', {})).units.map(({ id }) => id)).toEqual([moved.id]);
    const gone = await again('memory.forget', { ids: [moved.id], now: true });
    expect(gone.purged).toEqual({ units: 1, messages: 0 });
    await expect(again('memory.get', { id: moved.id })).rejects.toThrow(/There is no memory/);
    for (const name of ['metaclaw.db', 'metaclaw.db-wal'])
      if (existsSync(join(host.home, name)))
        expect(readFileSync(join(host.home, name), 'latin1')).not.toContain('We moved to PostgreSQL 16');
  });

  it('come from the original, and go to a file and back', async () => {
    const { call } = host.engine;
    const path = join(host.home, 'memory.db');
    writeOriginal(path, [
      {
        memory_id: '00000000-0000-4000-8000-000000000001',
        content: 'User preference: window seats.',
        memory_type: 'preference',
        importance: 0.99,
      },
    ]);
    expect(await call('memory.import', { path })).toMatchObject({ added: 1 });
    expect(await call('memory.import', { path })).toMatchObject({ added: 0, merged: 1 });
    const to = join(host.home, 'out.jsonl');
    expect(await call('memory.export', { to })).toMatchObject({ units: 1 });
    await call('memory.wipe', { now: true });
    expect((await call('memory.list', {})).total).toBe(0);
    expect(await call('memory.import', { path: to })).toMatchObject({ added: 1 });
    expect((await call('memory.list', {})).units).toMatchObject([
      { content: 'User preference: window seats.', pinned: true, kind: 'preference' },
    ]);
    rmSync(path);
    await expect(call('memory.import', { path })).rejects.toThrow(/There is no file/);
  });
});
