import { type MemoryHit, type MemoryTurn, type MemoryUnit, scopeName } from '../../../shared/memory.ts';
import { termsOf } from '../../platform/words.ts';

/** A memory as the original's programs know it, flat; fields that it had and we have no use for are empty. */
export interface FlatUnit {
  memory_id: string;
  scope_id: string;
  memory_type: string;
  /** The same under the name that `GET /v1/memory/{id}` used. */
  type: string;
  content: string;
  summary: string;
  source_session_id: string;
  source_turn_start: number;
  source_turn_end: number;
  entities: string[];
  topics: string[];
  tags: string[];
  importance: number;
  confidence: number;
  access_count: number;
  reinforcement_score: number;
  /** active, superseded or archived. */
  status: string;
  superseded_by: string;
  pinned: boolean;
  created_at: string;
  updated_at: string;
  observed_at: string;
  last_accessed_at: string;
  /** Empty: never. */
  expires_at: string;
  valid_from: string;
  valid_to: string;
}

/** A result as the original's sidecar sent it, and as the OpenClaw plugin reads it: under `unit`. */
export interface FlatHit extends FlatUnit {
  unit: FlatUnit;
  score: number;
  matched_terms: string[];
  reason: string;
  enters: boolean;
}

/** The original archived what ours forgets or lets expire. */
export function flatUnit(unit: MemoryUnit): FlatUnit {
  return {
    memory_id: unit.id,
    scope_id: scopeName(unit.scope),
    memory_type: unit.kind,
    type: unit.kind,
    content: unit.content,
    summary: '',
    source_session_id: '',
    source_turn_start: 0,
    source_turn_end: 0,
    entities: [],
    topics: [],
    tags: unit.tags,
    importance: unit.importance,
    confidence: unit.confidence,
    access_count: unit.usedIn,
    reinforcement_score: 0,
    status: unit.status === 'active' || unit.status === 'superseded' ? unit.status : 'archived',
    superseded_by: unit.supersededBy ?? '',
    pinned: unit.pinned,
    created_at: unit.createdAt,
    updated_at: unit.updatedAt,
    observed_at: unit.observedAt,
    last_accessed_at: unit.lastUsedAt ?? '',
    expires_at: unit.expiresAt ?? '',
    valid_from: unit.validFrom ?? '',
    valid_to: unit.validTo ?? '',
  };
}

/** Something said, in the same shape: it happened, word for word. */
function flatTurn(turn: MemoryTurn): FlatUnit {
  return {
    memory_id: turn.id,
    scope_id: scopeName(turn.scope),
    memory_type: 'episodic',
    type: 'episodic',
    content: turn.text,
    summary: '',
    source_session_id: turn.sessionId,
    source_turn_start: 0,
    source_turn_end: 0,
    entities: [],
    topics: [],
    tags: [`said by ${turn.speaker}`],
    importance: 0.5,
    confidence: 1,
    access_count: 0,
    reinforcement_score: 0,
    status: 'active',
    superseded_by: '',
    pinned: false,
    created_at: turn.saidAt,
    updated_at: turn.saidAt,
    observed_at: turn.saidAt,
    last_accessed_at: '',
    expires_at: '',
    valid_from: '',
    valid_to: '',
  };
}

/** A search result; `question` is what was asked, for the words that both have. */
export function flatHit(hit: MemoryHit, question: string): FlatHit {
  const unit = hit.type === 'unit' ? flatUnit(hit.unit) : flatTurn(hit.turn);
  const asked = new Map(termsOf(question).map(({ term, surface }) => [term, surface]));
  const both = new Set(termsOf(unit.content).flatMap(({ term }) => asked.get(term) ?? []));
  return {
    ...unit,
    unit,
    score: hit.score,
    matched_terms: [...both],
    reason: hit.reason,
    enters: hit.enters,
  };
}
