import { agentName } from './agents.ts';
import type { TrainingGap } from './config-rules.ts';
import { formatTime, formatWhen } from './format.ts';
import type { Translate } from './i18n/index.ts';
import type { Mode } from './model.ts';
import { type CapState, describeCap } from './usage.ts';

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
  modeReason: TrainingGap | null;
  bypass: boolean;
  privateMode: boolean;
  provider: {
    configured: boolean;
    name: string;
    model: string;
    baseUrl: string;
    lastError: ProviderTrouble | null;
  };
  today: { turns: number; sessions: number; addedTokens: number; skillsPerTurn: number };
  /** Turns that are being answered right now. */
  activeTurns: { agent: string; startedAt: string }[];
  waiting: { proposals: number };
  learning: { enabled: boolean; queued: number; running: number; lastError: string | null };
  /** `pending`: how much of what was said waits to be read for memories. */
  memory: { enabled: boolean; pending: number; lastError: string | null };
  /** The daily cap on our own calls, when there is one. */
  usage: { cap: CapState | null };
  warnings: string[];
}

/** The provider's last failure, cleared by the next good answer. */
export interface ProviderTrouble {
  since: string;
  status: number | null;
  message: string;
}

export type StatusLevel =
  | 'stopped'
  | 'starting'
  | 'ready'
  | 'working'
  | 'learning'
  | 'attention'
  | 'paused'
  | 'error';

export interface Status {
  level: StatusLevel;
  /** One sentence: tray tooltip, window header and `metaclaw status` show exactly this. */
  sentence: string;
  /** Second line, or null. */
  detail: string | null;
}

/** A turn shows as work only when it takes longer than this; quick ones would make the icon flicker. */
const WORKING_AFTER_MS = 1000;

/**
 * Says in one sentence what happens and why. Tray, header and `metaclaw status` all use it, so that they never differ.
 * Precedence: stopped by the user or failed, then error, attention, learning, paused, starting, working, ready.
 * @param now milliseconds since the epoch, for the seconds of a running turn
 */
export function describe(snapshot: Snapshot, t: Translate, now: number): Status {
  const { proxy, provider, learning, waiting } = snapshot;
  const detail = secondLine(snapshot, t);
  if (proxy.state === 'failed') {
    return {
      level: 'error',
      sentence: t('status.proxyFailed', { message: sentenceEnd(proxy.message) }),
      detail: proxy.hint ?? detail,
    };
  }
  if (proxy.state === 'stopped') return { level: 'stopped', sentence: t('status.stopped'), detail: null };
  if (provider.lastError !== null) {
    return {
      level: 'error',
      sentence: describeTrouble(providerLabel(provider), provider.lastError, t, now),
      detail: provider.lastError.message || detail,
    };
  }
  if (!provider.configured) return { level: 'attention', sentence: t('status.noProvider'), detail };
  if (waiting.proposals > 0) {
    return {
      level: 'attention',
      sentence: t('status.readyWith', {
        turns: turnsToday(snapshot, t),
        waiting: t('status.proposals', { count: waiting.proposals }),
      }),
      detail,
    };
  }
  if (learning.running > 0) {
    return { level: 'learning', sentence: t('status.learning', { count: learning.running }), detail };
  }
  if (snapshot.bypass) return { level: 'paused', sentence: t('status.bypass'), detail };
  if (snapshot.privateMode) return { level: 'paused', sentence: t('status.private'), detail };
  if (proxy.state === 'starting') {
    return { level: 'starting', sentence: t('status.starting', { port: proxy.port }), detail };
  }
  return (
    working(snapshot, t, now) ?? {
      level: 'ready',
      sentence: t('status.ready', { turns: turnsToday(snapshot, t) }),
      detail,
    }
  );
}

/** The provider's name; an address that was typed in goes by its host. */
export function providerLabel({ name, baseUrl }: Pick<Snapshot['provider'], 'name' | 'baseUrl'>): string {
  if (name !== '' && name.toLowerCase() !== 'custom') return name;
  return /^https?:\/\/([^/]+)/.exec(baseUrl)?.[1] ?? name;
}

/** What is wrong with the provider, as one sentence. */
export function describeTrouble(name: string, trouble: ProviderTrouble, t: Translate, now: number): string {
  const provider = name || t('status.providerName');
  const today = new Date(trouble.since).toDateString() === new Date(now).toDateString();
  const since = today ? formatTime(trouble.since, t.locale) : formatWhen(trouble.since, now, t.locale);
  const { status } = trouble;
  if (status === null) return t('status.unreachable', { provider, since });
  if (status === 401 || status === 403) return t('status.keyRefused', { provider, since });
  if (status === 402 || status === 429) return t('status.quota', { provider, since });
  return t('status.providerError', { provider, since, status });
}

function working(snapshot: Snapshot, t: Translate, now: number): Status | null {
  const ages = snapshot.activeTurns.map((turn) => now - Date.parse(turn.startedAt));
  const oldest = Math.max(0, ...ages);
  if (oldest < WORKING_AFTER_MS) return null;
  const seconds = Math.floor(oldest / 1000);
  const [first, ...others] = snapshot.activeTurns;
  const agent = first === undefined ? null : agentName(first.agent);
  const sentence =
    others.length > 0
      ? t('status.answeringMany', { count: snapshot.activeTurns.length, seconds })
      : agent === null
        ? t('status.answeringSomeone', { seconds })
        : t('status.answering', { agent, seconds });
  return { level: 'working', sentence, detail: secondLine(snapshot, t) };
}

function turnsToday(snapshot: Snapshot, t: Translate): string {
  return snapshot.today.turns === 0
    ? t('status.noTurns')
    : t('status.turns', { count: snapshot.today.turns });
}

function secondLine(snapshot: Snapshot, t: Translate): string | null {
  if (snapshot.bypass) return t('status.bypass');
  if (snapshot.privateMode) return t('status.private');
  const [warning] = snapshot.warnings;
  if (warning !== undefined) return warning;
  const { cap } = snapshot.usage;
  if (snapshot.learning.enabled && cap !== null && cap.state !== 'open') return describeCap(cap, t);
  const { lastError } = snapshot.learning;
  return lastError === null ? null : t('status.learningWaits', { message: lastError });
}

function sentenceEnd(text: string): string {
  return /[.!?。]$/.test(text) ? text : `${text}.`;
}
