import type { MemoryKind, MemoryStatus } from '../../../shared/memory.ts';
import type { Database } from '../../store/database.ts';

/** How many memories are of one kind, in one state, pinned (1) or not. */
export interface UnitCount {
  kind: MemoryKind;
  status: MemoryStatus;
  pinned: number;
  count: number;
}

/** Memories of these scopes, or of all, in one pass. */
export function countUnits(database: Database, scopeIds: readonly number[] | undefined): UnitCount[] {
  return database.all<UnitCount>(
    `SELECT kind, status, pinned, COUNT(*) AS count FROM memory_units
     WHERE ?1 IS NULL OR scope IN (SELECT value FROM json_each(?1)) GROUP BY kind, status, pinned`,
    scopeIds === undefined ? null : JSON.stringify(scopeIds),
  );
}
