import type { Config } from '../../../shared/config.ts';
import { AppError } from '../../../shared/errors.ts';
import { type MemoryScope, scopeName } from '../../../shared/memory.ts';
import { namesScope, type RequestScopes, scopesOf } from '../scope.ts';

/** Who calls from outside, and whose memories the call names. */
export interface Asker {
  /** Lower-cased names. */
  headers: Readonly<Record<string, string | undefined>>;
  agent: string;
  /** The scope that the call itself names, as clients write it. */
  scope?: string | undefined;
}

/** What a caller may see, and where it writes. */
export interface Reach extends RequestScopes {
  sees: (scope: MemoryScope) => boolean;
  /** Name of the scope that the call is about, as the original tells it. */
  name: string;
  /** True where nothing narrows the call: it is the owner's. */
  all: boolean;
}

/**
 * A caller that says in its headers for whom it asks (`x-user-id`, `x-workspace-id`, `x-memory-scope`) sees nothing of
 * others, whatever scope the call names; FORBIDDEN when it names theirs. So does an agent with memories of its own.
 * Without such headers the owner asks: about the scope that is named, or else about everything.
 */
export function reachOf({ headers, agent, scope }: Asker, config: Config): Reach {
  const byHeaders = scopesOf({ headers, fields: {}, agent }, config);
  const { write, read } = byHeaders;
  const isTold = namesScope({ headers, fields: {} }) || config.agents[agent]?.memory_scope === 'own';
  // A named scope stands alone, as does an agent's own; a user's caller sees all workspaces unless it names one.
  const isAlone = write.agent !== '' || Boolean(headers['x-memory-scope']?.trim());
  const may = (one: MemoryScope) =>
    isAlone
      ? same(one, write)
      : one.user === write.user && (write.workspace === '' || ['', write.workspace].includes(one.workspace));
  if (scope === undefined || scope.trim() === '') {
    const sees = isTold ? may : () => true;
    return { write, read, sees, name: isTold ? scopeName(write) : 'all', all: !isTold };
  }
  const named = scopesOf({ headers: { 'x-memory-scope': scope }, fields: {}, agent: '' }, config);
  if (isTold && !may(named.write))
    throw new AppError('FORBIDDEN', `The scope ${scopeName(named.write)} is not this caller’s.`, {
      hint: 'Leave the scope out, or name one of the user in x-user-id.',
      field: 'scope',
    });
  return { ...named, sees: (one) => same(one, named.write), name: scopeName(named.write), all: false };
}

function same(a: MemoryScope, b: MemoryScope): boolean {
  return a.user === b.user && a.workspace === b.workspace && a.agent === b.agent;
}
