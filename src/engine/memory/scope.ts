import { createHash } from 'node:crypto';
import type { Config } from '../../shared/config.ts';
import { type MemoryScope, parseScope } from '../../shared/memory.ts';
import type { Database } from '../store/database.ts';

/** The part of a request that says whose memories it is about. */
export interface ScopeFacts {
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Body fields of the same names as the original's: memory_scope, user_id, workspace_id. */
  readonly fields: Readonly<Record<string, string | undefined>>;
  readonly agent: string;
}

/** Where a request writes, and where it reads, nearest first. */
export interface RequestScopes {
  write: MemoryScope;
  read: MemoryScope[];
}

const MAX_PART = 200;

/**
 * Whose memories a request is about. A named scope stands alone. A user's request reads that user's memories and
 * never the ones that nobody is named for; an agent with memories of its own reads and writes only these.
 */
export function scopesOf({ headers, fields, agent }: ScopeFacts, config: Config): RequestScopes {
  const named = (headers['x-memory-scope'] ?? fields.memory_scope ?? '').trim();
  if (named !== '') return alone(bounded(parseScope(named)));
  const user = part(headers['x-user-id'] ?? fields.user_id);
  const workspace = part(headers['x-workspace-id'] ?? fields.workspace_id);
  const base =
    user === '' && workspace === ''
      ? bounded(parseScope(config.memory.scope))
      : { user, workspace, agent: '' };
  if (base.agent !== '') return alone(base);
  if (agent !== '' && config.agents[agent]?.memory_scope === 'own')
    return alone({ ...base, agent: part(agent) });
  return { write: base, read: readable(base) };
}

/** Whether the request itself says whose memories it is about. */
export function namesScope({ headers, fields }: Pick<ScopeFacts, 'headers' | 'fields'>): boolean {
  const says = (value: string | undefined) => (value ?? '').trim() !== '';
  return (
    ['x-memory-scope', 'x-user-id', 'x-workspace-id'].some((name) => says(headers[name])) ||
    ['memory_scope', 'user_id', 'workspace_id'].some((name) => says(fields[name]))
  );
}

/** The scopes that whoever writes to one may read, nearest first. */
export function readable(write: MemoryScope): MemoryScope[] {
  if (write.agent !== '' || write.workspace === '') return [write];
  return [write, { ...write, workspace: '' }];
}

function alone(scope: MemoryScope): RequestScopes {
  return { write: scope, read: [scope] };
}

function bounded({ user, workspace, agent }: MemoryScope): MemoryScope {
  return { user: part(user), workspace: part(workspace), agent: part(agent) };
}

/** A part of a scope on one line. Two long ones stay apart although they are cut. */
function part(text: string | undefined): string {
  const flat = (text ?? '').replace(/\s+/g, ' ').trim();
  if (flat.length <= MAX_PART) return flat;
  const hash = createHash('sha256').update(flat).digest('hex').slice(0, 16);
  return `${flat.slice(0, MAX_PART - hash.length - 1)}~${hash}`;
}

/** The scopes of the store by number. Nothing is cached: a transaction that is rolled back takes its scopes with it. */
export class ScopeTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Creates the scope where it is new. */
  idFor(scope: MemoryScope): number {
    const known = this.idOf(scope);
    if (known !== null) return known;
    const row = this.#database.get<{ id: number }>(
      'INSERT INTO memory_scopes (user, workspace, agent) VALUES (?, ?, ?) RETURNING id',
      scope.user,
      scope.workspace,
      scope.agent,
    );
    return (row as { id: number }).id;
  }

  /** Null: nothing was ever stored there. */
  idOf({ user, workspace, agent }: MemoryScope): number | null {
    const row = this.#database.get<{ id: number }>(
      'SELECT id FROM memory_scopes WHERE user = ? AND workspace = ? AND agent = ?',
      user,
      workspace,
      agent,
    );
    return row?.id ?? null;
  }

  get(id: number): MemoryScope {
    const row = this.#database.get<MemoryScope>(
      'SELECT user, workspace, agent FROM memory_scopes WHERE id = ?',
      id,
    );
    if (!row) throw new Error(`There is no scope ${id}.`);
    return { user: row.user, workspace: row.workspace, agent: row.agent };
  }
}
