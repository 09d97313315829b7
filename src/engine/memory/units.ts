import { createHash, randomUUID } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { MemoryKind, MemoryOrigin } from '../../shared/memory.ts';
import { redact } from '../platform/redact.ts';
import type { Database } from '../store/database.ts';
import type { Changes, Patch } from './changes.ts';
import { HANDLE, type Handle } from './forgetting.ts';
import type { Rivals } from './rivals.ts';
import type { Author, UnitRow } from './rows.ts';

/** A memory to be kept. */
export interface NewUnit {
  content: string;
  kind: MemoryKind;
  /** Number of the scope. */
  scope: number;
  origin: MemoryOrigin;
  /** Of an import that brings its own. */
  uuid?: string | undefined;
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
  rivals: Rivals;
  /** Whether memories are merged and superseded without being asked. */
  consolidates: () => boolean;
}

/** The memories, and how a new one comes to stand beside those that are there. */
export class UnitStore {
  readonly #database: Database;
  readonly #changes: Changes;
  readonly #rivals: Rivals;
  readonly #consolidates: () => boolean;

  constructor({ database, changes, rivals, consolidates }: UnitStoreDeps) {
    this.#database = database;
    this.#changes = changes;
    this.#rivals = rivals;
    this.#consolidates = consolidates;
  }

  get(uuid: string): UnitRow | null {
    return this.#database.get<UnitRow>('SELECT * FROM memory_units WHERE uuid = ?', uuid);
  }

  /** Those of the uuids that there are. */
  handles(uuids: readonly string[]): Handle[] {
    return this.#database.all<Handle>(
      `SELECT ${HANDLE} FROM json_each(?) j CROSS JOIN memory_units u ON u.uuid = j.value ORDER BY j.key`,
      JSON.stringify([...new Set(uuids)]),
    );
  }

  /** The same; NOT_FOUND only when there is none of them. */
  known(uuids: readonly string[]): Handle[] {
    const rows = this.handles(uuids);
    if (rows.length === 0) throw noMemory(uuids[0] ?? '');
    return rows;
  }

  /** Keeps a memory; call it in a transaction. Secrets are masked. */
  add(unit: NewUnit): AddedUnit {
    const now = this.#changes.now();
    const content = redact(unit.content.trim()).text;
    const observedAt = unit.observedAt ? new Date(unit.observedAt).toISOString() : now;
    const { scope, kind, origin, sources = [] } = unit;
    const hash = hashOf(content);
    const newcomer = { kind, content, hash, scope, origin, observedAt, sources };
    const standing = this.#rivals.standingOf(newcomer, this.#consolidates());
    if (standing.same) return this.#merge(standing.same, unit);
    const { under, until, replaces, doubts } = standing;
    const row = this.#changes.insert(
      {
        uuid: unit.uuid ?? randomUUID(),
        scope,
        kind,
        content,
        hash,
        slot: standing.slot,
        value: standing.value,
        mentions: 1,
        status: under === null ? 'active' : 'superseded',
        status_before: null,
        // A pin goes over to the value that holds now.
        pinned: unit.pinned || (under === null && replaces.some(({ pinned }) => pinned === 1)) ? 1 : 0,
        origin,
        importance: unit.importance ?? 0.5,
        confidence: unit.confidence ?? 0.7,
        observed_at: observedAt,
        created_at: now,
        updated_at: now,
        valid_from: observedAt,
        valid_to: until,
        expires_at: unit.expiresAt ? new Date(unit.expiresAt).toISOString() : null,
        superseded_by: under?.uuid ?? null,
        merged: 0,
        tags: tagsText(unit.tags ?? []),
        extra: null,
        forgotten_at: null,
      },
      origin,
    );
    for (const turn of sources) this.#changes.addSource(row.id, turn);
    for (const old of replaces) this.supersede(old, row, origin);
    for (const { other, why, message } of doubts) this.#changes.doubt(row.uuid, other.uuid, why, message);
    return {
      row,
      merged: false,
      superseded: replaces.filter(({ status }) => status === 'active').map(({ uuid }) => uuid),
    };
  }

  /** A newer value takes the place of an older one, from when on it was said unless `until` says otherwise. */
  supersede(old: UnitRow, by: UnitRow, author: Author, until: string | null = null): void {
    this.#changes.patch(
      [old.id],
      {
        status: 'superseded',
        superseded_by: by.uuid,
        valid_to: until ?? by.valid_from ?? by.observed_at,
        merged: 0,
        pinned: 0,
      },
      { what: 'superseded', by: author },
    );
  }

  /** Memories that say the same become one: the others stay as superseded. */
  absorb(others: readonly UnitRow[], into: UnitRow, author: Author): void {
    for (const other of others)
      this.#changes.patch(
        [other.id],
        { status: 'superseded', superseded_by: into.uuid, merged: 1, pinned: 0 },
        { what: 'merged', by: author },
      );
    const sources = this.#database.all<{ turn: number }>(
      'SELECT DISTINCT turn FROM memory_sources WHERE unit IN (SELECT value FROM json_each(?))',
      JSON.stringify(others.map(({ id }) => id)),
    );
    for (const { turn } of sources) this.#changes.addSource(into.id, turn);
    const patch: Patch = {
      mentions: others.reduce((sum, { mentions }) => sum + mentions, into.mentions),
      pinned: others.some(({ pinned }) => pinned === 1) ? 1 : into.pinned,
    };
    this.#changes.patch([into.id], patch, null);
  }

  /** Changes what the user changed; call it in a change. */
  edit(row: UnitRow, { content, kind, scope, tags, expiresAt }: UnitEdit): void {
    const now = this.#changes.now();
    const patch: Patch = {};
    const text = content === undefined ? row.content : redact(content.trim()).text;
    if (text !== row.content) {
      const tells = this.#rivals.slotOf(kind ?? row.kind, text);
      patch.content = text;
      patch.hash = hashOf(text);
      patch.slot = tells?.slot ?? null;
      patch.value = tells?.value ?? null;
      patch.updated_at = now;
    }
    if (kind !== undefined && kind !== row.kind) patch.kind = kind;
    if (scope !== undefined && scope !== row.scope) patch.scope = scope;
    if (tags !== undefined) patch.tags = tagsText(tags);
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
    const again = unit.origin === 'import' && row.hash === hashOf(redact(unit.content.trim()).text);
    if (row.status === 'forgotten' || again) return { row, merged: true, superseded: [] };
    const patch: Patch = { mentions: row.mentions + 1 };
    if (unit.pinned && row.status === 'active') patch.pinned = 1;
    this.#changes.patch([row.id], patch, { what: 'merged', by: unit.origin });
    for (const turn of unit.sources ?? []) this.#changes.addSource(row.id, turn);
    return { row: { ...row, ...patch }, merged: true, superseded: [] };
  }
}

function tagsText(tags: readonly string[]): string {
  return JSON.stringify(tags.map((tag) => redact(tag).text));
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

export function counted(memories: number): string {
  return memories === 1 ? 'a memory' : `${memories} memories`;
}

export function noMemory(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no memory ${id}.`, {
    hint: 'metaclaw memory list shows them with their ids.',
  });
}
