import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryLab } from '../../support/memory.ts';

const HOUR = 60 * 60 * 1000;
let lab: MemoryLab;
beforeEach(() => {
  lab = new MemoryLab();
});
afterEach(() => lab.close());

describe('a memory', () => {
  it('is kept with its scope, and listed page by page while others come', () => {
    for (let n = 0; n < 25; n += 1) {
      lab.clock.advance(1000);
      lab.add(`Shelf ${n} holds crate ${n * 7}.`);
    }
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = lab.list({ limit: 10, ...(after && { after }) });
      seen.push(...page.units.map(({ content }) => content));
      lab.clock.advance(1000);
      lab.add(`Late ${seen.length}: drawer ${seen.length}.`);
      after = page.next ?? undefined;
    } while (after);
    expect(seen).toHaveLength(25);
    expect(new Set(seen).size).toBe(25);
    expect(seen[0]).toBe('Shelf 24 holds crate 168.');
  });

  it('is found in a list by words in any form and by half a word, with the reason, in any state', () => {
    lab.add('The invoice test depends on the time zone of the runner.');
    lab.add('发布前先在测试环境跑一遍迁移脚本');
    const gone = lab.add('The plumber comes on Tuesday.');
    lab.book.forget([gone], false);
    const found = (text: string, over: Parameters<typeof lab.list>[0] = {}) => {
      const { units, total, why } = lab.list({ text, ...over });
      expect(total).toBe(units.length);
      return units.map(({ id, content }) => `${content.slice(0, 11)} | ${why[id]}`);
    };
    expect(found('testing invoices')).toEqual(['The invoice | words: testing, invoices']);
    expect(found('invoi')).toEqual(['The invoice | ']);
    expect(found('迁移')).toHaveLength(1);
    expect(found('plumber')).toEqual([]);
    expect(found('plumber', { statuses: ['forgotten'] })).toHaveLength(1);
    expect(found('zeppelin')).toEqual([]);
  });

  it('masks secrets before it is stored', () => {
    lab.add('The database password is hunter2hunter2 and the key sk-TEST1234567890abcdefghij');
    const [content] = lab.contents();
    expect(content).not.toContain('hunter2hunter2');
    expect(content).not.toContain('sk-TEST1234567890');
    expect(JSON.stringify(lab.database.all('SELECT * FROM memory_units'))).not.toContain('hunter2hunter2');
  });

  it('is edited, with the old words in its history, only from what was shown; and undone', () => {
    const id = lab.add('The bike shop closes at six.');
    const { updatedAt } = lab.book.get(id);
    lab.clock.advance(1000);
    const { undo } = lab.book.edit(id, { content: 'The bike shop closes at seven.', base: updatedAt });
    expect(() => lab.book.edit(id, { content: 'Something else.', base: updatedAt })).toThrow(
      /has been changed/,
    );
    expect(lab.book.get(id).history.map(({ what, detail }) => [what, detail])).toEqual([
      ['added', ''],
      ['edited', 'The bike shop closes at six.'],
    ]);
    lab.undo.apply(undo.token);
    expect(lab.book.get(id)).toMatchObject({ content: 'The bike shop closes at six.', updatedAt });
    expect(lab.book.get(id).history).toHaveLength(1);
  });

  it('says no more than that it is not there for an unknown id', () => {
    for (const act of [
      () => lab.book.get('nothing'),
      () => lab.book.edit('nothing', { content: 'x' }),
      () => lab.book.pin(['nothing'], true),
      () => lab.book.forget(['nothing'], false),
    ])
      expect(act).toThrow(/There is no memory nothing/);
  });

  it('is pinned by its own flag; an undo touches nothing that came after', () => {
    const id = lab.add('Invoices go to the blue folder.');
    const { undo } = lab.book.pin([id], true);
    lab.book.edit(id, { tags: ['office'] });
    expect(lab.book.get(id)).toMatchObject({ pinned: true, importance: 0.8 });
    lab.undo.apply(undo.token);
    expect(lab.book.get(id)).toMatchObject({ pinned: false, tags: ['office'] });
  });

  it('runs out at its time', () => {
    lab.book.start();
    const id = lab.add('Parking permit for the visit.', { expiresAt: '2026-01-06T14:00:00+01:00' });
    expect(lab.book.get(id).expiresAt).toBe('2026-01-06T13:00:00.000Z');
    lab.clock.advance(61 * 60 * 1000);
    expect(lab.contents()).toEqual([]);
    expect(lab.contents('expired')).toEqual(['Parking permit for the visit.']);
    lab.book.edit(id, { expiresAt: null });
    expect(lab.contents()).toEqual(['Parking permit for the visit.']);
  });
});

describe('facets', () => {
  it('count by scope, kind, state and age what is there', () => {
    lab.add('Older than all: the attic key hangs left.');
    lab.clock.advance(3 * 24 * HOUR);
    lab.add('Prefers tea in the morning.', { kind: 'preference', scope: { user: 'alice' } });
    const gone = lab.add('The red umbrella is broken.', { pinned: true });
    lab.clock.advance(24 * HOUR);
    lab.add('The cellar has two lamps.', { pinned: true, expiresAt: '2026-01-12T00:00:00Z' });
    lab.book.forget([gone], false);
    expect(lab.book.facets('')).toEqual({
      scopes: [
        { scope: { user: '', workspace: '', agent: '' }, count: 2 },
        { scope: { user: 'alice', workspace: '', agent: '' }, count: 1 },
      ],
      kinds: [
        { kind: 'semantic', count: 2 },
        { kind: 'preference', count: 1 },
      ],
      statuses: [
        { status: 'active', count: 3 },
        { status: 'forgotten', count: 1 },
      ],
      today: 1,
      last7Days: 2,
      older: 0,
      pinned: 1,
      expiringSoon: 1,
    });
    expect(lab.book.facets('cellar').today).toBe(1);
    expect(lab.list({ ages: ['last7Days'], sort: 'oldest' }).units.map(({ content }) => content)).toEqual([
      'Older than all: the attic key hangs left.',
      'Prefers tea in the morning.',
    ]);
    expect(lab.list({ scopes: [{ user: 'alice' }] }).total).toBe(1);
    expect(lab.list({ scopes: [{ user: 'nobody' }] }).total).toBe(0);
    expect(lab.book.scopes()).toEqual([
      { scope: { user: '', workspace: '', agent: '' }, units: 2, turns: 0 },
      { scope: { user: 'alice', workspace: '', agent: '' }, units: 1, turns: 0 },
    ]);
  });
});

describe('forgetting', () => {
  it('takes a memory out of use with the message that it came from, until it is restored', () => {
    const said = lab.say('My locker code is 4711, by the way.', { turnId: 'turn-1' });
    const echo = lab.say('Noted: 4711.', { turnId: 'turn-1', role: 'assistant' });
    const other = lab.say('What is the weather?', { turnId: 'turn-2' });
    const id = lab.add('The locker code is 4711.');
    lab.database.run('INSERT INTO memory_sources SELECT id, ? FROM memory_units', said);
    expect(lab.book.get(id).sources).toMatchObject([{ quote: 'My locker code is 4711, by the way.' }]);
    const dropped: string[] = [];
    lab.book.onDropped(({ keys }) => dropped.push(...keys));

    expect(lab.book.forget([id], false)).toMatchObject({ forgotten: 1, purged: null });
    const hidden = () =>
      lab.database
        .all<{ id: number }>('SELECT id FROM memory_turns WHERE forgotten_at IS NOT NULL ORDER BY id')
        .map((row) => row.id);
    expect(hidden()).toEqual([said, echo]);
    expect(hidden()).not.toContain(other);
    expect(dropped).toEqual([id, `t${said}`, `t${echo}`]);
    expect(lab.book.get(id).sources).toEqual([]);

    expect(lab.book.restore([id]).restored).toBe(1);
    expect(hidden()).toEqual([]);
    expect(lab.contents()).toEqual(['The locker code is 4711.']);
  });

  it('is undone as a whole, 5,000 at once; deleted for good, it lets others have their turn', async () => {
    const first = lab.add('Box 0 stands in the hall.');
    lab.multiply(first, 4999);
    const ids = lab.database.all<{ uuid: string }>('SELECT uuid FROM memory_units').map(({ uuid }) => uuid);
    const { undo, forgotten } = lab.book.forget(ids, false);
    expect(forgotten).toBe(5000);
    expect(lab.list().total).toBe(0);
    lab.undo.apply(undo?.token ?? '');
    expect(lab.list().total).toBe(5000);

    let turns = 0;
    const purged = lab.book.purge(ids);
    expect(lab.list().total).toBe(0);
    const others = setInterval(() => {
      turns += 1;
    });
    expect((await purged).purged).toEqual({ units: 5000, messages: 0 });
    clearInterval(others);
    expect(turns).toBeGreaterThan(5);
    expect(lab.count('memory_units')).toBe(0);
  });

  it('cut short by a crash, goes on at the next start', () => {
    const first = lab.add('Box 0 stands in the hall.');
    lab.multiply(first, 200);
    const ids = lab.database.all<{ uuid: string }>('SELECT uuid FROM memory_units').map(({ uuid }) => uuid);
    void lab.book.purge(ids);
    expect(lab.count('memory_units')).toBeGreaterThan(0);
    expect(lab.contents()).toEqual([]);
    expect(lab.database.all("SELECT 1 FROM memory_units WHERE forgotten_at > '1970-01-02'")).toEqual([]);
  });

  it('deletes after a day, wherever it stood', () => {
    lab.book.start();
    const id = lab.add('The alarm stays at zebra-cocoa-91.');
    const { undo } = lab.book.edit(id, { content: 'The alarm stays at zebra-cocoa-92.' });
    const said = lab.say('zebra-cocoa-91', { turnId: 'turn-1' });
    lab.database.run('INSERT INTO memory_sources SELECT id, ? FROM memory_units', said);
    lab.book.forget([id], false);
    lab.clock.advance(25 * HOUR);
    expect(lab.count('memory_units')).toBe(0);
    expect(lab.count('memory_turns')).toBe(0);
    expect(lab.count('memory_events')).toBe(0);
    expect(lab.count('memory_gone')).toBe(1);
    expect(() => lab.undo.apply(undo.token)).toThrow(/can no longer be undone/);
    expect(() => lab.book.restore([id])).toThrow(/There is no memory/);
  });

  it('leaves nothing in the file when it is to be gone now', () => {
    const id = lab.add('The alarm stays at zebra-cocoa-91.');
    lab.book.edit(id, { content: 'The alarm stays at zebra-cocoa-92.' });
    expect(lab.book.forget([id], true)).toMatchObject({
      forgotten: 1,
      undo: null,
      purged: { units: 1, messages: 0 },
    });
    for (const name of readdirSync(lab.root))
      expect(readFileSync(join(lab.root, name), 'latin1')).not.toContain('zebra-cocoa');
  });

  it('forgets a conversation, and keeps what was said elsewhere too', async () => {
    const here = lab.say('I sing in a choir.', { sessionId: 'one' });
    const there = lab.say('My choir sings on Tuesdays.', { sessionId: 'two' });
    lab.say('Nothing to remember.', { sessionId: 'one' });
    const only = lab.add('Sings in a choir.');
    const both = lab.add('The choir rehearses in the old mill.');
    const link = (uuid: string, turn: number) =>
      lab.database.run(
        'INSERT INTO memory_sources SELECT id, ? FROM memory_units WHERE uuid = ?',
        turn,
        uuid,
      );
    link(only, here);
    link(both, here);
    link(both, there);
    const result = await lab.book.forgetSession('one', false);
    expect(result).toMatchObject({ forgotten: 1, turns: 2 });
    expect(lab.contents()).toEqual(['The choir rehearses in the old mill.']);
    expect(lab.book.get(both).sources.map(({ sessionId }) => sessionId)).toEqual(['two']);
    lab.undo.apply(result.undo?.token ?? '');
    expect(lab.contents()).toHaveLength(2);
    expect(lab.book.get(both).sources).toHaveLength(2);
    await expect(lab.book.forgetSession('three', false)).rejects.toThrow(/Nothing is remembered/);
  });

  it('forgets one thing that was said, by its id', () => {
    const [first, second] = [lab.say('The kiln fires at 1240.'), lab.say('The glaze is blue.')];
    const shown = () =>
      lab.database
        .all<{ id: number }>('SELECT id FROM memory_turns WHERE forgotten_at IS NULL ORDER BY id')
        .map(({ id }) => id);
    const { undo } = lab.book.forget([`t${first}`], false);
    expect(shown()).toEqual([second]);
    lab.undo.apply(undo?.token ?? '');
    expect(shown()).toEqual([first, second]);
    lab.book.forget([`t${first}`], true);
    expect(shown()).toEqual([second]);
    expect(() => lab.book.forget(['t999'], false)).toThrow(/There is no memory t999/);
  });

  it('wipes one scope and no other', async () => {
    lab.add('Alice grows tomatoes.', { scope: { user: 'alice' } });
    lab.say('Tomatoes!', { scope: { user: 'alice', workspace: '', agent: '' } });
    lab.add('Bob grows beans.', { scope: { user: 'bob' } });
    const wiped = await lab.book.wipe({ user: 'alice', workspace: '', agent: '' }, false);
    expect(wiped).toMatchObject({ forgotten: 1, turns: 1 });
    expect(lab.contents()).toEqual(['Bob grows beans.']);
    lab.undo.apply(wiped.undo?.token ?? '');
    expect(lab.contents()).toHaveLength(2);
    expect(await lab.book.wipe(undefined, true)).toEqual({ forgotten: 2, turns: 1, undo: null });
    expect(lab.count('memory_units') + lab.count('memory_turns')).toBe(0);
  });
});
