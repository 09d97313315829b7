import { z } from 'zod';
import { MEMORY_KINDS, type MemoryEvent, type MemoryScope, scopeName } from '../../../shared/memory.ts';
import type { Database } from '../../store/database.ts';
import type { TurnRow, UnitRow } from '../rows.ts';
import type { ScopeTable } from '../scope.ts';
import type { Incoming } from './incoming.ts';

const FORMAT = 'metaclaw-memory';
const VERSION = 1;

const time = z.iso.datetime({ offset: true });
const scope = z.object({ user: z.string(), workspace: z.string(), agent: z.string() });
const head = z.object({ format: z.literal(FORMAT), version: z.number() });
const unitLine = z.object({
  type: z.literal('unit'),
  uuid: z.uuid(),
  scope,
  kind: z.enum(MEMORY_KINDS),
  content: z.string().min(1),
  status: z.enum(['active', 'superseded', 'expired']),
  pinned: z.boolean(),
  origin: z.enum(['rules', 'llm', 'user', 'import']),
  importance: z.number(),
  confidence: z.number(),
  observedAt: time,
  createdAt: time,
  updatedAt: time,
  validFrom: time.nullable(),
  validTo: time.nullable(),
  expiresAt: time.nullable(),
  supersededBy: z.string().nullable(),
  merged: z.boolean(),
  mentions: z.number().int(),
  tags: z.array(z.string()),
  extra: z.record(z.string(), z.unknown()).nullable(),
  sources: z.array(z.string()),
  history: z.array(
    z.object({
      at: time,
      what: z.enum([
        'added',
        'edited',
        'pinned',
        'unpinned',
        'superseded',
        'merged',
        'expired',
        'forgotten',
        'restored',
      ]),
      by: z.enum(['user', 'rules', 'llm', 'import', 'client']),
      detail: z.string(),
    }),
  ),
  usedBy: z.array(z.object({ turnId: z.string(), at: time })),
});
const turnLine = z.object({
  type: z.literal('turn'),
  key: z.string().min(1),
  scope,
  sessionId: z.string(),
  turnId: z.string().nullable(),
  role: z.enum(['user', 'assistant']),
  speaker: z.string(),
  text: z.string(),
  saidAt: time,
});
const conflictLine = z.object({
  type: z.literal('conflict'),
  one: z.string(),
  other: z.string(),
  why: z.enum(['contradiction', 'near-duplicate']),
  message: z.string(),
  at: time,
  settled: z.boolean(),
});
const anyLine = z.discriminatedUnion('type', [unitLine, turnLine, conflictLine]);

type Line = z.infer<typeof anyLine>;

/** Whether the first line of a file says that it is an export of ours. */
export function isOwn(value: unknown): boolean {
  return head.safeParse(value).success;
}

/** Reads an export of ours, after its first line. */
export function readOwn(values: readonly { line: string; value: unknown }[]): Incoming[] {
  return values.map(({ line, value }): Incoming => {
    const parsed = anyLine.safeParse(value);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const field = issue && issue.path.length > 0 ? ` (${issue.path.join('.')})` : '';
      return {
        line,
        type: 'skipped',
        reason: `It is no line of such an export${field}: ${issue?.message ?? ''}`,
      };
    }
    const one = parsed.data;
    if (one.type === 'unit') return { line, type: 'kept', unit: one };
    if (one.type === 'turn') return { line, type: 'turn', turn: one };
    return { line, ...one };
  });
}

/** All that is remembered and not forgotten, as lines of JSON: what was said first, since memories point to it. */
export function* ownLines(database: Database, scopes: ScopeTable, now: string): Generator<string> {
  yield JSON.stringify({ format: FORMAT, version: VERSION, exportedAt: now });
  const line = (value: Line) => JSON.stringify(value);
  for (const row of pages<TurnRow>(
    database,
    'SELECT * FROM memory_turns WHERE forgotten_at IS NULL AND id > ? ORDER BY id LIMIT ?',
  ))
    yield line({
      type: 'turn',
      key: row.key,
      scope: scopes.get(row.scope),
      sessionId: row.session_id,
      turnId: row.turn_id,
      role: row.role,
      speaker: row.speaker,
      text: row.text,
      saidAt: row.said_at,
    });
  for (const row of unitPages(database)) yield line(unitOf(database, scopes, row));
  for (const { settled, ...conflict } of database.all<{
    one: string;
    other: string;
    why: 'contradiction' | 'near-duplicate';
    message: string;
    at: string;
    settled: number;
  }>(
    `SELECT one, other, why, message, at, settled FROM memory_conflicts
     WHERE one IN (SELECT uuid FROM memory_units WHERE status <> 'forgotten')
       AND other IN (SELECT uuid FROM memory_units WHERE status <> 'forgotten')`,
  ))
    yield line({ type: 'conflict', ...conflict, settled: settled === 1 });
}

/** Memories for people to read: by scope and kind, newest first, with what no longer holds marked as such. */
export function* markdownLines(database: Database, scopes: ScopeTable): Generator<string> {
  const rows = database.all<{ scope: number; kind: string }>(
    "SELECT DISTINCT scope, kind FROM memory_units WHERE status <> 'forgotten' ORDER BY scope, kind",
  );
  let last: number | null = null;
  for (const { scope: id, kind } of rows) {
    if (id !== last) yield `${last === null ? '' : '\n'}# ${scopeName(scopes.get(id))}`;
    last = id;
    yield `\n## ${kind.replaceAll('_', ' ')}\n`;
    for (const row of database.all<UnitRow>(
      `SELECT * FROM memory_units WHERE scope = ? AND kind = ? AND status <> 'forgotten' ORDER BY observed_at DESC, id DESC`,
      id,
      kind,
    )) {
      const until =
        row.status === 'active'
          ? ''
          : row.valid_to === null
            ? ` _(${row.status})_`
            : ` _(until ${row.valid_to.slice(0, 10)})_`;
      yield `- ${row.content.replace(/\s*\n\s*/g, ' ')}${until}`;
    }
  }
}

const PAGE = 500;

function* pages<Row extends { id: number }>(database: Database, sql: string): Generator<Row> {
  let after = 0;
  for (;;) {
    const rows = database.all<Row>(sql, after, PAGE);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.id;
  }
}

function unitPages(database: Database): Generator<UnitRow> {
  return pages<UnitRow>(
    database,
    "SELECT * FROM memory_units WHERE status <> 'forgotten' AND id > ? ORDER BY id LIMIT ?",
  );
}

function unitOf(database: Database, scopes: ScopeTable, row: UnitRow): Line {
  const unitScope: MemoryScope = scopes.get(row.scope);
  return {
    type: 'unit',
    uuid: row.uuid,
    scope: unitScope,
    kind: row.kind,
    content: row.content,
    status: row.status === 'forgotten' ? 'expired' : row.status,
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
    merged: row.merged === 1,
    mentions: row.mentions,
    tags: JSON.parse(row.tags) as string[],
    extra: row.extra === null ? null : (JSON.parse(row.extra) as Record<string, unknown>),
    sources: database
      .all<{ key: string }>(
        `SELECT t.key FROM memory_sources s JOIN memory_turns t ON t.id = s.turn
         WHERE s.unit = ? AND t.forgotten_at IS NULL ORDER BY t.id`,
        row.id,
      )
      .map(({ key }) => key),
    history: database.all<MemoryEvent>(
      'SELECT at, what, by, detail FROM memory_events WHERE unit = ? ORDER BY id',
      row.id,
    ),
    usedBy: database.all<{ turnId: string; at: string }>(
      'SELECT turn_id AS turnId, at FROM memory_uses WHERE memory = ? ORDER BY at, turn_id',
      row.uuid,
    ),
  };
}
