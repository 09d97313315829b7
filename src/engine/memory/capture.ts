import { z } from 'zod';
import type { Config } from '../../shared/config.ts';
import { messageOf } from '../../shared/errors.ts';
import { scopeName } from '../../shared/memory.ts';
import { withoutInjected } from '../platform/injected.ts';
import type { Logger } from '../platform/logger.ts';
import { redact } from '../platform/redact.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { namesScope, type ScopeTable, scopesOf } from './scope.ts';
import { keyOfWords, type TurnStore } from './turns.ts';

/** A recorded turn, as the session log tells it. */
export interface HeardTurn {
  turnId: string;
  sessionId: string;
  agent: string;
  status: 'answered' | 'aborted' | 'failed';
  facts: {
    readonly headers: Readonly<Record<string, string | undefined>>;
    readonly fields: Readonly<Record<string, string | undefined>>;
    readonly userIndex: number;
  };
  /** Words as they are kept, masked; null where the turn brought none. Times are ISO. */
  said: () => { user: string | null; reply: string | null; askedAt: string; answeredAt: string };
}

/** An exchange that another program tells of; its words are masked here. */
export interface ToldTurn {
  sessionId: string;
  scope: number;
  user: string;
  reply: string;
  /** Tells exchanges of the same words apart, e.g. the client's id of the message; may be empty. */
  id: string;
}

export interface CaptureDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  config: () => Config;
  scopes: ScopeTable;
  turns: TurnStore;
}

const heardSchema = z.object({
  scope: z.object({ user: z.string(), workspace: z.string(), agent: z.string() }),
  sessionId: z.string(),
  turnId: z.string(),
  userKey: z.string(),
  user: z.string().nullable(),
  reply: z.string().nullable(),
  askedAt: z.string(),
  answeredAt: z.string(),
});
/** What is to be kept of one turn, with its scope by name: a number could be rolled back with the transaction. */
type Heard = z.infer<typeof heardSchema>;

const OFF = /^\s*(?:off|false|no|0)\s*$/i;
const CATCH_UP_ROWS = 500;
/** Of longer texts a part is kept; what stands behind this is never looked at. */
const LOOKED_AT = 20_000;

/**
 * Keeps what the user and the assistant said, in the transaction that records the turn. Whatever fails here is kept
 * aside and tried again; it never costs the record.
 */
export class Capture {
  readonly #deps: CaptureDeps;

  constructor(deps: CaptureDeps) {
    this.#deps = deps;
  }

  /** Keeps the words of a main turn. True when there were any. */
  recorded(turn: HeardTurn): boolean {
    const heard = this.#hear(turn);
    if (heard === null) return false;
    const { database, log } = this.#deps;
    try {
      database.part(() => this.#keep(heard));
    } catch (error) {
      log.error(
        { err: error, turn: turn.turnId },
        'the words of a turn could not be kept; it is tried again',
      );
      database.run(
        'INSERT OR REPLACE INTO memory_missed (turn_id, heard) VALUES (?, ?)',
        turn.turnId,
        JSON.stringify(heard),
      );
    }
    return true;
  }

  /** As `recorded`, for a side turn: only where the client named it so, and the user wants such turns read. */
  recordedAside(turn: HeardTurn): boolean {
    const { headers, fields } = turn.facts;
    const isDeclared = (headers['x-turn-type'] || fields.turn_type || '').trim() !== '';
    return this.#deps.config().memory.ignore_turn_type && isDeclared && this.recorded(turn);
  }

  /** Keeps an exchange that another program tells of; one that the proxy recorded is there. Returns the number of rows that are new. */
  told({ sessionId, scope, user, reply, id }: ToldTurn): number {
    const { database, clock, turns } = this.#deps;
    const at = new Date(clock.now()).toISOString();
    const rows = [
      { role: 'user' as const, text: wordsIn(redact(user).text) },
      { role: 'assistant' as const, text: wordsIn(redact(reply).text) },
    ].filter(({ role, text }) => text !== '' && !turns.isRecorded(sessionId, role, text));
    const added = database.tx(() =>
      rows.map(({ role, text }) =>
        turns.add({
          key: keyOfWords('told', sessionId, scope, id, role, text),
          scope,
          session_id: sessionId,
          turn_id: null,
          role,
          speaker: role,
          text,
          said_at: at,
          unread: 1,
        }),
      ),
    );
    return added.filter((row) => row !== null).length;
  }

  /** Takes up what could not be kept when it was said. Returns the sessions that it belongs to. */
  catchUp(): string[] {
    const { database, log } = this.#deps;
    const sessions = new Set<string>();
    const missed = database.all<{ turn_id: string; heard: string }>(
      'SELECT turn_id, heard FROM memory_missed ORDER BY turn_id LIMIT ?',
      CATCH_UP_ROWS,
    );
    for (const { turn_id: turnId, heard: text } of missed) {
      try {
        database.tx(() => {
          const heard = heardSchema.parse(JSON.parse(text));
          this.#keep(heard);
          database.run('DELETE FROM memory_missed WHERE turn_id = ?', turnId);
          sessions.add(heard.sessionId);
        });
      } catch (error) {
        log.warn(`the words of turn ${turnId} still cannot be kept: ${messageOf(error)}`);
      }
    }
    return [...sessions];
  }

  #hear(turn: HeardTurn): Heard | null {
    const config = this.#deps.config();
    const { headers, userIndex } = turn.facts;
    if (!config.memory.enabled || !config.record.bodies || turn.status === 'failed') return null;
    if (OFF.test(headers['x-metaclaw-memory'] ?? '')) return null;
    const said = turn.said();
    const user = said.user === null ? '' : wordsIn(said.user);
    const reply = said.reply === null || turn.status !== 'answered' ? '' : wordsIn(said.reply);
    if (user === '' && reply === '') return null;
    const scope = this.#scopeOf(turn);
    return {
      scope,
      sessionId: turn.sessionId,
      turnId: turn.turnId,
      // A request that is sent again says nothing new.
      userKey: keyOfWords(scopeName(scope), turn.sessionId, userIndex, user),
      user: user === '' ? null : user,
      reply: reply === '' ? null : reply,
      askedAt: said.askedAt,
      answeredAt: said.answeredAt,
    };
  }

  /** A session stays in the scope that it began in, unless a request of it names one. */
  #scopeOf({ sessionId, facts, agent }: HeardTurn): Heard['scope'] {
    const { config, turns, scopes } = this.#deps;
    const known = namesScope(facts) ? null : turns.scopeOf(sessionId);
    return known === null
      ? scopesOf({ headers: facts.headers, fields: facts.fields, agent }, config()).write
      : scopes.get(known);
  }

  #keep({ scope, sessionId, turnId, userKey, user, reply, askedAt, answeredAt }: Heard): void {
    const { scopes, turns } = this.#deps;
    const common = { scope: scopes.idFor(scope), session_id: sessionId, turn_id: turnId, unread: 1 };
    if (user !== null)
      turns.add({ ...common, key: userKey, role: 'user', speaker: 'user', text: user, said_at: askedAt });
    if (reply !== null)
      turns.add({
        ...common,
        key: `${turnId}:assistant`,
        role: 'assistant',
        speaker: 'assistant',
        text: reply,
        said_at: answeredAt,
      });
  }
}

/** What somebody said, without what was injected into it; empty when nothing is left. */
function wordsIn(text: string): string {
  return withoutInjected(text.slice(0, LOOKED_AT)).trim();
}
