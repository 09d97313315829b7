import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { ListFilter } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import type { RouteOutput } from '../../../shared/contract.ts';
import type { AppError } from '../../../shared/errors.ts';
import { formatDuration, formatWhen } from '../../../shared/format.ts';
import type { Translate } from '../../../shared/i18n/index.ts';
import type { TurnSummary } from '../../../shared/model.ts';
import { call, useRoute } from '../api.ts';
import { useT } from '../i18n.tsx';
import { Empty, InlineError, SkeletonRows } from '../ui/feedback.tsx';
import { agentLabel, proxyAddress, useCopy, useHotkeys, useNow, useSnapshot } from '../ui/hooks.ts';
import { FilterField } from '../ui/list-parts.tsx';
import { Listbox, type ListGroup } from '../ui/listbox.tsx';
import { Badge, Button, Segments } from '../ui/primitives.tsx';
import { Shell } from '../ui/shell.tsx';
import { TurnView } from './turn.tsx';

const PAGE = 100;

/** Every recorded turn, by session, newest first; a turn opens beside the list. */
export function Activity() {
  const t = useT();
  const { id } = useParams<{ id?: string }>();
  const [, navigate] = useLocation();
  const [filter, setFilter] = useState('');
  const [kind, setKind] = useState<'main' | 'all'>('main');
  const search = useRef<HTMLInputElement>(null);
  const turns = useTurns(kind);
  const all = useMemo(() => turns.data?.pages.flatMap((page) => page.turns) ?? [], [turns.data]);
  const shown = useMemo(() => filterTurns(all, filter), [all, filter]);
  const groups = useMemo(() => bySession(shown, t), [shown, t]);
  const open = (turnId: string) =>
    navigate(`/activity/${encodeURIComponent(turnId)}`, { replace: id !== undefined });
  const selected = id === undefined ? null : decodeURIComponent(id);
  useHotkeys({
    '/': () => search.current?.focus(),
    Escape: selected === null ? null : () => navigate('/activity'),
  });

  if (turns.isSuccess && all.length === 0 && kind === 'all') return <NoTurns />;
  return (
    <Shell title={t('activity.title')}>
      <div className={selected === null ? 'body split' : 'body split opened'}>
        <section className="list" aria-label={t('activity.list')}>
          <div className="bar tight">
            <FilterField field={search} label={t('activity.filter')} value={filter} onChange={setFilter} />
            <Segments
              label={t('activity.kind')}
              value={kind}
              options={[
                { value: 'main', label: t('activity.mainOnly') },
                { value: 'all', label: t('activity.all') },
              ]}
              onChange={setKind}
            />
          </div>
          {turns.isError ? (
            <div className="pad4">
              <InlineError error={turns.error} onRetry={() => void turns.refetch()} />
            </div>
          ) : turns.isPending ? (
            <SkeletonRows rows={8} />
          ) : shown.length === 0 ? (
            <NoMatch empty={all.length === 0} onClear={() => setFilter('')} />
          ) : (
            <Listbox
              label={t('activity.list')}
              groups={groups}
              selected={selected}
              idOf={(turn) => turn.id}
              onSelect={open}
              foot={
                turns.hasNextPage ? (
                  <div className="list-foot">
                    <Button
                      small
                      disabled={turns.isFetchingNextPage}
                      onClick={() => void turns.fetchNextPage()}
                    >
                      {t('common.more')}
                    </Button>
                  </div>
                ) : null
              }
            >
              {(turn) => <TurnRow turn={turn} />}
            </Listbox>
          )}
        </section>
        <div className="detail">
          {selected === null ? (
            <Empty icon={<ListFilter className="big" aria-hidden="true" />} title={t('activity.pick')}>
              {t('activity.pickHow')}
            </Empty>
          ) : (
            <TurnView key={selected} id={selected} />
          )}
        </div>
      </div>
    </Shell>
  );
}

function useTurns(kind: 'main' | 'all') {
  return useInfiniteQuery<
    RouteOutput<'turns.list'>,
    AppError,
    InfiniteData<RouteOutput<'turns.list'>>,
    [string, string, string],
    string | undefined
  >({
    queryKey: ['turns.list', 'pages', kind],
    queryFn: ({ pageParam }) =>
      call('turns.list', {
        limit: PAGE,
        ...(kind === 'main' ? { kind } : {}),
        ...(pageParam === undefined ? {} : { before: pageParam }),
      }),
    initialPageParam: undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

function TurnRow({ turn }: { turn: TurnSummary }) {
  const t = useT();
  const now = useNow(60_000);
  const isSide = turn.kind === 'side';
  return (
    <>
      <span className="sm t3 row-time">{formatWhen(turn.startedAt, now, t.locale)}</span>
      <div className="grow">
        <div className={isSide ? 'cut t3' : 'cut'}>{turn.userText || '–'}</div>
        <div className="l2">
          <span className="cut">{isSide ? t('activity.side') : addedWords(turn, t)}</span>
          {turn.status === 'answered' ? null : (
            <Badge tone={turn.status === 'failed' ? 'danger' : 'line'}>
              {t(`activity.state.${turn.status}`)}
            </Badge>
          )}
          <span className="end nowrap">
            {turn.durationMs === null ? '' : formatDuration(turn.durationMs, t.locale)}
          </span>
        </div>
      </div>
    </>
  );
}

/** `2 skills, 3 memories`, or that nothing was added. */
function addedWords(turn: TurnSummary, t: Translate): string {
  const count = (kind: 'skill' | 'memory') =>
    turn.injection.items.filter((item) => item.kind === kind).length;
  const skills = count('skill');
  const memories = count('memory');
  const parts = [
    skills === 0 ? null : t('activity.skills', { count: skills }),
    memories === 0 ? null : t('activity.memories', { count: memories }),
  ].filter((part) => part !== null);
  return parts.length === 0 ? t('activity.nothing') : parts.join(', ');
}

function filterTurns(turns: readonly TurnSummary[], filter: string): readonly TurnSummary[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return turns;
  return turns.filter((turn) => {
    const text = `${turn.userText} ${turn.agent} ${turn.model} ${turn.id} ${turn.status}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function bySession(turns: readonly TurnSummary[], t: Translate): ListGroup<TurnSummary>[] {
  const groups = new Map<string, TurnSummary[]>();
  for (const turn of turns) {
    const group = groups.get(turn.sessionId);
    if (group === undefined) groups.set(turn.sessionId, [turn]);
    else group.push(turn);
  }
  return [...groups].map(([sessionId, items]) => ({
    key: sessionId,
    // A session has no name; its first words say best what it is about.
    title: items.at(-1)?.userText || t('activity.session', { id: sessionId.slice(-6) }),
    end: t('activity.turnsOf', { agent: agentLabel(items[0]?.agent ?? '', t), count: items.length }),
    items,
  }));
}

function NoMatch({ empty, onClear }: { empty: boolean; onClear: () => void }) {
  const t = useT();
  const snapshot = useSnapshot();
  return (
    <Empty
      icon={null}
      title={empty ? t('activity.none') : t('activity.noneMatch')}
      action={empty ? undefined : <Button onClick={onClear}>{t('activity.clearFilter')}</Button>}
    >
      {empty
        ? t('activity.noneHow', { address: `http://${proxyAddress(snapshot) ?? '127.0.0.1'}/v1` })
        : t('activity.noneMatchHow')}
    </Empty>
  );
}

function NoTurns() {
  const t = useT();
  const copy = useCopy();
  const endpoints = useRoute('proxy.endpoints', {});
  const { data } = endpoints;
  return (
    <Shell title={t('activity.title')}>
      <div className="body">
        <Empty
          icon={<ListFilter className="big" aria-hidden="true" />}
          title={t('activity.none')}
          action={
            data === undefined ? undefined : (
              <Button tone="primary" onClick={() => copy(data.curl)}>
                {t('overview.copyFirst')}
              </Button>
            )
          }
        >
          {t('activity.noneHow', { address: data?.openai ?? '' })}
        </Empty>
      </div>
    </Shell>
  );
}
