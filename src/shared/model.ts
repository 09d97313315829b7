/** Domain types that engine, hosts and screens share. Times are ISO strings at rest, milliseconds inside the engine. */

/** A chat wire that clients or upstreams speak. */
export type Dialect = 'openai' | 'anthropic' | 'responses';

/** `main` turns are recorded, injected and learned from; `side` turns (titles, probes, heartbeats) are only relayed. */
export type TurnKind = 'main' | 'side';

export type Mode = 'skills_only' | 'rl' | 'madmax';

/** How the session of a turn was recognised, strongest first. */
export type IdentitySource =
  | 'metaclaw-header'
  | 'original-header'
  | 'client-header'
  | 'body'
  | 'openclaw-text'
  | 'history';

export type SessionEndReason = 'flag' | 'new-command' | 'idle';

export interface Usage {
  /** Prompt tokens that were neither read from nor written to the provider's cache. */
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** True when the provider did not say and the number is ours. */
  estimated: boolean;
  /** Of `cacheWriteTokens`, those that the provider keeps for an hour instead of minutes; absent for none. */
  cacheHourTokens?: number;
  /** What the provider itself says that the call cost, in the provider's own unit. */
  reportedCost?: number;
}

/** One thing that was added to a turn, or matched and left out, with its reason. */
export interface InjectedItem {
  kind: 'skill' | 'memory';
  id: string;
  title: string;
  /** Where it stands: in the session's system block, or before the user's words of one message. */
  place: 'system' | 'message';
  tokens: number;
  /** Retrieval score, comparable inside one report only. */
  score: number;
  /** Readable reason, e.g. `words: flaky, test`. */
  reason: string;
}

export interface LeftOutItem {
  kind: 'skill' | 'memory';
  id: string;
  /** `holdout`: it would have entered, and is withheld from this session so that its worth can be measured. */
  reason:
    | 'budget'
    | 'no-room'
    | 'below-threshold'
    | 'same-name-as-client-skill'
    | 'already-in-session'
    | 'holdout';
}

/** What MetaClaw added to one turn and why; stored with the turn and shown by the screens. */
export interface InjectionReport {
  items: InjectedItem[];
  leftOut: LeftOutItem[];
  /** Tokens that this turn carries because of us (all blocks, also those from earlier turns of the session). */
  tokens: number;
  /** Why nothing was even tried, when that is so. */
  skipped:
    | null
    | 'off'
    | 'side-turn'
    | 'thread'
    | 'private'
    | 'bypass'
    | 'header'
    | 'no-user-text'
    | 'deadline'
    | 'error';
  /** What `max_context_tokens` or `context_window` took out of this turn's history; absent when nothing. */
  cut?: { messages: number; tokens: number };
}

export type TurnStatus = 'open' | 'answered' | 'aborted' | 'failed';

/** A turn as lists and the overview show it. */
export interface TurnSummary {
  id: string;
  sessionId: string;
  seq: number;
  kind: TurnKind;
  agent: string;
  dialect: Dialect;
  requestedModel: string;
  model: string;
  upstream: string;
  status: TurnStatus;
  httpStatus: number | null;
  startedAt: string;
  firstByteMs: number | null;
  durationMs: number | null;
  /** The user's words, redacted and cut to 400 characters. */
  userText: string;
  injection: InjectionReport;
  usage: Usage | null;
}

/** A turn with everything recorded of it (all after the redactor). */
export interface TurnDetail extends TurnSummary {
  /** The request as the client sent it, JSON text; null when `record.bodies` is off. */
  requestBody: string | null;
  /** The request as it went upstream, JSON text; null when `record.bodies` is off. */
  sentBody: string | null;
  /** The answer, assembled, as JSON text in the upstream's dialect; null while open or when bodies are off. */
  replyBody: string | null;
  replyText: string;
  error: string | null;
  /** True when the redactor masked something: such a turn is never trained on. */
  masked: boolean;
}

/** What the user said of a turn, outside of the conversation. */
export interface TurnFeedback {
  label: 'good' | 'bad';
  /** In the user's words, redacted; may be empty. */
  text: string;
  at: string;
}

export const SKILL_CATEGORIES = [
  'general',
  'coding',
  'research',
  'data_analysis',
  'security',
  'communication',
  'automation',
  'agentic',
  'productivity',
  'common_mistakes',
] as const;
export type SkillCategory = (typeof SKILL_CATEGORIES)[number];

export type SkillSource = 'built-in' | 'user' | 'learned';

export interface SkillSummary {
  name: string;
  description: string;
  category: string;
  source: SkillSource;
  enabled: boolean;
  /** Tokens of the rendered block. */
  tokens: number;
  /** Absolute path of its SKILL.md. */
  path: string;
  updatedAt: string;
  /** Turns in which it entered, and when last. */
  uses: number;
  lastUsedAt: string | null;
  /** Number of its newest version. */
  version: number;
  /** True when learning may not propose edits, and nothing changes it until it is unlocked. */
  locked: boolean;
  /** False for skills that belong to another program: they are read, never written. */
  writable: boolean;
  scope: SkillScope;
  /** Null until a session in which it fitted was rated. */
  worth: SkillWorth | null;
}

/** For which agents and projects (workspaces that clients name) a skill is meant; empty means all. */
export interface SkillScope {
  agents: string[];
  projects: string[];
}

/** How sessions went with a skill and without it, in its newest version. Shares of good requests, 0 to 1. */
export interface SkillWorth {
  with: { sessions: number; good: number | null };
  /** Sessions in which it fitted and was withheld. */
  without: { sessions: number; good: number | null };
  /** With minus without, and its 95 % interval; null while there are too few sessions on either side. */
  effect: { difference: number; low: number; high: number } | null;
  /** `hurts`: the whole interval is below nothing. `no-help`: long tried, and no gain is left possible. */
  advice: 'hurts' | 'no-help' | null;
}

export interface SkillDetail extends SkillSummary {
  /** The whole file, byte for byte. */
  content: string;
  /** SHA-256 of the file, for `skills.edit`. */
  hash: string;
}

/** Who wrote a version; `outside` was found changed in the folder. */
export type SkillAuthor = 'user' | 'learned' | 'built-in' | 'outside';

/** One text that a skill has had, or its removal. */
export interface SkillVersion {
  skill: string;
  version: number;
  author: SkillAuthor;
  /** The accepted proposal that it came from, and the turns that taught it. */
  proposal: string | null;
  turns: string[];
  /** One readable line, or empty. */
  note: string;
  /** True when this version is the skill's removal. */
  removed: boolean;
  at: string;
}

/** How a text would have done as a skill on one recorded turn. */
export interface TriedTurn {
  turnId: string;
  sessionId: string;
  at: string;
  /** The user's words, redacted and cut to 400 characters. */
  userText: string;
  /** Whether it would enter, and whether the skill of that name does as it is now. */
  entered: boolean;
  before: boolean;
  /** As in an injection's item; 0 and empty where nothing speaks for it. */
  score: number;
  reason: string;
}

/** A SKILL.md on disk that could not be used, with the reason. */
export interface SkillProblem {
  path: string;
  message: string;
}

export interface SafetyFinding {
  rule: string;
  message: string;
  /** The text that triggered it, cut to 120 characters. */
  excerpt: string;
}

export type ProposalState = 'waiting' | 'accepted' | 'rejected' | 'undone';

/** A skill that the evolver suggests; it becomes a file only when it is accepted. */
export interface SkillProposal {
  id: string;
  kind: 'new' | 'edit';
  name: string;
  description: string;
  category: string;
  /** Markdown body without front matter. */
  body: string;
  /** Why the evolver suggests it, in the user's language. */
  reason: string;
  state: ProposalState;
  /** True when it went live by itself under `skills.auto_accept`. */
  auto: boolean;
  findings: SafetyFinding[];
  evidence: { sessionId: string; turnId: string; excerpt: string }[];
  /** For edits: the text that is changed, and how the change stands to it; null for new skills. */
  edit: ProposedEdit | null;
  createdAt: string;
  decidedAt: string | null;
}

export interface ProposedEdit {
  /** The skill's text: as it is now while the proposal waits, else as it was. */
  base: { description: string; body: string };
  /** SHA-256 of the skill's file that `base` was read from; null when the skill is gone. */
  hash: string | null;
  /**
   * `merged`: the skill has changed since, and the proposal's text is the change made to the newer one. `conflict`: both
   * changed the same place, so that a person has to write the text. `gone`: there is no such skill any more.
   */
  state: 'fresh' | 'merged' | 'conflict' | 'gone';
}

export type JobState = 'queued' | 'running' | 'done' | 'failed';

/** Background work kept in SQLite, so that a crash or an outage only delays it. */
export interface Job {
  id: string;
  /** Look for skills in a session; read a session for memories. */
  kind: 'evolve' | 'remember';
  subject: string;
  state: JobState;
  attempts: number;
  /** Earliest time of the next try. */
  runAt: string;
  lastError: string | null;
}
