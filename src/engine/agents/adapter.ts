import type { AgentId } from '../../shared/connections.ts';
import type { Env } from '../platform/programs.ts';
import type { Change, Json } from './edit/format.ts';
import type { FormatName } from './edit/index.ts';

/** Where an agent is looked for. */
export interface Place {
  /** The user's home folder, absolute. */
  home: string;
  env: Env;
  exists(path: string): boolean;
}

/** What an agent is to be pointed at. */
export interface Target {
  /** Base URL of the OpenAI dialects, with `/v1`; the agent's own path. */
  openai: string;
  /** Base URL of Anthropic's dialect, without `/v1`. */
  anthropic: string;
  /** As `openai`, with the proxy's key in the path where there is one: for agents that are given no key. */
  openaiWithKey: string;
  /** Key to send; a word where the proxy asks for none. */
  key: string;
  /** The name under which the model is served. */
  model: string;
  contextWindow: number;
  maxTokens: number;
  /** The caller's own sign-in goes on to the provider, so that it must stay as it is. */
  passthrough: boolean;
}

interface SettingsFile {
  path: string;
  format: FormatName;
}

/**
 * The agent's own command for changing its settings. It takes a merge patch (RFC 7396): what is null goes. `run` runs
 * the agent's program.
 */
export interface OwnCommand {
  /** As a person would type it. */
  words(patch: Json): string;
  /** Tries it without writing; null when it would be taken, otherwise the program's words. */
  refusal(patch: Json, run: Run): Promise<string | null>;
  /** Whether the agent takes a whole file back that held these values; absent: it does. */
  restorable?(values: unknown): boolean;
  /** Rejects with the program's words. */
  apply(patch: Json, run: Run): Promise<void>;
}

export type Run = (
  args: readonly string[],
  input: string,
) => Promise<{ code: number | null; stdout: string; stderr: string }>;

/** One agent: where its settings are, and what has to stand in them. Knows nothing of writing. */
export interface Adapter {
  readonly id: AgentId;
  /** Its program's name on PATH. */
  readonly binary: string;
  /** Folder whose presence tells that it is used here although its program is not on PATH. */
  folder(place: Place): string;
  /** The first one is the main one. */
  files(place: Place): readonly SettingsFile[];
  /** Why these settings are left alone; null when they can be changed. `values` in the order of `files`. */
  unsupported(values: readonly unknown[]): string | null;
  /** For agents that write their settings themselves; others' files are edited. */
  readonly command?: OwnCommand;
  /**
   * Changes of each file. Called only where `unsupported` is null. `attempt` counts from 0 while the agent's own
   * command refuses what is asked for; null when there is nothing else to ask.
   */
  changes(values: readonly unknown[], target: Target, attempt: number): readonly (readonly Change[])[] | null;
  /** What answers it now. */
  provider(values: readonly unknown[]): string | null;
  /** What the user should know before connecting. */
  notes(values: readonly unknown[], place: Place): readonly string[];
}

/** The text at a place; null for anything else. */
export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A section's values; none for anything else. */
export function section(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
