import type { Config } from '../../shared/config.ts';
import { type MemoryScope, scopeName } from '../../shared/memory.ts';
import type { Logger } from '../platform/logger.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { MemoryCandidate, Recall } from './recall.ts';
import { namesScope, type ScopeFacts, type ScopeTable, scopesOf } from './scope.ts';
import type { TurnStore } from './turns.ts';
import { usesVectors } from './vectors.ts';

interface TurnMemoryDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  config: () => Config;
  scopes: ScopeTable;
  turns: TurnStore;
  recall: Recall;
}

/** What of a long request is looked at. */
const MOST_CHARS = 20_000;

/** A turn, as far as its memories depend on it. */
export interface AskingTurn {
  sessionId: string;
  agent: string;
  facts: Pick<ScopeFacts, 'headers' | 'fields'> & {
    readonly userText: string;
    /** The conversation holds an answer. */
    readonly hasAssistant: boolean;
    holds(words: string): boolean;
  };
}

/** What a turn is told of what is remembered, and that it was. */
export class TurnMemory {
  readonly #deps: TurnMemoryDeps;

  constructor(deps: TurnMemoryDeps) {
    this.#deps = deps;
  }

  /** Whether a vector of the user's words would be of use. */
  get wantsVector(): boolean {
    return usesVectors(this.#deps.config());
  }

  /**
   * Memories that fit the user's words, in the order in which they enter. Bounded, writes nothing, and fails open: a
   * turn without memories is better than none.
   */
  find({ sessionId, agent, facts }: AskingTurn, vector: Float32Array | null): MemoryCandidate[] {
    const { log, recall } = this.#deps;
    try {
      return recall.find({
        text: facts.userText.slice(0, MOST_CHARS),
        scopes: this.#scopesOf(sessionId, { headers: facts.headers, fields: facts.fields, agent }),
        vector,
        sessionId,
        isFirst: !facts.hasAssistant,
        holds: (words) => facts.holds(words),
      });
    } catch (error) {
      log.error({ err: error }, 'nothing was recalled for a turn');
      return [];
    }
  }

  /** Remembers that a turn carried memories; the same turn counts once. Belongs to the caller's transaction. */
  noteUse(turnId: string, ids: readonly string[]): void {
    const { database, clock } = this.#deps;
    const at = new Date(clock.now()).toISOString();
    for (const id of new Set(ids))
      database.run(
        'INSERT OR IGNORE INTO memory_uses (memory, turn_id, at) VALUES (?, ?, ?)',
        id,
        turnId,
        at,
      );
  }

  /** A session stays in the scope that it began in, unless a request of it names one. */
  #scopesOf(sessionId: string, facts: ScopeFacts): readonly MemoryScope[] {
    const { config, turns, scopes } = this.#deps;
    const known = namesScope(facts) ? null : turns.scopeOf(sessionId);
    const asked = scopesOf(facts, config());
    if (known === null) return asked.read;
    const scope = scopes.get(known);
    return scopeName(scope) === scopeName(asked.write) ? asked.read : [scope];
  }
}
