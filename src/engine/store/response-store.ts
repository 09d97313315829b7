import { redactJson } from '../platform/redact.ts';
import type { Clock } from '../ports.ts';
import type { Database } from './database.ts';

type Json = Record<string, unknown>;

/** One response that a client may come back to by its id. */
export interface KeptResponse {
  id: string;
  /** The response that it continued; null at the beginning of a conversation. */
  previousId: string | null;
  sessionId: string | null;
  /** Items that the client sent with this request, as they were. */
  input: Json[];
  /** The whole response object; null when the provider keeps it and only the session is remembered here. */
  response: Json | null;
}

export interface ResponseStoreDeps {
  database: Database;
  clock: Clock;
}

interface Row {
  id: string;
  previous_id: string | null;
  session_id: string | null;
  input: string;
  response: string | null;
  expires_at: number;
}

const KEPT_MS = 24 * 3600_000;
const PRUNE_MS = 3600_000;
/** Responses in memory, together at most so many characters. */
const MOST_IN_MEMORY = 32 * 1024 * 1024;

/**
 * Responses by id, for `previous_response_id` and `GET /v1/responses/:id`. Each keeps only what its own request
 * brought, and a conversation is the chain of them; using a response keeps its whole chain for another day. What is
 * kept goes back into requests, so memory has it exactly; the disk has it through the redactor, as everything there,
 * so that a conversation continued after a restart goes on with its secrets masked.
 */
export class ResponseStore {
  readonly #database: Database;
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #memory = new Map<string, Row>();
  #size = 0;
  #prunedAtMs = 0;

  constructor(deps: ResponseStoreDeps) {
    this.#database = deps.database;
    this.#clock = deps.clock;
  }

  /** Keeps a response. `persist: false` keeps it in memory only. */
  save(kept: KeptResponse, persist: boolean): void {
    const now = this.#clock.now();
    const row: Row = {
      id: kept.id,
      previous_id: kept.previousId,
      session_id: kept.sessionId,
      input: JSON.stringify(kept.input),
      response: kept.response === null ? null : JSON.stringify(kept.response),
      expires_at: now + KEPT_MS,
    };
    this.#hold(row);
    if (persist) this.#write(masked(row), kept.response);
    this.#prune(now);
  }

  /** The response object; null when it is unknown here or kept by the provider. */
  get(id: string): Json | null {
    const response = this.#row(id)?.response ?? null;
    return response === null ? null : (JSON.parse(response) as Json);
  }

  /** Session of a response; null when it is unknown or had none. */
  sessionOf(id: string): string | null {
    return this.#row(id)?.session_id ?? null;
  }

  /** All items of the conversation up to and with a response, oldest first; null when a link of it is missing. */
  history(id: string): Json[] | null {
    const chain = this.#chain(id);
    if (chain === null) return null;
    return chain.flatMap((row) => [...parseItems(row.input), ...outputOf(row)]);
  }

  /** The items that a response was made from, oldest first; null when they are unknown. */
  inputOf(id: string): Json[] | null {
    const chain = this.#chain(id);
    const last = chain?.pop();
    if (!chain || !last) return null;
    return [
      ...chain.flatMap((row) => [...parseItems(row.input), ...outputOf(row)]),
      ...parseItems(last.input),
    ];
  }

  /** An output item of any kept response, by its own id. */
  item(itemId: string): Json | null {
    for (const row of this.#memory.values()) {
      const found = row.response?.includes(itemId) ? outputOf(row).find((item) => item.id === itemId) : null;
      if (found) return found;
    }
    const owner = this.#database.get<{ response_id: string }>(
      'SELECT response_id FROM response_items WHERE item_id = ?',
      itemId,
    );
    const row = owner && this.#row(owner.response_id);
    return row ? (outputOf(row).find((item) => item.id === itemId) ?? null) : null;
  }

  /** Forgets a response; false when it is unknown. Conversations that went on from it cannot be continued by id. */
  delete(id: string): boolean {
    const held = this.#memory.get(id);
    if (held) this.#release(held);
    return this.#database.run('DELETE FROM responses WHERE id = ?', id) > 0 || held !== undefined;
  }

  #chain(id: string): Row[] | null {
    const chain: Row[] = [];
    const seen = new Set<string>();
    for (let at: string | null = id; at !== null; ) {
      const row: Row | null = seen.has(at) ? null : this.#row(at);
      if (row === null || row.response === null) return null;
      seen.add(at);
      chain.push(row);
      at = row.previous_id;
    }
    return chain.reverse();
  }

  #row(id: string): Row | null {
    const row = this.#memory.get(id) ?? this.#database.get<Row>('SELECT * FROM responses WHERE id = ?', id);
    return row !== null && row.expires_at > this.#clock.now() ? row : null;
  }

  #write(row: Row, response: Json | null): void {
    const database = this.#database;
    database.tx(() => {
      database.run(
        'INSERT OR REPLACE INTO responses (id, previous_id, session_id, input, response, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
        row.id,
        row.previous_id,
        row.session_id,
        row.input,
        row.response,
        row.expires_at,
      );
      for (const item of outputItems(response))
        if (typeof item.id === 'string')
          database.run(
            'INSERT OR REPLACE INTO response_items (item_id, response_id) VALUES (?, ?)',
            item.id,
            row.id,
          );
      this.#refresh(row);
    });
  }

  #hold(row: Row): void {
    const before = this.#held(row.id);
    if (before) this.#release(before);
    this.#memory.set(row.id, row);
    this.#size += sizeOf(row);
    this.#refresh(row);
    for (const oldest of this.#memory.values()) {
      if (this.#size <= MOST_IN_MEMORY || oldest === row) break;
      this.#release(oldest);
    }
  }

  /** What a conversation goes on from lives as long as what follows it, wherever it is kept. */
  #refresh(row: Row): void {
    let at = row.previous_id;
    // A provider may give every response the same id, and so one that continues itself.
    const seen = new Set([row.id]);
    for (let before = this.#held(at); before && !seen.has(before.id); before = this.#held(at)) {
      seen.add(before.id);
      before.expires_at = row.expires_at;
      at = before.previous_id;
    }
    if (at === null) return;
    this.#database.run(
      `WITH RECURSIVE chain (id) AS (
         SELECT ? UNION SELECT previous_id FROM responses JOIN chain USING (id) WHERE previous_id IS NOT NULL
       ) UPDATE responses SET expires_at = ? WHERE id IN (SELECT id FROM chain)`,
      at,
      row.expires_at,
    );
  }

  #held(id: string | null): Row | null {
    return id === null ? null : (this.#memory.get(id) ?? null);
  }

  #release(row: Row): void {
    if (this.#memory.delete(row.id)) this.#size -= sizeOf(row);
  }

  #prune(now: number): void {
    if (now - this.#prunedAtMs < PRUNE_MS) return;
    this.#prunedAtMs = now;
    for (const row of [...this.#memory.values()]) if (row.expires_at <= now) this.#release(row);
    this.#database.run('DELETE FROM responses WHERE expires_at <= ?', now);
    this.#database.run('DELETE FROM response_items WHERE response_id NOT IN (SELECT id FROM responses)');
  }
}

function masked(row: Row): Row {
  const mask = (json: string) => JSON.stringify(redactJson(JSON.parse(json)).value);
  return { ...row, input: mask(row.input), response: row.response === null ? null : mask(row.response) };
}

function parseItems(text: string): Json[] {
  return JSON.parse(text) as Json[];
}

function outputOf(row: Row): Json[] {
  return row.response === null ? [] : outputItems(JSON.parse(row.response) as Json);
}

function outputItems(response: Json | null): Json[] {
  return Array.isArray(response?.output) ? (response.output as Json[]) : [];
}

function sizeOf(row: Row): number {
  return row.input.length + (row.response?.length ?? 0);
}
