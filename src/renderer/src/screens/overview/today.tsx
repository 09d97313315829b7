import { Link } from 'wouter';
import { dayOf } from '../../../../shared/days.ts';
import { formatDay, formatNumber, formatPercent } from '../../../../shared/format.ts';
import type { TurnSummary } from '../../../../shared/model.ts';
import { addUsage, formatCost, knownCost, NO_USAGE } from '../../../../shared/usage.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useSnapshot } from '../../ui/hooks.ts';
import { Stat } from '../../ui/primitives.tsx';

/** The figures of the day and the turns of each hour. Only what was measured; a dash where nothing was. */
export function Today({ today, now }: { today: readonly TurnSummary[]; now: number }) {
  const t = useT();
  const { today: totals } = useSnapshot();
  const failed = today.filter((turn) => turn.status === 'failed').length;
  const cache = cacheShare(today);
  return (
    <section aria-label={t('overview.today')}>
      <div className="flex base today-title">
        <h2>{t('overview.today')}</h2>
        <span className="t3 sm">{formatDay(now, t.locale)}</span>
        <Link href="/usage" className="sm end">
          {t('nav.usage')}
        </Link>
      </div>
      <dl className="stats">
        <Stat
          label={t('overview.turns')}
          value={formatNumber(totals.turns, t.locale)}
          detail={t('overview.sessions', { count: totals.sessions })}
        />
        <Stat
          label={t('overview.cacheHits')}
          value={cache === null ? '–' : formatPercent(cache, t.locale)}
          detail={cache === null ? t('overview.notReported') : t('overview.ofThePrompt')}
        />
        <Stat
          label={t('overview.notAnswered')}
          value={today.length === 0 ? '–' : formatNumber(failed, t.locale)}
          detail={t('overview.ofTurns', { count: today.length })}
        />
        <CostStat now={now} />
      </dl>
      <Hours now={now} />
    </section>
  );
}

/** What today's calls cost, and how much of that was learning. */
function CostStat({ now }: { now: number }) {
  const t = useT();
  const day = dayOf(now);
  const { data } = useRoute('usage.summary', { from: day, to: day, by: 'day' });
  const own = data?.total.own ?? NO_USAGE;
  const all = addUsage(data?.total.relayed ?? NO_USAGE, own);
  const isKnown = all.calls > 0 && knownCost(all) !== 'nothing';
  const detail =
    all.calls === 0
      ? t('usage.none')
      : isKnown
        ? t('usage.forLearning', { cost: formatCost(own, t) })
        : t('usage.unpricedShort');
  return <Stat label={t('usage.cost')} value={isKnown ? formatCost(all, t) : '–'} detail={detail} />;
}

/** The share of prompt tokens that came from the provider's cache, over turns whose provider told it. */
function cacheShare(turns: readonly TurnSummary[]): number | null {
  let read = 0;
  let all = 0;
  for (const { usage } of turns) {
    if (usage === null || usage.estimated) continue;
    read += usage.cacheReadTokens;
    all += usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  }
  return all === 0 ? null : read / all;
}

const WIDTH = 612;
const STEP = WIDTH / 24;
const HEIGHT = 44;

function Hours({ now }: { now: number }) {
  const t = useT();
  const histogram = useRoute('turns.histogram', {});
  const hours = histogram.data?.hours ?? Array.from({ length: 24 }, () => 0);
  const most = Math.max(...hours);
  const total = hours.reduce((sum, count) => sum + count, 0);
  const peak = hourText(hours.indexOf(most));
  const date = new Date(now);
  const nowAt = (date.getHours() + date.getMinutes() / 60) * STEP;
  const summary =
    total === 0
      ? t('overview.byHourNone')
      : t('overview.byHour', { total: t('status.turns', { count: total }), hour: peak });
  return (
    <svg className="hours" viewBox={`0 0 ${WIDTH} 62`} role="img" aria-label={summary}>
      <line className="c-grid" x1="0" y1={HEIGHT + 0.5} x2={WIDTH} y2={HEIGHT + 0.5} />
      {hours.map((count, hour) => {
        if (count === 0) return null;
        const height = Math.max(3, (count / most) * (HEIGHT - 4));
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: an hour is its place
            key={hour}
            className="bar-hour"
            x={hour * STEP + 4}
            y={HEIGHT - height}
            width={STEP - 8}
            height={height}
            rx="1.5"
          >
            <title>
              {t('overview.hour', { hour: hourText(hour), turns: t('overview.turnsShort', { count }) })}
            </title>
          </rect>
        );
      })}
      <line className="now-line" x1={nowAt} x2={nowAt} y1="0" y2={HEIGHT} />
      {[0, 6, 12, 18].map((hour) => (
        <text key={hour} x={hour * STEP} y="59">
          {hourText(hour)}
        </text>
      ))}
      <text x={WIDTH} y="59" textAnchor="end">
        24:00
      </text>
    </svg>
  );
}

function hourText(hour: number): string {
  return `${String(Math.max(0, hour)).padStart(2, '0')}:00`;
}
