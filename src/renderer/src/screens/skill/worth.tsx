import { formatNumber, formatPercent } from '../../../../shared/format.ts';
import type { Translate } from '../../../../shared/i18n/index.ts';
import type { SkillWorth } from '../../../../shared/model.ts';
import { useT } from '../../i18n.tsx';
import { Note } from '../../ui/primitives.tsx';

/** Least half of the width of the interval's picture, as a share. */
const REACH = 0.25;

/** What a skill is worth: the difference that it makes, how sure that is, and what it was taken from. */
export function Worth({ worth }: { worth: SkillWorth | null }) {
  const t = useT();
  const effect = worth?.effect ?? null;
  return (
    <div className="sect">
      <div className="label">{t('skills.worth')}</div>
      {effect === null ? (
        <p className="sm t3 worth-sum">{t('skills.worthTooFew')}</p>
      ) : (
        <>
          <p className="worth-sum">
            <span className={`worth-number ${toneOf(effect)}`}>{points(effect.difference, t)}</span>{' '}
            <span className="sm t3">
              {t('skills.worthPoints', { low: points(effect.low, t), high: points(effect.high, t) })}
            </span>
          </p>
          <Interval effect={effect} />
        </>
      )}
      {worth === null ? null : (
        <dl className="kv worth-facts">
          <dt>{t('skills.worthWith')}</dt>
          <dd>{share(worth.with, t)}</dd>
          <dt>{t('skills.worthWithout')}</dt>
          <dd>{share(worth.without, t)}</dd>
        </dl>
      )}
      {worth?.advice ? (
        <Note tone={worth.advice === 'hurts' ? 'danger' : 'warn'}>
          {t(worth.advice === 'hurts' ? 'skills.worthHurts' : 'skills.worthNoHelp')}
        </Note>
      ) : null}
    </div>
  );
}

/** The difference in a list: green when it surely helps, red when it surely hurts. */
export function WorthMark({ effect }: { effect: NonNullable<SkillWorth['effect']> }) {
  const t = useT();
  return (
    <span className={`nowrap ${toneOf(effect)}`} title={t('skills.worth')}>
      {points(effect.difference, t)}
    </span>
  );
}

function Interval({ effect }: { effect: NonNullable<SkillWorth['effect']> }) {
  const reach = Math.max(REACH, Math.abs(effect.low), Math.abs(effect.high)) * 1.1;
  const at = (value: number) => 50 + (value / reach) * 50;
  return (
    <svg
      className={`interval ${toneOf(effect)}`}
      viewBox="0 0 100 12"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <line className="interval-zero" x1="50" x2="50" y1="1" y2="11" />
      <line className="interval-line" x1={at(effect.low)} x2={at(effect.high)} y1="6" y2="6" />
      <line
        className="interval-dot"
        x1={at(effect.difference) - 1}
        x2={at(effect.difference) + 1}
        y1="6"
        y2="6"
      />
    </svg>
  );
}

function toneOf({ low, high }: NonNullable<SkillWorth['effect']>): string {
  if (low > 0) return 'ok';
  return high < 0 ? 'danger' : 't3';
}

function points(share: number, t: Translate): string {
  const value = Math.round(share * 100);
  return `${value > 0 ? '+' : ''}${formatNumber(value, t.locale).replace('-', '−')}`;
}

function share({ sessions, good }: SkillWorth['with'], t: Translate): string {
  return good === null
    ? '–'
    : t('skills.worthShare', { share: formatPercent(good, t.locale), count: sessions });
}
