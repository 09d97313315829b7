import { useState } from 'react';
import { startOfDay } from '../../../../shared/days.ts';
import { formatMoney, formatNumber, formatShortDay } from '../../../../shared/format.ts';
import { promptTokens, type UsageRow, type UsageSums } from '../../../../shared/usage.ts';
import { useT } from '../../i18n.tsx';
import { Panel, Segments } from '../../ui/primitives.tsx';

type Measure = 'cost' | 'tokens';

/** At most so many days are named under the bars. */
const NAMED = 8;

/** A bar for each day: relayed calls, and our own on top of them. */
export function DaysPanel({ rows }: { rows: readonly UsageRow[] }) {
  const t = useT();
  const hasCost = rows.some(({ relayed, own }) => relayed.costUsd + own.costUsd > 0);
  const [chosen, setChosen] = useState<Measure | null>(null);
  const measure = chosen ?? (hasCost ? 'cost' : 'tokens');
  return (
    <Panel
      title={t('usage.byDay')}
      end={
        <Segments<Measure>
          label={t('usage.measure')}
          value={measure}
          options={[
            { value: 'cost', label: t('usage.cost') },
            { value: 'tokens', label: t('usage.tokenWord') },
          ]}
          onChange={setChosen}
        />
      }
    >
      <div className="pad4">
        <Bars rows={rows} measure={measure} />
        <div className="flex sm t2 keys">
          <span className="key usage-relayed">{t('usage.relayed')}</span>
          <span className="key usage-own">{t('usage.own')}</span>
        </div>
      </div>
    </Panel>
  );
}

function Bars({ rows, measure }: { rows: readonly UsageRow[]; measure: Measure }) {
  const t = useT();
  const spell = (value: number) =>
    measure === 'cost' ? formatMoney(value, t.locale) : t('usage.tokens', { count: value });
  const days = rows.map((row) => ({
    day: row.key,
    relayed: amount(row.relayed, measure),
    own: amount(row.own, measure),
  }));
  const most = Math.max(...days.map(({ relayed, own }) => relayed + own));
  const total = days.reduce((sum, { relayed, own }) => sum + relayed + own, 0);
  const name = (day: string) => formatShortDay(startOfDay(day), t.locale);
  const height = (value: number) => ({ height: most === 0 ? '0' : `${(value / most) * 100}%` });
  const every = Math.ceil(days.length / NAMED);
  return (
    <div
      className="usage-days"
      role="img"
      aria-label={t('usage.chart', {
        from: name(days[0]?.day ?? ''),
        to: name(days.at(-1)?.day ?? ''),
        total: spell(total),
      })}
    >
      <div className="axis">
        {measure === 'cost' ? formatMoney(most, t.locale) : formatNumber(most, t.locale)}
      </div>
      <div className="bars">
        {days.map(({ day, relayed, own }) => (
          <div
            key={day}
            title={t('usage.dayTitle', { day: name(day), relayed: spell(relayed), own: spell(own) })}
          >
            <i className="usage-own" style={height(own)} />
            <i className="usage-relayed" style={height(relayed)} />
          </div>
        ))}
      </div>
      <div className="names axis">
        {days.map(({ day }, n) => (
          <span key={day}>{(days.length - 1 - n) % every === 0 ? name(day) : null}</span>
        ))}
      </div>
    </div>
  );
}

function amount(sums: UsageSums, measure: Measure): number {
  return measure === 'cost' ? sums.costUsd : promptTokens(sums) + sums.outputTokens;
}
