import type { MemoryKind } from '../../../shared/memory.ts';
import type { TurnRow } from '../rows.ts';

/** What is read for memories. */
export interface ReadInput {
  /** Words of one session and scope that nobody has read, oldest first. */
  turns: readonly TurnRow[];
  /** What was said just before them; read already. */
  before: readonly TurnRow[];
  /** Memories that the session carried. */
  injected: readonly string[];
  /** The session's summary so far; null where there is none. */
  summary: string | null;
}

/** Something worth remembering. */
export interface Fact {
  kind: Exclude<MemoryKind, 'working_summary'>;
  content: string;
  /** Rows of memory_turns that say so, at least one. */
  sources: number[];
  /** When it was said, ISO. */
  observedAt: string;
  expiresAt: string | null;
  /** 0 to 1. */
  importance: number;
  confidence: number;
}

/** What was found in a stretch of conversation. */
export interface Reading {
  by: 'rules' | 'llm';
  facts: Fact[];
  /** The session's summary from now on; null leaves it as it is. */
  summary: string | null;
}
