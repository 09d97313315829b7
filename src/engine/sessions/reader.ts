import { dayOf, shiftDay, startOfDay } from '../../shared/days.ts';
import type {
  Dialect,
  InjectionReport,
  TriedTurn,
  TurnDetail,
  TurnKind,
  TurnStatus,
  TurnSummary,
  Usage,
} from '../../shared/model.ts';
import type { Database, SqlValue } from '../store/database.ts';
import { cut, type PartStore } from './parts.ts';

export interface ListOptions {
  limit: number;
  /** Cursor of the page before: `next` of its result. */
  before?: string | undefined;
  sessionId?: string | undefined;
  kind?: TurnKind | undefined;
}

/** What a user asked in one turn. */
export interface AskedTurn {
  turn: Pick<TriedTurn, 'turnId' | 'sessionId' | 'at' | 'userText'>;
  /** All that is kept of the user's words. */
  words: string;
}

/** Characters of the user's words in lists; a turn's detail has all that is kept. */
const SUMMARY_CHARS = 400;

interface TurnRow {
  id: string;
  session_id: string;
  seq: number;
  kind: TurnKind;
  agent: string;
  dialect: Dialect;
  upstream: string;
  requested_model: string;
  model: string;
  status: TurnStatus;
  http_status: number | null;
  started_at: string;
  first_byte_ms: number | null;
  duration_ms: number | null;
  user_text: string;
  injection: string;
  usage: string | null;
}

interface DetailRow extends TurnRow {
  reply_text: string;
  error: string | null;
  masked: number;
  request_body: string | null;
  sent_body: string | null;
  reply_body: string | null;
}

const SUMMARY_COLUMNS =
  'id, session_id, seq, kind, agent, dialect, upstream, requested_model, model, status, http_status, started_at, first_byte_ms, duration_ms, user_text, injection, usage';
const DETAIL_COLUMNS = `${SUMMARY_COLUMNS}, reply_text, error, masked, request_body, sent_body, reply_body`;

/** Reads recorded turns for screens, the command line and the evolver. */
export class TurnReader {
  readonly #database: Database;
  readonly #parts: PartStore;

  constructor(database: Database, parts: PartStore) {
    this.#database = database;
    this.#parts = parts;
  }

  /** Newest first, by keyset: the time of a page does not grow with the number of turns. */
  list(options: ListOptions): { turns: TurnSummary[]; next: string | null } {
    const where: string[] = [];
    const params: SqlValue[] = [];
    const restrict = (sql: string, ...values: SqlValue[]) => {
      where.push(sql);
      params.push(...values);
    };
    if (options.sessionId !== undefined) restrict('session_id = ?', options.sessionId);
    if (options.kind !== undefined) restrict('kind = ?', options.kind);
    if (options.before !== undefined) {
      const [at = '', id = ''] = options.before.split('|');
      restrict('(started_at, id) < (?, ?)', at, id);
    }
    const rows = this.#database.all<TurnRow>(
      `SELECT ${SUMMARY_COLUMNS} FROM turns ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY started_at DESC, id DESC LIMIT ?`,
      ...params,
      options.limit + 1,
    );
    const page = rows.slice(0, options.limit);
    const last = page.at(-1);
    return {
      turns: page.map(toSummary),
      next: rows.length > page.length && last ? `${last.started_at}|${last.id}` : null,
    };
  }

  lastSeen(agent: string): string | null {
    const row = this.#database.get<{ at: string | null }>(
      'SELECT max(last_at) AS at FROM sessions WHERE agent = ?',
      agent,
    );
    return row?.at ?? null;
  }

  get(id: string): TurnDetail | null {
    const row = this.#database.get<DetailRow>(`SELECT ${DETAIL_COLUMNS} FROM turns WHERE id = ?`, id);
    if (row === null) return null;
    const bodies = this.#bodies(row);
    return { ...toDetail(row), ...bodies };
  }

  /**
   * A session's main turns, oldest first. Each body is put together when it is first asked for: a long session's
   * bodies together are far larger than the session.
   */
  turnsOf(sessionId: string): TurnDetail[] {
    const rows = this.#database.all<DetailRow>(
      `SELECT ${DETAIL_COLUMNS} FROM turns WHERE session_id = ? AND kind = 'main' ORDER BY started_at, id`,
      sessionId,
    );
    return rows.map((row) => {
      let bodies: Bodies | null = null;
      const read = (): Bodies => {
        bodies ??= this.#bodies(row);
        return bodies;
      };
      return {
        ...toDetail(row),
        get requestBody() {
          return read().requestBody;
        },
        get sentBody() {
          return read().sentBody;
        },
        get replyBody() {
          return read().replyBody;
        },
      };
    });
  }

  /**
   * The newest main turns whose user said something, the newest first; those that went on with a tool's result said
   * nothing new.
   */
  lastAsked(limit: number): AskedTurn[] {
    const rows = this.#database.all<Pick<TurnRow, 'id' | 'session_id' | 'started_at' | 'user_text'>>(
      `SELECT id, session_id, started_at, user_text FROM turns
       WHERE kind = 'main' AND trim(user_text) <> '' AND injection ->> 'skipped' IS NOT 'no-user-text'
       ORDER BY started_at DESC, id DESC LIMIT ?`,
      limit,
    );
    return rows.map((row) => ({
      turn: {
        turnId: row.id,
        sessionId: row.session_id,
        at: row.started_at,
        userText: cut(row.user_text, SUMMARY_CHARS),
      },
      words: row.user_text,
    }));
  }

  /** What is kept of a turn's words; empty for a turn that is not there. */
  wordsOf(id: string): { userText: string; replyText: string } {
    return (
      this.#database.get<{ userText: string; replyText: string }>(
        'SELECT user_text AS userText, reply_text AS replyText FROM turns WHERE id = ?',
        id,
      ) ?? { userText: '', replyText: '' }
    );
  }

  /** Main turns per hour of one local day (`YYYY-MM-DD`; the day of `nowMs` when absent), 24 numbers. */
  histogram(nowMs: number, day?: string): { day: string; hours: number[] } {
    const name = day ?? dayOf(nowMs);
    const rows = this.#database.all<{ started_at: string }>(
      "SELECT started_at FROM turns WHERE kind = 'main' AND started_at >= ? AND started_at < ?",
      new Date(startOfDay(name)).toISOString(),
      new Date(startOfDay(shiftDay(name, 1))).toISOString(),
    );
    const hours = new Array<number>(24).fill(0);
    for (const row of rows) {
      const hour = new Date(row.started_at).getHours();
      hours[hour] = (hours[hour] ?? 0) + 1;
    }
    return { day: name, hours };
  }

  /** Sums over the main turns of the local day of `nowMs`. */
  today(nowMs: number): { turns: number; sessions: number; addedTokens: number; skillsPerTurn: number } {
    const row = this.#database.get<{ turns: number; sessions: number; added: number; skills: number }>(
      "SELECT count(*) AS turns, count(DISTINCT session_id) AS sessions, coalesce(sum(added_tokens), 0) AS added, coalesce(sum(skills), 0) AS skills FROM turns WHERE kind = 'main' AND started_at >= ?",
      new Date(startOfDay(dayOf(nowMs))).toISOString(),
    );
    if (row === null || row.turns === 0) return { turns: 0, sessions: 0, addedTokens: 0, skillsPerTurn: 0 };
    return {
      turns: row.turns,
      sessions: row.sessions,
      addedTokens: row.added,
      skillsPerTurn: row.skills / row.turns,
    };
  }

  #bodies(row: DetailRow): Bodies {
    const requestBody = row.request_body === null ? null : this.#parts.read(row.request_body);
    return {
      requestBody,
      sentBody: row.sent_body === null ? requestBody : this.#parts.read(row.sent_body),
      replyBody: row.reply_body === null ? null : this.#parts.read(row.reply_body),
    };
  }
}

type Bodies = Pick<TurnDetail, 'requestBody' | 'sentBody' | 'replyBody'>;

function toSummary(row: TurnRow): TurnSummary {
  return {
    id: row.id,
    sessionId: row.session_id,
    seq: row.seq,
    kind: row.kind,
    agent: row.agent,
    dialect: row.dialect,
    requestedModel: row.requested_model,
    model: row.model,
    upstream: row.upstream,
    status: row.status,
    httpStatus: row.http_status,
    startedAt: row.started_at,
    firstByteMs: row.first_byte_ms,
    durationMs: row.duration_ms,
    userText: cut(row.user_text, SUMMARY_CHARS),
    injection: JSON.parse(row.injection) as InjectionReport,
    usage: row.usage === null ? null : (JSON.parse(row.usage) as Usage),
  };
}

function toDetail(row: DetailRow): Omit<TurnDetail, keyof Bodies> {
  return {
    ...toSummary(row),
    userText: row.user_text,
    replyText: row.reply_text,
    error: row.error,
    masked: row.masked === 1,
  };
}
