import type { Mode } from './model.ts';

/** Everything the tray, the window header and `metaclaw status` need, whole and under 4 KB; broadcast on change. */
export interface Snapshot {
  version: string;
  host: 'app' | 'daemon';
  pid: number;
  proxy:
    | { state: 'stopped' }
    | { state: 'starting'; port: number }
    | { state: 'running'; host: string; port: number; startedAt: string }
    | { state: 'failed'; port: number; message: string; hint: string | null };
  /** The configured mode, the mode that is in force, and why they differ. */
  mode: Mode;
  effectiveMode: 'skills_only' | 'rl' | 'madmax';
  modeReason: string | null;
  bypass: boolean;
  privateMode: boolean;
  provider: { configured: boolean; name: string; model: string; baseUrl: string; lastError: ProviderTrouble | null };
  today: { turns: number; sessions: number; addedTokens: number; skillsPerTurn: number };
  /** Turns that are being answered right now. */
  activeTurns: { agent: string; startedAt: string }[];
  waiting: { proposals: number };
  learning: { enabled: boolean; queued: number; running: number; lastError: string | null };
  warnings: string[];
}

/** The provider's last failure, cleared by the next good answer. */
export interface ProviderTrouble {
  since: string;
  status: number | null;
  message: string;
}

export type StatusLevel = 'stopped' | 'starting' | 'ready' | 'working' | 'learning' | 'attention' | 'paused' | 'error';

export interface Status {
  level: StatusLevel;
  /** One sentence: tray tooltip, window header and `metaclaw status` show exactly this. */
  sentence: string;
  /** Second line, or null. */
  detail: string | null;
}
