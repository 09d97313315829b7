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
  /** Returns the answer's text. Throws AppError UPSTREAM_* with the provider's words. */
  complete(
    request: { system: string; user: string; maxTokens: number; temperature?: number },
    signal: AbortSignal,
  ): Promise<{ text: string; model: string; inputTokens: number; outputTokens: number }>;
}
