import { createHash } from 'node:crypto';
import type {
  MemoryConflict,
  MemoryEvent,
  MemoryKind,
  MemoryOrigin,
  MemoryScope,
  MemoryStatus,
} from '../../../shared/memory.ts';
import { MEMORY_KINDS } from '../../../shared/memory.ts';

/** A memory of a store that knows more of it than its words: it is kept as it is, with its id and its state. */
export interface KeptUnit {
  uuid: string;
  /** Null: the scope that the import goes to. */
  scope: MemoryScope | null;
  kind: MemoryKind;
  content: string;
  status: Exclude<MemoryStatus, 'forgotten'>;
  pinned: boolean;
  origin: MemoryOrigin;
  importance: number;
  confidence: number;
  observedAt: string;
  createdAt: string;
  updatedAt: string;
  validFrom: string | null;
  validTo: string | null;
  expiresAt: string | null;
  supersededBy: string | null;
  merged: boolean;
  mentions: number;
  tags: string[];
  /** Fields that have no place here. */
  extra: Readonly<Record<string, unknown>> | null;
  /** Keys of messages. */
  sources: string[];
  history: MemoryEvent[];
  usedBy: { turnId: string; at: string }[];
}

/** Words of a list; how they stand to what is there is for the rules to say. */
export interface ListedUnit {
  uuid: string | null;
  scope: MemoryScope | null;
  content: string;
  kind: MemoryKind;
  tags: string[];
  pinned: boolean;
  importance: number | undefined;
  observedAt: string;
  expiresAt: string | null;
}

/** Something that was said, with what is needed to keep it once. */
export interface IncomingTurn {
  key: string;
  scope: MemoryScope;
  sessionId: string;
  turnId: string | null;
  role: 'user' | 'assistant';
  speaker: string;
  text: string;
  saidAt: string;
}

/** One record of a file; `line` names the place in it. */
export type Incoming = { line: string } & (
  | { type: 'kept'; unit: KeptUnit }
  | { type: 'listed'; unit: ListedUnit }
  | { type: 'turn'; turn: IncomingTurn }
  | {
      type: 'conflict';
      one: string;
      other: string;
      why: MemoryConflict['why'];
      message: string;
      at: string;
      settled: boolean;
    }
  | { type: 'skipped'; reason: string }
);

export interface FileFacts {
  path: string;
  text: string;
  /** When the file was written: the time of what says none. */
  writtenAt: string;
}

/** A time in the forms that stores use; null for none, and for what is none. */
export function timeOf(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  if (value === '') return null;
  const ms =
    typeof value === 'number' || /^\d{9,13}(?:\.\d+)?$/.test(value)
      ? Number(value) * (Number(value) < 1e11 ? 1000 : 1)
      : Date.parse(value);
  // Years beyond these are a wrong unit.
  return Number.isFinite(ms) && ms > 0 && ms < 4e12 ? new Date(ms).toISOString() : null;
}

/** A number from 0 to 1. */
export function shareOf(value: unknown, fallback: number): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.min(1, Math.max(0, number)) : fallback;
}

/** One of our kinds by the names that other stores have for it; null for an unknown one. */
export function kindOf(value: unknown): MemoryKind | null {
  if (typeof value !== 'string') return null;
  const name = value
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
  return MEMORY_KINDS.find((kind) => kind === name) ?? ALIASES[name] ?? null;
}
const ALIASES: Readonly<Record<string, MemoryKind>> = {
  fact: 'semantic',
  facts: 'semantic',
  preferences: 'preference',
  user_preference: 'preference',
  project: 'project_state',
  projects: 'project_state',
  event: 'episodic',
  episode: 'episodic',
  summary: 'working_summary',
  procedure: 'procedural_observation',
  procedural: 'procedural_observation',
  procedural_memory: 'procedural_observation',
};

/** Strings of a list, or of one string. */
export function tagsOf(...values: unknown[]): string[] {
  const tags = values.flat().filter((tag): tag is string => typeof tag === 'string' && tag.trim() !== '');
  return [...new Set(tags.map((tag) => tag.trim().slice(0, 100)))].slice(0, 50);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** A UUID that is always the same for the same text. */
export function uuidFor(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
