import type { Usage } from '../../../shared/model.ts';

/** Any JSON object as it came from a wire; its fields are unknown until read. */
export type JsonObject = Record<string, unknown>;

/** One server-sent event, as eventsource-parser hands it out. */
export interface WireEvent {
  event?: string | undefined;
  data: string;
}

/** What a cross-dialect request needs to know of the upstream that will get it. */
export interface TranslateOptions {
  /** Model id for the upstream. */
  model: string;
  /** Unique per turn; ids that the upstream leaves out are made from it. */
  replyId: string;
  /** Unix seconds, for the `created` field of OpenAI replies. */
  createdAt: number;
  /** Which limit field the upstream model takes (T36). */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** True when system text goes upstream under the `developer` role. */
  developerRole: boolean;
  /** True when the upstream model takes no images or files; they are then refused, never replaced. */
  textOnly: boolean;
  /** What happens to reasoning of earlier turns: left out, or sent as `reasoning_content` (T53, T55). */
  reasoning: 'drop' | 'reasoning_content';
  /** `max_tokens` for an Anthropic upstream when the client named no limit (T37). */
  defaultMaxTokens: number;
  /** Ask an OpenAI upstream for usage in its stream, for our own record. */
  wantUsage: boolean;
  /** The upstream takes one system message, first (T04). Default false. */
  oneLeadingSystem?: boolean;
  /** Names of `reasoning_effort` that the upstream knows; empty: never send it. Default low, medium, high. */
  efforts?: readonly string[];
  /** How an Anthropic upstream is asked to think. Default `budget`. */
  thinkingForm?: 'budget' | 'adaptive';
  /** Show thinking of an Anthropic upstream as `reasoning_content` (S16). Default true. */
  showReasoning?: boolean;
  /** Read `<think>` at the start of an answer as reasoning (S12). Default true. */
  thinkTags?: boolean;
  /** Thinking blocks that an Anthropic message with calls had when it was the answer; null when nobody knows. */
  thinkingOf?: (message: JsonObject) => JsonObject[] | null;
  /** Request fields as a Responses client sent them, where its reply must repeat them and they go upstream changed. */
  echo?: JsonObject;
  /** Reasoning items that belong before an assistant message of a chat client, for a Responses upstream. */
  itemsOf?: (message: JsonObject) => readonly JsonObject[] | null;
  /** The result is the middle between two other dialects: it may hold what no chat wire can. Default false. */
  middle?: boolean;
  /** Our own count of the prompt, told to the client only when the upstream gives none. Default 0. */
  estimatedInputTokens?: number;
}

/** A tool of a Responses client, as its calls have to be told to that client. */
export interface ResponsesTool {
  kind: 'function' | 'custom';
  name: string;
  /** The group that the client declared it in; null for most. */
  namespace: string | null;
}

/** What the reply to a Responses client repeats of its request, and how its tools are called there. */
export interface ResponsesEcho {
  /** Request fields as the client sent them. */
  readonly fields: JsonObject;
  /** Wire name → tool. */
  readonly tools: ReadonlyMap<string, ResponsesTool>;
  readonly wantsLogprobs: boolean;
}

/** What the reply's translation must remember of its request. */
export interface TranslationContext {
  readonly replyId: string;
  readonly createdAt: number;
  /** The name that the client asked for; replies carry it (H16). */
  readonly requestedModel: string;
  readonly stream: boolean;
  /** The OpenAI client asked for the usage chunk (S19, S20). */
  readonly includeUsage: boolean;
  /** Name on the upstream's wire → name that the client knows (T15). */
  readonly toolNames: ReadonlyMap<string, string>;
  /** Stop sequences of the request; an upstream's report of one is believed only when it is in here (S28). */
  readonly stopSequences: readonly string[];
  readonly showReasoning: boolean;
  readonly thinkTags: boolean;
  readonly estimatedInputTokens: number;
  /** The OpenAI client used `functions` instead of `tools` and expects `function_call` back. */
  readonly legacyFunctions: boolean;
  /** Only for Responses clients. */
  readonly responses?: ResponsesEcho;
  /** What the first hop of the reply needs, where there are two. */
  readonly hop?: TranslationContext;
}

export interface TranslatedRequest {
  /** Ready for JSON.stringify. */
  body: JsonObject;
  /** Names of what the other dialect cannot say, each once, in order of appearance. */
  dropped: string[];
  context: TranslationContext;
}

/** An error as either wire tells it, before it is put into a client's shape. */
export interface WireError {
  type?: string | undefined;
  message: string;
  code?: string | null | undefined;
  param?: string | null | undefined;
  status?: number | undefined;
}

/**
 * Turns the events of one upstream stream into the client's dialect, one at a time.
 * Every method returns SSE text to write at once, `''` when there is nothing to say yet.
 * After the end or a failure every method returns `''`, so a caller cannot produce a second end.
 */
export interface StreamTranslator {
  push(event: WireEvent): string;
  /** The upstream closed. A clean end only when the upstream said how the answer ended; otherwise an error. */
  end(): string;
  /** Something broke; tells the client in-band. */
  fail(error: WireError): string;
  /** `idle`: nothing was sent yet, so an HTTP error is still possible. */
  readonly state: 'idle' | 'open' | 'ended' | 'failed';
  /** Why it failed, when it did; also set by an upstream's in-band error. */
  readonly error: WireError | null;
}

export interface AssembledReply {
  /** The answer in the shape of a non-streaming reply of its dialect; null when no event could be read. */
  reply: JsonObject | null;
  /** What a person would have seen: no reasoning, no tool calls. */
  text: string;
  /** Null when the upstream counted nothing. */
  usage: Usage | null;
  /** True when the upstream said how the answer ended and reported no error. */
  complete: boolean;
  error: WireError | null;
}

/** Builds the whole answer from a stream's events, for the record. Never throws, whatever the upstream sends. */
export interface Assembler {
  push(event: WireEvent): void;
  result(): AssembledReply;
}
