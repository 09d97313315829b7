import { create } from 'zustand';
import type { RouteInput } from '../../../../shared/contract.ts';
import {
  MEMORY_STATUSES,
  type MemoryKind,
  type MemoryScope,
  type MemoryStatus,
} from '../../../../shared/memory.ts';

export type Age = 'today' | 'last7Days' | 'older';
export type Sort = 'newest' | 'oldest' | 'used';

/** What the list of memories shows. An empty group filters nothing. */
export interface Filter {
  readonly text: string;
  readonly scopes: readonly MemoryScope[];
  readonly kinds: readonly MemoryKind[];
  readonly ages: readonly Age[];
  readonly statuses: readonly MemoryStatus[];
  readonly pinned: boolean;
  readonly expiring: boolean;
  /** Only what comes from this conversation. */
  readonly sessionId: string | null;
  readonly sort: Sort;
}

export const PLAIN: Filter = {
  text: '',
  scopes: [],
  kinds: [],
  ages: [],
  statuses: ['active'],
  pinned: false,
  expiring: false,
  sessionId: null,
  sort: 'newest',
};

/** Outlives the screen, so that a look at a turn and back finds the list as it was. */
export const useFilter = create<{ filter: Filter; change(part: Partial<Filter>): void; clear(): void }>(
  (set) => ({
    filter: PLAIN,
    change: (part) => set(({ filter }) => ({ filter: { ...filter, ...part } })),
    clear: () => set(({ filter }) => ({ filter: { ...PLAIN, sort: filter.sort } })),
  }),
);

/** Whether anything is left out beyond what is left out at first. */
export function isNarrowed(filter: Filter): boolean {
  return JSON.stringify({ ...filter, sort: PLAIN.sort }) !== JSON.stringify(PLAIN);
}

/** How many boxes are ticked beyond those that are ticked at first. */
export function ticked(filter: Filter): number {
  return (
    filter.scopes.length +
    filter.kinds.length +
    filter.ages.length +
    Number(filter.statuses.join() !== PLAIN.statuses.join()) +
    Number(filter.pinned) +
    Number(filter.expiring)
  );
}

/** The filter as `memory.list` takes it. */
export function listInput(filter: Filter): Omit<RouteInput<'memory.list'>, 'limit' | 'after'> {
  const some = <T>(values: readonly T[]): T[] | undefined => (values.length === 0 ? undefined : [...values]);
  return {
    text: filter.text,
    statuses: some(filter.statuses) ?? [...MEMORY_STATUSES],
    sort: filter.sort,
    scopes: some(filter.scopes),
    kinds: some(filter.kinds),
    ages: some(filter.ages),
    pinned: filter.pinned ? true : undefined,
    expiring: filter.expiring ? true : undefined,
    sessionId: filter.sessionId ?? undefined,
  };
}

/** The list with a value put in, or taken out when it is there. */
export function toggled<T>(values: readonly T[], value: T, same = (a: T, b: T) => a === b): T[] {
  const without = values.filter((other) => !same(other, value));
  return without.length < values.length ? without : [...values, value];
}

export function isSameScope(a: MemoryScope, b: MemoryScope): boolean {
  return a.user === b.user && a.workspace === b.workspace && a.agent === b.agent;
}
