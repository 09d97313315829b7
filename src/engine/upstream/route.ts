import type { Readable } from 'node:stream';
import type { Dialect } from '../../shared/model.ts';
import type { ProgramId } from './cli-login/programs.ts';
import type { Quirks } from './presets.ts';

/** Where a request goes and how it is spoken there. */
export interface Route {
  /** Provider id, e.g. `openai`. */
  name: string;
  /** Prefix of endpoint paths, e.g. `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Its host, with a port where it is not the usual one; says whose prices hold. */
  host: string;
  /** The vendor's program on this computer that answers in place of a server; null for a server. */
  program: ProgramId | null;
  wire: Dialect;
  /** Model id on the provider's side. */
  model: string;
  apiKey: string;
  /** The caller's own credentials are sent on instead of ours. */
  passthrough: boolean;
  /** Headers that the provider wants from every caller. */
  headers: Readonly<Record<string, string>>;
  /** The address's own query, which every request carries; empty for most. */
  query: string;
  /** Sign-in that stood in the address, `Basic …`; used where there is no key. */
  basic: string | null;
  /** Members that every request body carries there, e.g. OpenRouter's routing. */
  options: Readonly<Record<string, unknown>>;
  quirks: Quirks;
}

export interface UpstreamRequest {
  /** Below the base URL, e.g. `/chat/completions?beta=true`. */
  path: string;
  method: string;
  /** Without credentials: the route adds them. */
  headers: Record<string, string | string[]>;
  body: Uint8Array | Readable | null;
  signal?: AbortSignal;
}
