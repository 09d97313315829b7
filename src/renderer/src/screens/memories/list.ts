import { type InfiniteData, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useRef, useState } from 'react';
import type { RouteOutput } from '../../../../shared/contract.ts';
import type { AppError } from '../../../../shared/errors.ts';
import type { MemoryUnit } from '../../../../shared/memory.ts';
import { call } from '../../api.ts';
import { type Filter, listInput } from './filter.ts';

const PAGE = 200;
/** As many as one call may name. */
const MOST_MARKED = 10_000;

type Page = RouteOutput<'memory.list'>;

/** The memories that a filter lets through, page after page. */
export function useMemories(filter: Filter) {
  const input = listInput(filter);
  const query = useInfiniteQuery<
    Page,
    AppError,
    InfiniteData<Page>,
    [string, string, typeof input],
    string | undefined
  >({
    queryKey: ['memory.list', 'pages', input],
    queryFn: ({ pageParam }) =>
      call('memory.list', {
        ...input,
        limit: PAGE,
        ...(pageParam === undefined ? {} : { after: pageParam }),
      }),
    initialPageParam: undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const units = useMemo(() => data?.pages.flatMap((page) => page.units) ?? [], [data]);
  const reasons = useMemo(() => Object.assign({}, ...(data?.pages.map(({ why }) => why) ?? [])), [data]);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return {
    query,
    units,
    /** Why a memory was found, by its id; empty while nothing is searched for. */
    reasons: reasons as Readonly<Record<string, string>>,
    total: data?.pages[0]?.total ?? 0,
    /** Loads the next page, if there is one. */
    more,
  };
}

/** Every memory that the filter lets through, loaded or not. */
async function allOf(filter: Filter): Promise<MemoryUnit[]> {
  const units: MemoryUnit[] = [];
  let after: string | undefined;
  do {
    const page = await call('memory.list', {
      ...listInput(filter),
      limit: 1000,
      ...(after === undefined ? {} : { after }),
    });
    units.push(...page.units);
    after = page.next ?? undefined;
  } while (after !== undefined && units.length < MOST_MARKED);
  return units.slice(0, MOST_MARKED);
}

/** Which memories are marked for a change of many at once. */
export interface Marks {
  readonly units: readonly MemoryUnit[];
  has(id: string): boolean;
  toggle(unit: MemoryUnit): void;
  /** Marks all from the last one that was touched to this one. */
  extend(rows: readonly MemoryUnit[], to: number): void;
  /** Marks all that the filter lets through. */
  all(): void;
  clear(): void;
}

export function useMarks(filter: Filter): Marks {
  const [marked, setMarked] = useState<ReadonlyMap<string, MemoryUnit>>(new Map());
  const anchor = useRef<string | null>(null);
  return {
    units: [...marked.values()],
    has: (id) => marked.has(id),
    toggle: (unit) => {
      anchor.current = unit.id;
      const next = new Map(marked);
      if (!next.delete(unit.id)) next.set(unit.id, unit);
      setMarked(next);
    },
    extend: (rows, to) => {
      const from = rows.findIndex(({ id }) => id === anchor.current);
      const [low, high] = from === -1 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
      const next = new Map(marked);
      for (const unit of rows.slice(low, high + 1)) next.set(unit.id, unit);
      anchor.current ??= rows[to]?.id ?? null;
      setMarked(next);
    },
    all: () => void allOf(filter).then((units) => setMarked(new Map(units.map((unit) => [unit.id, unit])))),
    clear: () => {
      anchor.current = null;
      setMarked(new Map());
    },
  };
}
