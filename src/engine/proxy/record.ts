import type { Logger } from '../platform/logger.ts';
import type { Clock } from '../ports.ts';
import type { OpenTurn, ReceivedReply, RequestFacts, SentRequest } from '../sessions/index.ts';
import { usageOf } from './estimate.ts';
import type { AssembledReply, JsonObject } from './translate/types.ts';

/** What the proxy needs of the session log. */
export interface TurnLog {
  open(facts: RequestFacts): OpenTurn;
  recordRequest(turn: OpenTurn, sent: SentRequest): void;
  recordReply(turn: OpenTurn, reply: ReceivedReply): void;
  abandon(turn: OpenTurn): void;
}

export interface TurnEnd {
  status: ReceivedReply['status'];
  httpStatus: number | null;
  error: string | null;
  answer: Pick<AssembledReply, 'reply' | 'text' | 'usage'> | null;
}

const WRITE_AFTER_MS = 25;

/**
 * The record of one turn: the request once it is on its way, the reply once, before its last bytes go out. Whatever
 * fails here is logged and never reaches the client.
 */
export class TurnRecord {
  readonly #log: Logger;
  readonly #turns: TurnLog;
  readonly #clock: Clock;
  readonly #turn: OpenTurn | null;
  readonly #startMs = performance.now();
  #sent: SentRequest | null = null;
  #promptTokens = 0;
  #written = false;
  #ended = false;
  #firstByteMs: number | null = null;
  #rerouted: ReceivedReply['rerouted'];
  #onAnswer: (reply: JsonObject) => void = () => {};

  /** Without a turn (private mode, bypass) it keeps nothing. */
  constructor(deps: { turns: TurnLog; log: Logger; clock: Clock }, turn: OpenTurn | null) {
    this.#turns = deps.turns;
    this.#log = deps.log;
    this.#clock = deps.clock;
    this.#turn = turn;
  }

  /**
   * Call when the request has been handed to the network. The writing takes milliseconds, so it waits for the time in
   * which a provider thinks; the first byte of a quick one does not queue behind it.
   * @param promptTokens about how long the prompt is, for turns that nobody counts
   */
  sent(sent: SentRequest, promptTokens: number): void {
    if (!this.#turn) return;
    this.#sent = sent;
    this.#promptTokens = promptTokens;
    this.#clock.after(WRITE_AFTER_MS, () => this.#writeRequest());
  }

  /** What else wants to know the whole answer, also of a turn that is not recorded; called after it is recorded. */
  answered(listener: (reply: JsonObject) => void): void {
    this.#onAnswer = listener;
  }

  /** The answer came by another way, or to another form of the request, than `sent` said. */
  rerouted(way: NonNullable<ReceivedReply['rerouted']>): void {
    this.#rerouted = way;
  }

  firstByte(): void {
    this.#firstByteMs ??= performance.now() - this.#startMs;
  }

  end(end: TurnEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#recordReply(end);
    const reply = end.status === 'answered' ? end.answer?.reply : null;
    if (reply) this.#safely('reasoning', () => this.#onAnswer(reply));
  }

  #recordReply(end: TurnEnd): void {
    const turn = this.#turn;
    if (!turn) return;
    this.#writeRequest();
    this.#safely('reply', () =>
      this.#turns.recordReply(turn, {
        status: end.status,
        httpStatus: end.httpStatus,
        firstByteMs: this.#firstByteMs,
        usage: usageOf(end, this.#promptTokens),
        replyText: end.answer?.text ?? '',
        replyBody: end.answer?.reply ?? null,
        error: end.error,
        ...(this.#rerouted ? { rerouted: this.#rerouted } : {}),
      }),
    );
  }

  /** The turn never reached a provider. */
  abandon(): void {
    const turn = this.#turn;
    if (!turn || this.#ended) return;
    this.#ended = true;
    this.#safely('abandoned turn', () => this.#turns.abandon(turn));
  }

  #writeRequest(): void {
    const turn = this.#turn;
    const sent = this.#sent;
    if (!turn || !sent || this.#written) return;
    this.#written = true;
    this.#safely('request', () => this.#turns.recordRequest(turn, sent));
  }

  #safely(what: string, write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#log.error({ err: error, turn: this.#turn?.id }, `the ${what} could not be recorded`);
    }
  }
}
