import type { RouteOutput, RouteParsed } from '../../shared/contract.ts';
import { dayOf, shiftDay, startOfDay } from '../../shared/days.ts';
import type {
  MemoryDetail,
  MemoryEvent,
  MemoryFacets,
  MemoryKind,
  MemorySource,
  MemoryStatus,
  MemoryUnit,
} from '../../shared/memory.ts';
import type { Clock } from '../ports.ts';
import type { Database, SqlValue } from '../store/database.ts';
import { toUnit, type UnitRow, type Usage } from './rows.ts';
import type { ScopeTable } from './scope.ts';

type Filter = Omit<RouteParsed<'memory.list'>, 'sort' | 'limit' | 'after' | 'text'>;

/** A condition with its parameters. */
interface Where {
  sql: string;
  params: SqlValue[];
}

const USAGE = `(SELECT COUNT(*) FROM memory_uses WHERE memory = u.uuid) AS used,
  (SELECT MAX(at) FROM memory_uses WHERE memory = u.uuid) AS last_used`;
const SOON_DAYS = 7;

/** Units by the numbers of their rows, best first, each with the reason for it. */
export type FindUnits = (text: string) => readonly { id: number; reason: string }[];

interface ListingDeps {
  database: Database;
  clock: Clock;
  scopes: ScopeTable;
  /** Units that a text finds, in any state, best first. */
  find: FindUnits;
}

/** Lists and counts of memories for people; never on the path of a request. */
export class Listing {
  readonly #deps: ListingDeps;

  constructor(deps: ListingDeps) {
    this.#deps = deps;
  }

  list({ text, sort, limit, after, ...filter }: RouteParsed<'memory.list'>): RouteOutput<'memory.list'> {
    const where = this.#where(filter);
    return text.trim() === ''
      ? this.#sorted(where, sort, limit, after)
      : this.#found(where, this.#deps.find(text), limit, after);
  }

  /** The units with these row numbers, in the order of the numbers. */
  byRows(ids: readonly number[]): MemoryUnit[] {
    const rows = this.#deps.database.all<UnitRow & Usage>(
      `SELECT u.*, ${USAGE} FROM json_each(?) j CROSS JOIN memory_units u ON u.id = j.value ORDER BY j.key`,
      JSON.stringify(ids),
    );
    return this.#units(rows);
  }

  byUuid(uuids: readonly string[]): MemoryUnit[] {
    const rows = this.#deps.database.all<UnitRow & Usage>(
      `SELECT u.*, ${USAGE} FROM json_each(?) j CROSS JOIN memory_units u ON u.uuid = j.value ORDER BY j.key`,
      JSON.stringify(uuids),
    );
    return this.#units(rows);
  }

  /** The values that a memory replaced, newest first. */
  replacedBy(uuid: string): MemoryUnit[] {
    const rows = this.#deps.database.all<UnitRow & Usage>(
      `SELECT u.*, ${USAGE} FROM memory_units u
       WHERE u.superseded_by = ? AND u.status <> 'forgotten' ORDER BY u.observed_at DESC, u.id DESC LIMIT 100`,
      uuid,
    );
    return this.#units(rows);
  }

  /** Where a memory comes from, and what happened to it. What was forgotten is not quoted. */
  background(id: number): Pick<MemoryDetail, 'sources' | 'history'> {
    const { database } = this.#deps;
    const sources = database.all<MemorySource>(
      `SELECT t.session_id AS sessionId, t.turn_id AS turnId, t.role, t.speaker, t.text AS quote, t.said_at AS saidAt
       FROM memory_sources s JOIN memory_turns t ON t.id = s.turn
       WHERE s.unit = ? AND t.forgotten_at IS NULL ORDER BY t.said_at, t.id LIMIT 200`,
      id,
    );
    if (sources.length === 0) sources.push(...this.#importedSource(id));
    const history = database.all<MemoryEvent>(
      'SELECT at, what, by, detail FROM memory_events WHERE unit = ? ORDER BY id LIMIT 1000',
      id,
    );
    return { sources, history };
  }

  /** An imported memory may know its conversation, though not the words. */
  #importedSource(id: number): MemorySource[] {
    return this.#deps.database.all<MemorySource>(
      `SELECT json_extract(extra, '$.source_session_id') AS sessionId, NULL AS turnId, 'user' AS role,
         'user' AS speaker, ifnull(json_extract(extra, '$.summary'), '') AS quote, observed_at AS saidAt
       FROM memory_units WHERE id = ? AND ifnull(json_extract(extra, '$.source_session_id'), '') <> ''`,
      id,
    );
  }

  usedBy(uuid: string): MemoryDetail['usedBy'] {
    return this.#deps.database.all<{ turnId: string; at: string }>(
      'SELECT turn_id AS turnId, at FROM memory_uses WHERE memory = ? ORDER BY at DESC, turn_id LIMIT 20',
      uuid,
    );
  }

  facets(text: string): MemoryFacets {
    const { database, clock, scopes } = this.#deps;
    const found = text.trim() === '' ? null : JSON.stringify(this.#deps.find(text).map(({ id }) => id));
    const among = found === null ? '1' : 'u.id IN (SELECT value FROM json_each(?))';
    const params = found === null ? [] : [found];
    const today = dayOf(clock.now());
    const since = (day: string) => new Date(startOfDay(day)).toISOString();
    const count = <K extends string | number>(column: string, which: string) =>
      database.all<{ key: K; count: number }>(
        `SELECT ${column} AS key, COUNT(*) AS count FROM memory_units u WHERE ${among} ${which}
         GROUP BY 1 ORDER BY 2 DESC, 1`,
        ...params,
      );
    const active = "AND u.status = 'active'";
    const sums = database.get<Omit<MemoryFacets, 'scopes' | 'kinds' | 'statuses'>>(
      `SELECT ifnull(sum(u.created_at >= ?), 0) AS today,
         ifnull(sum(u.created_at < ? AND u.created_at >= ?), 0) AS last7Days,
         ifnull(sum(u.created_at < ?), 0) AS older,
         ifnull(sum(u.pinned), 0) AS pinned,
         ifnull(sum(u.expires_at IS NOT NULL AND u.expires_at < ?), 0) AS expiringSoon
       FROM memory_units u WHERE ${among} ${active}`,
      since(today),
      since(today),
      since(shiftDay(today, -6)),
      since(shiftDay(today, -6)),
      this.#soon(),
      ...params,
    );
    return {
      scopes: count<number>('u.scope', active).map(({ key, count }) => ({ scope: scopes.get(key), count })),
      kinds: count<MemoryKind>('u.kind', active).map(({ key, count }) => ({ kind: key, count })),
      statuses: count<MemoryStatus>('u.status', '').map(({ key, count }) => ({ status: key, count })),
      ...(sums ?? { today: 0, last7Days: 0, older: 0, pinned: 0, expiringSoon: 0 }),
    };
  }

  /** Scopes in which anything is kept. */
  scopes(): RouteOutput<'memory.scopes'> {
    return this.#deps.database
      .all<{ id: number; units: number; turns: number }>(
        `SELECT s.id, (SELECT COUNT(*) FROM memory_units u WHERE u.scope = s.id AND u.status = 'active') AS units,
           (SELECT COUNT(*) FROM memory_turns t WHERE t.scope = s.id AND t.forgotten_at IS NULL) AS turns
         FROM memory_scopes s ORDER BY s.user, s.workspace, s.agent`,
      )
      .filter(({ units, turns }) => units + turns > 0)
      .map(({ id, units, turns }) => ({ scope: this.#deps.scopes.get(id), units, turns }));
  }

  /** Before this a memory runs out soon. */
  #soon(): string {
    const { clock } = this.#deps;
    return new Date(startOfDay(shiftDay(dayOf(clock.now()), SOON_DAYS))).toISOString();
  }

  #sorted(
    where: Where,
    sort: RouteParsed<'memory.list'>['sort'],
    limit: number,
    after: string | undefined,
  ): RouteOutput<'memory.list'> {
    const { database } = this.#deps;
    const by = sort === 'used' ? '(SELECT COUNT(*) FROM memory_uses WHERE memory = u.uuid)' : 'u.created_at';
    const [way, beyond] = sort === 'oldest' ? ['ASC', '>'] : ['DESC', '<'];
    const from = after === undefined ? null : readCursor(after);
    const page = from === null ? '' : `AND (${by}, u.id) ${beyond} (?, ?)`;
    const rows = database.all<UnitRow & Usage & { by: string | number }>(
      `SELECT u.*, ${USAGE}, ${by} AS by FROM memory_units u WHERE ${where.sql} ${page}
       ORDER BY ${by} ${way}, u.id ${way} LIMIT ?`,
      ...where.params,
      ...(from ?? []),
      limit + 1,
    );
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      units: this.#units(rows.slice(0, limit)),
      total: this.#count(where),
      next: last ? JSON.stringify([last.by, last.id]) : null,
      why: {},
    };
  }

  #found(
    where: Where,
    found: ReturnType<FindUnits>,
    limit: number,
    after: string | undefined,
  ): RouteOutput<'memory.list'> {
    const offset = Number(after ?? 0) || 0;
    const rows = this.#deps.database.all<{ id: number }>(
      `SELECT u.id FROM json_each(?) j CROSS JOIN memory_units u ON u.id = j.value WHERE ${where.sql} ORDER BY j.key`,
      JSON.stringify(found.map(({ id }) => id)),
      ...where.params,
    );
    const ids = rows.map(({ id }) => id);
    const end = offset + limit;
    const shown = ids.slice(offset, end);
    const units = this.byRows(shown);
    const reasons = new Map(found.map(({ id, reason }) => [id, reason]));
    return {
      units,
      total: ids.length,
      next: ids.length > end ? String(end) : null,
      // Both are in the order of the numbers.
      why: Object.fromEntries(units.map(({ id }, at) => [id, reasons.get(shown[at] ?? -1) ?? ''])),
    };
  }

  #count({ sql, params }: Where): number {
    return (
      this.#deps.database.get<{ n: number }>(
        `SELECT COUNT(*) AS n FROM memory_units u WHERE ${sql}`,
        ...params,
      )?.n ?? 0
    );
  }

  #units(rows: readonly (UnitRow & Usage)[]): MemoryUnit[] {
    return rows.map((row) => toUnit(row, this.#deps.scopes));
  }

  #where(filter: Filter): Where {
    const parts: Where[] = [isOneOf('u.status', filter.statuses)];
    if (filter.scopes)
      parts.push(
        isOneOf(
          'u.scope',
          filter.scopes.map((scope) => this.#deps.scopes.idOf(scope)).filter((id) => id !== null),
        ),
      );
    if (filter.kinds) parts.push(isOneOf('u.kind', filter.kinds));
    if (filter.pinned !== undefined) parts.push({ sql: 'u.pinned = ?', params: [filter.pinned ? 1 : 0] });
    if (filter.expiring)
      parts.push({
        sql: 'u.expires_at IS NOT NULL AND u.expires_at < ?',
        params: [this.#soon()],
      });
    if (filter.sessionId !== undefined)
      parts.push({
        sql: `u.id IN (SELECT s.unit FROM memory_turns t JOIN memory_sources s ON s.turn = t.id
          WHERE t.session_id = ?)`,
        params: [filter.sessionId],
      });
    if (filter.ages) parts.push(this.#ofAge(filter.ages));
    return {
      sql: parts.map(({ sql }) => `(${sql})`).join(' AND '),
      params: parts.flatMap(({ params }) => params),
    };
  }

  /** Ages are local days, as the facets count them. */
  #ofAge(ages: readonly ('today' | 'last7Days' | 'older')[]): Where {
    const today = dayOf(this.#deps.clock.now());
    const midnight = new Date(startOfDay(today)).toISOString();
    const weekAgo = new Date(startOfDay(shiftDay(today, -6))).toISOString();
    const conditions: Record<(typeof ages)[number], Where> = {
      today: { sql: 'u.created_at >= ?', params: [midnight] },
      last7Days: { sql: 'u.created_at < ? AND u.created_at >= ?', params: [midnight, weekAgo] },
      older: { sql: 'u.created_at < ?', params: [weekAgo] },
    };
    const wanted = ages.map((age) => conditions[age]);
    return {
      sql: wanted.length === 0 ? '0' : wanted.map(({ sql }) => `(${sql})`).join(' OR '),
      params: wanted.flatMap(({ params }) => params),
    };
  }
}

function isOneOf(column: string, values: readonly SqlValue[]): Where {
  return { sql: `${column} IN (SELECT value FROM json_each(?))`, params: [JSON.stringify(values)] };
}

function readCursor(cursor: string): [string | number, number] | null {
  try {
    const value: unknown = JSON.parse(cursor);
    if (!Array.isArray(value)) return null;
    const [by, id]: unknown[] = value;
    return (typeof by === 'string' || typeof by === 'number') && typeof id === 'number' ? [by, id] : null;
  } catch {
    return null;
  }
}
