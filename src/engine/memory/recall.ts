import type { Config } from '../../shared/config.ts';
import type { MemoryKind, MemoryScope } from '../../shared/memory.ts';
import type { InjectedItem } from '../../shared/model.ts';
import { estimateTokens } from '../platform/tokens.ts';
import { termsOf } from '../platform/words.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { type Claims, claimsOf, outdates, tellsChange } from './outdated.ts';
import { titleOf, turnLine, unitLine } from './render.ts';
import type { TurnRow, UnitRow } from './rows.ts';
import type { ScopeTable } from './scope.ts';
import type { MemoryIndex, MemoryMatch } from './search/index.ts';
import { isCourtesy } from './search/plain-words.ts';

/** A summary of the last conversation enters a new one with less of it: the user may be taking it up again. */
const SUMMARY_SHARE = 0.7;
/** Hits that are looked at. */
const MOST_HITS = 40;
/** What is so many times as long as another text says more than it. */
const MOST_TIMES = 3;
/** Of all memories of a turn together. */
const MOST_SOURCES = 200;
/** Characters that are read for what became otherwise, over all matches and of one: some milliseconds at most. */
const MOST_READ = 8000;
const LONGEST_READ = 600;
/** Shorter than this, what was said tells nothing by itself. */
const LEAST_CHARS = 12;
/** Words with which users take up an earlier conversation. */
const TAKES_UP =
  /\b(?:where (?:were|did) we|(?:last|previous) (?:time|session|conversation)|continue (?:where|from|with)|pick up where|carry on|left off|derni[eè]re fois|o[uù] en [eé]tions|reprenons|[uú]ltima vez|d[oó]nde quedamos|sigamos|weitermachen|letztes mal)\b|上次|继续|接着|前回|続き|지난번|이어서/i;

export interface RecallDeps {
  database: Database;
  clock: Clock;
  index: Pick<MemoryIndex, 'search'>;
  scopes: ScopeTable;
  config: () => Config;
  /** Least score with which a memory enters. */
  least: () => number;
}

/** The turn as far as recall depends on it. */
export interface RecallQuery {
  /** The user's own words. */
  text: string;
  /** Scopes that may be read, nearest first. */
  scopes: readonly MemoryScope[];
  /** Of the text; null where there is none in time. */
  vector: Float32Array | null;
  sessionId: string | null;
  /** No turn of the session was answered yet. */
  isFirst: boolean;
  /** Whether the request holds the words already. */
  holds: (words: string) => boolean;
}

/** A memory that fits a turn. */
export interface MemoryCandidate extends Omit<InjectedItem, 'place'> {
  kind: 'memory';
  /** One line. */
  body: string;
  pinned: boolean;
}

/** A match with what it stands for. */
export type Recalled = { match: Omit<MemoryMatch, 'ref'>; enters: boolean } & (
  | { unit: UnitRow }
  | { turn: TurnRow }
);

/** Turns matches into what a turn is told: current, relevant, once, and the user's choice first. */
export class Recall {
  readonly #deps: RecallDeps;

  constructor(deps: RecallDeps) {
    this.#deps = deps;
  }

  /** What enters a turn, in its order, at most `memory.max_injected_units`; the token budget is kept by the caller. */
  find(query: RecallQuery): MemoryCandidate[] {
    const most = this.#deps.config().memory.max_injected_units;
    const scopeIds = this.#scopeIds(query.scopes);
    if (most === 0 || scopeIds.length === 0) return [];
    const matches = isCourtesy(query.text) ? [] : this.#matches(query, scopeIds);
    const found = this.#current(matches).filter(
      (one) => !('turn' in one) || one.turn.text.length >= LEAST_CHARS,
    );
    const scoreOf = new Map(found.map((one) => [keyOf(one), one.match.score]));
    const relevant = stillTrue(
      found.filter((one) => !isSummary(one) && one.match.score >= this.#deps.least()),
      found,
    );
    const pins = this.#pins(scopeIds).map((unit) => pinned(unit, scoreOf.get(unit.uuid) ?? 0));
    const summary = query.isFirst ? this.#summary(query.text, scopeIds, found) : [];
    // Pins that have nothing to do with the question leave room for what has.
    const needed = Math.min(relevant.length + summary.length, Math.floor(most / 3));
    const pinIds = new Set(pins.map(keyOf));
    const others = [...summary, ...relevant.filter((one) => !pinIds.has(keyOf(one)))];
    const ordered = [...pins.slice(0, most - needed), ...others];
    const first = ordered.slice(0, most * 3);
    const sources = this.#sourcesOf(first);
    return distinct(first, sources)
      .filter((one) => !isKnown(one, sources, query))
      .slice(0, most)
      .map((one) => this.#toCandidate(one, query.text));
  }

  /** Matches of a search, best first, with whether a turn would be told of them. */
  search(query: RecallQuery & { limit: number; turns: boolean }): Recalled[] {
    const scopeIds = this.#scopeIds(query.scopes);
    if (scopeIds.length === 0) return [];
    const entering = new Set(this.find(query).map(({ id }) => id));
    const rows = this.#rows(this.#matches(query, scopeIds, query.limit, query.turns), [
      'active',
      'superseded',
    ]);
    return rows.map((one) => ({ ...one, enters: entering.has(keyOf(one)) }));
  }

  #scopeIds(scopes: readonly MemoryScope[]): number[] {
    return scopes.flatMap((scope) => this.#deps.scopes.idOf(scope) ?? []);
  }

  #matches(query: RecallQuery, scopeIds: readonly number[], limit = MOST_HITS, turns = true): MemoryMatch[] {
    const { index, clock, config } = this.#deps;
    return index.search({
      text: query.text,
      scopeIds,
      limit,
      mode: config().memory.retrieval_mode,
      queryVector: query.vector,
      nowMs: clock.now(),
      types: turns ? ['turn', 'unit'] : ['unit'],
      statuses: ['active', 'superseded'],
    });
  }

  /** The rows of matches in their order; what is forgotten or has run out is left out. */
  #rows(matches: readonly MemoryMatch[], statuses: readonly UnitRow['status'][]): Recalled[] {
    const { database, clock } = this.#deps;
    const ids = (type: 'unit' | 'turn') =>
      JSON.stringify(matches.flatMap(({ ref }) => (ref.type === type ? [ref.id] : [])));
    const now = new Date(clock.now()).toISOString();
    const units = new Map(
      database
        .all<UnitRow>(
          `SELECT * FROM memory_units WHERE id IN (SELECT value FROM json_each(?))
           AND status IN (SELECT value FROM json_each(?)) AND (expires_at IS NULL OR expires_at > ?)`,
          ids('unit'),
          JSON.stringify(statuses),
          now,
        )
        .map((unit) => [unit.id, unit]),
    );
    const turns = new Map(
      database
        .all<TurnRow>(
          'SELECT * FROM memory_turns WHERE id IN (SELECT value FROM json_each(?)) AND forgotten_at IS NULL',
          ids('turn'),
        )
        .map((turn) => [turn.id, turn]),
    );
    return matches.flatMap(({ ref, ...match }): Recalled[] => {
      if (ref.type === 'unit') {
        const unit = units.get(ref.id);
        return unit ? [{ match, unit, enters: false }] : [];
      }
      const turn = turns.get(ref.id);
      return turn ? [{ match, turn, enters: false }] : [];
    });
  }

  /**
   * Matches with old values replaced by the current ones: a superseded memory, and a sentence from which it was made,
   * stand for what holds now.
   */
  #current(matches: readonly MemoryMatch[]): Recalled[] {
    const rows = this.#rows(matches, ['active', 'superseded']);
    const outdated = this.#outdated(rows);
    const seen = new Set<string>();
    return rows.flatMap((one): Recalled[] => {
      const old =
        'unit' in one ? (one.unit.status === 'superseded' ? one.unit : null) : outdated.get(one.turn.id);
      const now = old ? this.#successor(old) : null;
      const current: Recalled | null = old ? now && { match: one.match, unit: now, enters: false } : one;
      if (current === null || seen.has(keyOf(current))) return [];
      seen.add(keyOf(current));
      return [current];
    });
  }

  /** Of what was said, that which a later statement took the place of: by turn, the superseded memory. */
  #outdated(rows: readonly Recalled[]): Map<number, UnitRow> {
    const turns = rows.flatMap((one) => ('turn' in one ? [one.turn.id] : []));
    if (turns.length === 0) return new Map();
    return new Map(
      this.#deps.database
        .all<UnitRow & { turn: number }>(
          `SELECT u.*, s.turn FROM memory_sources s JOIN memory_units u ON u.id = s.unit
           WHERE s.turn IN (SELECT value FROM json_each(?)) AND u.status = 'superseded' AND u.merged = 0
             AND NOT EXISTS (SELECT 1 FROM memory_sources o JOIN memory_units c ON c.id = o.unit
               WHERE o.turn = s.turn AND c.uuid = u.superseded_by)`,
          JSON.stringify(turns),
        )
        .map((row) => [row.turn, row]),
    );
  }

  #successor(old: UnitRow): UnitRow | null {
    const now = new Date(this.#deps.clock.now()).toISOString();
    let unit: UnitRow | null = old;
    for (let step = 0; unit?.status === 'superseded' && step < 20; step += 1)
      unit = unit.superseded_by
        ? this.#deps.database.get<UnitRow>('SELECT * FROM memory_units WHERE uuid = ?', unit.superseded_by)
        : null;
    const holds = unit?.status === 'active' && (unit.expires_at === null || unit.expires_at > now);
    return holds ? unit : null;
  }

  /** The user's choice, the nearest scope first and the oldest first in it. */
  #pins(scopeIds: readonly number[]): UnitRow[] {
    const now = new Date(this.#deps.clock.now()).toISOString();
    return this.#deps.database
      .all<UnitRow>(
        `SELECT * FROM memory_units INDEXED BY memory_units_pinned
         WHERE scope IN (SELECT value FROM json_each(?)) AND pinned = 1
         AND status = 'active' AND (expires_at IS NULL OR expires_at > ?) ORDER BY id LIMIT 200`,
        JSON.stringify(scopeIds),
        now,
      )
      .sort((a, b) => scopeIds.indexOf(a.scope) - scopeIds.indexOf(b.scope));
  }

  /** The newest summary of an earlier conversation, where the user goes on from it. */
  #summary(text: string, scopeIds: readonly number[], found: readonly Recalled[]): Recalled[] {
    const newest = scopeIds
      .flatMap((scope) => this.#newestSummary(scope) ?? [])
      .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))[0];
    if (!newest) return [];
    const match = found.find((one) => keyOf(one) === newest.uuid)?.match;
    if (match && match.score >= SUMMARY_SHARE * this.#deps.least())
      return [{ match, unit: newest, enters: false }];
    if (!TAKES_UP.test(text)) return [];
    const taken = {
      score: this.#deps.least(),
      lexical: 0,
      similarity: null,
      reason: 'the last conversation',
    };
    return [{ match: taken, unit: newest, enters: false }];
  }

  #newestSummary(scope: number): UnitRow | null {
    return this.#deps.database.get<UnitRow>(
      `SELECT * FROM memory_units WHERE scope = ? AND status = 'active' AND kind = 'working_summary'
       ORDER BY id DESC LIMIT 1`,
      scope,
    );
  }

  /** What memories were made from, by their row. */
  #sourcesOf(all: readonly Recalled[]): Sources {
    const sources: Sources = new Map();
    const units = all.flatMap((one) => ('unit' in one ? [one.unit.id] : []));
    const rows = this.#deps.database.all<Source & { unit: number }>(
      `SELECT s.unit, t.id, t.text, t.session_id AS sessionId
       FROM memory_sources s JOIN memory_turns t ON t.id = s.turn
       WHERE s.unit IN (SELECT value FROM json_each(?)) ORDER BY s.turn LIMIT ?`,
      JSON.stringify(units),
      MOST_SOURCES,
    );
    for (const { unit, ...source } of rows) sources.set(unit, [...(sources.get(unit) ?? []), source]);
    return sources;
  }

  #toCandidate(one: Recalled, question: string): MemoryCandidate {
    const { score, reason } = one.match;
    const common = { kind: 'memory' as const, score: Math.round(score * 100) / 100, reason };
    if ('turn' in one) {
      const body = turnLine(one.turn, question);
      const title = titleOf('said', one.turn.said_at);
      return { ...common, id: keyOf(one), title, body, tokens: estimateTokens(body), pinned: false };
    }
    const { unit } = one;
    const body = unitLine({ ...unit, replaces: this.#replaces(unit) });
    const title = titleOf(unit.kind, unit.observed_at);
    return { ...common, id: unit.uuid, title, body, tokens: estimateTokens(body), pinned: unit.pinned === 1 };
  }

  #replaces({ uuid }: UnitRow): boolean {
    return (
      this.#deps.database.get(
        'SELECT 1 FROM memory_units WHERE superseded_by = ? AND merged = 0 LIMIT 1',
        uuid,
      ) !== null
    );
  }
}

/**
 * Without what a later of the matches says became otherwise. What the assistant says changes nothing of the user's.
 * The best matches first, as far as `MOST_READ` goes: this is on a request's way.
 */
function stillTrue(relevant: readonly Recalled[], found: readonly Recalled[]): Recalled[] {
  const oldest = relevant.map(timeOf).sort()[0] ?? '';
  const claims = new Map<string, Claims>();
  let room = MOST_READ;
  const read = (some: readonly Recalled[]) =>
    some.filter((one) => {
      if (claims.has(keyOf(one))) return true;
      room -= Math.min(textOf(one).length, LONGEST_READ);
      if (room >= 0) claims.set(keyOf(one), claimsOf(textOf(one)));
      return room >= 0;
    });
  const news = read(
    found.filter(
      (one) =>
        !isSummary(one) &&
        ('unit' in one || one.turn.role === 'user') &&
        timeOf(one) > oldest &&
        tellsChange(textOf(one)),
    ),
  );
  if (news.length === 0) return [...relevant];
  const told = new Set(read(relevant));
  const claimsIn = (one: Recalled) => claims.get(keyOf(one)) ?? { statements: [] };
  return relevant.filter(
    (one) =>
      !told.has(one) ||
      !news.some((other) => timeOf(other) > timeOf(one) && outdates(claimsIn(other), claimsIn(one))),
  );
}

function textOf(one: Recalled): string {
  return 'unit' in one ? one.unit.content : one.turn.text;
}

function timeOf(one: Recalled): string {
  return 'unit' in one ? one.unit.observed_at : one.turn.said_at;
}

function keyOf(one: { unit: UnitRow } | { turn: TurnRow }): string {
  return 'unit' in one ? one.unit.uuid : `t${one.turn.id}`;
}

function isSummary(one: Recalled): boolean {
  return 'unit' in one && (one.unit.kind satisfies MemoryKind) === 'working_summary';
}

function pinned(unit: UnitRow, score: number): Recalled {
  return { match: { score, lexical: 0, similarity: null, reason: 'pinned' }, unit, enters: false };
}

interface Source {
  id: number;
  text: string;
  sessionId: string;
}
type Sources = Map<number, Source[]>;

/** Whether the conversation holds it anyway: its own words, or what it was made from. */
function isKnown(one: Recalled, sources: Sources, { holds, sessionId }: RecallQuery): boolean {
  if ('turn' in one) return holds(one.turn.text);
  const made = sources.get(one.unit.id) ?? [];
  return (
    holds(one.unit.content) || made.some((source) => source.sessionId === sessionId && holds(source.text))
  );
}

/** Without what says the same as an earlier one; a memory goes before the sentence that it was made from. */
function distinct(all: readonly Recalled[], sources: Sources): Recalled[] {
  const kept: { one: Recalled; words: ReadonlySet<string> }[] = [];
  for (const one of all) {
    const words = wordsOf('unit' in one ? one.unit.content : one.turn.text);
    const at = kept.findIndex(
      (other) =>
        contains(words, other.words) || contains(other.words, words) || madeFrom(one, other.one, sources),
    );
    if (at < 0) kept.push({ one, words });
    else if ('unit' in one && kept[at] && 'turn' in kept[at].one) kept[at] = { one, words };
  }
  return kept.map(({ one }) => one);
}

/** One is a memory, the other a sentence about as long that it was made from. */
function madeFrom(one: Recalled, other: Recalled, sources: Sources): boolean {
  if ('turn' in one) return 'unit' in other && madeFrom(other, one, sources);
  if ('unit' in other) return false;
  const { id, text } = other.turn;
  const isSource = sources.get(one.unit.id)?.some((source) => source.id === id) ?? false;
  return isSource && text.length <= one.unit.content.length * MOST_TIMES;
}

const NEGATION =
  /\b(?:not|no|never|none|without|cannot|\w+n['’]t|ne|pas|jamais|sans|nunca|jam[aá]s|sin)\b|[不没沒无無別别]|ない|ません|禁止/iu;

/** Its terms, its numbers and whether it denies: these tell apart what says otherwise the same. */
function wordsOf(text: string): Set<string> {
  return new Set([
    ...termsOf(text).map(({ term }) => term),
    ...(text.match(/\d[\d.,:/-]*/g) ?? []),
    ...(NEGATION.test(text) ? [DENIES] : []),
  ]);
}

/** Stands in the words of what denies. */
const DENIES = '\u0000not';

/** All that one says stands in the other, which is not much longer. A word more may be another name. */
function contains(whole: ReadonlySet<string>, part: ReadonlySet<string>): boolean {
  if (part.size === 0 || part.size * MOST_TIMES < whole.size) return false;
  if (whole.has(DENIES) !== part.has(DENIES)) return false;
  for (const word of part) if (!whole.has(word)) return false;
  return true;
}
