import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Config } from '../../shared/config.ts';
import type { Undo } from '../../shared/contract.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Job, ProposalState, SkillProposal, TurnDetail } from '../../shared/model.ts';
import type { Bus } from '../bus.ts';
import type { Logger } from '../platform/logger.ts';
import type { ChatModel, Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { UndoLog } from '../store/undo.ts';
import { readAnswer } from './answer.ts';
import { buildPrompt, checkSuggestions, type KnownSkill, type Suggestion } from './evolve.ts';
import { appendHistory } from './history.ts';
import { type Lesson, pickLessons } from './lessons.ts';
import { Proposals, type StoredProposal } from './proposals.ts';
import { HopelessError, JobQueue } from './queue.ts';
import { scanSkill } from './safety.ts';

/** What the learner needs of the skill library. */
export interface Library {
  /** Live skills; `proposal` is the accepted proposal that a file came from. */
  texts(): readonly (KnownSkill & { proposal: string | null })[];
  /** Writes a whole new skill or nothing; CONFLICT when the name is taken. */
  add(
    draft: Pick<StoredProposal, 'name' | 'description' | 'category' | 'triggers' | 'body'> & {
      metadata: Readonly<Record<string, string>>;
    },
  ): void;
  /** Moves a skill into the trash. */
  remove(name: string): unknown;
}

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
  /** `evolution_history.jsonl`, absolute. */
  historyFile: string;
}

const ANSWER_TOKENS = 3000;
const EXCERPT_CHARS = 200;
const UNDO_ACCEPT = 'proposal.accept';
const UNDO_REJECT = 'proposal.reject';

/**
 * Learns from finished conversations, far from the request path: sessions become jobs, jobs become proposals, and
 * accepted proposals become skills. Each step is committed before the next begins, and repeating one is harmless.
 */
export class Learner {
  readonly #deps: LearnerDeps;
  readonly #queue: JobQueue;
  readonly #proposals: Proposals;

  constructor(deps: LearnerDeps) {
    this.#deps = deps;
    this.#proposals = new Proposals(deps.database);
    this.#queue = new JobQueue({
      database: deps.database,
      clock: deps.clock,
      log: deps.log,
      bus: deps.bus,
      ready: () => this.offReason() === null,
      heldUntil: deps.heldUntil,
      run: (job, signal) => this.#learn(job, signal),
    });
    deps.undo.handle(UNDO_ACCEPT, (payload) => this.#undoAccept(payload));
    deps.undo.handle(UNDO_REJECT, (payload) => this.#undoReject(payload));
  }

  /** Repairs what a crash left between two steps, then works the queue. The library must be loaded. */
  start(): void {
    this.#repair();
    this.#queue.start();
  }

  /** Aborts the running call to the model; its job runs again at the next start. */
  async stop(): Promise<void> {
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
      waiting: this.#proposals.countWaiting(),
    };
  }

  /** A session is over: what it teaches is looked for soon. A session that goes on and ends again is looked at again. */
  sessionEnded(end: { sessionId: string; turns: number }): void {
    if (end.turns > 0 && this.offReason() === null) this.#queue.enqueue('evolve', end.sessionId);
  }

  /** A main turn of a running session was recorded; `turns` counts the session's main turns. */
  turnRecorded(sessionId: string, turns: number): void {
    const every = this.#deps.config().skills.evolution_every_n_turns;
    if (every > 0 && turns > 0 && turns % every === 0 && this.offReason() === null)
      this.#queue.enqueue('evolve', sessionId);
  }

  /** Newest first. */
  list(state?: ProposalState): SkillProposal[] {
    return this.#proposals.list(state);
  }

  /** NOT_FOUND when there is no such proposal. */
  get(id: string): SkillProposal {
    return this.#need(id);
  }

  /**
   * Makes a waiting proposal a live skill. CONFLICT when it does not wait or its name is taken, FORBIDDEN when the
   * scan found something and `despiteFindings` is not set.
   */
  accept(
    id: string,
    options: {
      edit?: Pick<SkillProposal, 'name' | 'description' | 'category' | 'body'> | undefined;
      despiteFindings?: boolean;
    } = {},
  ): { skill: string; undo: Undo } {
    const proposal = this.#waiting(id);
    const next: StoredProposal = { ...proposal, ...options.edit, auto: false };
    const findings = scanSkill(next);
    if (findings.length > 0 && options.despiteFindings !== true)
      throw new AppError(
        'FORBIDDEN',
        `The safety scan found: ${findings.map(({ message }) => message).join(' ')}`,
        {
          hint: 'Read the proposal, edit it, or accept it in spite of the findings.',
        },
      );
    return this.#goLive(proposal, { ...next, findings });
  }

  /** Refuses a waiting proposal, for good: the same lesson is not proposed again. Takes an accepted one back. */
  reject(id: string, reason = ''): { undo: Undo } {
    const before = this.#need(id);
    if (before.state === 'rejected' || before.state === 'undone')
      throw new AppError('CONFLICT', `The proposal ${before.name} was refused already.`);
    const { database, undo } = this.#deps;
    return database.tx(() => {
      if (before.state === 'accepted') this.#removeSkillOf(before);
      this.#decide({
        ...before,
        state: before.state === 'accepted' ? 'undone' : 'rejected',
        verdict: reason,
      });
      return { undo: undo.offer(UNDO_REJECT, `Refused: ${before.name}`, { id, state: before.state }) };
    });
  }

  /** Looks at one session; the whole job of the queue. */
  async #learn(job: Job, signal: AbortSignal): Promise<void> {
    const { chatModel, log } = this.#deps;
    const turns = this.#deps
      .turnsOf(job.subject)
      .filter((turn) => turn.kind === 'main' && turn.status !== 'open');
    const lastSeq = turns.reduce((most, turn) => Math.max(most, turn.seq), 0);
    const lessons = pickLessons(turns, this.#readUpTo(job.subject));
    if (lessons.length === 0) {
      this.#markRead(job.subject, lastSeq);
      return;
    }
    const known = this.#known();
    const answer = await chatModel().complete(
      { ...buildPrompt(lessons, known), maxTokens: ANSWER_TOKENS, sessionId: job.subject },
      signal,
    );
    signal.throwIfAborted();
    const { items, found } = readAnswer(answer.text);
    if (!found) throw new HopelessError(`${answer.model} answered without a list of skills.`);
    // The library may have changed while the model thought.
    const { suggestions, dropped } = checkSuggestions(items, lessons, this.#known());
    for (const { name, reason } of dropped)
      log.info({ session: job.subject, skill: name }, `suggestion dropped: ${reason}`);
    const proposals = suggestions.map((suggestion) => this.#toProposal(suggestion, job.subject, lessons));
    this.#deps.database.tx(() => {
      for (const proposal of proposals) this.#proposals.put(proposal, job.id);
      this.#markRead(job.subject, lastSeq);
    });
    this.#deps.bus.emit('invalidate', 'proposals');
    this.#note(lessons, proposals);
    for (const proposal of proposals) if (proposal.auto) this.#acceptByItself(proposal);
  }

  #toProposal(suggestion: Suggestion, sessionId: string, lessons: readonly Lesson[]): StoredProposal {
    const findings = scanSkill(suggestion);
    const { auto_accept: mode } = this.#deps.config().skills;
    const isClean = findings.length === 0;
    const { turnIds, resembles, ...skill } = suggestion;
    return {
      ...skill,
      id: randomUUID(),
      kind: 'new',
      state: 'waiting',
      // Whatever the mode, a person looks at what the scan found.
      auto: isClean && (mode === 'always' || (mode === 'safe' && resembles === null)),
      findings,
      evidence: lessons
        .filter(({ turnId }) => turnIds.includes(turnId))
        .map(({ turnId, user }) => ({ sessionId, turnId, excerpt: user.slice(0, EXCERPT_CHARS) })),
      verdict: '',
      createdAt: this.#now(),
      decidedAt: null,
    };
  }

  /** Under `auto_accept`; a name that was taken meanwhile leaves the proposal waiting for a person. */
  #acceptByItself(proposal: StoredProposal): void {
    try {
      this.#goLive(proposal, proposal);
    } catch (error) {
      this.#deps.log.warn({ err: error, skill: proposal.name }, 'a proposal could not be accepted by itself');
      this.#proposals.put({ ...proposal, auto: false });
    }
  }

  /**
   * Writes the file, then marks the proposal. A crash in between leaves a skill that names its proposal, which the
   * next start finds and marks.
   */
  #goLive(before: StoredProposal, next: StoredProposal): { skill: string; undo: Undo } {
    const { skills, database, undo } = this.#deps;
    const written = skills.texts().find(({ proposal }) => proposal === next.id);
    const [first] = next.evidence;
    if (!written)
      skills.add({
        name: next.name,
        description: next.description,
        category: next.category,
        triggers: next.triggers,
        metadata: { source: 'learned', proposal: next.id, ...(first ? { session: first.sessionId } : {}) },
        body: next.body,
      });
    const name = written?.name ?? next.name;
    return database.tx(() => {
      this.#decide({ ...next, name, state: 'accepted' });
      const { description, category, body } = before;
      const payload = { id: next.id, before: { name: before.name, description, category, body } };
      return { skill: name, undo: undo.offer(UNDO_ACCEPT, `Added: ${name}`, payload) };
    });
  }

  /** Nobody had decided on what went live by itself, so its undo is a refusal; a decision of the user is reopened. */
  #undoAccept(payload: unknown): void {
    const text = z.object({
      name: z.string(),
      description: z.string(),
      category: z.string(),
      body: z.string(),
    });
    const { id, before } = z.object({ id: z.string(), before: text }).parse(payload);
    const proposal = this.#need(id);
    if (proposal.state !== 'accepted')
      throw new AppError('CONFLICT', 'The proposal has been decided again since.');
    this.#removeSkillOf(proposal);
    this.#decide(
      proposal.auto ? { ...proposal, state: 'undone' } : { ...proposal, ...before, state: 'waiting' },
    );
  }

  #undoReject(payload: unknown): void {
    const { id, state } = z.object({ id: z.string(), state: z.enum(['waiting', 'accepted']) }).parse(payload);
    const proposal = this.#need(id);
    if (proposal.state !== 'rejected' && proposal.state !== 'undone')
      throw new AppError('CONFLICT', 'The proposal has been decided again since.');
    const waiting: StoredProposal = { ...proposal, state: 'waiting', verdict: '' };
    this.#decide(waiting);
    if (state === 'accepted') this.#goLive(waiting, waiting);
  }

  #removeSkillOf(proposal: StoredProposal): void {
    const live = this.#deps.skills.texts().find((skill) => skill.proposal === proposal.id);
    if (live) this.#deps.skills.remove(live.name);
  }

  #decide(proposal: StoredProposal): void {
    const waits = proposal.state === 'waiting';
    this.#proposals.put({ ...proposal, decidedAt: waits ? null : this.#now() });
    this.#deps.bus.emit('invalidate', 'proposals');
  }

  #repair(): void {
    const live = new Set(this.#deps.skills.texts().map(({ proposal }) => proposal));
    for (const proposal of this.#proposals.list('waiting')) {
      if (proposal.auto) this.#acceptByItself(proposal);
      else if (live.has(proposal.id)) this.#goLive(proposal, proposal);
    }
  }

  /** Everything that a suggestion must not repeat: the library, what waits, what was refused, what was removed. */
  #known(): KnownSkill[] {
    const live = this.#deps.skills.texts();
    const ids = new Set(live.map(({ proposal }) => proposal));
    return [...live, ...this.#proposals.list().filter(({ id }) => !ids.has(id))];
  }

  #readUpTo(sessionId: string): number {
    const row = this.#deps.database.get<{ last_seq: number }>(
      'SELECT last_seq FROM learned WHERE session_id = ?',
      sessionId,
    );
    return row?.last_seq ?? 0;
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

  #need(id: string): StoredProposal {
    const proposal = this.#proposals.get(id);
    if (!proposal) throw new AppError('NOT_FOUND', `There is no proposal ${JSON.stringify(id)}.`);
    return proposal;
  }

  #waiting(id: string): StoredProposal {
    const proposal = this.#need(id);
    if (proposal.state !== 'waiting')
      throw new AppError('CONFLICT', `The proposal ${proposal.name} is ${proposal.state} already.`);
    return proposal;
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}
