import { agentName } from '../../../../shared/agents.ts';
import { formatNumber, formatPercent } from '../../../../shared/format.ts';
import type { Translate } from '../../../../shared/i18n/index.ts';
import {
  addUsage,
  type CallPurpose,
  cacheShare,
  formatCost,
  knownCost,
  promptTokens,
  type UsageRow,
} from '../../../../shared/usage.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { Panel } from '../../ui/primitives.tsx';

type By = 'model' | 'purpose' | 'agent';

/** Who or what used how much, the most first. */
export function UsageTable(props: { title: string; by: By; range: { from: string; to: string } }) {
  const t = useT();
  const summary = useRoute('usage.summary', { ...props.range, by: props.by });
  return (
    <Panel title={props.title}>
      {summary.isError ? (
        <div className="pad4">
          <InlineError error={summary.error} onRetry={() => void summary.refetch()} />
        </div>
      ) : summary.isPending ? (
        <SkeletonRows rows={2} />
      ) : (
        <table className="table usage-table">
          <thead>
            <tr>
              <th>{t(`usage.by.${props.by}`)}</th>
              <th className="num">{t('usage.calls')}</th>
              <th className="num">{t('usage.prompt')}</th>
              <th className="num hide-narrow">{t('usage.cache')}</th>
              <th className="num">{t('usage.answers')}</th>
              <th className="num hide-narrow">{t('usage.added')}</th>
              <th className="num">{t('usage.cost')}</th>
            </tr>
          </thead>
          <tbody>
            {summary.data.rows.map((row) => (
              <Line key={`${row.upstream} ${row.key}`} row={row} by={props.by} />
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function Line({ row, by }: { row: UsageRow; by: By }) {
  const t = useT();
  const sums = addUsage(row.relayed, row.own);
  const share = cacheShare(sums);
  const name = nameOf(row, by, t);
  const number = (value: number) => (value === 0 ? '–' : formatNumber(value, t.locale));
  return (
    <tr>
      <td title={name}>
        {name}
        {row.upstream === null || row.upstream === 'custom' ? null : (
          <span className="t3"> {row.upstream}</span>
        )}
      </td>
      <td className="num">{number(sums.calls)}</td>
      <td className="num">{number(promptTokens(sums))}</td>
      <td className="num hide-narrow">{share === null ? '–' : formatPercent(share, t.locale)}</td>
      <td className="num">{number(sums.outputTokens)}</td>
      <td className="num hide-narrow">{number(sums.addedTokens)}</td>
      <td className={knownCost(sums) === 'nothing' ? 'num t3' : 'num'} title={costTitle(sums.unpriced, t)}>
        {formatCost(sums, t)}
      </td>
    </tr>
  );
}

function nameOf({ key }: UsageRow, by: By, t: Translate): string {
  if (by === 'purpose') return t(`usage.for.${key as CallPurpose}`);
  if (by === 'agent') return key === 'metaclaw' ? 'MetaClaw' : (agentName(key) ?? t('overview.agent'));
  return key;
}

function costTitle(unpriced: number, t: Translate): string | undefined {
  return unpriced === 0 ? undefined : t('usage.unpricedCalls', { count: unpriced });
}
