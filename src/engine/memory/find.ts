import { MEMORY_STATUSES } from '../../shared/memory.ts';
import type { Clock } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { FindUnits } from './listing.ts';
import type { MemoryIndex } from './search/index.ts';

/** What is less sure is not what somebody looks for in a list. */
const RELEVANT = 0.3;
/** More are not looked through by relevance. */
const MOST = 1000;
const MOST_WORDS = 20;

/**
 * Finds memories for people, in every scope and state: first those that the words speak for, in whatever form and
 * language, then those that have the letters somewhere, so that half a word finds too.
 */
export function finder(deps: { database: Database; clock: Clock; index: MemoryIndex }): FindUnits {
  const { database, clock, index } = deps;
  return (text) => {
    const scopes = database.all<{ id: number }>('SELECT id FROM memory_scopes ORDER BY id');
    const matches = index.search({
      text,
      scopeIds: scopes.map(({ id }) => id),
      limit: MOST,
      mode: 'keyword',
      queryVector: null,
      nowMs: clock.now(),
      types: ['unit'],
      statuses: MEMORY_STATUSES,
    });
    const found = new Map(
      matches.filter(({ score }) => score >= RELEVANT).map(({ ref, reason }) => [ref.id, reason]),
    );
    for (const id of withLetters(database, text)) if (!found.has(id)) found.set(id, '');
    return [...found].map(([id, reason]) => ({ id, reason }));
  };
}

/** Newest first. */
function withLetters(database: Database, text: string): number[] {
  const words = text.trim().split(/\s+/).slice(0, MOST_WORDS);
  const every = words.map(() => "content LIKE ? ESCAPE '\\'").join(' AND ');
  return database
    .all<{ id: number }>(
      `SELECT id FROM memory_units WHERE ${every} ORDER BY id DESC`,
      ...words.map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`),
    )
    .map(({ id }) => id);
}
