import { z } from 'zod';
import type { Dialect } from '../../../shared/model.ts';
import type { Logger } from '../../platform/logger.ts';
import { redact } from '../../platform/redact.ts';
import type { Clock } from '../../ports.ts';
import type { Database } from '../../store/database.ts';
import { asArray, asObject, asText, isObject } from '../translate/json.ts';
import { reasoningText, visibleText } from '../translate/responses/items.ts';
import type { JsonObject } from '../translate/types.ts';
import { reasoningOf, splitContent } from '../translate/vocabulary.ts';
import { type MessageKey, messageKey } from './message-key.ts';

/** The reasoning of one answer as its vendor wants it back: plain text, or signed blocks in their order. */
export type Reasoning =
  | {
      wire: 'openai';
      text: string;
      /** OpenRouter's blocks, some of them signed. */
      details?: JsonObject[] | undefined;
      /** By call, in their order: what its vendor wants back with it; null for none. */
      extras?: (JsonObject | null)[] | undefined;
    }
  | {
      wire: 'anthropic' | 'responses';
      blocks: JsonObject[];
      /** By block: how many other blocks of the answer stood before it; absent when all stood first. */
      at?: number[] | undefined;
    };

/** One conversation's drawer. */
export interface Scope {
  /** Session id, or a name of its own for turns that leave no trace. */
  session: string;
  /** False: kept in memory only. */
  persist: boolean;
}

export interface ReasoningMemoryDeps {
  database: Database;
  clock: Clock;
  log: Logger;
}

interface Entry extends MessageKey {
  reasoning: Reasoning;
  size: number;
}
interface Drawer {
  /** Oldest first. */
  entries: Entry[];
  size: number;
  /** What the database holds of the session has been read. */
  loaded: boolean;
}
interface Row {
  wire: string;
  call_ids: string;
  hash: string;
  data: string;
}

/** Characters; together they bound what reasoning may take of memory. */
const MOST_IN_ALL = 24 * 1024 * 1024;
const MOST_PER_SESSION = 6 * 1024 * 1024;
const MOST_PER_ANSWER = 512 * 1024;
const MOST_ROWS = 2000;
const KEPT_MS = 30 * 24 * 3600_000;
/** An id this long is no counter that begins anew in every answer. */
const TELLING_ID = 8;
const COLUMNS = 'wire, call_ids, hash, data';

const block = z.record(z.string(), z.unknown());
const dataShape = z.union([
  z.object({
    text: z.string(),
    details: z.array(block).optional(),
    extras: z.array(block.nullable()).optional(),
  }),
  z.object({ blocks: z.array(block), at: z.array(z.number().int().min(0)).optional() }),
]);

/**
 * The reasoning of answers, by session and tool call: vendors that demand it back meet clients that drop it. Lives in
 * memory, bounded, and in the database (redacted), so that a tool loop goes on after a restart.
 */
export class ReasoningMemory {
  readonly #deps: ReasoningMemoryDeps;
  /** Least recently used first. */
  readonly #drawers = new Map<string, Drawer>();
  #size = 0;
  #pruned = false;

  constructor(deps: ReasoningMemoryDeps) {
    this.#deps = deps;
  }

  /** Keeps what an answer (in its dialect's whole shape) reasoned. Call before its last bytes reach the client. */
  keep(scope: Scope, wire: Dialect, reply: JsonObject): void {
    const found = readReasoning(wire, reply);
    if (found === null) return;
    const size = JSON.stringify(found.reasoning).length;
    if (size > MOST_PER_ANSWER) return;
    const entry: Entry = { ...messageKey(wire, found.message), reasoning: found.reasoning, size };
    const drawer = this.#drawer(scope.session);
    drawer.entries.push(entry);
    drawer.size += size;
    this.#size += size;
    this.#bound(drawer);
    if (scope.persist) this.#write(scope.session, entry);
  }

  /** Finds the reasoning of a request's assistant messages. Ask from the newest message to the oldest. */
  recall(scope: Scope, wire: Dialect): (key: MessageKey) => Reasoning | null {
    let drawer: Drawer | null = null;
    const used = new Set<Entry>();
    return (key) => {
      // Only upstreams that want reasoning ever ask, so that the others cost no look into the database.
      drawer ??= this.#loaded(scope);
      const free = drawer.entries.filter((entry) => entry.reasoning.wire === wire && !used.has(entry));
      const entry = pick(free, key);
      if (entry === null) return this.#elsewhere(key, wire);
      used.add(entry);
      return entry.reasoning;
    };
  }

  #drawer(session: string): Drawer {
    const drawer = this.#drawers.get(session) ?? { entries: [], size: 0, loaded: false };
    this.#drawers.delete(session);
    this.#drawers.set(session, drawer);
    return drawer;
  }

  #loaded(scope: Scope): Drawer {
    const drawer = this.#drawer(scope.session);
    if (drawer.loaded || !scope.persist) return drawer;
    drawer.loaded = true;
    const rows = this.#read(
      `SELECT ${COLUMNS} FROM reasoning WHERE session_id = ? ORDER BY id DESC LIMIT ${MOST_ROWS}`,
      scope.session,
    );
    // What was kept meanwhile is in both; the newer one, unmasked, is already here.
    const known = new Set(drawer.entries.map(identity));
    const stored = rows.reverse().filter((entry) => !known.has(identity(entry)));
    const size = stored.reduce((sum, entry) => sum + entry.size, 0);
    drawer.entries.unshift(...stored);
    drawer.size += size;
    this.#size += size;
    this.#bound(drawer);
    return drawer;
  }

  /** A conversation that went on under another name: both the call and what it says must be the same. */
  #elsewhere(key: MessageKey, wire: Dialect): Reasoning | null {
    if (!key.ids.some((id) => id.length >= TELLING_ID)) return null;
    const same = (entry: Entry) =>
      entry.hash === key.hash && entry.reasoning.wire === wire && sharesId(entry, key);
    for (const drawer of this.#drawers.values()) {
      const found = drawer.entries.find(same);
      if (found) return found.reasoning;
    }
    const rows = this.#read(`SELECT ${COLUMNS} FROM reasoning WHERE hash = ? LIMIT 20`, key.hash);
    return rows.find(same)?.reasoning ?? null;
  }

  #bound(drawer: Drawer): void {
    while (drawer.size > MOST_PER_SESSION) {
      const oldest = drawer.entries.shift();
      if (!oldest) break;
      drawer.size -= oldest.size;
      this.#size -= oldest.size;
    }
    for (const [session, other] of this.#drawers) {
      if (this.#size <= MOST_IN_ALL || other === drawer) break;
      this.#drawers.delete(session);
      this.#size -= other.size;
    }
  }

  #read(sql: string, param: string): Entry[] {
    try {
      return this.#deps.database.all<Row>(sql, param).flatMap((row) => entryOf(row) ?? []);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'kept reasoning could not be read');
      return [];
    }
  }

  #write(session: string, entry: Entry): void {
    const data = toStore(entry.reasoning);
    if (data === null) return;
    const { clock, database, log } = this.#deps;
    const now = clock.now();
    try {
      database.tx(() => {
        if (!this.#pruned)
          database.run('DELETE FROM reasoning WHERE at < ?', new Date(now - KEPT_MS).toISOString());
        this.#pruned = true;
        database.run(
          `INSERT INTO reasoning (session_id, ${COLUMNS}, at) SELECT id, ?, ?, ?, ?, ? FROM sessions WHERE id = ?`,
          entry.reasoning.wire,
          JSON.stringify(entry.ids),
          entry.hash,
          data,
          new Date(now).toISOString(),
          session,
        );
      });
    } catch (error) {
      log.warn({ err: error }, 'the reasoning of an answer could not be kept');
    }
  }
}

/** The newest entry that is this message: by id and words, by a telling id, or by its words alone. */
function pick(entries: readonly Entry[], key: MessageKey): Entry | null {
  const byId = entries.filter((entry) => sharesId(entry, key));
  return (
    byId.findLast((entry) => entry.hash === key.hash) ??
    byId.findLast(() => key.ids.some((id) => id.length >= TELLING_ID)) ??
    entries.findLast((entry) => entry.hash === key.hash) ??
    null
  );
}

function sharesId(entry: Entry, key: MessageKey): boolean {
  return entry.ids.some((id) => key.ids.includes(id));
}

function identity(entry: Entry): string {
  return `${entry.hash} ${entry.ids.join(' ')}`;
}

function readReasoning(
  wire: Dialect,
  reply: JsonObject,
): { message: JsonObject; reasoning: Reasoning } | null {
  if (wire === 'anthropic') {
    const content = asArray(reply.content).filter(isObject);
    const blocks = content.filter(isThinking);
    if (blocks.length === 0) return null;
    const at = blocks.map((one, n) => content.indexOf(one) - n);
    const reasoning = { wire, blocks, ...(at.some((place) => place > 0) ? { at } : {}) };
    return { message: reply, reasoning };
  }
  if (wire === 'responses') return readSealed(reply);
  const message = asObject(asObject(asArray(reply.choices)[0]).message);
  const text = reasoningOf(message) || splitContent(message.content).reasoning;
  const details = asArray(message.reasoning_details).filter(isObject);
  const extras = asArray(message.tool_calls).map((call) => extraOf(call));
  const signed = extras.some((extra) => extra !== null);
  if (text === '' && details.length === 0 && !signed) return null;
  return {
    message,
    reasoning: {
      wire: 'openai',
      text,
      ...(details.length > 0 ? { details } : {}),
      ...(signed ? { extras } : {}),
    },
  };
}

/** What a call's vendor wants back with it. */
export function extraOf(call: unknown): JsonObject | null {
  const { extra_content } = asObject(call);
  return isObject(extra_content) ? extra_content : null;
}

/** Reasoning items that only their vendor can read; the answer around them in the shape that chat clients send back. */
function readSealed(reply: JsonObject): { message: JsonObject; reasoning: Reasoning } | null {
  const items = asArray(reply.output).filter(isObject);
  const blocks = items.filter((item) => item.type === 'reasoning' && asText(item.encrypted_content) !== '');
  if (blocks.length === 0) return null;
  return { message: answerOfItems(items), reasoning: { wire: 'responses', blocks } };
}

/** The items of one answer in the shape of a chat message, by which `messageKey` knows it. */
export function answerOfItems(items: readonly JsonObject[]): JsonObject {
  const tool_calls = items
    .filter((item) => item.type === 'function_call')
    .map((item) => ({ id: item.call_id, function: { name: item.name, arguments: item.arguments } }));
  return { content: items.map(visibleText).join(''), tool_calls };
}

/** True for the blocks that Anthropic's API wants back unchanged. */
export function isThinking(block: JsonObject): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

/** JSON for the database, masked; null when masking would break a signature. */
function toStore(reasoning: Reasoning): string | null {
  if (reasoning.wire === 'openai') {
    const { text, masked } = redact(reasoning.text);
    const { details, extras } = reasoning;
    return JSON.stringify({ text, details: masked ? undefined : details, extras });
  }
  const words = (block: JsonObject) =>
    reasoning.wire === 'responses' ? reasoningText(block) : asText(block.thinking);
  const masked = reasoning.blocks.some((block) => redact(words(block)).masked);
  return masked ? null : JSON.stringify({ blocks: reasoning.blocks, at: reasoning.at });
}

function entryOf(row: Row): Entry | null {
  const data = dataShape.safeParse(JSON.parse(row.data));
  if (!data.success) return null;
  const reasoning: Reasoning =
    'text' in data.data
      ? { wire: 'openai', ...data.data }
      : { wire: row.wire === 'responses' ? 'responses' : 'anthropic', ...data.data };
  return { ids: JSON.parse(row.call_ids) as string[], hash: row.hash, reasoning, size: row.data.length };
}
