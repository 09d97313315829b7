import { AppError } from '../../shared/errors.ts';
import type { InjectionReport, Usage } from '../../shared/model.ts';
import type { CachedTurn, PrefixState, SessionCache, SessionSummary } from '../../shared/sessions.ts';
import type { Database, SqlValue } from '../store/database.ts';
import { cut, type PartStore, type PromptPiece } from './parts.ts';

interface Row {
  id: string;
  seq: number;
  started_at: string;
  upstream: string;
  host: string | null;
  model: string;
  injection: string;
  added_tokens: number;
  usage: string | null;
  request_body: string | null;
  sent_body: string | null;
}

interface SessionRow {
  id: string;
  agent: string;
  started_at: string;
  last_at: string;
  ended_at: string | null;
  turns: number;
  words: string | null;
  uncounted: number;
  prompt: number;
  reads: number;
  writes: number;
  added: number;
}

/** A turn's prompt, as the client sent it and as it went on. */
interface Prompt {
  row: Row;
  asked: PromptPiece[];
  sent: PromptPiece[];
}

const COLUMNS =
  'id, seq, started_at, upstream, host, model, injection, added_tokens, usage, request_body, sent_body';
/** Most turns of one report, the newest ones. */
const MOST_TURNS = 500;
/** Agents talk in several threads at once: a turn goes on from one of so many before it. */
const THREADS = 8;
const FIRST_WORDS = 120;

const of = (field: keyof Usage) => `ifnull(t.usage ->> '${field}', 0)`;
const COUNTED = "(t.usage IS NOT NULL AND NOT ifnull(t.usage ->> 'estimated', 0))";
const PROMPT = `iif(${COUNTED}, ${of('inputTokens')} + ${of('cacheReadTokens')} + ${of('cacheWriteTokens')}, 0)`;

/**
 * What the provider's cache gave, session by session, and whether what was added kept it whole. A cache gives back the
 * longest start of a prompt that it has seen; so what a turn sent must stand at the start of what the next one sends.
 */
export class PromptCache {
  readonly #database: Database;
  readonly #parts: PartStore;

  constructor(database: Database, parts: PartStore) {
    this.#database = database;
    this.#parts = parts;
  }

  /** Sessions with main turns, the last used first; `before` is the `next` of the page before. */
  sessions(options: { limit: number; before?: string | undefined }): {
    sessions: SessionSummary[];
    next: string | null;
  } {
    const [at = '', id = ''] = (options.before ?? '').split('|');
    const params: SqlValue[] = options.before === undefined ? [] : [at, id];
    const rows = this.#database.all<SessionRow>(
      `WITH page AS (
         SELECT id, agent, started_at, last_at, ended_at, turns FROM sessions
         WHERE turns > 0 ${options.before === undefined ? '' : 'AND (last_at, id) < (?, ?)'}
         ORDER BY last_at DESC, id DESC LIMIT ?)
       SELECT page.*,
         (SELECT user_text FROM turns WHERE session_id = page.id AND kind = 'main' AND user_text <> ''
          ORDER BY started_at, turns.id LIMIT 1) AS words,
         ifnull(sum(NOT ${COUNTED}), 0) AS uncounted, ifnull(sum(${PROMPT}), 0) AS prompt,
         ifnull(sum(${of('cacheReadTokens')}), 0) AS reads, ifnull(sum(${of('cacheWriteTokens')}), 0) AS writes,
         ifnull(sum(t.added_tokens), 0) AS added
       FROM page LEFT JOIN turns t ON t.session_id = page.id AND t.kind = 'main'
       GROUP BY page.id ORDER BY page.last_at DESC, page.id DESC`,
      ...params,
      options.limit + 1,
    );
    const shown = rows.slice(0, options.limit);
    const last = shown.at(-1);
    return {
      sessions: shown.map((row) => ({
        id: row.id,
        agent: row.agent,
        startedAt: row.started_at,
        lastAt: row.last_at,
        endedAt: row.ended_at,
        turns: row.turns,
        words: cut(row.words ?? '', FIRST_WORDS),
        promptTokens: row.prompt,
        cacheReadTokens: row.reads,
        cacheWriteTokens: row.writes,
        addedTokens: row.added,
        uncounted: row.uncounted,
      })),
      next: rows.length > shown.length && last ? `${last.last_at}|${last.id}` : null,
    };
  }

  /** A session's main turns, oldest first, at most the newest 500. NOT_FOUND when there is no such session. */
  report(sessionId: string): SessionCache {
    const rows = this.#database
      .all<Row>(
        `SELECT ${COLUMNS} FROM turns WHERE session_id = ? AND kind = 'main' ORDER BY started_at DESC, id DESC LIMIT ?`,
        sessionId,
        MOST_TURNS,
      )
      .reverse();
    if (rows.length === 0 && this.#database.get('SELECT 1 FROM sessions WHERE id = ?', sessionId) === null)
      throw new AppError('NOT_FOUND', `There is no session ${cut(sessionId, 80)}.`);
    const before: Prompt[] = [];
    const turns = rows.map((row, n) => {
      const prompt = this.#prompt(row);
      const prefix = n === 0 ? 'first' : prompt === null ? 'unknown' : this.#judge(prompt, before);
      if (prompt !== null) before.push(prompt);
      if (before.length > THREADS) before.shift();
      return toTurn(row, prefix);
    });
    const sum = (pick: (turn: CachedTurn) => number) => turns.reduce((all, turn) => all + pick(turn), 0);
    return {
      sessionId,
      turns,
      promptTokens: sum(({ promptTokens }) => promptTokens ?? 0),
      cacheReadTokens: sum(({ cacheReadTokens }) => cacheReadTokens),
      cacheWriteTokens: sum(({ cacheWriteTokens }) => cacheWriteTokens),
      broken: turns.filter(({ prefix }) => prefix === 'broken').length,
    };
  }

  /** As in the session's report, for one turn; null for turns that have none. */
  prefixOf(turn: { id: string; sessionId: string }): PrefixState | null {
    const rows = this.#database.all<Row>(
      `SELECT ${COLUMNS} FROM turns WHERE session_id = ? AND kind = 'main'
       AND (started_at, id) <= (SELECT started_at, id FROM turns WHERE id = ?)
       ORDER BY started_at DESC, id DESC LIMIT ?`,
      turn.sessionId,
      turn.id,
      THREADS + 1,
    );
    const [row, ...earlier] = rows;
    if (row?.id !== turn.id) return null;
    if (earlier.length === 0) return 'first';
    const prompt = this.#prompt(row);
    const before = earlier.reverse().flatMap((one) => this.#prompt(one) ?? []);
    return prompt === null ? 'unknown' : this.#judge(prompt, before);
  }

  #prompt(row: Row): Prompt | null {
    if (row.request_body === null) return null;
    const asked = this.#parts.prompt(row.request_body);
    const sent = row.sent_body === null ? asked : this.#parts.prompt(row.sent_body);
    return asked === null || sent === null ? null : { row, asked, sent };
  }

  /** `before`: the turns that it may go on from, oldest first. */
  #judge(turn: Prompt, before: readonly Prompt[]): PrefixState {
    const known = before.map((other) => ({
      other,
      asked: this.#common(other.asked, turn.asked),
      sent: this.#common(other.sent, turn.sent),
    }));
    const best = known.reduceRight<(typeof known)[number] | null>(
      (most, one) => (most !== null && most.sent + most.asked >= one.sent + one.asked ? most : one),
      null,
    );
    if (best === null) return 'unknown';
    const { other, asked, sent } = best;
    if (other.row.model !== turn.row.model || other.row.host !== turn.row.host) return 'other-model';
    if (sent === other.sent.length) return 'kept';
    // What was added as a message of its own stands before those of the client.
    const added = other.sent.length - other.asked.length;
    if (asked < other.asked.length)
      return sent >= asked + Math.max(0, added) || added < 0 ? 'client' : 'broken';
    const report = JSON.parse(turn.row.injection) as InjectionReport;
    return report.cut === undefined ? 'broken' : 'cut';
  }

  /** How many pieces two prompts have in common, from the start. */
  #common(one: readonly PromptPiece[], other: readonly PromptPiece[]): number {
    let at = 0;
    while (at < one.length && this.#parts.isSamePiece(one[at], other[at])) at += 1;
    return at;
  }
}

function toTurn(row: Row, prefix: PrefixState): CachedTurn {
  const usage = row.usage === null ? null : (JSON.parse(row.usage) as Usage);
  const counted = usage !== null && !usage.estimated ? usage : null;
  return {
    turnId: row.id,
    seq: row.seq,
    at: row.started_at,
    model: row.model,
    promptTokens:
      counted === null ? null : counted.inputTokens + counted.cacheReadTokens + counted.cacheWriteTokens,
    cacheReadTokens: counted?.cacheReadTokens ?? 0,
    cacheWriteTokens: counted?.cacheWriteTokens ?? 0,
    addedTokens: row.added_tokens,
    prefix,
  };
}
