import type {
  MemoryEvent,
  MemoryKind,
  MemoryOrigin,
  MemoryScope,
  MemoryStatus,
  MemoryTurn,
  MemoryUnit,
} from '../../shared/memory.ts';
import type { ScopeTable } from './scope.ts';

/** A row of memory_units; times are ISO strings. */
export interface UnitRow {
  id: number;
  uuid: string;
  scope: number;
  kind: MemoryKind;
  content: string;
  hash: string;
  slot: string | null;
  value: string | null;
  mentions: number;
  status: MemoryStatus;
  status_before: MemoryStatus | null;
  pinned: number;
  origin: MemoryOrigin;
  importance: number;
  confidence: number;
  observed_at: string;
  created_at: string;
  updated_at: string;
  valid_from: string | null;
  valid_to: string | null;
  expires_at: string | null;
  superseded_by: string | null;
  merged: number;
  /** JSON array of strings. */
  tags: string;
  /** JSON object. */
  extra: string | null;
  forgotten_at: string | null;
}

/** A row of memory_turns. */
export interface TurnRow {
  id: number;
  key: string;
  scope: number;
  session_id: string;
  turn_id: string | null;
  role: 'user' | 'assistant';
  speaker: string;
  text: string;
  said_at: string;
  /** 1 until it was looked through for memories. */
  unread: number;
  forgotten_at: string | null;
}

/** Who made a change, as the history tells it. */
export type Author = MemoryEvent['by'];

/** In how many turns a memory was carried, and when last. */
export interface Usage {
  used: number;
  last_used: string | null;
}

export function toUnit(row: UnitRow & Usage, scopes: ScopeTable): MemoryUnit {
  return {
    id: row.uuid,
    scope: scopes.get(row.scope),
    kind: row.kind,
    content: row.content,
    status: row.status,
    pinned: row.pinned === 1,
    origin: row.origin,
    importance: row.importance,
    confidence: row.confidence,
    observedAt: row.observed_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    validFrom: row.valid_from,
    validTo: row.valid_to,
    expiresAt: row.expires_at,
    supersededBy: row.superseded_by,
    tags: JSON.parse(row.tags) as string[],
    mentions: row.mentions,
    usedIn: row.used,
    lastUsedAt: row.last_used,
  };
}

export function toTurn(row: TurnRow, scope: MemoryScope): MemoryTurn {
  return {
    id: `t${row.id}`,
    scope,
    sessionId: row.session_id,
    turnId: row.turn_id,
    role: row.role,
    speaker: row.speaker,
    text: row.text,
    saidAt: row.said_at,
  };
}
