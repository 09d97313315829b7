import type { IdentitySource } from '../../shared/model.ts';
import type { Database } from '../store/database.ts';
import { compare } from './history.ts';
import type { OpenTurn } from './turn.ts';

/** A session as the request path needs it: in memory while it is open or in use. */
export interface LiveSession {
  readonly id: string;
  readonly agent: string;
  readonly clientId: string | null;
  readonly source: IdentitySource;
  readonly client: string;
  lane: string | null;
  fingerprint: string | null;
  /** Digests of the newest request's messages; only for sessions recognised by history. Set by `learnHistory`. */
  readonly chain: readonly string[] | null;
  /** Digests of a main request that is not recorded yet; stands in for `chain` until it is. Set by `learnHistory`. */
  readonly pending: readonly string[] | null;
  lastAtMs: number;
  /** Recorded main turns. */
  turns: number;
  /** Number that the last main turn got. */
  issued: number;
  injection: OpenTurn['injection'];
  /** False between its first request's arrival and that request's record. */
  stored: boolean;
  ended: boolean;
  /** Start times of turns that are being answered, by turn id. */
  readonly inFlight: Map<string, number>;
}

interface SessionRow {
  id: string;
  agent: string;
  client_id: string | null;
  client: string;
  lane: string | null;
  source: IdentitySource;
  fingerprint: string | null;
  chain: string | null;
  last_at: string;
  ended_at: string | null;
  turns: number;
  seq: number;
  injection: string;
}

const COLUMNS =
  'id, agent, client_id, client, lane, source, fingerprint, chain, last_at, ended_at, turns, injection, (SELECT coalesce(max(seq), 0) FROM turns WHERE session_id = sessions.id) AS seq';
/** Sessions with one fingerprint that are compared when a conversation comes back after its end. */
const CANDIDATES = 50;

/** The sessions in memory, and the way back to those that are only in the database. */
export class LiveSessions {
  readonly #database: Database;
  readonly #byId = new Map<string, LiveSession>();
  readonly #byClientId = new Map<string, LiveSession>();
  /** Sessions recognised by history, by the digest of the last message known of them. */
  readonly #byTail = new Map<string, Set<LiveSession>>();

  constructor(database: Database) {
    this.#database = database;
  }

  all(): IterableIterator<LiveSession> {
    return this.#byId.values();
  }

  byId(id: string): LiveSession | null {
    return this.#byId.get(id) ?? this.#load('id = ?', id)[0] ?? null;
  }

  /** The same id from two agents means two sessions. A session's own id finds it too. */
  byClientId(agent: string, clientId: string): LiveSession | null {
    const known = this.#byClientId.get(keyOf(agent, clientId));
    if (known) return known;
    const stored = this.#load('agent = ? AND client_id = ?', agent, clientId)[0];
    if (stored) return stored;
    const named = this.byId(clientId);
    return named?.agent === agent ? named : null;
  }

  /**
   * The session whose messages this request continues: the longest known history wins. A session that has ended comes
   * back only when there is something new to say; the same opening words alone start another one.
   */
  byHistory(
    facts: { agent: string; clientAddress: string },
    fingerprint: string,
    digests: readonly string[],
  ): LiveSession | null {
    let best: LiveSession | null = null;
    for (const session of this.#withTailIn(digests)) {
      if (session.agent !== facts.agent || session.client !== facts.clientAddress) continue;
      const relation = compare(historyOf(session), digests);
      const fits =
        relation === 'slides'
          ? !session.ended
          : relation !== 'none' &&
            session.fingerprint === fingerprint &&
            (relation === 'extends' || !session.ended);
      if (fits && (best === null || historyOf(session).length > historyOf(best).length)) best = session;
    }
    if (best !== null) return best;
    // What is said for the first time continues nothing that was said before.
    const earlier = digests.slice(0, -1);
    if (earlier.length === 0) return null;
    const stored = this.#rows(
      `fingerprint = ? AND tail IN (SELECT value FROM json_each(?)) AND client_id IS NULL ORDER BY last_at DESC LIMIT ${CANDIDATES}`,
      fingerprint,
      JSON.stringify(earlier),
    )
      .filter((row) => !this.#byId.has(row.id))
      .map((row) => ({ row, chain: parseChain(row.chain) ?? [] }))
      .filter(({ row, chain }) => row.agent === facts.agent && compare(chain, digests) === 'extends')
      .sort((a, b) => b.chain.length - a.chain.length)[0];
    return stored ? this.add(toLive(stored.row)) : null;
  }

  /** The session that a fresh one of the same agent, client and chat replaces: the one used last. */
  replacedBy(session: LiveSession): LiveSession | null {
    let best: LiveSession | null = null;
    for (const other of this.#byId.values()) {
      if (other === session || other.ended || !other.stored || other.turns === 0) continue;
      if (other.agent !== session.agent || other.client !== session.client) continue;
      if (other.lane !== null && session.lane !== null && other.lane !== session.lane) continue;
      if (best === null || other.lastAtMs > best.lastAtMs) best = other;
    }
    return best;
  }

  isTaken(id: string): boolean {
    return this.#byId.has(id) || this.#database.get('SELECT 1 FROM sessions WHERE id = ?', id) !== null;
  }

  add(session: LiveSession): LiveSession {
    this.#byId.set(session.id, session);
    if (session.clientId === null) this.#index(session);
    else this.#byClientId.set(keyOf(session.agent, session.clientId), session);
    return session;
  }

  /** What is known of a session's messages from now on. */
  learnHistory(session: LiveSession, history: Partial<Pick<LiveSession, 'chain' | 'pending'>>): void {
    this.#unindex(session);
    Object.assign(session, history);
    if (session.clientId === null && this.#byId.get(session.id) === session) this.#index(session);
  }

  /** Forgets a session that is neither open nor in use; it is found in the database when it comes back. */
  release(session: LiveSession): void {
    if (session.inFlight.size > 0 || (session.stored && !session.ended)) return;
    this.#byId.delete(session.id);
    this.#unindex(session);
    if (session.clientId !== null) this.#byClientId.delete(keyOf(session.agent, session.clientId));
  }

  /** Takes the sessions that were open when the last process stopped. */
  loadOpen(): void {
    this.#load('ended_at IS NULL');
  }

  /** A request that goes on from a session has the last message known of it among its own. */
  #withTailIn(digests: readonly string[]): Set<LiveSession> {
    const found = new Set<LiveSession>();
    for (const digest of digests) for (const session of this.#byTail.get(digest) ?? []) found.add(session);
    return found;
  }

  #index(session: LiveSession): void {
    const tail = historyOf(session).at(-1);
    if (tail === undefined) return;
    const sessions = this.#byTail.get(tail) ?? new Set();
    this.#byTail.set(tail, sessions.add(session));
  }

  #unindex(session: LiveSession): void {
    const tail = historyOf(session).at(-1);
    const sessions = tail === undefined ? undefined : this.#byTail.get(tail);
    if (tail === undefined || !sessions?.delete(session)) return;
    if (sessions.size === 0) this.#byTail.delete(tail);
  }

  #load(where: string, ...params: string[]): LiveSession[] {
    return this.#rows(where, ...params).map((row) => this.#byId.get(row.id) ?? this.add(toLive(row)));
  }

  #rows(where: string, ...params: string[]): SessionRow[] {
    return this.#database.all<SessionRow>(`SELECT ${COLUMNS} FROM sessions WHERE ${where}`, ...params);
  }
}

function historyOf(session: LiveSession): readonly string[] {
  return session.pending ?? session.chain ?? [];
}

function keyOf(agent: string, clientId: string): string {
  return `${agent}\n${clientId}`;
}

function parseChain(text: string | null): string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]);
}

function toLive(row: SessionRow): LiveSession {
  return {
    id: row.id,
    agent: row.agent,
    clientId: row.client_id,
    source: row.source,
    client: row.client,
    lane: row.lane,
    fingerprint: row.fingerprint,
    chain: parseChain(row.chain),
    pending: null,
    lastAtMs: Date.parse(row.last_at),
    turns: row.turns,
    issued: Math.max(row.turns, row.seq),
    injection: { messages: [], ...(JSON.parse(row.injection) as Partial<OpenTurn['injection']>) },
    stored: true,
    ended: row.ended_at !== null,
    inFlight: new Map(),
  };
}
