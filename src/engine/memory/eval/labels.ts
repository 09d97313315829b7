import type { MemoryScope } from '../../../shared/memory.ts';
import type { EvalSources } from '../../../shared/memory-eval.ts';
import type { Database } from '../../store/database.ts';
import { readable, ScopeTable } from '../scope.ts';
import { MemoryIndex } from '../search/index.ts';
import type { ReplayCase } from './replay.ts';

/** A case of the user's own. */
export interface OwnCase extends ReplayCase {
  why: keyof EvalSources;
  sessionId: string;
}

interface LabelledTurn {
  id: string;
  session_id: string;
  user_text: string;
  started_at: string;
  label: 'good' | 'bad' | null;
  words: string | null;
  why: string | null;
  /** What the user said next in the conversation. */
  next: string | null;
}

interface Carried {
  memory: string;
  status: string | null;
  /** The user changed its words after the turn. */
  edited: number;
}

const MOST_TURNS = 400;
/** A correction names a memory that should have been there when it has as much to do with it. */
const SURE = 0.8;

/**
 * Cases from what the user said of turns. A turn that was called good, or praised, needed the memories that it
 * carried; one that was called bad, or corrected, had better not carried them, unless the user has mended them since;
 * where a correction says what was remembered already, that was missing. Where all that a turn carried was forgotten
 * since, nothing was worth carrying. Newest first.
 */
export function ownCases(database: Database): OwnCase[] {
  const scopes = new ScopeTable(database);
  const index = new MemoryIndex(database);
  const turns = database.all<LabelledTurn>(
    `SELECT t.id, t.session_id, t.user_text, t.started_at, f.label, f.text AS words, o.why,
       (SELECT n.user_text FROM turns n
        WHERE n.session_id = t.session_id AND n.kind = 'main' AND (n.started_at, n.id) > (t.started_at, t.id)
          AND n.user_text <> '' AND n.user_text <> t.user_text
        ORDER BY n.started_at, n.id LIMIT 1) AS next
     FROM turns t LEFT JOIN feedback f ON f.turn_id = t.id LEFT JOIN outcomes o ON o.turn_id = t.id
     WHERE t.kind = 'main' AND t.user_text <> ''
       AND (f.label IS NOT NULL OR o.why IN ('corrected', 'praised')
         OR EXISTS (SELECT 1 FROM memory_uses m JOIN memory_units u ON u.uuid = m.memory
                    WHERE m.turn_id = t.id AND u.status = 'forgotten'))
     ORDER BY t.started_at DESC, t.id DESC LIMIT ?`,
    MOST_TURNS,
  );
  return turns.flatMap((turn): OwnCase[] => {
    const scope = scopeOf(database, scopes, turn);
    if (scope === null) return [];
    const common = {
      ask: turn.user_text,
      scopes: readable(scope),
      sessionId: turn.session_id,
      atMs: Date.parse(turn.started_at),
    };
    const carried = carriedBy(database, turn);
    const useful = carried.filter(({ status, edited }) => status === 'active' && !edited);
    const said = { ...common, want: [], not: [], nothing: false };
    const isGood = turn.label === 'good' || (turn.label === null && turn.why === 'praised');
    const isBad = turn.label === 'bad' || (turn.label === null && turn.why === 'corrected');
    if (isGood)
      return useful.length === 0
        ? []
        : [{ ...said, why: 'good', want: useful.map(({ memory }) => [memory]) }];
    if (isBad) {
      const missed = missedBy(database, index, scopes, turn, common.scopes, carried);
      if (missed.length > 0) return [{ ...said, why: 'missed', want: missed.map((id) => [id]) }];
      return useful.length === 0 ? [] : [{ ...said, why: 'bad', not: useful.map(({ memory }) => memory) }];
    }
    const isAllForgotten = carried.length > 0 && carried.every(({ status }) => status === 'forgotten');
    return isAllForgotten ? [{ ...said, why: 'forgotten', nothing: true }] : [];
  });
}

function scopeOf(
  database: Database,
  scopes: ScopeTable,
  { id, session_id }: LabelledTurn,
): MemoryScope | null {
  const row = database.get<{ scope: number }>(
    `SELECT scope FROM memory_turns WHERE turn_id = ?1 OR session_id = ?2 ORDER BY turn_id = ?1 DESC, id LIMIT 1`,
    id,
    session_id,
  );
  return row ? scopes.get(row.scope) : null;
}

/** Memories that came into the conversation with this turn; what came earlier was for another question. */
function carriedBy(database: Database, { id, session_id, started_at }: LabelledTurn): Carried[] {
  return database.all<Carried>(
    `SELECT m.memory, iif(m.memory GLOB 't[0-9]*',
         (SELECT iif(w.forgotten_at IS NULL, 'active', 'forgotten') FROM memory_turns w
          WHERE w.id = CAST(substr(m.memory, 2) AS INTEGER)), u.status) AS status,
       EXISTS (SELECT 1 FROM memory_events e WHERE e.unit = u.id AND e.what = 'edited' AND e.by = 'user'
         AND e.at > m.at) AS edited
     FROM memory_uses m LEFT JOIN memory_units u ON u.uuid = m.memory
     WHERE m.turn_id = ? AND NOT EXISTS (
       SELECT 1 FROM memory_uses b JOIN turns t ON t.id = b.turn_id
       WHERE b.memory = m.memory AND t.session_id = ? AND t.started_at < ?)`,
    id,
    session_id,
    started_at,
  );
}

/** What was remembered before the turn, did not enter it, and is what the correction says. */
function missedBy(
  database: Database,
  index: MemoryIndex,
  scopes: ScopeTable,
  turn: LabelledTurn,
  readable: readonly MemoryScope[],
  carried: readonly Carried[],
): string[] {
  const correction = turn.words || (turn.why === 'corrected' ? turn.next : null);
  if (!correction) return [];
  const [best] = index.search({
    text: correction,
    scopeIds: readable.flatMap((scope) => scopes.idOf(scope) ?? []),
    limit: 1,
    mode: 'keyword',
    queryVector: null,
    nowMs: Date.parse(turn.started_at),
    types: ['unit'],
  });
  if (!best || best.score < SURE) return [];
  const unit = database.get<{ uuid: string; created_at: string }>(
    'SELECT uuid, created_at FROM memory_units WHERE id = ?',
    best.ref.id,
  );
  const isNew = !unit || unit.created_at >= turn.started_at;
  return isNew || carried.some(({ memory }) => memory === unit.uuid) ? [] : [unit.uuid];
}
