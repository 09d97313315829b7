import { randomBytes, randomUUID } from 'node:crypto';
import type { Config } from '../../shared/config.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { SessionEndReason, TurnDetail, TurnSummary } from '../../shared/model.ts';
import type { Bus } from '../bus.ts';
import type { Logger } from '../platform/logger.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { SessionEnds } from './ends.ts';
import { fingerprint } from './history.ts';
import { identify, isDone, laneOf, newSessionSign, safeId } from './identity.ts';
import { type LiveSession, LiveSessions } from './live.ts';
import { cut, PartStore } from './parts.ts';
import { PromptCache } from './prompt-cache.ts';
import { type AskedTurn, type ListOptions, TurnReader } from './reader.ts';
import { callsTools } from './tool-calls.ts';
import type { OpenTurn, ReceivedReply, RecordedTurn, RequestFacts, SentRequest, SessionEnd } from './turn.ts';
import { isCompaction, isSilentReply, turnKind } from './turn-kind.ts';
import { TurnWriter } from './writer.ts';

export type { OpenTurn, ReceivedReply, RecordedTurn, RequestFacts, SentRequest, SessionEnd };

/** Null: nothing is to be changed. */
type ChangeInjection = (injection: SentRequest['injection']) => SentRequest['injection'] | null;

export interface SessionLogDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Bus;
  config: () => Pick<Config, 'sessions' | 'record'>;
}

/** What is remembered of a turn between its arrival and its reply. */
interface TurnState {
  readonly session: LiveSession;
  /** A session that this one replaces, because the user asked for a new one; ends when this turn is recorded. */
  readonly replaces: LiveSession | null;
  /** What it set as its session's `pending`. */
  readonly pending: readonly string[] | null;
  /** Kept until it is written, so that a failed write is tried once more with the reply. */
  sent: SentRequest | null;
  stored: boolean;
}

/**
 * Recognises sessions, numbers their turns, records them, and says when one has ended.
 *
 * `open` touches memory and at most an index; everything is written after the request went upstream. A session that
 * ended is opened again, under the same id, by a later turn that continues it.
 */
export class SessionLog {
  /** What the provider's prompt cache gave. */
  readonly promptCache: PromptCache;
  readonly #deps: SessionLogDeps;
  readonly #live: LiveSessions;
  readonly #parts: PartStore;
  readonly #reader: TurnReader;
  readonly #writer: TurnWriter;
  readonly #states = new WeakMap<OpenTurn, TurnState>();
  readonly #ends: SessionEnds;
  readonly #recordListeners = new Set<(turn: RecordedTurn) => void>();
  readonly #sideListeners = new Set<(turn: RecordedTurn) => void>();
  /** Changes that turns on their way have not seen. */
  #changes: ChangeInjection[] = [];
  #opened = 0;
  #lost: { turns: number; message: string } | null = null;

  constructor(deps: SessionLogDeps) {
    this.#deps = deps;
    this.#live = new LiveSessions(deps.database);
    this.#parts = new PartStore(deps.database);
    this.#reader = new TurnReader(deps.database, this.#parts);
    this.#writer = new TurnWriter(deps.database, this.#parts);
    this.promptCache = new PromptCache(deps.database, this.#parts);
    this.#ends = new SessionEnds({
      live: this.#live,
      writer: this.#writer,
      clock: deps.clock,
      log: deps.log,
      config: deps.config,
      transaction: (fn) => this.#transaction(fn),
      changed: () => this.#changed(),
    });
  }

  /**
   * Repairs what a crash left and goes on where the last process stopped: turns that were being answered have failed,
   * and sessions that idled too long meanwhile end now. Register `onEnded` listeners first.
   */
  start(): void {
    const repaired = this.#writer.repair();
    if (repaired > 0) this.#deps.log.warn({ turns: repaired }, 'turns were interrupted by the last stop');
    this.#live.loadOpen();
    this.#ends.start();
  }

  /** Stops the timer. Open sessions stay open and go on after the next start. */
  stop(): void {
    this.#ends.stop();
  }

  /** Recognises the session of a request and numbers its turn. Writes nothing. */
  open(facts: RequestFacts): OpenTurn {
    const nowMs = this.#deps.clock.now();
    const kind = turnKind(facts);
    const session = this.#recognise(facts, nowMs);
    const replaces = kind === 'main' ? this.#replaced(facts, session) : null;
    if (kind === 'main') session.issued += 1;
    const turn: OpenTurn = {
      id: this.#newId(nowMs),
      sessionId: session.id,
      source: session.source,
      seq: session.issued,
      kind,
      agent: facts.agent,
      dialect: facts.dialect,
      startedAtMs: nowMs,
      done: isDone(facts),
      facts,
      injection: session.injection,
    };
    session.inFlight.set(turn.id, nowMs);
    // Two chats that began with the same words part here, even when both send at the same moment.
    const pending = kind === 'main' && session.source === 'history' ? facts.digests() : null;
    if (pending !== null) this.#live.learnHistory(session, { pending });
    this.#states.set(turn, { session, replaces, pending, sent: null, stored: false });
    return turn;
  }

  /** Records that a request went upstream. A write that fails is logged and tried again with the reply. */
  recordRequest(turn: OpenTurn, sent: SentRequest): void {
    const state = this.#states.get(turn);
    if (!state || state.sent !== null) return;
    state.sent = sent;
    this.#attempt('request', () => this.#storeRequest(turn, state, sent));
  }

  /** Records the answer; committed when it returns. Ends the session when the client said that this was its last turn. */
  recordReply(turn: OpenTurn, reply: ReceivedReply): void {
    const state = this.#states.get(turn);
    if (!state) return;
    const failure = this.#attempt('reply', () => {
      if (state.sent !== null && !state.stored) this.#storeRequest(turn, state, state.sent);
      if (state.stored) this.#storeReply(turn, state, reply);
      else if (turn.done) this.#transaction(() => this.#ends.end(state.session, 'flag'));
    });
    this.#leave(turn, state);
    if (failure === null && this.#lost === null) return;
    this.#lost = failure === null ? null : { turns: (this.#lost?.turns ?? 0) + 1, message: failure };
    this.#changed();
  }

  /** Turns that were answered but could not be written, and why, until one can be written again; null when all is well. */
  trouble(): { turns: number; message: string } | null {
    return this.#lost;
  }

  /** Forgets a turn that never went upstream; one that did is marked as failed. */
  abandon(turn: OpenTurn): void {
    const state = this.#states.get(turn);
    if (!state) return;
    if (state.stored) {
      this.recordReply(turn, {
        status: 'failed',
        httpStatus: null,
        firstByteMs: null,
        usage: null,
        replyText: '',
        replyBody: null,
        error: 'abandoned',
      });
      return;
    }
    const { session } = state;
    if (turn.kind === 'main' && session.issued === turn.seq) session.issued -= 1;
    if (turn.done) this.#attempt('end', () => this.#transaction(() => this.#ends.end(session, 'flag')));
    this.#leave(turn, state);
  }

  list(options: ListOptions): { turns: TurnSummary[]; next: string | null } {
    return this.#reader.list(options);
  }

  /** When a session of an agent went on last, ISO; null when it has none. */
  lastSeen(agent: string): string | null {
    return this.#reader.lastSeen(agent);
  }

  /** Everything recorded of a turn. Throws NOT_FOUND. */
  get(id: string): TurnDetail {
    const turn = this.#reader.get(id);
    if (turn === null) throw new AppError('NOT_FOUND', `There is no turn ${cut(id, 80)}.`);
    return turn;
  }

  /** A session's main turns, oldest first, for the evolver; bodies are read when they are first asked for. */
  turnsOf(sessionId: string): TurnDetail[] {
    return this.#reader.turnsOf(sessionId);
  }

  /** What users asked last, the newest first: main turns that had words of a user. */
  lastAsked(limit: number): AskedTurn[] {
    return this.#reader.lastAsked(limit);
  }

  /** Main turns per hour of one local day (`YYYY-MM-DD`; today when absent), 24 numbers. */
  histogram(day?: string): { day: string; hours: number[] } {
    return this.#reader.histogram(this.#deps.clock.now(), day);
  }

  /** Sums over the main turns of the local day. */
  today(): { turns: number; sessions: number; addedTokens: number; skillsPerTurn: number } {
    return this.#reader.today(this.#deps.clock.now());
  }

  /**
   * Changes what sessions carry, also those of turns that are being answered; `change` returns null where nothing is to
   * be changed. Returns the number of sessions.
   */
  changeInjections(change: ChangeInjection): number {
    let changed = 0;
    for (const session of this.#live.all()) {
      const next = change(session.injection);
      if (next !== null) session.injection = next;
    }
    if ([...this.#live.all()].some(({ inFlight }) => inFlight.size > 0)) this.#changes.push(change);
    this.#transaction(() => {
      changed = this.#writer.changeInjections(change);
    });
    return changed;
  }

  /** Ends a session now. Throws NOT_FOUND; ending one that has ended changes nothing. */
  end(sessionId: string, reason: SessionEndReason): void {
    const session = this.#live.byId(sessionId);
    if (!session?.stored) throw new AppError('NOT_FOUND', `There is no session ${cut(sessionId, 80)}.`);
    this.#transaction(() => this.#ends.end(session, reason));
    this.#live.release(session);
    this.#changed();
  }

  /**
   * Calls the listener for each main turn whose answer is recorded, inside the transaction that records it. Returns
   * the disposer.
   */
  onRecorded(listener: (turn: RecordedTurn) => void): () => void {
    this.#recordListeners.add(listener);
    return () => {
      this.#recordListeners.delete(listener);
    };
  }

  /** As `onRecorded`, for the side turns, of which nothing is to be learned unless the user wants it. */
  onSideRecorded(listener: (turn: RecordedTurn) => void): () => void {
    this.#sideListeners.add(listener);
    return () => {
      this.#sideListeners.delete(listener);
    };
  }

  /**
   * Calls the listener once for each end of a session that has main turns. It runs inside the transaction that marks
   * the end, so that what it writes to the database is there exactly when the end is. Returns the disposer.
   */
  onEnded(listener: (end: SessionEnd) => void): () => void {
    return this.#ends.listen(listener);
  }

  /** Sorts by time; turns that arrive in one millisecond keep their order. */
  #newId(nowMs: number): string {
    this.#opened = (this.#opened + 1) % 36 ** 4;
    const time = nowMs.toString(36).padStart(9, '0');
    return `${time}${this.#opened.toString(36).padStart(4, '0')}${randomUUID().slice(0, 8)}`;
  }

  #recognise(facts: RequestFacts, nowMs: number): LiveSession {
    const identity = identify(facts);
    if (identity !== null) {
      const known = this.#live.byClientId(facts.agent, identity.id);
      if (known) return known;
      return this.#begin(facts, nowMs, {
        id: this.#freeId(identity.id, facts.agent),
        clientId: identity.id,
        source: identity.source,
        fingerprint: null,
        chain: null,
      });
    }
    const continued = facts.continues ? this.#live.byId(facts.continues) : null;
    if (continued?.agent === facts.agent) return continued;
    const print = fingerprint(facts);
    const digests = facts.digests();
    return (
      this.#live.byHistory(facts, print, digests) ??
      this.#begin(facts, nowMs, {
        id: this.#freeId(`h-${print.slice(0, 16)}`, ''),
        clientId: null,
        source: 'history',
        fingerprint: print,
        chain: digests,
      })
    );
  }

  #begin(
    facts: RequestFacts,
    nowMs: number,
    identity: Pick<LiveSession, 'id' | 'clientId' | 'source' | 'fingerprint' | 'chain'>,
  ): LiveSession {
    return this.#live.add({
      ...identity,
      agent: facts.agent,
      client: facts.clientAddress,
      lane: laneOf(facts),
      pending: null,
      lastAtMs: nowMs,
      turns: 0,
      issued: 0,
      injection: { messages: [] },
      stored: false,
      ended: false,
      inFlight: new Map(),
    });
  }

  /** The wanted id, or one like it where another session has it. */
  #freeId(wanted: string, agent: string): string {
    if (!this.#live.isTaken(wanted)) return wanted;
    const named = `${wanted}~${safeId(agent) ?? randomBytes(3).toString('hex')}`;
    return this.#live.isTaken(named) ? `${wanted}~${randomBytes(6).toString('hex')}` : named;
  }

  /**
   * The session that ends because the user asked for a new one. The bare command may come inside the session that it
   * ends: what follows is then a new stretch of the same session. The announcement always opens a session of its own.
   */
  #replaced(facts: RequestFacts, session: LiveSession): LiveSession | null {
    if (facts.endsWithToolResult) return null;
    const sign = newSessionSign(facts.userText);
    if (sign === null) return null;
    if (session.issued === 0) return this.#live.replacedBy(session);
    return sign === 'command' && facts.lastRole === 'user' && !session.ended && session.turns > 0
      ? session
      : null;
  }

  #storeRequest(turn: OpenTurn, state: TurnState, sent: SentRequest): void {
    const { session, replaces } = state;
    const { facts } = turn;
    const isMain = turn.kind === 'main';
    const byHistory = session.source === 'history' && (isMain || !session.stored);
    const next: LiveSession = {
      ...session,
      chain: byHistory ? facts.digests() : session.chain,
      fingerprint: byHistory ? fingerprint(facts) : session.fingerprint,
      lane: session.lane ?? laneOf(facts),
      injection: isMain ? this.#changedSince(sent.injection) : session.injection,
    };
    this.#transaction(() => {
      if (replaces !== null) this.#ends.end(replaces, 'new-command');
      if (isMain && this.#ends.isIdle(session, turn.startedAtMs, turn.id)) this.#ends.end(session, 'idle');
      this.#writer.saveSession(next, isMain, new Date(turn.startedAtMs).toISOString());
      this.#writer.insertTurn(turn, sent, this.#deps.config().record.bodies);
    });
    state.stored = true;
    session.stored = true;
    const { chain } = next;
    const pending = session.pending === state.pending ? null : session.pending;
    this.#live.learnHistory(session, { chain, pending });
    session.fingerprint = next.fingerprint;
    session.lane = next.lane;
    session.injection = next.injection;
    if (isMain) {
      session.turns += 1;
      session.ended = false;
      session.lastAtMs = Math.max(session.lastAtMs, turn.startedAtMs);
    }
    this.#changed();
  }

  #storeReply(turn: OpenTurn, state: TurnState, reply: ReceivedReply): void {
    const { session } = state;
    const nowMs = this.#deps.clock.now();
    const isMain = turn.kind === 'main';
    const becomesSide = isMain && isSilentReply(reply.replyText);
    const turns = session.turns - (becomesSide ? 1 : 0);
    this.#transaction(() => {
      this.#writer.finishTurn(turn, reply, nowMs, becomesSide, this.#deps.config().record.bodies);
      this.#tellRecorded(turn, state, reply, { turns, isMain: isMain && !becomesSide });
      if (turn.done) this.#ends.end(session, 'flag', turns);
    });
    session.turns = turns;
    if (isMain) session.lastAtMs = Math.max(session.lastAtMs, nowMs);
    this.#changed();
  }

  #tellRecorded(
    turn: OpenTurn,
    state: TurnState,
    reply: ReceivedReply,
    { turns, isMain }: { turns: number; isMain: boolean },
  ): void {
    const { items = [], leftOut = [] } = state.sent?.report ?? {};
    const carried = (kind: string) => items.filter((item) => item.kind === kind).map(({ id }) => id);
    const { facts } = turn;
    const recorded: RecordedTurn = {
      turnId: turn.id,
      sessionId: turn.sessionId,
      agent: turn.agent,
      status: reply.status,
      turns,
      skills: carried('skill'),
      withheld: leftOut.flatMap(({ kind, id, reason }) =>
        kind === 'skill' && reason === 'holdout' ? [id] : [],
      ),
      memories: carried('memory'),
      facts,
      compacts: isCompaction(facts.userText),
      said: () => {
        const { userText, replyText } = this.#reader.wordsOf(turn.id);
        const goesOn = facts.endsWithToolResult && !facts.endsWithUserWords;
        return {
          user: goesOn || userText.trim() === '' ? null : userText,
          reply: replyText.trim() === '' || callsTools(reply.replyBody) ? null : replyText,
          askedAt: new Date(turn.startedAtMs).toISOString(),
          answeredAt: new Date(this.#deps.clock.now()).toISOString(),
        };
      },
    };
    for (const listener of isMain ? this.#recordListeners : this.#sideListeners)
      this.#attempt('news of a turn', () => listener(recorded));
  }

  #leave(turn: OpenTurn, state: TurnState): void {
    const { session } = state;
    this.#states.delete(turn);
    session.inFlight.delete(turn.id);
    if (state.pending !== null && session.pending === state.pending)
      this.#live.learnHistory(session, { pending: null });
    this.#live.release(session);
    if (this.#changes.length > 0 && ![...this.#live.all()].some(({ inFlight }) => inFlight.size > 0))
      this.#changes = [];
    if (state.replaces !== null) this.#live.release(state.replaces);
    this.#ends.watch();
  }

  /** A turn that was on its way carries what was taken out meanwhile. */
  #changedSince(injection: SentRequest['injection']): SentRequest['injection'] {
    return this.#changes.reduce((now, change) => change(now) ?? now, injection);
  }

  /** Runs `fn` in a transaction; when it is rolled back, memory goes back with the database. */
  #transaction(fn: () => void): void {
    let committed = false;
    try {
      this.#deps.database.tx(fn);
      committed = true;
    } finally {
      this.#parts.settle(committed);
      this.#ends.settle(committed);
    }
  }

  /** Records must never break a reply: a failed write is an error in the log and its message, and the turn goes on. */
  #attempt(what: string, fn: () => void): string | null {
    try {
      fn();
      return null;
    } catch (error) {
      this.#deps.log.error({ err: error }, `the ${what} could not be recorded`);
      return messageOf(error);
    }
  }

  #changed(): void {
    this.#deps.bus.emit('invalidate', 'turns');
    this.#deps.bus.emit('invalidate', 'sessions');
  }
}
