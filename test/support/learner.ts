import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bus } from '../../src/engine/bus.ts';
import { Learner, type LearnerDeps } from '../../src/engine/learning/index.ts';
import { silentLogger } from '../../src/engine/platform/logger.ts';
import type { ChatModel } from '../../src/engine/ports.ts';
import { SkillBook } from '../../src/engine/skills/index.ts';
import { type Database, openDatabase } from '../../src/engine/store/database.ts';
import { UndoLog } from '../../src/engine/store/undo.ts';
import { UsageLedger } from '../../src/engine/usage/index.ts';
import { type Config, DEFAULT_CONFIG } from '../../src/shared/config.ts';
import type { TurnDetail } from '../../src/shared/model.ts';
import { type FakeClock, fakeClock } from './clock.ts';
import { NO_EMBEDDER } from './embedder.ts';
import { makeTurn } from './turns.ts';

/** What the scripted model proposes, unless a test says otherwise. */
export const SKILL = {
  name: 'changelog-for-customers',
  description: 'Use when writing a changelog entry.',
  category: 'communication',
  triggers: ['changelog entry', 'release notes'],
  body: '1. Say what the customer can do now.\n2. Leave out internals.\n\n**Anti-pattern:** naming the function that changed.',
  reason: 'The user corrected the point of view.',
  turns: [2],
};

/** A session that teaches it. */
export const TAUGHT = [
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

/** Where the scripted model is. */
const SERVED = { upstream: 'custom', host: 'model.example', model: 'scripted' };

interface Opened {
  learner: Learner;
  book: SkillBook;
  undo: UndoLog;
  database: Database;
  ledger: UsageLedger;
}

/** A learner over a real database and a real library, a clock that stands still, and a scripted model. */
export class LearnerLab {
  readonly root = mkdtempSync(join(tmpdir(), 'metaclaw-learn-'));
  readonly clock: FakeClock = fakeClock();
  config: Config = DEFAULT_CONFIG;
  /** By session. */
  readonly turns: Record<string, TurnDetail[]> = { s1: TAUGHT };
  answer: (request: { system: string; user: string }, signal: AbortSignal) => Promise<string> = async () =>
    JSON.stringify([SKILL]);
  readonly calls: { system: string; user: string }[] = [];
  readonly model: ChatModel = {
    complete: async (request, signal) => {
      this.calls.push(request);
      const text = await this.answer(request, signal);
      this.#ledger?.record({
        purpose: 'evolver',
        sessionId: request.sessionId ?? null,
        ...SERVED,
        httpStatus: 200,
        usage: {
          inputTokens: 100,
          outputTokens: 20,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          estimated: false,
        },
      });
      return { text, model: 'scripted' };
    },
  };
  #ledger: UsageLedger | null = null;
  readonly #opened: Opened[] = [];
  readonly #databases: Database[] = [];

  constructor() {
    mkdirSync(join(this.root, 'bank'));
  }

  /** The same state folder again, as the next process would open it. */
  async open(
    options: { chatModel?: () => ChatModel; library?: (book: SkillBook) => LearnerDeps['skills'] } = {},
  ): Promise<Opened> {
    const { root, clock } = this;
    const { database } = openDatabase(join(root, 'state.db'));
    this.#databases.push(database);
    const undo = new UndoLog({ database, clock });
    const shared = { database, clock, log: silentLogger(), bus: new Bus(), undo, config: () => this.config };
    const book = new SkillBook({
      ...shared,
      dir: join(root, 'skills'),
      bank: join(root, 'bank'),
      trash: join(root, 'trash'),
      embedder: NO_EMBEDDER,
    });
    await book.start();
    const ledger = new UsageLedger({
      ...shared,
      backgroundModel: () => SERVED,
      onRecorded: () => {},
    });
    this.#ledger = ledger;
    const learner = new Learner({
      ...shared,
      skills: options.library?.(book) ?? book.forLearning,
      turnsOf: (sessionId) => this.turns[sessionId] ?? [],
      chatModel: options.chatModel ?? (() => this.model),
      heldUntil: () => ledger.heldUntil(),
      outcomesChanged: () => book.outcomesChanged(),
      historyFile: join(root, 'evolution_history.jsonl'),
    });
    learner.start();
    const opened = { learner, book, undo, database, ledger };
    this.#opened.push(opened);
    return opened;
  }

  use(patch: Partial<Config['skills']>): void {
    this.config = { ...this.config, skills: { ...this.config.skills, ...patch } };
  }

  /** Ends a session and waits until everything that it taught is settled. */
  async learn(learner: Learner, sessionId = 's1'): Promise<void> {
    this.end(learner, sessionId);
    await this.idle(learner);
  }

  end(learner: Learner, sessionId = 's1'): void {
    learner.sessionEnded({ sessionId, turns: 2 });
  }

  idle(learner: Learner): Promise<void> {
    return until(() => learner.status().queued + learner.status().running === 0);
  }

  /** Leaves the newest objects behind as a kill does: only what watches files is stopped, the database stays open. */
  async abandon(): Promise<void> {
    await this.#opened.pop()?.book.stop();
  }

  async close(): Promise<void> {
    for (const { learner, book } of this.#opened) {
      await learner.stop();
      await book.stop();
    }
    for (const database of this.#databases) database.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Resolves when the condition holds; the event loop goes on in between, the fake clock does not. */
export async function until(condition: () => boolean): Promise<void> {
  for (let n = 0; n < 1000; n += 1) {
    if (condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('condition not met');
}
