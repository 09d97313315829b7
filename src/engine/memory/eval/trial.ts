import type { Database } from '../../store/database.ts';
import type { Conversations } from '../conversations.ts';
import type { CaseSession } from './case-file.ts';

/** A store for trying, with a clock of its own. */
export interface TrialStore {
  database: Database;
  conversations: Pick<Conversations, 'tell' | 'readNow'>;
  /** Sets the clock, in milliseconds since the epoch. */
  setTime: (ms: number) => void;
}

const READ_EVERY = 5;

/**
 * Lets a store hear conversations turn by turn, each at its time, and read them as it does. Returns the ids of what
 * was said (`t` and a number) by the names of exchanges; everyday ones go by the empty name.
 */
export async function hearSessions(
  sessions: readonly CaseSession[],
  { database, conversations, setTime }: TrialStore,
): Promise<Map<string, string[]>> {
  const told = sessions
    .flatMap(({ id: sessionId, scope, exchanges }) =>
      exchanges.map((exchange, at) => ({
        ...exchange,
        sessionId,
        scope,
        atMs: Date.parse(exchange.at),
        ends: at === exchanges.length - 1,
      })),
    )
    .sort((a, b) => a.atMs - b.atMs);
  const rows = new Map<string, string[]>();
  const unread = new Map<string, number>();
  let last = 0;
  for (const [number, { id, sessionId, scope, user, assistant, atMs, ends }] of told.entries()) {
    setTime(atMs);
    conversations.tell([{ sessionId, scope, user, reply: assistant, id: `${number}` }]);
    const added = database.all<{ id: number }>('SELECT id FROM memory_turns WHERE id > ? ORDER BY id', last);
    last = added.at(-1)?.id ?? last;
    rows.set(id, [...(rows.get(id) ?? []), ...added.map((row) => `t${row.id}`)]);
    const waiting = (unread.get(sessionId) ?? 0) + 1;
    const isDue = waiting >= READ_EVERY || ends;
    unread.set(sessionId, isDue ? 0 : waiting);
    if (isDue) await conversations.readNow(sessionId);
  }
  return rows;
}
