import { isAbsolute } from 'node:path';
import type { RouteOutput } from '../../../shared/contract.ts';
import { AppError } from '../../../shared/errors.ts';
import { writeAtomic } from '../../platform/files.ts';
import type { Database } from '../../store/database.ts';
import type { ScopeTable } from '../scope.ts';
import { markdownLines, ownLines } from './own.ts';

/** Writes all that is remembered and not forgotten into one file, readable by its owner only. */
export function exportMemories({
  database,
  scopes,
  to,
  format,
  now,
}: {
  database: Database;
  scopes: ScopeTable;
  to: string;
  format: 'jsonl' | 'markdown';
  now: string;
}): RouteOutput<'memory.export'> {
  if (!isAbsolute(to)) throw new AppError('BAD_INPUT', `${to} is no absolute path.`, { field: 'to' });
  const lines = format === 'jsonl' ? ownLines(database, scopes, now) : markdownLines(database, scopes);
  writeAtomic(to, `${[...lines].join('\n')}\n`);
  const counts = database.get<{ units: number; turns: number }>(
    `SELECT (SELECT COUNT(*) FROM memory_units WHERE status <> 'forgotten') AS units,
       (SELECT COUNT(*) FROM memory_turns WHERE forgotten_at IS NULL) AS turns`,
  ) ?? { units: 0, turns: 0 };
  return { units: counts.units, turns: format === 'jsonl' ? counts.turns : 0 };
}
