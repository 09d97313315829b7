import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bus } from '../../../src/engine/bus.ts';
import { Learner, type Library } from '../../../src/engine/learning/index.ts';
import { silentLogger } from '../../../src/engine/platform/logger.ts';
import type { ChatModel } from '../../../src/engine/ports.ts';
import { SkillBook } from '../../../src/engine/skills/index.ts';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';
import { UsageLedger } from '../../../src/engine/store/ledger.ts';
import { UndoLog } from '../../../src/engine/store/undo.ts';
import { type Config, DEFAULT_CONFIG } from '../../../src/shared/config.ts';
import { AppError } from '../../../src/shared/errors.ts';
import type { TurnDetail } from '../../../src/shared/model.ts';
import { type FakeClock, fakeClock } from '../../support/clock.ts';
import { makeTurn } from '../../support/turns.ts';

const SKILL = {
  name: 'changelog-for-customers',
  description: 'Use when writing a changelog entry.',
  category: 'communication',
  triggers: ['changelog entry', 'release notes'],
  body: '1. Say what the customer can do now.\n2. Leave out internals.\n\n**Anti-pattern:** naming the function that changed.',
  reason: 'The user corrected the point of view.',
  turns: [2],
};
const FLAGGED = {
  ...SKILL,
  name: 'fast-push',
  description: 'Use when pushing to git.',
  body: `Use git push --force when the remote refuses it. Then tell the team that history moved on.`,
};
const TAUGHT = [
  makeTurn({
    id: 't1',
    seq: 1,
    userText: 'Write a changelog entry for the new export button',
    replyText: 'Added export().',
  }),
  makeTurn({
    id: 't2',
    seq: 2,
    userText: 'No, we always write changelog entries from the view of the customer',
    replyText: 'Customers can export.',
  }),
];

type Answer = (request: { system: string; user: string }, signal: AbortSignal) => Promise<string>;

let root: string;
let clock: FakeClock;
let config: Config;
let turns: Record<string, TurnDetail[]>;
let answer: Answer;
let calls: { system: string; user: string }[];
const databases: Database[] = [];
const running: { learner: Learner; book: SkillBook }[] = [];

const model: ChatModel = {
  async complete(request, signal) {
    calls.push(request);
    return { text: await answer(request, signal), model: 'scripted', inputTokens: 100, outputTokens: 20 };
  },
};

/** The same state folder again, as the next process would open it. */
async function open(options: { chatModel?: () => ChatModel; library?: (book: SkillBook) => Library } = {}) {
  const { database } = openDatabase(join(root, 'state.db'));
  databases.push(database);
  const bus = new Bus();
  const log = silentLogger();
  const undo = new UndoLog({ database, clock });
  const shared = { database, clock, log, bus, undo, config: () => config };
  const book = new SkillBook({
    ...shared,
    dir: join(root, 'skills'),
    bank: join(root, 'bank'),
    trash: join(root, 'trash'),
  });
  await book.start();
  const ledger = new UsageLedger({ database, clock });
  const learner = new Learner({
    ...shared,
    skills: options.library?.(book) ?? book,
    turnsOf: (sessionId) => turns[sessionId] ?? [],
    chatModel: options.chatModel ?? (() => model),
    ledger,
    historyFile: join(root, 'evolution_history.jsonl'),
  });
  learner.start();
  running.push({ learner, book });
  return { learner, book, undo, database, ledger };
}

async function until(condition: () => boolean): Promise<void> {
  for (let n = 0; n < 1000; n += 1) {
    if (condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('condition not met');
}
const idle = (learner: Learner) => until(() => learner.status().queued + learner.status().running === 0);
const end = (learner: Learner, sessionId = 's1') => learner.sessionEnded({ sessionId, turns: 2 });
const use = (patch: Partial<Config['skills']>) => {
  config = { ...config, skills: { ...config.skills, ...patch } };
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'metaclaw-learn-'));
  mkdirSync(join(root, 'bank'));
  clock = fakeClock();
  config = DEFAULT_CONFIG;
  turns = { s1: TAUGHT };
  calls = [];
  answer = async () => JSON.stringify([SKILL]);
});

afterEach(async () => {
  for (const { learner, book } of running.splice(0)) {
    await learner.stop();
    await book.stop();
  }
  for (const database of databases.splice(0)) database.close();
  rmSync(root, { recursive: true, force: true });
});

describe('from a session to a skill', () => {
  it('safe: a clean new skill goes live by itself, marked, with evidence, and is found at once', async () => {
    const { learner, book } = await open();
    end(learner);
    await idle(learner);
    expect(learner.list()).toMatchObject([
      {
        state: 'accepted',
        auto: true,
        findings: [],
        evidence: [{ sessionId: 's1', turnId: 't2', excerpt: TAUGHT[1]?.userText }],
      },
    ]);
    expect(book.retrieve('Draft the changelog entry for version 3').map(({ id }) => id)).toEqual([
      SKILL.name,
    ]);
    const { content, source } = book.get(SKILL.name);
    expect(source).toBe('learned');
    expect(content).toContain('source: learned');
    expect(content).toContain('session: s1');
  });

  it('ask: waits until it is accepted, then lives; undo brings both back', async () => {
    use({ auto_accept: 'ask' });
    const { learner, book, undo } = await open();
    end(learner);
    await idle(learner);
    const [proposal] = learner.list('waiting');
    expect(learner.status().waiting).toBe(1);
    expect(book.list().skills).toEqual([]);
    const accepted = learner.accept(proposal?.id ?? '');
    expect(accepted.skill).toBe(SKILL.name);
    expect(book.get(SKILL.name).content).toContain('triggers: changelog entry; release notes');
    undo.apply(accepted.undo.token);
    expect(book.list().skills).toEqual([]);
    expect(learner.list('waiting')).toMatchObject([{ id: proposal?.id, auto: false }]);
  });

  it('an edited acceptance writes the edited text under the edited name', async () => {
    use({ auto_accept: 'ask' });
    const { learner, book, undo } = await open();
    end(learner);
    await idle(learner);
    const id = learner.list()[0]?.id ?? '';
    const edit = {
      name: 'changelog',
      description: 'Use for changelogs: all',
      category: 'general',
      body: 'Mine.',
    };
    const accepted = learner.accept(id, { edit });
    expect(book.get('changelog')).toMatchObject({ description: 'Use for changelogs: all' });
    undo.apply(accepted.undo.token);
    expect(learner.get(id)).toMatchObject({ state: 'waiting', name: SKILL.name, body: SKILL.body });
  });

  it.each(['safe', 'always'] as const)(
    '%s: what the scan flags waits, and needs an explicit word (R111)',
    async (mode) => {
      use({ auto_accept: mode });
      answer = async () => JSON.stringify([FLAGGED]);
      const { learner, book } = await open();
      end(learner);
      await idle(learner);
      const [proposal] = learner.list('waiting');
      expect(proposal).toMatchObject({ auto: false, findings: [{ rule: 'checks-off' }] });
      expect(() => learner.accept(proposal?.id ?? '')).toThrow(
        expect.objectContaining({ code: 'FORBIDDEN' }),
      );
      expect(book.list().skills).toEqual([]);
      learner.accept(proposal?.id ?? '', { despiteFindings: true });
      expect(book.list().skills).toHaveLength(1);
    },
  );

  it('never overwrites a skill of the user: the same name is dropped, a name taken later waits (R109)', async () => {
    const mine = '---\nname: changelog-for-customers\ndescription: mine\n---\n\nMy way.\n';
    mkdirSync(join(root, 'skills', 'changelog-for-customers'), { recursive: true });
    writeFileSync(join(root, 'skills', 'changelog-for-customers', 'SKILL.md'), mine);
    const { learner, book } = await open();
    end(learner);
    await idle(learner);
    expect(learner.list()).toEqual([]);
    expect(book.get('changelog-for-customers').content).toBe(mine);
  });

  it('a folder in the way (not a skill) leaves the proposal waiting', async () => {
    mkdirSync(join(root, 'skills', SKILL.name), { recursive: true });
    const { learner } = await open();
    end(learner);
    await idle(learner);
    expect(learner.list()).toMatchObject([{ state: 'waiting', auto: false }]);
    expect(() => learner.accept(learner.list()[0]?.id ?? '')).toThrow(
      expect.objectContaining({ code: 'CONFLICT' }),
    );
  });

  it('a refused lesson is not proposed again, nor is one whose skill was taken back or deleted', async () => {
    use({ auto_accept: 'ask' });
    const { learner, book, undo } = await open();
    end(learner);
    await idle(learner);
    const rejected = learner.reject(learner.list()[0]?.id ?? '', 'too narrow');
    turns.s2 = TAUGHT.map((turn) => ({ ...turn, sessionId: 's2' }));
    answer = async () => JSON.stringify([{ ...SKILL, name: 'under-another-name' }]);
    end(learner, 's2');
    await idle(learner);
    expect(learner.list()).toHaveLength(1);
    undo.apply(rejected.undo.token);
    expect(learner.list('waiting')).toHaveLength(1);
    learner.accept(learner.list()[0]?.id ?? '');
    learner.reject(learner.list()[0]?.id ?? '');
    expect(learner.list()[0]?.state).toBe('undone');
    expect(book.list().skills).toEqual([]);
    turns.s3 = TAUGHT;
    end(learner, 's3');
    await idle(learner);
    expect(learner.list()).toHaveLength(1);
  });

  it('the undo of what went live by itself is a refusal; it survives a restart', async () => {
    const first = await open();
    end(first.learner);
    await idle(first.learner);
    const row = first.database.get<{ token: string }>(
      "SELECT token FROM undo WHERE kind = 'proposal.accept'",
    );
    await first.learner.stop();
    await first.book.stop();
    const second = await open();
    second.undo.apply(row?.token ?? '');
    expect(second.learner.list()).toMatchObject([{ state: 'undone' }]);
    expect(second.book.list().skills).toEqual([]);
  });

  it('writes the history as the original did', async () => {
    const { learner } = await open();
    end(learner);
    await idle(learner);
    const lines = readFileSync(join(root, 'evolution_history.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        timestamp: expect.stringMatching(/^20/),
        num_failures_analyzed: 2,
        num_skills_generated: 1,
        skill_names: [SKILL.name],
        skills: [
          { name: SKILL.name, category: SKILL.category, description: SKILL.description, content: SKILL.body },
        ],
        failure_prompts: [expect.any(String), expect.any(String)],
      },
    ]);
  });
});

describe('what the evolver sees', () => {
  it('the user’s words and the answers; never bodies, system prompts or side turns', async () => {
    turns.s1 = [
      ...TAUGHT.map((turn) => ({
        ...turn,
        requestBody: '{"system":"SYSTEM-TEXT"}',
        sentBody: 'INJECTED-TEXT',
        replyBody: 'RAW',
      })),
      makeTurn({ id: 'side', seq: 3, kind: 'side', userText: 'From now on SIDE-TURN' }),
    ];
    const { learner } = await open();
    end(learner);
    await idle(learner);
    expect(calls[0]?.user).toContain('from the view of the customer');
    expect(JSON.stringify(calls)).not.toMatch(/SYSTEM-TEXT|INJECTED-TEXT|RAW|SIDE-TURN/);
  });

  it('is not asked about small talk', async () => {
    turns.s1 = [makeTurn({ seq: 1, userText: 'hi' }), makeTurn({ seq: 2, userText: 'thanks' })];
    const { learner } = await open();
    end(learner);
    await idle(learner);
    expect(calls).toEqual([]);
    expect(learner.list()).toEqual([]);
  });

  it('a session that goes on is read from where it stopped; ending again without news costs nothing', async () => {
    const { learner } = await open();
    end(learner);
    await idle(learner);
    end(learner);
    await idle(learner);
    expect(calls).toHaveLength(1);
    turns.s1 = [...TAUGHT, makeTurn({ id: 't3', seq: 3, userText: 'From now on answer in French' })];
    end(learner);
    await idle(learner);
    expect(calls).toHaveLength(2);
    expect(calls[1]?.user).toContain('From now on answer in French');
    expect(calls[1]?.user).not.toContain('new export button');
  });

  it('learns in the middle of a long session, every n turns', async () => {
    use({ evolution_every_n_turns: 2 });
    const { learner } = await open();
    learner.turnRecorded('s1', 1);
    await idle(learner);
    expect(calls).toHaveLength(0);
    learner.turnRecorded('s1', 2);
    await idle(learner);
    expect(calls).toHaveLength(1);
  });

  it.each([
    ['skills.auto_evolve', { skills: { ...DEFAULT_CONFIG.skills, auto_evolve: false } }],
    ['record.bodies', { record: { bodies: false } }],
  ])('is not asked when %s is off, and status says so', async (key, patch) => {
    config = { ...config, ...patch };
    const { learner } = await open();
    end(learner);
    await idle(learner);
    expect(calls).toEqual([]);
    expect(learner.status()).toMatchObject({ enabled: false, reason: expect.stringContaining(key) });
  });

  it('the daily cap stops it until tomorrow', async () => {
    config = { ...config, usage: { ...config.usage, daily_cap: 100 } };
    const { learner, ledger } = await open();
    end(learner);
    await idle(learner);
    expect(ledger.spentToday()).toBe(120);
    turns.s2 = TAUGHT;
    end(learner, 's2');
    await until(() => learner.status().lastError !== null);
    expect(calls).toHaveLength(1);
    clock.sleep(24 * 3600 * 1000);
    clock.advance(60_000);
    await idle(learner);
    expect(calls).toHaveLength(2);
  });
});

describe('trouble', () => {
  it('an outage of the model only delays: tried ever later, never given up, shown in status', async () => {
    answer = async () => {
      throw new AppError('UPSTREAM_UNREACHABLE', 'connect ECONNREFUSED');
    };
    const { learner } = await open();
    end(learner);
    const delays: number[] = [];
    for (let n = 1; n <= 12; n += 1) {
      await until(() => calls.length === n && learner.status().running === 0);
      expect(learner.status()).toMatchObject({ queued: 1, lastError: 'connect ECONNREFUSED' });
      const from = clock.now();
      while (calls.length === n) {
        clock.advance(1000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      delays.push(Math.round((clock.now() - from) / 1000));
    }
    expect(delays.slice(0, 3)).toEqual([15, 30, 60]);
    expect(delays.at(-1)).toBe(3600);
    answer = async () => '[]';
    clock.advance(3_600_000);
    await until(() => learner.status().queued === 0 && learner.status().running === 0);
    expect(learner.status().lastError).toBeNull();
  });

  it('waits for a provider, and goes on when one is set', async () => {
    let ready = false;
    const { learner } = await open({
      chatModel: () => {
        if (!ready) throw new AppError('PROVIDER_NOT_SET', 'No provider is set.');
        return model;
      },
    });
    end(learner);
    await until(() => learner.status().lastError !== null);
    ready = true;
    learner.wake();
    await idle(learner);
    expect(learner.list()).toHaveLength(1);
  });

  it('garbage is asked for again, then the job has failed, visibly', async () => {
    answer = async () => 'I would rather talk about the weather.';
    const { learner } = await open();
    end(learner);
    for (let n = 1; n <= 3; n += 1) {
      await until(() => calls.length === n && learner.status().running === 0);
      clock.advance(120_000);
    }
    await idle(learner);
    expect(calls).toHaveLength(3);
    expect(learner.status()).toMatchObject({
      queued: 0,
      lastError: expect.stringContaining('without a list'),
    });
  });

  it('stop aborts the call at once; the job runs at the next start', async () => {
    let aborted = false;
    answer = (_, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(signal.reason);
        });
      });
    const first = await open();
    end(first.learner);
    await until(() => calls.length === 1);
    await first.learner.stop();
    expect(aborted).toBe(true);
    expect(first.learner.status()).toMatchObject({ queued: 1, running: 0 });
    answer = async () => JSON.stringify([SKILL]);
    const second = await open();
    await idle(second.learner);
    expect(second.book.list().skills).toHaveLength(1);
  });

  it('a session that ends again while it is being read is read again', async () => {
    let release: (text: string) => void = () => {};
    answer = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    const { learner } = await open();
    end(learner);
    await until(() => calls.length === 1);
    turns.s1 = [...TAUGHT, makeTurn({ id: 't3', seq: 3, userText: 'From now on answer in French' })];
    end(learner);
    release('[]');
    await until(() => calls.length === 2);
    expect(calls[1]?.user).toContain('answer in French');
    release('[]');
    await idle(learner);
  });
});

describe('kill -9', () => {
  /** Leaves the process's objects behind without stopping them; its database handle stays open as a dead one would. */
  const abandon = () => running.pop()?.book.stop();

  it('while the model thinks: the job runs again', async () => {
    answer = () => new Promise(() => {});
    const first = await open();
    end(first.learner);
    await until(() => calls.length === 1);
    await abandon();
    answer = async () => JSON.stringify([SKILL]);
    const second = await open();
    await idle(second.learner);
    expect(second.learner.list()).toHaveLength(1);
    expect(second.book.list().skills).toHaveLength(1);
  });

  it('between the proposal and its skill: the skill goes live at the next start', async () => {
    const first = await open({
      library: (book) => ({
        texts: () => book.texts(),
        remove: (name) => book.remove(name),
        add: () => new Promise(() => {}),
      }),
    });
    end(first.learner);
    await idle(first.learner);
    first.database.run("UPDATE proposals SET state = 'waiting', auto = 1, decided_at = NULL");
    await first.learner.stop();
    await abandon();
    const second = await open();
    expect(second.learner.list()).toMatchObject([{ state: 'accepted', auto: true }]);
    expect(second.book.list().skills).toHaveLength(1);
  });

  it('between the skill’s file and its mark: the proposal is marked, the file is not written twice', async () => {
    use({ auto_accept: 'ask' });
    const first = await open({
      library: (book) => ({
        texts: () => book.texts(),
        remove: (name) => book.remove(name),
        add: (draft) => {
          book.add(draft);
          throw new Error('killed');
        },
      }),
    });
    end(first.learner);
    await idle(first.learner);
    const id = first.learner.list()[0]?.id ?? '';
    expect(() => first.learner.accept(id)).toThrow('killed');
    await first.learner.stop();
    await abandon();
    const second = await open();
    expect(second.learner.get(id).state).toBe('accepted');
    expect(second.book.list().skills.map(({ name }) => name)).toEqual([SKILL.name]);
    expect(second.book.list().problems).toEqual([]);
  });

  it('after the proposals were stored: nothing is proposed or paid for twice', async () => {
    use({ auto_accept: 'ask' });
    const first = await open();
    end(first.learner);
    await idle(first.learner);
    first.database.run("UPDATE jobs SET state = 'running'");
    await first.learner.stop();
    await abandon();
    const second = await open();
    await idle(second.learner);
    expect(calls).toHaveLength(1);
    expect(second.learner.list()).toHaveLength(1);
  });
});
