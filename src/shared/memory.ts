/** What is remembered, as engine, screens and CLI tell it. Times are ISO strings. */

export const MEMORY_KINDS = [
  'episodic',
  'semantic',
  'preference',
  'project_state',
  'working_summary',
  'procedural_observation',
] as const;

/** What a memory is: what happened, a lasting fact, a preference, how a project stands, a session's summary, how to work. */
export type MemoryKind = (typeof MEMORY_KINDS)[number];

export const MEMORY_STATUSES = ['active', 'superseded', 'expired', 'forgotten'] as const;

/**
 * `active` is current. `superseded` was replaced by a newer value and stays findable. `expired` has run out.
 * `forgotten` is out of use at once and purged a day later.
 */
export type MemoryStatus = (typeof MEMORY_STATUSES)[number];

/** Whose memory it is. An empty part means: not told apart by it. */
export interface MemoryScope {
  user: string;
  workspace: string;
  agent: string;
}

/** Who wrote it: rules or a model from a conversation, the user by hand, or an import. */
export type MemoryOrigin = 'rules' | 'llm' | 'user' | 'import';

/** Something that was said, word for word (after the redactor). */
export interface MemoryTurn {
  /** `t` and a number. */
  id: string;
  scope: MemoryScope;
  sessionId: string;
  /** The recorded turn that it belongs to; null for what was imported. */
  turnId: string | null;
  role: 'user' | 'assistant';
  /** A name where one is known, otherwise the role. */
  speaker: string;
  text: string;
  saidAt: string;
}

/** One remembered thing. */
export interface MemoryUnit {
  /** A UUID. */
  id: string;
  scope: MemoryScope;
  kind: MemoryKind;
  content: string;
  status: MemoryStatus;
  pinned: boolean;
  origin: MemoryOrigin;
  /** 0 to 1; ties between equally relevant memories only. */
  importance: number;
  /** 0 to 1. */
  confidence: number;
  /** When it was said or happened. */
  observedAt: string;
  createdAt: string;
  /** Changes only with the content. */
  updatedAt: string;
  /** From when to when it holds; null: without end, or not known. */
  validFrom: string | null;
  validTo: string | null;
  /** Null: never. */
  expiresAt: string | null;
  /** Unit that replaced it. */
  supersededBy: string | null;
  tags: string[];
  /** How often it was said. */
  mentions: number;
  /** In how many turns it was carried, and when last. */
  usedIn: number;
  lastUsedAt: string | null;
}

/** Where a memory comes from: a quotation, and the turn to open. */
export interface MemorySource {
  sessionId: string;
  /** Recorded turn; null when it is gone or was imported. */
  turnId: string | null;
  role: 'user' | 'assistant';
  speaker: string;
  quote: string;
  saidAt: string;
}

/** One entry of a memory's history, oldest first. */
export interface MemoryEvent {
  at: string;
  what:
    | 'added'
    | 'edited'
    | 'pinned'
    | 'unpinned'
    | 'superseded'
    | 'merged'
    | 'expired'
    | 'forgotten'
    | 'restored';
  by: 'user' | 'rules' | 'llm' | 'import' | 'client';
  /** The content before it, where it changed; otherwise words about the event, may be empty. */
  detail: string;
}

export interface MemoryDetail extends MemoryUnit {
  tokens: number;
  sources: MemorySource[];
  history: MemoryEvent[];
  /** Older values that it replaced, newest first. */
  replaced: MemoryUnit[];
  /** Newest first, at most 20. */
  usedBy: { turnId: string; at: string }[];
}

/** Two current memories that cannot both hold, or nearly say the same, and that rules do not settle. */
export interface MemoryConflict {
  id: string;
  why: 'contradiction' | 'near-duplicate';
  one: MemoryUnit;
  other: MemoryUnit;
  message: string;
}

/** A search result: a remembered thing or something said, with the reasons for it. */
export type MemoryHit = {
  /** 0 to 1; comparable between queries. */
  score: number;
  /** Readable, e.g. `words: postgres, staging`. */
  reason: string;
  /** Whether it would be injected. */
  enters: boolean;
} & ({ type: 'unit'; unit: MemoryUnit } | { type: 'turn'; turn: MemoryTurn });

/** Counts by scope, kind, age and state, over what a list shows without these filters. */
export interface MemoryFacets {
  scopes: { scope: MemoryScope; count: number }[];
  kinds: { kind: MemoryKind; count: number }[];
  statuses: { status: MemoryStatus; count: number }[];
  today: number;
  last7Days: number;
  older: number;
  pinned: number;
  expiringSoon: number;
}

export interface MemoryStats {
  enabled: boolean;
  /** Why nothing is remembered at present, in words; null when it is on. */
  reason: string | null;
  units: number;
  turns: number;
  scopes: number;
  conflicts: number;
  /** Turns that wait to be read. */
  pending: number;
  /** In forgetting, still recoverable. */
  forgotten: number;
  extractor: 'rules' | 'llm';
  mode: 'keyword' | 'hybrid' | 'embedding';
  /** What embeddings do, in words; e.g. why `embedding` searches by words. */
  embeddings: string;
  lastError: string | null;
}

/** Readable name of a scope, e.g. `user:alice|workspace:api`; `default` for the owner of this computer. */
export function scopeName({ user, workspace, agent }: MemoryScope): string {
  const parts = [
    ...(user === '' ? [] : [`user:${user}`]),
    ...(workspace === '' ? [] : [`workspace:${workspace}`]),
    ...(agent === '' ? [] : [`agent:${agent}`]),
  ];
  return parts.length === 0 ? 'default' : parts.join('|');
}

/**
 * Reads the name of a scope as clients and users write it: `user:alice|workspace:api`, in any order. A part without
 * a known prefix is a workspace; `session:…` isolates nothing and is dropped; `default` is the scope without parts.
 */
export function parseScope(text: string): MemoryScope {
  const scope: MemoryScope = { user: '', workspace: '', agent: '' };
  for (const raw of text.replace(/\s+/g, ' ').split('|')) {
    const [, name, value] = /^\s*(?:(user|workspace|agent|session):)?\s*(.*?)\s*$/i.exec(raw) ?? [];
    if (name === undefined) {
      if (value !== undefined && value !== 'default' && scope.workspace === '') scope.workspace = value;
    } else {
      const part = name.toLowerCase() as keyof MemoryScope | 'session';
      if (part !== 'session') scope[part] = value ?? '';
    }
  }
  return scope;
}
