import { randomUUID } from 'node:crypto';
import type { Config } from '../../shared/config.ts';
import type { Undo } from '../../shared/contract.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Job, ProposalState, SkillProposal, TurnDetail, TurnFeedback } from '../../shared/model.ts';
import type { Bus } from '../bus.ts';
import type { Logger } from '../platform/logger.ts';
import { readItems } from '../platform/model-answer.ts';
import type { ChatModel, Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { HopelessError, JobQueue } from '../store/job-queue.ts';
import type { UndoLog } from '../store/undo.ts';
import { type AcceptOptions, Decisions, type Library } from './decisions.ts';
import { buildPrompt, checkSuggestions, type Suggestion } from './evolve.ts';
import { type FeedbackInput, FeedbackStore } from './feedback.ts';
import { appendHistory } from './history.ts';
import { type Lesson, pickLessons } from './lessons.ts';
import { Outcomes } from './outcomes.ts';
import type { StoredProposal } from './proposals.ts';
import { newFindings, scanSkill } from './safety.ts';

export interface LearnerDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Bus;
  undo: UndoLog;
  config: () => Config;
  skills: Library;
  /** Turns of a session as recorded (redacted), any order. */
  turnsOf: (sessionId: string) => readonly TurnDetail[];
  /** Throws PROVIDER_NOT_SET when there is none; the job then waits. */
  chatModel: () => ChatModel;
  /** Until when nothing may be asked, because the day's cap is used up, in milliseconds; null when it may. */
  heldUntil: () => number | null;
  /** Told when it was noted how sessions went. */
  outcomesChanged: () => void;
  /** `evolution_history.jsonl`, absolute. */
  historyFile: string;
}

const ANSWER_TOKENS = 3000;
const EXCERPT_CHARS = 200;

/**
 * Learns from finished conversations, far from the request path: sessions become jobs, jobs become proposals, and
 * accepted proposals become skills. Each step is committed before the next begins, and repeating one is harmless.
 */
export class Learner {
  readonly #deps: LearnerDeps;
  readonly #queue: JobQueue;
  readonly #decisions: Decisions;
  readonly #feedback: FeedbackStore;
  readonly #outcomes: Outcomes;

  constructor(deps: LearnerDeps) {
    this.#deps = deps;
    this.#decisions = new Decisions(deps);
    this.#feedback = new FeedbackStore(deps);
    this.#outcomes = new Outcomes({
      ...deps,
      feedbackOf: (sessionId) => this.#feedback.ofSession(sessionId),
      rated: deps.outcomesChanged,
    });
    this.#queue = new JobQueue({
      kind: 'evolve',
      database: deps.database,
      clock: deps.clock,
      log: deps.log,
      bus: deps.bus,
      ready: () => this.offReason() === null,
      heldUntil: deps.heldUntil,
      run: (job, signal) => this.#learn(job, signal),
    });
  }

  /** Repairs what a crash left between two steps, then works the queue. The library must be loaded. */
  start(): void {
    this.#decisions.repair();
    this.#queue.start();
    this.#outcomes.wake();
  }

  /** Aborts the running call to the model; its job runs again at the next start. */
  async stop(): Promise<void> {
    this.#outcomes.stop();
    await this.#queue.stop();
  }

  /** Call when provider, key or learning settings changed: waiting jobs try again now. */
  wake(): void {
    this.#queue.wake();
  }

  /** Why nothing is learned, in words for the user; null when learning is on. */
  offReason(): string | null {
    const { skills, record } = this.#deps.config();
    if (!skills.auto_evolve) return 'Learning is switched off (skills.auto_evolve).';
    if (!record.bodies) return 'Learning needs recorded conversations (record.bodies is off).';
    return null;
  }

  /** For `snapshot.learning` and `snapshot.waiting`. */
  status(): {
    enabled: boolean;
    reason: string | null;
    queued: number;
    running: number;
    lastError: string | null;
    waiting: number;
  } {
    const reason = this.offReason();
    return {
      enabled: reason === null,
      reason,
      ...this.#queue.status(),
      waiting: this.#decisions.countWaiting(),
    };
  }

  /** A session is over: what it teaches is looked for soon. A session that goes on and ends again is looked at again. */
  sessionEnded(end: { sessionId: string; turns: number }): void {
    if (end.turns > 0 && this.offReason() === null) this.#queue.enqueue(end.sessionId);
    this.#outcomes.wake();
  }

  /** What the user says of a turn; the same twice counts once. NOT_FOUND when there is no such turn or session. */
  giveFeedback(input: FeedbackInput): { turnId: string; sessionId: string } {
    const { changed, ...turn } = this.#feedback.set(input);
    if (!changed) return turn;
    this.#deps.bus.emit('invalidate', 'turns');
    this.#outcomes.rate(turn.sessionId);
    // A session that is not over, or not read yet, is read with it.
    const teaches =
      input.label === 'bad' || (input.label !== null && input.text !== undefined && input.text.trim() !== '');
    if (teaches && this.#lastRead(turn.sessionId) !== null && this.offReason() === null)
      this.#queue.enqueue(turn.sessionId);
    return turn;
  }

  /** What was said of a turn; null when nothing. */
  feedbackOn(turnId: string): TurnFeedback | null {
    return this.#feedback.get(turnId);
  }

  /** A main turn of a running session was recorded; `turns` counts the session's main turns. */
  turnRecorded(sessionId: string, turns: number): void {
    const every = this.#deps.config().skills.evolution_every_n_turns;
    if (every > 0 && turns > 0 && turns % every === 0 && this.offReason() === null)
      this.#queue.enqueue(sessionId);
  }

  /** Newest first. */
  list(state?: ProposalState): SkillProposal[] {
    return this.#decisions.list(state);
  }

  /** NOT_FOUND when there is no such proposal. */
  get(id: string): SkillProposal {
    return this.#decisions.get(id);
  }

  /** As `Decisions.accept`. */
  accept(id: string, options: AcceptOptions = {}): { skill: string; undo: Undo } {
    return this.#decisions.accept(id, options);
  }

  /** Refuses a waiting proposal, for good: the same lesson is not proposed again. Takes an accepted one back. */
  reject(id: string, reason = ''): { undo: Undo } {
    return this.#decisions.reject(id, reason);
  }

  /** Looks at one session; the whole job of the queue. */
  async #learn(job: Job, signal: AbortSignal): Promise<void> {
    const { chatModel, log } = this.#deps;
    const turns = this.#deps
      .turnsOf(job.subject)
      .filter((turn) => turn.kind === 'main' && turn.status !== 'open');
    const lastSeq = turns.reduce((most, turn) => Math.max(most, turn.seq), 0);
    const read = this.#lastRead(job.subject);
    const heard = { byTurn: this.#feedback.ofSession(job.subject), since: read?.at ?? null };
    const lessons = pickLessons(turns, read?.last_seq ?? 0, heard);
    if (lessons.length === 0) {
      this.#markRead(job.subject, lastSeq);
      return;
    }
    const { shown, ...prompt } = buildPrompt(lessons, this.#decisions.known());
    const answer = await chatModel().complete(
      { ...prompt, maxTokens: ANSWER_TOKENS, sessionId: job.subject },
      signal,
    );
    signal.throwIfAborted();
    const { items, found } = readItems(answer.text, isSkill);
    if (!found) throw new HopelessError(`${answer.model} answered without a list of skills.`);
    // The library may have changed while the model thought.
    const { suggestions, dropped } = checkSuggestions(items, lessons, this.#decisions.known(), shown);
    for (const { name, reason } of dropped)
      log.info({ session: job.subject, skill: name }, `suggestion dropped: ${reason}`);
    const proposals = suggestions.map((suggestion) => this.#toProposal(suggestion, job.subject, lessons));
    this.#deps.database.tx(() => {
      for (const proposal of proposals) this.#decisions.put(proposal, job.id);
      this.#markRead(job.subject, lastSeq);
    });
    this.#deps.bus.emit('invalidate', 'proposals');
    this.#note(lessons, proposals);
    for (const proposal of proposals) if (proposal.auto) this.#decisions.acceptByItself(proposal);
  }

  #toProposal(suggestion: Suggestion, sessionId: string, lessons: readonly Lesson[]): StoredProposal {
    const { turnIds: _, resembles, edits, ...skill } = suggestion;
    const base = edits ? this.#deps.skills.textOf(edits.hash) : null;
    const findings = newFindings(scanSkill(suggestion), base && { ...suggestion, ...base });
    const { auto_accept: mode } = this.#deps.config().skills;
    const isClean = findings.length === 0;
    const taught = lessons.filter(({ turnId }) => suggestion.turnIds.includes(turnId));
    const isWorkaround = taught.length > 0 && taught.every(({ signal }) => signal === 'recovered');
    return {
      ...skill,
      id: randomUUID(),
      kind: edits ? 'edit' : 'new',
      baseHash: edits?.hash ?? null,
      state: 'waiting',
      // Whatever the mode, a person looks at edits, at what the scan found, and at what nobody but tools has taught.
      auto:
        isClean &&
        edits === null &&
        !isWorkaround &&
        (mode === 'always' || (mode === 'safe' && resembles === null)),
      findings,
      evidence: taught.map(({ turnId, user }) => ({
        sessionId,
        turnId,
        excerpt: user.slice(0, EXCERPT_CHARS),
      })),
      verdict: '',
      createdAt: this.#now(),
      decidedAt: null,
    };
  }

  #lastRead(sessionId: string): { last_seq: number; at: string } | null {
    return this.#deps.database.get<{ last_seq: number; at: string }>(
      'SELECT last_seq, at FROM learned WHERE session_id = ?',
      sessionId,
    );
  }

  #markRead(sessionId: string, lastSeq: number): void {
    this.#deps.database.run(
      `INSERT INTO learned (session_id, last_seq, at) VALUES (?, ?, ?)
       ON CONFLICT (session_id) DO UPDATE SET last_seq = MAX(last_seq, excluded.last_seq), at = excluded.at`,
      sessionId,
      lastSeq,
      this.#now(),
    );
  }

  #note(lessons: readonly Lesson[], proposals: readonly StoredProposal[]): void {
    try {
      appendHistory(this.#deps.historyFile, this.#now(), lessons, proposals);
    } catch (error) {
      this.#deps.log.warn(`evolution_history.jsonl cannot be written: ${messageOf(error)}`);
    }
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}

function isSkill(item: Record<string, unknown>): boolean {
  return 'name' in item && 'description' in item;
}
