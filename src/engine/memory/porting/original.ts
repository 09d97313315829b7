import { AppError } from '../../../shared/errors.ts';
import { parseScope } from '../../../shared/memory.ts';
import { readCopy } from '../../store/database.ts';
import {
  type Incoming,
  isUuid,
  type KeptUnit,
  kindOf,
  shareOf,
  tagsOf,
  timeOf,
  uuidFor,
} from './incoming.ts';

type Row = Readonly<Record<string, unknown>>;

/** With so much importance the original says that a memory is pinned. */
const PINNED = 0.99;
/** Newest schema of the original that is known. */
const KNOWN_SCHEMA = 6;

/**
 * Reads the memory.db of the original (schema 1 to 6, its columns as in the specification): every memory in every
 * state, with all its fields, its links, watches, notes and the log of its changes. The file itself is not touched.
 */
export function readOriginal(path: string, now: string): Incoming[] {
  return readCopy(path, (database) => {
    const tables = new Set(
      database
        .all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
        .map(({ name }) => name),
    );
    const columns = new Set(
      database
        .all<{ name: string }>("SELECT name FROM pragma_table_info('memories')")
        .map(({ name }) => name),
    );
    if (!['memory_id', 'scope_id', 'memory_type', 'content'].every((column) => columns.has(column)))
      throw new AppError('BAD_INPUT', `${path} is a database, but no memory.db of the original MetaClaw.`, {
        hint: 'It is expected to have a table `memories`; the original keeps it in ~/.metaclaw/memory/memory.db.',
        field: 'path',
      });
    const version = tables.has('schema_version')
      ? database.get<{ version: number | null }>('SELECT MAX(version) AS version FROM schema_version')
          ?.version
      : null;
    const read = (table: string) => (tables.has(table) ? database.all<Row>(`SELECT * FROM ${table}`) : []);
    const beside = {
      links: bySubject(read('memory_links'), ['source_id', 'target_id']),
      watches: bySubject(read('memory_watches'), ['memory_id']),
      annotations: bySubject(read('memory_annotations'), ['memory_id']),
      events: bySubject(read('memory_events'), ['memory_id']),
    };
    const rows = read('memories');
    const created = new Map(rows.map((row) => [String(row.memory_id), timeOf(row.created_at)]));
    const incoming = rows.map((row) => fromRow(row, beside, created, now));
    if ((version ?? 0) > KNOWN_SCHEMA)
      incoming.push({
        line: 'schema_version',
        type: 'skipped',
        reason: `The file has schema ${version}; fields that are newer than schema ${KNOWN_SCHEMA} were kept unread.`,
      });
    if (read('scope_access').length > 0)
      incoming.push({
        line: 'scope_access',
        type: 'skipped',
        reason: 'Who may read which scope is not a matter of the store here.',
      });
    return incoming;
  });
}

/** Columns that have a place of their own; all others are kept beside. */
const PLACED = new Set(['memory_id', 'content', 'tags_json']);

function fromRow(
  row: Row,
  beside: Readonly<Record<string, ReadonlyMap<string, Row[]>>>,
  created: ReadonlyMap<string, string | null>,
  now: string,
): Incoming {
  const id = String(row.memory_id);
  const line = `memory ${id}`;
  const content = typeof row.content === 'string' ? row.content : '';
  if (content.trim() === '') return { line, type: 'skipped', reason: 'It has no words.' };
  const createdAt = timeOf(row.created_at) ?? now;
  const expiresAt = timeOf(row.expires_at);
  const supersededBy =
    typeof row.superseded_by === 'string' && row.superseded_by !== '' ? row.superseded_by : null;
  const status = statusOf(row.status, expiresAt, now);
  const extra: Record<string, unknown> = { from: 'metaclaw' };
  for (const [column, value] of Object.entries(row))
    if (!PLACED.has(column))
      extra[column.replace(/_json$/, '')] = column.endsWith('_json') ? jsonOf(value) : value;
  for (const [name, of] of Object.entries(beside)) {
    const mine = of.get(id);
    if (mine) extra[name] = mine;
  }
  const unit: KeptUnit = {
    uuid: uuidOf(id),
    scope: parseScope(String(row.scope_id ?? '')),
    kind: kindOf(row.memory_type) ?? 'semantic',
    content,
    status,
    pinned: shareOf(row.importance, 0) >= PINNED && status === 'active',
    origin: 'import',
    importance: shareOf(row.importance, 0.5),
    confidence: shareOf(row.confidence, 0.7),
    observedAt: createdAt,
    createdAt,
    updatedAt: timeOf(row.updated_at) ?? createdAt,
    validFrom: createdAt,
    validTo: status === 'superseded' && supersededBy !== null ? (created.get(supersededBy) ?? null) : null,
    expiresAt,
    supersededBy: supersededBy === null ? null : uuidOf(supersededBy),
    merged: false,
    mentions: 1,
    tags: tagsOf(jsonOf(row.tags_json)),
    extra,
    sources: [],
    history: [],
    usedBy: [],
  };
  return { line, type: 'kept', unit };
}

/** Archived is what ran out, or was put away by hand: out of use here too. */
function statusOf(value: unknown, expiresAt: string | null, now: string): KeptUnit['status'] {
  if (value === 'superseded') return 'superseded';
  if (value === 'archived') return 'expired';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}

/** Ids of the original are UUIDs; another one gets a UUID of its own, always the same. */
function uuidOf(id: string): string {
  return isUuid(id) ? id.toLowerCase() : uuidFor(`metaclaw memory ${id}`);
}

function bySubject(rows: readonly Row[], columns: readonly string[]): Map<string, Row[]> {
  const found = new Map<string, Row[]>();
  for (const row of rows)
    for (const subject of new Set(columns.map((column) => String(row[column]))))
      found.set(subject, [...(found.get(subject) ?? []), row]);
  return found;
}

/** What stands there as JSON; the text itself where it is none. */
function jsonOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
