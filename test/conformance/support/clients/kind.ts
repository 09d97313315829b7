import type { Dialect } from '../../../../src/shared/model.ts';
import type { Ended } from '../process.ts';

/** What a client printed for the person in front of it. */
export interface Answer {
  text: string;
  ended: Ended;
}

/** One installation of a real client with a home and a workspace of its own. */
export interface Client {
  /** Says something in the current session. */
  say(text: string): Promise<Answer>;
  /** What is said next belongs to another session. */
  startAnew(): void;
  remove(): Promise<void>;
}

export interface ClientKind {
  name: string;
  /** As in `/a/<agent>/…`. */
  agent: string;
  dialect: Dialect;
  /** The tool by which it runs a command, and that tool's arguments. */
  tool: { name: string; input: (command: string) => Record<string, unknown> };
  /** Why it cannot run here, or null. */
  missing(): string | null;
  /** `base` is MetaClaw's address with `/a/<agent>`, without `/v1`. */
  install(base: string, model: string): Promise<Client>;
}

/** The proxy's own key, which no provider may see. */
export const PROXY_KEY = 'sk-local-conformance';
export const TIME_LIMIT_MS = 240_000;
