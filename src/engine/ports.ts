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
  /** An engine for the memory sidecar: the proxy does not listen, and nothing is learned. */
  memoryOnly?: boolean;
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

/** Vectors of texts, from the embeddings endpoint that the user set. They have length 1, so that a dot product compares. */
export interface Embedder {
  /** Endpoint, model and size; vectors under different ids say nothing of each other. Null: no endpoint is set. */
  readonly id: string | null;
  /** How it stands, in words for the user: why there are no vectors, or which model makes them. */
  describe(): string;
  /**
   * Vector of what a user asks, within `waitMs`; null when there is none in time. What comes later is kept for the
   * next time. Never rejects.
   */
  query(text: string, waitMs: number): Promise<Float32Array | null>;
  /** Vectors that are there already, by `vectorKey`. */
  stored(keys: readonly string[]): Map<string, Float32Array>;
  /** Makes, in the background, the vectors of texts that have none. */
  want(texts: readonly string[]): void;
  /** Deletes the vectors of texts that are forgotten. */
  drop(texts: readonly string[]): void;
  /** Names all texts that are to have vectors, page by page; what none names is deleted in the end. Returns the disposer. */
  serve(source: EmbeddingSource): () => void;
  /** Calls the listener when vectors of texts have been stored, or the id has changed (no keys). Returns the disposer. */
  onStored(listener: (keys: readonly string[]) => void): () => void;
}

/** One page of texts from `after` on (0 at first); `next` is null at the end. */
export type EmbeddingSource = (after: number) => { texts: string[]; next: number | null };
