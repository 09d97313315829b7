import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Config } from '../../shared/config.ts';
import type { Dialect } from '../../shared/model.ts';
import type { InjectionPlan } from '../inject/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { Clock } from '../ports.ts';
import type { OpenTurn } from '../sessions/index.ts';
import type { ResponseStore } from '../store/response-store.ts';
import type { Route, Upstream } from '../upstream/index.ts';
import type { EarlyHead } from './early-head.ts';
import type { Facts } from './facts.ts';
import type { TakeFeedback } from './feedback-route.ts';
import type { TokenCounter } from './limits/token-counter.ts';
import type { PreparedRequest } from './prepare.ts';
import type { ReasoningMemory } from './reasoning/memory.ts';
import type { TurnLog, TurnRecord } from './record.ts';
import type { ProxyPath } from './request-path.ts';
import type { Skim } from './skim.ts';
import type { JsonObject } from './translate/types.ts';

export interface TurnDeps {
  config: () => Config;
  clock: Clock;
  log: Logger;
  sessions: TurnLog;
  upstream: Upstream;
  reasoning: ReasoningMemory;
  responses: ResponseStore;
  counter: TokenCounter;
  /** What to add to a turn; `roomTokens` is what the model's window has left. */
  compose: (turn: OpenTurn, roomTokens: number) => Promise<InjectionPlan> | InjectionPlan;
  /** What a user says of a turn. */
  feedback: TakeFeedback;
  /** Silence after which a stream gets a sign of life. */
  heartbeatMs: number;
  /** Time that retrieval may take. */
  deadlineMs: number;
}

/** One call of a client on a model route. */
export interface ModelRequest {
  request: IncomingMessage;
  response: ServerResponse;
  dialect: Dialect;
  path: ProxyPath;
  requestId: string;
  /** `loopback`, or the peer's address. */
  clientAddress: string;
  /** Told once the agent is known. */
  started: (agent: string) => void;
}

/** Everything that the reply side of a turn works with. */
export interface TurnInFlight {
  call: ModelRequest;
  facts: Facts;
  skim: Skim;
  route: Route;
  prepared: PreparedRequest;
  record: TurnRecord;
  /** Signs of life until the answer begins; null for clients that want no stream. */
  early: EarlyHead | null;
  /** Our own response headers. */
  headers: OutgoingHttpHeaders;
  /** Keeps the response that a Responses client is told, so that it can be continued; null when nothing is kept. */
  keep: ((response: JsonObject, native: boolean) => void) | null;
}
