/** Sessions and what the provider's prompt cache gave them, as engine, screens and CLI tell it. */

/** Tokens of a session's main turns whose provider counted them; of the others `uncounted` is the number. */
export interface SessionSummary {
  id: string;
  agent: string;
  startedAt: string;
  lastAt: string;
  /** Null while it goes on. */
  endedAt: string | null;
  /** Its main turns. */
  turns: number;
  /** The user's first words, redacted and cut. */
  words: string;
  /** All prompt tokens, cached ones included. */
  promptTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** Prompt tokens that were there because of us. */
  addedTokens: number;
  uncounted: number;
}

/**
 * How a prompt stands to the one that it goes on from, which is what a provider's cache can give back. `kept`: all that
 * was sent before stands at its start, byte for byte. `broken`: the client kept its history, and what was sent has
 * another start all the same. `client`: the client itself changed its history. `cut`: a limit took messages out.
 * `other-model`: another model or provider answered before. `unknown`: the bodies were not recorded.
 */
export type PrefixState = 'first' | 'kept' | 'broken' | 'client' | 'cut' | 'other-model' | 'unknown';

export interface CachedTurn {
  turnId: string;
  seq: number;
  at: string;
  model: string;
  /** All of them, cached ones included; null where the provider did not count. */
  promptTokens: number | null;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  addedTokens: number;
  prefix: PrefixState;
}

/** A session's turns, oldest first, at most the newest 500; sums are over these. */
export interface SessionCache {
  sessionId: string;
  turns: CachedTurn[];
  promptTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** Turns whose start we changed. */
  broken: number;
}
