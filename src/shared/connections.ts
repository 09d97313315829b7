/** Agents on this computer and how they are connected, as engine, screens and CLI tell it. */

export const AGENT_IDS = [
  'openclaw',
  'claude-code',
  'codex',
  'opencode',
  'hermes',
  'zeroclaw',
  'ironclaw',
  'picoclaw',
] as const;

/** An agent that MetaClaw can connect by itself. */
export type AgentId = (typeof AGENT_IDS)[number];

export interface AgentSummary {
  id: AgentId;
  name: string;
  /** Where its program is; null when only its settings were found, or nothing. */
  program: string | null;
  version: string | null;
  /** Files of its settings, absolute; the ones that a connection changes. */
  files: string[];
  /** What answers it now, in its own words; null when its settings do not say. */
  provider: string | null;
  /**
   * `absent`: not on this computer. `unsupported`: `detail` says why it is left alone. `drifted`: it was connected,
   * and what `detail` names has been changed since.
   */
  state: 'absent' | 'unsupported' | 'free' | 'connected' | 'drifted';
  detail: string | null;
  connectedAt: string | null;
  /** When it last asked through this proxy. */
  lastRequestAt: string | null;
}

/** What a connection would change; nothing is written for it. */
export interface AgentPlan {
  id: AgentId;
  /** Names this plan; `agents.connect` refuses when the files have changed since. */
  hash: string;
  files: { path: string; exists: boolean /** Unified. */; diff: string }[];
  /** The agent's own commands that would be run, as a person would type them. */
  commands: string[];
  /** What the user should know first, e.g. that the agent has to be started anew. */
  notes: string[];
  /** True when all of it holds already. */
  done: boolean;
}

export interface AgentVerification {
  state: AgentSummary['state'];
  detail: string | null;
  /** When a request came to the agent's own address after the question was put; null when none came in time. */
  requestAt: string | null;
}
