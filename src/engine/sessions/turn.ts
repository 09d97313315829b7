import type {
  Dialect,
  IdentitySource,
  InjectionReport,
  SessionEndReason,
  TurnKind,
  TurnStatus,
  Usage,
} from '../../shared/model.ts';
import type { SessionInjection } from '../inject/index.ts';

/** What the proxy knows of a request after reading it once; everything lazy is computed at most once. */
export interface RequestFacts {
  dialect: Dialect;
  /** From `/a/<agent>/`, `x-metaclaw-agent`, or the client's own marks; `unknown` otherwise. */
  agent: string;
  /** Lower-cased names. */
  headers: Readonly<Record<string, string | undefined>>;
  /** `loopback`, or the peer's address. */
  clientAddress: string;
  model: string;
  stream: boolean;
  /** `max_tokens`, `max_completion_tokens`; null when absent. */
  maxTokens: number | null;
  hasTools: boolean;
  messageCount: number;
  lastRole: string;
  /** True when the newest message carries tool results: the turn goes on with a tool loop. */
  endsWithToolResult: boolean;
  /** True when the newest message holds words of the user, alone or beside tool results. */
  readonly endsWithUserWords: boolean;
  /** Identity fields of the body: `session_id`, `turn_type`, `session_done`, `memory_scope`, `user_id`, `workspace_id`, `prompt_cache_key`, `metadata.user_id`, `client_metadata.session_id`. */
  fields: Readonly<Record<string, string | undefined>>;
  /** Whole text of the client's first system part; computed on first use. */
  readonly systemText: string;
  firstUserText: string;
  /** The user's own newest words: client wrappers (internal context, timestamps, metadata) removed. */
  userText: string;
  /** Position among the non-system messages of the message that `userText` came from; -1 when there is none. */
  userIndex: number;
  /** Session that the client continues without naming it (a previous response); null or absent when it does not. */
  continues?: string | null;
  /** True when the history holds an answer already. */
  hasAssistant: boolean;
  /** True when the request holds the words already, as they stand. Looks at the beginning of long ones. */
  holds(words: string): boolean;
  /** Hash of one non-system message; undefined where there is none. */
  digestAt(index: number): string | undefined;
  /** Hash of each non-system message (role and normalised content), oldest first. */
  digests(): readonly string[];
}

/** A turn between its arrival and its record; lives in memory only. */
export interface OpenTurn {
  readonly id: string;
  readonly sessionId: string;
  readonly source: IdentitySource;
  readonly seq: number;
  readonly kind: TurnKind;
  readonly agent: string;
  readonly dialect: Dialect;
  readonly startedAtMs: number;
  /** The client said that this is the session's last turn. */
  readonly done: boolean;
  readonly facts: RequestFacts;
  /** Blocks of earlier turns of the session, to be re-added byte for byte. */
  readonly injection: SessionInjection;
}

export interface SentRequest {
  upstream: string;
  /** Host of the provider, with a port where it is not the usual one. */
  host: string;
  model: string;
  requestBody: Uint8Array;
  /** Same object as `requestBody` when nothing was changed. */
  sentBody: Uint8Array;
  report: InjectionReport;
  /** The session's injection after this turn. */
  injection: SessionInjection;
}

export interface ReceivedReply {
  status: Exclude<TurnStatus, 'open'>;
  httpStatus: number | null;
  firstByteMs: number | null;
  usage: Usage | null;
  replyText: string;
  /** The answer assembled into the upstream dialect's non-streaming shape; null when there is none. */
  replyBody: unknown;
  error: string | null;
  /** Set when another provider than the first answered, or the same one to a changed request. */
  rerouted?: Pick<SentRequest, 'upstream' | 'host' | 'model' | 'sentBody'>;
}

/** A turn whose answer was recorded. */
export interface RecordedTurn {
  turnId: string;
  sessionId: string;
  agent: string;
  status: ReceivedReply['status'];
  /** Recorded main turns of the session so far. */
  turns: number;
  /** Skills that the turn carried. */
  skills: string[];
  /** Skills that would have entered, and that the session does without. */
  withheld: string[];
  /** Memories that the turn carried. */
  memories: string[];
  /** Whose turn it is, as the client says. */
  facts: Pick<RequestFacts, 'headers' | 'fields' | 'userIndex'>;
  /** True when the client put the conversation into fewer words. */
  compacts: boolean;
  /** Reads what was said. */
  said: () => SaidInTurn;
}

/** The words of a turn as they are kept: masked and cut; empty where bodies are not recorded. */
interface SaidInTurn {
  /** Null when the turn brought no new words, as in a tool loop. */
  user: string | null;
  /** Null when the answer only calls tools, or when there is none. */
  reply: string | null;
  /** ISO times. */
  askedAt: string;
  answeredAt: string;
}

export interface SessionEnd {
  sessionId: string;
  agent: string;
  /** Recorded main turns so far, over all reopenings. */
  turns: number;
  reason: SessionEndReason;
}
