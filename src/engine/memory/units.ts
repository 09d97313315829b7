import { createHash, randomUUID } from 'node:crypto';
import type { MemoryKind, MemoryOrigin } from '../../shared/memory.ts';
import { redact } from '../platform/redact.ts';
import type { Database } from '../store/database.ts';
import type { Changes, Patch } from './changes.ts';
import { HANDLE, type Handle } from './forgetting.ts';
import type { UnitRow } from './rows.ts';

/** A memory to be kept. */
export interface NewUnit {
  content: string;
  kind: MemoryKind;
  /** Number of the scope. */
  scope: number;
  origin: MemoryOrigin;
  /** When it was said or happened; now unless it is known better. ISO. */
  observedAt?: string | undefined;
  expiresAt?: string | null | undefined;
  pinned?: boolean | undefined;
  tags?: readonly string[] | undefined;
  /** 0 to 1. */
  importance?: number | undefined;
  confidence?: number | undefined;
  /** Rows of memory_turns that it comes from. */
  sources?: readonly number[] | undefined;
}

export interface AddedUnit {
  row: UnitRow;
  /** It said what a memory said already: `row` is that one. */
  merged: boolean;
  /** Uuids of the memories that it replaced. */
  superseded: string[];
}

/** What a user changes of a memory; what is left out stays. */
export interface UnitEdit {
  content?: string | undefined;
  kind?: MemoryKind | undefined;
  /** Number of the scope. */
  scope?: number | undefined;
  tags?: readonly string[] | undefined;
  expiresAt?: string | null | undefined;
}

interface UnitStoreDeps {
  database: Database;
  changes: Changes;
}

/** The memories, and how a new one comes to stand beside those that are there. */
export class UnitStore {
  readonly #database: Database;
  readonly #changes: Changes;

  constructor({ database, changes }: UnitStoreDeps) {
    this.#database = database;
    this.#changes = changes;
  }

  get(uuid: string): UnitRow | null {
    return this.#database.get<UnitRow>('SELECT * FROM memory_units WHERE uuid = ?', uuid);
  }

  /** Those of the uuids that there are. */
  handles(uuids: readonly string[]): Handle[] {
    return this.#database.all<Handle>(
      `SELECT ${HANDLE} FROM json_each(?) j JOIN memory_units u ON u.uuid = j.value ORDER BY j.key`,
      JSON.stringify([...new Set(uuids)]),
    );
  }

  /** Keeps a memory; call it in a transaction. Secrets are masked. */
  add(unit: NewUnit): AddedUnit {
    const content = redact(unit.content.trim()).text;
    const hash = hashOf(content);
    const same = this.#database.get<UnitRow>(
      "SELECT * FROM memory_units WHERE scope = ? AND hash = ? AND status = 'active' ORDER BY id LIMIT 1",
      unit.scope,
      hash,
    );
    if (same) return this.#merge(same, unit);
    const now = this.#changes.now();
    const expiresAt = unit.expiresAt ? new Date(unit.expiresAt).toISOString() : null;
    const row = this.#changes.insert(
      {
        uuid: randomUUID(),
        scope: unit.scope,
        kind: unit.kind,
        content,
        hash,
        slot: null,
        value: null,
        mentions: 1,
        status: 'active',
        status_before: null,
        pinned: unit.pinned ? 1 : 0,
        origin: unit.origin,
        importance: unit.importance ?? 0.5,
        confidence: unit.confidence ?? 0.7,
        observed_at: unit.observedAt ?? now,
        created_at: now,
        updated_at: now,
        valid_from: unit.observedAt ?? now,
        valid_to: null,
        expires_at: expiresAt,
        superseded_by: null,
        merged: 0,
        tags: JSON.stringify(unit.tags ?? []),
        extra: null,
        forgotten_at: null,
      },
      unit.origin,
    );
    for (const turn of unit.sources ?? []) this.#changes.addSource(row.id, turn);
    return { row, merged: false, superseded: [] };
  }

  /** Changes what the user changed; call it in a change. */
  edit(row: UnitRow, { content, kind, scope, tags, expiresAt }: UnitEdit): void {
    const now = this.#changes.now();
    const patch: Patch = {};
    const text = content === undefined ? row.content : redact(content.trim()).text;
    if (text !== row.content) {
      patch.content = text;
      patch.hash = hashOf(text);
      patch.updated_at = now;
    }
    if (kind !== undefined && kind !== row.kind) patch.kind = kind;
    if (scope !== undefined && scope !== row.scope) patch.scope = scope;
    if (tags !== undefined) patch.tags = JSON.stringify(tags);
    if (expiresAt !== undefined) {
      patch.expires_at = expiresAt === null ? null : new Date(expiresAt).toISOString();
      if (row.status === 'expired' && (patch.expires_at === null || patch.expires_at > now))
        patch.status = 'active';
    }
    const detail = patch.content === undefined ? Object.keys(patch).join(', ') : row.content;
    if (Object.keys(patch).length > 0)
      this.#changes.patch([row.id], patch, { what: 'edited', by: 'user', detail });
  }

  /** Takes what has run out out of use. Returns how many. */
  expire(): number {
    const due = this.#database.all<{ id: number }>(
      "SELECT id FROM memory_units WHERE expires_at <= ? AND status = 'active'",
      this.#changes.now(),
    );
    if (due.length > 0)
      this.#database.tx(() =>
        this.#changes.patch(
          due.map(({ id }) => id),
          { status: 'expired' },
          { what: 'expired', by: 'rules' },
        ),
      );
    return due.length;
  }

  #merge(row: UnitRow, unit: NewUnit): AddedUnit {
    const patch: Patch = { mentions: row.mentions + 1 };
    if (unit.pinned) patch.pinned = 1;
    this.#changes.patch([row.id], patch, { what: 'merged', by: unit.origin });
    for (const turn of unit.sources ?? []) this.#changes.addSource(row.id, turn);
    return { row: { ...row, ...patch }, merged: true, superseded: [] };
  }
}

/** Of the content in its plainest form: width, spaces and the last full stop make no other memory. */
export function hashOf(content: string): string {
  const plain = content
    .normalize('NFKC')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.!。！]+$/, '');
  return createHash('sha256').update(plain).digest('hex');
}
