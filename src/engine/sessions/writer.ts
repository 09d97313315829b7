import type { InjectionReport, SessionEndReason } from '../../shared/model.ts';
import { redact, redactJson } from '../platform/redact.ts';
import type { Database } from '../store/database.ts';
import type { LiveSession } from './live.ts';
import { cut, type PartStore } from './parts.ts';
import type { OpenTurn, ReceivedReply, SentRequest } from './turn.ts';

/** Most of the user's words and of an answer's text that is kept beside the bodies. */
const USER_TEXT_CHARS = 8000;
const REPLY_TEXT_CHARS = 200_000;

/** The writes of the session log, one method a fact. Call them inside a transaction; all text is masked here. */
export class TurnWriter {
  readonly #database: Database;
  readonly #parts: PartStore;

  constructor(database: Database, parts: PartStore) {
    this.#database = database;
    this.#parts = parts;
  }

  /** Turns that were being answered when the last process stopped have failed. Returns their number. */
  repair(): number {
    return this.#database.run(
      "UPDATE turns SET status = 'failed', error = 'interrupted' WHERE status = 'open'",
    );
  }

  /** A session as it is after one more turn; a main turn also opens it again. */
  saveSession(session: LiveSession, isMain: boolean, at: string): void {
    const chain = session.chain === null ? null : JSON.stringify(session.chain);
    const tail = session.chain?.at(-1) ?? null;
    const injection = JSON.stringify(session.injection);
    if (!session.stored)
      this.#database.run(
        'INSERT INTO sessions (id, agent, client_id, client, lane, source, fingerprint, chain, tail, started_at, last_at, turns, injection) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
        session.id,
        session.agent,
        session.clientId,
        session.client,
        session.lane,
        session.source,
        session.fingerprint,
        chain,
        tail,
        at,
        at,
        isMain ? 1 : 0,
        injection,
      );
    else if (isMain)
      this.#database.run(
        'UPDATE sessions SET lane = ?, fingerprint = ?, chain = ?, tail = ?, last_at = max(last_at, ?), ended_at = NULL, end_reason = NULL, turns = turns + 1, injection = ? WHERE id = ?',
        session.lane,
        session.fingerprint,
        chain,
        tail,
        at,
        injection,
        session.id,
      );
  }

  /** A turn that went upstream. Side turns, and all when `bodies` is off, leave their bodies out. */
  insertTurn(turn: OpenTurn, sent: SentRequest, bodies: boolean): void {
    const user = redact(bodies ? turn.facts.userText : '');
    const keepsBodies = bodies && turn.kind === 'main';
    const request = keepsBodies ? this.#parts.putBytes(sent.requestBody) : null;
    const changed = keepsBodies && sent.sentBody !== sent.requestBody;
    const upstream = changed ? this.#parts.putBytes(sent.sentBody) : null;
    const masked = user.masked || request?.masked === true || upstream?.masked === true;
    this.#database.run(
      "INSERT INTO turns (id, session_id, seq, kind, agent, dialect, upstream, host, requested_model, model, status, started_at, user_text, injection, added_tokens, skills, masked, request_body, sent_body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?)",
      turn.id,
      turn.sessionId,
      turn.seq,
      turn.kind,
      turn.agent,
      turn.dialect,
      sent.upstream,
      sent.host,
      redact(turn.facts.model).text,
      sent.model,
      new Date(turn.startedAtMs).toISOString(),
      cut(user.text, USER_TEXT_CHARS),
      JSON.stringify(reportToKeep(sent.report, bodies)),
      sent.report.tokens,
      sent.report.items.filter((item) => item.kind === 'skill').length,
      masked ? 1 : 0,
      request?.outline ?? null,
      upstream?.outline ?? null,
    );
  }

  /** The answer of a turn; `isSide`: it showed that the turn was none of the user's after all. */
  finishTurn(turn: OpenTurn, reply: ReceivedReply, nowMs: number, isSide: boolean, bodies: boolean): void {
    const text = redact(bodies ? reply.replyText : '');
    const keepsBody =
      bodies && turn.kind === 'main' && reply.replyBody !== null && reply.replyBody !== undefined;
    const body = keepsBody ? this.#parts.putValue(reply.replyBody) : null;
    this.#database.run(
      'UPDATE turns SET status = ?, http_status = ?, first_byte_ms = ?, duration_ms = ?, usage = ?, reply_text = ?, reply_body = ?, error = ?, kind = ?, masked = max(masked, ?) WHERE id = ?',
      reply.status,
      reply.httpStatus,
      reply.firstByteMs,
      Math.max(0, nowMs - turn.startedAtMs),
      reply.usage === null ? null : JSON.stringify(reply.usage),
      cut(text.text, REPLY_TEXT_CHARS),
      body?.outline ?? null,
      reply.error === null ? null : redact(reply.error).text,
      isSide ? 'side' : turn.kind,
      text.masked || body?.masked === true ? 1 : 0,
      turn.id,
    );
    if (reply.rerouted) this.#reroute(turn, reply.rerouted, keepsBody);
    if (turn.kind === 'main')
      this.#database.run(
        'UPDATE sessions SET last_at = max(last_at, ?), turns = turns - ? WHERE id = ?',
        new Date(nowMs).toISOString(),
        isSide ? 1 : 0,
        turn.sessionId,
      );
  }

  #reroute(turn: OpenTurn, way: NonNullable<ReceivedReply['rerouted']>, keepsBody: boolean): void {
    const sent = keepsBody ? this.#parts.putBytes(way.sentBody) : null;
    this.#database.run(
      'UPDATE turns SET upstream = ?, host = ?, model = ?, sent_body = coalesce(?, sent_body), masked = max(masked, ?) WHERE id = ?',
      way.upstream,
      way.host,
      way.model,
      sent?.outline ?? null,
      sent?.masked === true ? 1 : 0,
      turn.id,
    );
  }

  /** Changes what sessions with memories carry. Returns how many were changed. */
  changeInjections(change: (injection: SentRequest['injection']) => SentRequest['injection'] | null): number {
    const rows = this.#database.all<{ id: string; injection: string }>(
      `SELECT id, injection FROM sessions WHERE instr(injection, '"memories"') > 0`,
    );
    let changed = 0;
    for (const { id, injection } of rows) {
      const next = change({ messages: [], ...(JSON.parse(injection) as Partial<SentRequest['injection']>) });
      if (next === null) continue;
      this.#database.run('UPDATE sessions SET injection = ? WHERE id = ?', JSON.stringify(next), id);
      changed += 1;
    }
    return changed;
  }

  /** Marks a session as ended; false when it was already. */
  endSession(id: string, reason: SessionEndReason, nowMs: number): boolean {
    return (
      this.#database.run(
        'UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL',
        new Date(nowMs).toISOString(),
        reason,
        id,
      ) === 1
    );
  }
}

/** Reasons quote the user's words: they are masked like them, and left out when bodies are not recorded. */
function reportToKeep(report: InjectionReport, bodies: boolean): InjectionReport {
  if (bodies) return redactJson(report).value;
  return { ...report, items: report.items.map((item) => ({ ...item, reason: '' })) };
}
