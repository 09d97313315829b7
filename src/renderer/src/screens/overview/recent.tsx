import type { UseQueryResult } from '@tanstack/react-query';
import { Copy } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { agentMark } from '../../../../shared/agents.ts';
import type { RouteOutput } from '../../../../shared/contract.ts';
import type { AppError } from '../../../../shared/errors.ts';
import { formatDuration, formatNumber, formatWhen } from '../../../../shared/format.ts';
import type { TurnSummary } from '../../../../shared/model.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Empty, InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { agentLabel, proxyAddress, useCopy, useNow, useSnapshot } from '../../ui/hooks.ts';
import { Badge, Button, Mark, Panel } from '../../ui/primitives.tsx';

const SHOWN = 10;

/** The last turns, newest first, with what was added to each. */
export function RecentTurns({ query }: { query: UseQueryResult<RouteOutput<'turns.list'>, AppError> }) {
  const t = useT();
  const turns = query.data?.turns.slice(0, SHOWN) ?? [];
  return (
    <Panel
      title={t('overview.recent')}
      level={3}
      className="recent"
      end={
        turns.length === 0 ? null : (
          <Link href="/activity" className="sm">
            {t('overview.allActivity')}
          </Link>
        )
      }
    >
      {query.isError ? (
        <div className="pad4">
          <InlineError error={query.error} onRetry={() => void query.refetch()} />
        </div>
      ) : query.isPending ? (
        <SkeletonRows rows={5} />
      ) : turns.length === 0 ? (
        <NoTurns />
      ) : (
        <Table turns={turns} />
      )}
    </Panel>
  );
}

function NoTurns() {
  const t = useT();
  const copy = useCopy();
  const snapshot = useSnapshot();
  const endpoints = useRoute('proxy.endpoints', {});
  const { data } = endpoints;
  return (
    <div className="pad">
      <Empty
        icon={null}
        title={t('overview.noRecent')}
        action={
          data === undefined || snapshot.proxy.state !== 'running' ? undefined : (
            <Button onClick={() => copy(data.curl)}>
              <Copy className="s" aria-hidden="true" />
              {t('overview.copyFirst')}
            </Button>
          )
        }
      >
        {t('overview.noRecentHow', { address: data?.openai ?? proxyAddress(snapshot) ?? '' })}
      </Empty>
    </div>
  );
}

function Table({ turns }: { turns: readonly TurnSummary[] }) {
  const t = useT();
  return (
    <table className="table">
      <colgroup>
        <col className="w-time" />
        <col className="w-mark" />
        <col />
        <col className="w-num" />
        <col className="w-took" />
      </colgroup>
      <thead>
        <tr>
          <th>{t('overview.time')}</th>
          <th>
            <span className="sr">{t('overview.agent')}</span>
          </th>
          <th>{t('overview.request')}</th>
          <th className="num">{t('overview.added')}</th>
          <th className="num">{t('overview.took')}</th>
        </tr>
      </thead>
      <tbody>
        {turns.map((turn) => (
          <Row key={turn.id} turn={turn} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ turn }: { turn: TurnSummary }) {
  const t = useT();
  const now = useNow(60_000);
  const [, navigate] = useLocation();
  const path = `/activity/${encodeURIComponent(turn.id)}`;
  const added = turn.injection.items.map((item) => item.title).join(', ');
  return (
    <tr onClick={() => navigate(path)}>
      <td className="t3">{formatWhen(turn.startedAt, now, t.locale)}</td>
      <td>
        <Mark text={agentMark(turn.agent)} title={agentLabel(turn.agent, t)} />
      </td>
      <td title={turn.userText}>
        <span className="flex">
          <Link href={path} className="cut row-link" onClick={(event) => event.stopPropagation()}>
            {turn.userText || '–'}
          </Link>
          {turn.status === 'answered' ? null : (
            <span className="end">
              <Badge tone={turn.status === 'failed' ? 'danger' : 'line'}>
                {t(`activity.state.${turn.status}`)}
              </Badge>
            </span>
          )}
        </span>
      </td>
      <td className={turn.injection.tokens === 0 ? 'num t3' : 'num'} title={added}>
        {turn.injection.tokens === 0 ? '–' : formatNumber(turn.injection.tokens, t.locale)}
      </td>
      <td className="num">{turn.durationMs === null ? '–' : formatDuration(turn.durationMs, t.locale)}</td>
    </tr>
  );
}
