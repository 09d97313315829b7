import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NewUnit } from '../../../src/engine/memory/units.ts';
import { ROUTES } from '../../../src/shared/contract.ts';
import { MemoryLab } from '../../support/memory.ts';

const HOUR = 60 * 60 * 1000;
let lab: MemoryLab;
beforeEach(() => {
  lab = new MemoryLab();
});
afterEach(() => lab.close());

/** What a conversation taught, an hour after the one before. */
function learn(content: string, over: Partial<NewUnit> & { role?: 'user' | 'assistant' } = {}) {
  lab.clock.advance(HOUR);
  const { role = 'user', ...unit } = over;
  const said = lab.say(content, { role });
  return lab.learn(content, { sources: [said], ...unit });
}

describe('a changed fact', () => {
  it.each([
    ['We use MySQL 5.7.', 'We moved to PostgreSQL 16.'],
    ['We use MySQL 5.7', 'We use PostgreSQL 16'],
    ['The project runs on Node 18', 'We upgraded to Node 20 last week'],
    ['Our CI runs on Jenkins', 'We replaced Jenkins with GitHub Actions'],
    ['We use npm', 'We switched from npm to pnpm because it is faster'],
    ['We use Sidekiq', 'We moved from Sidekiq to Temporal'],
    ['We use Sidekiq', "We don't use Sidekiq any more"],
    ['We use Docker', 'We no longer use Docker'],
    ['My phone number is 555-1234', 'My phone number is now 555-9999'],
    ['I live in Berlin', 'I moved to Lyon in March 2026'],
    ['I live in Berlin', 'I moved from Berlin to Lyon'],
    ['Call me Kate', 'Please call me Katherine'],
    ['Deploys run on Fridays', 'We deploy on Tuesdays now'],
    ['The standup is at 9:30', 'The standup moved to 10am'],
    ['I prefer tabs over spaces', 'I prefer 4 spaces, not tabs'],
    ['I like coffee', "I don't like coffee any more"],
    ['Always squash commits', 'Never squash commits'],
    ['The staging database is on port 5432', 'The staging database is on port 5433'],
    ['The deadline for Orion is June 1', 'The deadline for Orion moved to June 12'],
    ["Alice's phone number is 555-4444", "Alice's phone number changed to 555-5555"],
    ['我们用 MySQL 5.7', '我们已经迁移到 PostgreSQL 16 了'],
    ['我的手机号是 13800001111', '我的手机号改成了 13900002222'],
    ['我住在北京', '我搬到了上海'],
    ['部署在每周五', '现在改为每周二部署'],
    ['私たちは MySQL 5.7 を使っています', 'PostgreSQL 16 に移行しました'],
    ['私は東京に住んでいます', '大阪に引っ越しました'],
    ['デプロイは金曜日です', 'デプロイは火曜日に変わりました'],
    ['Usamos MySQL 5.7', 'Pasamos a PostgreSQL 16'],
    ['Vivo en Madrid', 'Me mudé a Sevilla'],
    ['Los despliegues son los viernes', 'Ahora desplegamos los martes'],
    ['Mi teléfono es 600 111 222', 'Mi número de teléfono ahora es 600 333 444'],
    ['Nous utilisons MySQL 5.7', 'Nous sommes passés à PostgreSQL 16'],
    ['J’habite à Lyon', 'J’ai déménagé à Nantes'],
    ['Je préfère les tabulations', 'Je préfère les espaces aux tabulations'],
    ['Les déploiements ont lieu le vendredi', 'Les déploiements sont maintenant le mardi'],
  ])('%s → %s', (before, after) => {
    const old = learn(before);
    const change = learn(after);
    expect(change.superseded).toEqual([old.row.uuid]);
    expect(lab.contents()).toEqual([after]);
    expect(lab.unit(before)).toMatchObject({
      status: 'superseded',
      supersededBy: change.row.uuid,
      validTo: lab.unit(after).validFrom,
    });
    expect(lab.book.get(change.row.uuid).replaced.map(({ content }) => content)).toEqual([before]);
  });

  it('is not touched by what is said of something else', () => {
    const apart = [
      'The home server runs PostgreSQL 15',
      'The work server runs MySQL 8',
      'The staging database is MySQL 5.7',
      'The production database is PostgreSQL 16',
      'We use MySQL for billing',
      'We use PostgreSQL for analytics',
      'Alice prefers tabs',
      'Bob prefers spaces',
      'In Makefiles I use tabs',
      'In Python files I use spaces',
      'The API listens on port 3000',
      'The billing service listens on port 3001',
      'My phone number is 555-1234',
      'My work phone number is 555-0000',
      "Alice's phone number is 555-4444",
      'The standup is at 9:30',
      'The retro is at 16:00',
      'The deadline for Orion is June 1',
      'The deadline for Phoenix is July 1',
      'I live in Berlin',
      'My mother lives in Hamburg',
      'The other project uses MongoDB',
      'We also use SQLite',
      'We are thinking of moving to Oracle',
      'If we used MariaDB, the tests would be slower',
      'We used Cassandra until 2021',
      'I read an article about MySQL 9',
    ];
    for (const fact of apart) learn(fact);
    expect(lab.contents()).toEqual(apart);
    expect(lab.contents('superseded')).toEqual([]);
  });

  it('that arrives late does not take the place of a newer one, and ends the one before it', () => {
    learn('We use MySQL 5.7', { observedAt: '2024-01-10T00:00:00Z' });
    learn('We use MongoDB', { observedAt: '2025-06-01T00:00:00Z' });
    learn('We use PostgreSQL 15', { observedAt: '2024-09-01T00:00:00Z' });
    expect(lab.contents()).toEqual(['We use MongoDB']);
    expect(lab.unit('We use PostgreSQL 15')).toMatchObject({
      status: 'superseded',
      validFrom: '2024-09-01T00:00:00.000Z',
      validTo: '2025-06-01T00:00:00.000Z',
    });
    expect(lab.unit('We use MySQL 5.7')).toMatchObject({
      validTo: '2024-09-01T00:00:00.000Z',
      supersededBy: lab.unit('We use PostgreSQL 15').id,
    });
  });

  it('can come back: three values, each with its time', () => {
    for (const fact of ['We use MySQL', 'We moved to PostgreSQL', 'We moved back to MySQL']) learn(fact);
    expect(lab.contents()).toEqual(['We moved back to MySQL']);
    expect(lab.contents('superseded')).toEqual(['We use MySQL', 'We moved to PostgreSQL']);
  });

  it('keeps its pin on the value that holds', () => {
    const { row } = learn('My phone number is 555-1234');
    lab.book.pin([row.uuid], true);
    learn('My phone number is now 555-9999');
    expect(lab.unit('My phone number is now 555-9999').pinned).toBe(true);
    expect(lab.unit('My phone number is 555-1234').pinned).toBe(false);
  });

  it('stays in its scope', () => {
    lab.add('We use MySQL 5.7', { scope: { user: 'alice' } });
    lab.clock.advance(HOUR);
    lab.add('We moved to PostgreSQL 16', { scope: { user: 'bob' } });
    expect(lab.contents()).toHaveLength(2);
  });

  it('is undone with all that it replaced', () => {
    learn('We use MySQL 5.7');
    const added = lab.book.add(ROUTES['memory.add'].input.parse({ content: 'We moved to PostgreSQL 16' }));
    expect(added.superseded).toHaveLength(1);
    lab.undo.apply(added.undo.token);
    expect(lab.contents()).toEqual(['We use MySQL 5.7']);
    expect(lab.unit('We use MySQL 5.7')).toMatchObject({ validTo: null, supersededBy: null });
    expect(lab.count('memory_units')).toBe(1);
  });

  it('brought back after its time is not current again', () => {
    const { row } = learn('We use MySQL 5.7');
    const { undo } = lab.book.forget([row.uuid], false);
    learn('We moved to PostgreSQL 16');
    lab.undo.apply(undo?.token ?? '');
    expect(lab.contents()).toEqual(['We moved to PostgreSQL 16']);
    expect(lab.contents('superseded')).toEqual(['We use MySQL 5.7']);
  });

  it('of the user’s own entry needs the user’s words of change; otherwise it waits for the user', () => {
    lab.add('We use MySQL 5.7');
    learn('We use PostgreSQL 16');
    expect(lab.contents()).toEqual(['We use MySQL 5.7']);
    const [conflict] = lab.book.conflicts();
    expect(conflict).toMatchObject({ why: 'contradiction' });
    const { undo } = lab.book.settle(
      conflict?.id ?? '',
      conflict?.one.content === 'We use PostgreSQL 16' ? 'one' : 'other',
    );
    expect(lab.contents()).toEqual(['We use PostgreSQL 16']);
    expect(lab.book.conflicts()).toEqual([]);
    lab.undo.apply(undo.token);
    expect(lab.contents()).toEqual(['We use MySQL 5.7']);
    expect(lab.book.conflicts()).toHaveLength(1);
    learn('We switched to MariaDB now');
    expect(lab.contents()).toEqual(['We switched to MariaDB now']);
  });

  it('that the user writes over a memory takes the place of what was learned, not of another own entry', () => {
    const { row } = learn('The server runs Debian');
    learn('We use SQLite');
    lab.book.edit(row.uuid, { content: 'We use PostgreSQL 16' });
    expect(lab.contents()).toEqual(['We use PostgreSQL 16']);
    expect(lab.unit('We use SQLite').validTo).toBe(new Date(lab.clock.now()).toISOString());
    const own = lab.add('The attic is dry');
    lab.book.edit(own, { content: 'We use MariaDB' });
    expect(lab.contents()).toEqual(['We use PostgreSQL 16', 'We use MariaDB']);
    expect(lab.book.conflicts()).toMatchObject([{ message: 'You entered two values for the same thing.' }]);
  });

  it('of the user’s is not overruled by what the assistant says', () => {
    learn('We use PostgreSQL 16');
    learn('The project uses MySQL', { role: 'assistant' });
    expect(lab.contents()).toEqual(['We use PostgreSQL 16']);
    expect(lab.book.conflicts()).toHaveLength(1);
  });
});

describe('near-duplicates', () => {
  it.each([
    [
      'I prefer tabs over spaces.',
      'Please indent with tabs, not spaces',
      'Use tabs instead of spaces',
      'Tabs are my preference for indentation',
      'I like tabs better than spaces',
    ],
    [
      'The staging deploy runs on Fridays',
      'Staging deploys run on Fridays.',
      'On Fridays we run the staging deploy',
      'Staging deployments happen on Friday',
      'We deploy staging every Friday',
    ],
    [
      'My dog is called Rex',
      'I have a dog named Rex',
      'my dog is called Rex!',
      'Rex is my dog',
      'The user has a dog called Rex',
    ],
    [
      'We use PostgreSQL 16',
      'Our database is PostgreSQL 16',
      'We run PostgreSQL 16 now',
      'PostgreSQL 16 is our database',
      'The project uses PostgreSQL 16',
    ],
    [
      '我喜欢用制表符缩进',
      '请用制表符缩进',
      '缩进请用制表符',
      '我更喜欢制表符，不要空格',
      '我习惯用 Tab 键缩进',
    ],
  ])('of one fact become one, counted: %s …', (...said) => {
    for (const text of said) learn(text);
    expect(lab.contents()).toEqual([said[0]]);
    const unit = lab.unit(said[0]);
    expect(unit.mentions).toBe(5);
    expect(lab.book.get(unit.id).sources.map(({ quote }) => quote)).toEqual(said);
  });

  it.each([
    ['The service listens on 10.0.0.1', 'The service listens on 10.0.0.2'],
    ['Invoice 17 is paid', 'Invoice 18 is paid'],
    ['Version 2.1 breaks the export', 'Version 2.2 breaks the export'],
    ['The audit is due on 2026-03-01', 'The audit is due on 2026-04-01'],
    ['Alice reports to Bob', 'Bob reports to Alice'],
    ['The cat belongs to Alice', 'The cat belongs to Bob'],
    ['The export supports comments', 'The export does not support comments'],
    ['Restart before the backup', 'Restart after the backup'],
    ['The config is in ~/Docs/app.yaml', 'The config is in ~/docs/app.yaml'],
    ['The home server runs Debian', 'The server runs Debian'],
    ['The report goes to Alice on Monday', 'The report goes to Alice on Friday'],
  ])('are not: %s / %s', (one, other) => {
    learn(one);
    learn(other);
    expect(lab.contents()).toEqual([one, other]);
  });

  it('of events stay apart when they happened on two days', () => {
    learn('Had lunch with the auditors', { kind: 'episodic' });
    learn('Had lunch with the auditors', { kind: 'episodic' });
    expect(lab.contents()).toHaveLength(1);
    lab.clock.advance(48 * HOUR);
    learn('Had lunch with the auditors', { kind: 'episodic' });
    expect(lab.contents()).toHaveLength(2);
  });

  it('are left alone when the user turned that off, until consolidation is asked for', () => {
    lab.config = { ...lab.config, memory: { ...lab.config.memory, auto_consolidate: false } };
    learn('Staging deploys run on Fridays');
    learn('On Fridays we run the staging deploy');
    learn('We use MySQL');
    learn('We moved to PostgreSQL');
    expect(lab.contents()).toHaveLength(4);
    expect(lab.book.consolidate(true)).toEqual({ superseded: 2, expired: 0, conflicts: 0, undo: null });
    expect(lab.contents()).toHaveLength(4);
    const { undo } = lab.book.consolidate(false);
    expect(lab.contents()).toHaveLength(2);
    lab.undo.apply(undo?.token ?? '');
    expect(lab.contents()).toHaveLength(4);
    expect(lab.book.consolidate(false)).toMatchObject({ superseded: 2, expired: 0, conflicts: 0 });
    expect(lab.contents()).toEqual(['Staging deploys run on Fridays', 'We moved to PostgreSQL']);
    expect(lab.book.consolidate(false)).toEqual({ superseded: 0, expired: 0, conflicts: 0, undo: null });
  });

  it('that only deny each other are shown to the user, once', () => {
    learn('The export supports comments');
    learn('The export does not support comments');
    const [conflict] = lab.book.conflicts();
    expect(conflict).toMatchObject({ why: 'contradiction', message: 'One denies what the other says.' });
    lab.book.settle(conflict?.id ?? '', 'both');
    lab.book.consolidate(false);
    expect(lab.book.conflicts()).toEqual([]);
    expect(lab.contents()).toHaveLength(2);
    expect(() => lab.book.settle(conflict?.id ?? '', 'both')).toThrow(/no such conflict/);
  });
});

describe('merging by hand', () => {
  it('makes one of several, which stay in its history; undone it never was', () => {
    const one = learn('The boiler was serviced in May');
    const other = learn('The boiler is an old Vaillant');
    lab.book.pin([other.row.uuid], true);
    const { id, undo } = lab.book.merge(
      [one.row.uuid, other.row.uuid],
      'The boiler, an old Vaillant, was serviced in May',
    );
    expect(lab.contents()).toEqual(['The boiler, an old Vaillant, was serviced in May']);
    expect(lab.book.get(id)).toMatchObject({ pinned: true, mentions: 2 });
    expect(lab.book.get(id).replaced).toHaveLength(2);
    expect(lab.book.get(id).sources).toHaveLength(2);
    lab.book.forget([id], false);
    expect(lab.contents('superseded')).toEqual([]);
    lab.book.restore([id]);
    expect(lab.contents('superseded')).toHaveLength(2);
    lab.undo.apply(undo.token);
    expect(lab.contents()).toHaveLength(2);
    expect(lab.unit('The boiler is an old Vaillant').pinned).toBe(true);
  });

  it('refuses what cannot be one', () => {
    const one = lab.add('The attic is dry');
    const other = lab.add('The attic is cold', { scope: { user: 'alice' } });
    expect(() => lab.book.merge([one], 'x')).toThrow(/two memories or more/);
    expect(() => lab.book.merge([one, one], 'x')).toThrow(/two memories or more/);
    expect(() => lab.book.merge([one, other], 'x')).toThrow(/different scopes/);
    expect(() => lab.book.merge([one, 'nothing'], 'x')).toThrow(/There is no memory nothing/);
  });
});

it('does not learn again from what was said before it was forgotten', () => {
  const { row } = learn('The spare key is under the third pot');
  lab.book.forget([row.uuid], false);
  learn('The spare key is under the third pot', { observedAt: row.observed_at });
  expect(lab.contents()).toEqual([]);
  lab.clock.advance(HOUR);
  learn('The spare key is under the third pot');
  expect(lab.contents()).toEqual(['The spare key is under the third pot']);
});
