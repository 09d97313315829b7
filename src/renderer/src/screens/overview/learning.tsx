import { Link } from 'wouter';
import type { Translate } from '../../../../shared/i18n/index.ts';
import type { Snapshot } from '../../../../shared/status.ts';
import { describeCap } from '../../../../shared/usage.ts';
import { useT } from '../../i18n.tsx';
import { useSnapshot } from '../../ui/hooks.ts';
import { Panel } from '../../ui/primitives.tsx';

const MODE = {
  skills_only: 'overview.modeSkills',
  rl: 'overview.modeRl',
  madmax: 'overview.modeMadmax',
} as const;

/** What learning does now, and why it does not when it does not. */
export function LearningPanel() {
  const t = useT();
  const snapshot = useSnapshot();
  const [headline, detail] = learningWords(snapshot, t);
  const { lastError, running } = snapshot.learning;
  return (
    <Panel
      title={t('overview.learning')}
      level={3}
      end={<span className="sm t3">{t(MODE[snapshot.effectiveMode])}</span>}
    >
      <div className="pad4" aria-live="polite">
        <div className="med">{headline}</div>
        {detail === null ? null : <div className="sm t3">{detail}</div>}
        {running > 0 ? <div className="meter busy" aria-hidden="true" /> : null}
        {lastError === null ? null : (
          <div className="sm warn learning-error">{t('overview.learnError', { message: lastError })}</div>
        )}
        {snapshot.modeReason === null ? null : (
          <div className="sm t3 learning-error">{t(`status.training.${snapshot.modeReason}`)}</div>
        )}
      </div>
      <div className="line-item learning-foot">
        <Link href="/settings" className="sm">
          {t('common.change')}
        </Link>
      </div>
    </Panel>
  );
}

function learningWords({ learning, usage }: Snapshot, t: Translate): [string, string | null] {
  if (!learning.enabled) return [t('overview.learnOff'), t('overview.learnOffDetail')];
  const queued = learning.queued === 0 ? null : t('overview.learnQueued', { count: learning.queued });
  const { cap } = usage;
  if (learning.running === 0 && cap !== null && cap.state !== 'open') return [describeCap(cap, t), queued];
  if (learning.running > 0) return [t('overview.learnRunning', { count: learning.running }), queued];
  if (queued !== null) return [queued, null];
  return [t('overview.learnIdle'), t('overview.learnIdleDetail')];
}
