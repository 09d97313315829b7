import type { Config } from '../../../shared/config.ts';
import type { MemoryScope } from '../../../shared/memory.ts';
import type { RecallSettings } from '../../../shared/memory-eval.ts';
import type { Database } from '../../store/database.ts';
import { type MemoryCandidate, Recall } from '../recall.ts';
import { ScopeTable } from '../scope.ts';
import { MemoryIndex, type MemoryQuery } from '../search/index.ts';
import type { CaseResult } from './measure.ts';
import { withSettings } from './settings.ts';

/** A question with what it needs, by the ids of memories and of what was said (`t` and a number). */
export interface ReplayCase {
  ask: string;
  /** Scopes that it may read, nearest first. */
  scopes: readonly MemoryScope[];
  sessionId: string | null;
  atMs: number;
  /** Of each group, one must enter. */
  want: readonly (readonly string[])[];
  /** None may enter. */
  not: readonly string[];
  /** Nothing may enter. */
  nothing: boolean;
}

interface ReplayDeps {
  /** Only read. */
  database: Database;
  config: Config;
  /** Vector of a question; null where there is none. */
  vectorOf: (text: string) => Promise<Float32Array | null>;
}

/** Tokens of a memory's place in a turn beside its own. */
const PLACE_TOKENS = 8;

/** Asks a store questions as turns would have asked it, with any settings, and writes nothing. */
export class Replay {
  readonly #deps: ReplayDeps;
  readonly #index: MemoryIndex;
  readonly #scopes: ScopeTable;
  /** Searches by question and mode: how much enters changes nothing about them. */
  readonly #searches = new Map<string, ReturnType<MemoryIndex['search']>>();

  constructor(deps: ReplayDeps) {
    this.#deps = deps;
    this.#index = new MemoryIndex(deps.database);
    this.#scopes = new ScopeTable(deps.database);
  }

  /** What would enter the turn, in order. */
  async enters(one: ReplayCase, settings: RecallSettings): Promise<MemoryCandidate[]> {
    const vector = settings.mode === 'keyword' ? null : await this.#deps.vectorOf(one.ask);
    const said = this.#said(one);
    const recall = new Recall({
      database: this.#deps.database,
      clock: { now: () => one.atMs, after: () => () => {} },
      index: { search: (query) => this.#search(query) },
      scopes: this.#scopes,
      config: () => withSettings(this.#deps.config, settings),
      least: () => settings.relevance,
    });
    const found = recall.find({
      text: one.ask,
      scopes: one.scopes,
      vector,
      sessionId: one.sessionId,
      isFirst: false,
      holds: (words) => said.has(words),
    });
    let left = settings.tokens;
    return found.filter(({ tokens }) => {
      const fits = tokens + PLACE_TOKENS <= left;
      if (fits) left -= tokens + PLACE_TOKENS;
      return fits;
    });
  }

  async result(one: ReplayCase, settings: RecallSettings): Promise<CaseResult> {
    return this.judge(one, await this.enters(one, settings));
  }

  /** How a case went with what entered. */
  judge(one: ReplayCase, entering: readonly MemoryCandidate[]): CaseResult {
    const names = entering.map((memory) => this.#namesOf(memory));
    const found = one.want.filter((group) => names.some((own) => group.some((id) => own.has(id))));
    const wanted = new Set(one.want.flat());
    const isWrong = names.some(
      (own) => one.not.some((id) => own.has(id)) && ![...own].some((id) => wanted.has(id)),
    );
    return {
      needed: one.want.length,
      found: found.length,
      isWrong: one.nothing ? entering.length > 0 : one.not.length > 0 ? isWrong : null,
      tokens: entering.reduce((sum, { tokens }) => sum + tokens + PLACE_TOKENS, 0),
      units: entering.length,
    };
  }

  #search(query: MemoryQuery): ReturnType<MemoryIndex['search']> {
    const key = JSON.stringify([query.text, query.scopeIds, query.mode, query.limit, query.types]);
    const known = this.#searches.get(key);
    if (known) return known;
    const found = this.#index.search(query);
    this.#searches.set(key, found);
    return found;
  }

  /** A memory goes by its own id and by those of what it was made from. */
  #namesOf({ id }: MemoryCandidate): ReadonlySet<string> {
    const sources = this.#deps.database.all<{ turn: number }>(
      'SELECT s.turn FROM memory_units u JOIN memory_sources s ON s.unit = u.id WHERE u.uuid = ?',
      id,
    );
    return new Set([id, ...sources.map(({ turn }) => `t${turn}`)]);
  }

  /** What the conversation held, and what came of it later. */
  #said({ sessionId }: ReplayCase): ReadonlySet<string> {
    if (sessionId === null) return new Set();
    const rows = this.#deps.database.all<{ text: string }>(
      'SELECT text FROM memory_turns WHERE session_id = ?',
      sessionId,
    );
    return new Set(rows.map(({ text }) => text));
  }
}
