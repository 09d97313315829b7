import type { Usage } from '../shared/model.ts';
import type { OwnPurpose } from '../shared/usage.ts';

/** What the engine needs from its host. Hosts build these; tests pass fakes of the same shape. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fn` once after `ms`; the disposer cancels. Never keeps the process alive by itself. */
  after(ms: number, fn: () => void): () => void;
}

/** Secrets by config path, e.g. `llm.api_key`. */
export interface SecretStore {
  get(name: string): string | null;
  set(name: string, value: string): void;
  clear(name: string): void;
  names(): string[];
  /** Where secrets are kept, in words for the user, and whether that is an OS keychain. */
  describe(): { kind: 'keychain' | 'file'; detail: string };
}

export interface Ports {
  host: 'app' | 'daemon';
  version: string;
  /** State folder, absolute. */
  home: string;
  /** Config file, absolute; usually inside `home`. */
  configFile: string;
  /** Folder of the built-in skills, read-only. */
  skillsBank: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  secrets: SecretStore;
  /** Per-run settings from flags, e.g. `{ 'proxy.port': 31000 }`; hold for this run and are never written. */
  overrides: Readonly<Record<string, unknown>>;
  /** Where log lines go beside the file: a terminal, or nowhere. */
  logToStderr: boolean;
  /** An engine for one command: it listens to nothing, and a host that starts meanwhile waits for its end. */
  brief?: boolean;
}

/** A model for our own background calls (evolver, extractor, judge), never on the request path. */
export interface ChatModel {
  /**
   * Returns the answer's text. Throws AppError UPSTREAM_* with the provider's words, CANCELLED when the day's cap is
   * used up. `sessionId`: what the question is about, for the ledger.
   */
  complete(
    request: { system: string; user: string; maxTokens: number; temperature?: number; sessionId?: string },
    signal: AbortSignal,
  ): Promise<{ text: string; model: string }>;
}

/** A call to a model that we made ourselves, however it ended. */
export interface OwnCall {
  purpose: OwnPurpose;
  /** The session that it is about, or null. */
  sessionId: string | null;
  /** Provider id, e.g. `openai`. */
  upstream: string;
  /** Host of the provider, with a port where it is not the usual one. */
  host: string;
  model: string;
  /** Of the answer; null when none came. */
  httpStatus: number | null;
  /** Null when the provider refused it or never got it. */
  usage: Usage | null;
}

/** Counts our own calls. Every one goes through it, so that none is missing in the ledger. */
export interface CallMeter {
  /** Throws CANCELLED, saying why, when the day's cap lets no further call of this purpose through. */
  admit(call: Pick<OwnCall, 'purpose' | 'upstream' | 'host' | 'model'>): void;
  /** Never throws. */
  record(call: OwnCall): void;
}
