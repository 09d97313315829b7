import { formatNumber, formatPercent } from '../../../../shared/format.ts';
import {
  addUsage,
  cacheShare,
  formatCost,
  knownCost,
  promptTokens,
  type UsageSummary,
} from '../../../../shared/usage.ts';
import { useT } from '../../i18n.tsx';
import { Stat } from '../../ui/primitives.tsx';

/** The sums of the stretch that is shown. */
export function Figures({ total }: { total: UsageSummary['total'] }) {
  const t = useT();
  const all = addUsage(total.relayed, total.own);
  const prompt = promptTokens(all);
  const share = cacheShare(all);
  const number = (value: number) => formatNumber(value, t.locale);
  const estimated = all.estimated > 0 ? t('usage.estimated', { count: all.estimated }) : null;
  return (
    <dl className="stats usage-stats">
      <Stat
        label={t('usage.cost')}
        value={knownCost(all) === 'nothing' ? '–' : formatCost(all, t)}
        detail={
          all.unpriced > 0
            ? t('usage.unpricedCalls', { count: all.unpriced })
            : t('usage.forLearning', { cost: formatCost(total.own, t) })
        }
      />
      <Stat
        label={t('usage.calls')}
        value={number(all.calls)}
        detail={t('usage.ownCalls', { count: total.own.calls })}
      />
      <Stat
        label={t('usage.prompt')}
        value={number(prompt)}
        detail={
          share === null ? t('usage.none') : t('usage.fromCache', { share: formatPercent(share, t.locale) })
        }
      />
      <Stat
        label={t('usage.answers')}
        value={number(all.outputTokens)}
        detail={estimated ?? t('usage.counted')}
      />
      <Stat
        label={t('usage.added')}
        value={number(all.addedTokens)}
        detail={
          prompt === 0
            ? t('usage.none')
            : t('usage.ofPrompts', { share: formatPercent(Math.min(1, all.addedTokens / prompt), t.locale) })
        }
      />
    </dl>
  );
}
