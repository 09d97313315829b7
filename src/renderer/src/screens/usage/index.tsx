import { Coins } from 'lucide-react';
import { useState } from 'react';
import { dayOf, shiftDay } from '../../../../shared/days.ts';
import { addUsage, describeCap } from '../../../../shared/usage.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Empty, InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { useNow } from '../../ui/hooks.ts';
import { Note, Segments } from '../../ui/primitives.tsx';
import { Shell } from '../../ui/shell.tsx';
import { CapPanel } from './cap.tsx';
import { DaysPanel } from './days.tsx';
import { Figures } from './figures.tsx';
import { UsageTable } from './table.tsx';

const STRETCHES = ['1', '7', '30', '90'] as const;

/** What calls took and cost, relayed ones and our own, and the cap on the latter. */
export function Usage() {
  const t = useT();
  const [stretch, setStretch] = useState<(typeof STRETCHES)[number]>('7');
  const to = dayOf(useNow(60_000));
  const range = { from: shiftDay(to, 1 - Number(stretch)), to };
  const byDay = useRoute('usage.summary', { ...range, by: 'day' });
  const { data } = byDay;
  const all = data === undefined ? null : addUsage(data.total.relayed, data.total.own);
  return (
    <Shell title={t('nav.usage')}>
      <div className="bar">
        <Segments
          label={t('usage.stretch')}
          value={stretch}
          options={STRETCHES.map((value) => ({
            value,
            label: value === '1' ? t('overview.today') : t('usage.days', { count: Number(value) }),
          }))}
          onChange={setStretch}
        />
      </div>
      <div className="body">
        <div className="grow pad scroll">
          <div className="usage">
            {data?.cap != null && data.cap.state !== 'open' ? (
              <Note tone="warn" large role="status">
                {describeCap(data.cap, t)}
              </Note>
            ) : null}
            {byDay.isError ? (
              <InlineError error={byDay.error} onRetry={() => void byDay.refetch()} />
            ) : data === undefined || all === null ? (
              <SkeletonRows rows={4} />
            ) : all.calls === 0 ? (
              <Empty icon={<Coins className="big" aria-hidden="true" />} title={t('usage.empty')}>
                {t('usage.emptyHow')}
              </Empty>
            ) : (
              <>
                <Figures total={data.total} />
                <DaysPanel key={stretch} rows={data.rows} />
                <UsageTable title={t('usage.byModel')} by="model" range={range} />
                <UsageTable title={t('usage.byPurpose')} by="purpose" range={range} />
                <UsageTable title={t('usage.byAgent')} by="agent" range={range} />
              </>
            )}
            <CapPanel cap={data?.cap ?? null} />
            <p className="sm t3 usage-foot">{t('usage.foot')}</p>
          </div>
        </div>
      </div>
    </Shell>
  );
}
