import { useState } from 'react';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { Glyph } from '../../ui/glyph.tsx';
import { Button, Panel } from '../../ui/primitives.tsx';

const GLYPH = { ok: 'ok', warning: 'warning', problem: 'problem', skipped: 'stopped' } as const;
const TONE = { ok: 'ok', warning: 'warn', problem: 'danger', skipped: 'off' } as const;

/** The engine's own checks, run when asked. */
export function HealthPart() {
  const t = useT();
  const [asked, setAsked] = useState(false);
  const checks = useRoute('doctor.run', {}, { enabled: asked });
  const run = () => (asked ? void checks.refetch() : setAsked(true));
  return (
    <Panel
      title={t('settings.health')}
      end={
        <Button small disabled={checks.isFetching} onClick={run}>
          {t('settings.healthRun')}
        </Button>
      }
    >
      <div aria-live="polite">
        {!asked ? (
          <div className="line-item sm t3">{t('settings.healthHelp')}</div>
        ) : checks.isError ? (
          <div className="pad4">
            <InlineError error={checks.error} onRetry={run} />
          </div>
        ) : checks.data === undefined ? (
          <SkeletonRows rows={4} />
        ) : (
          checks.data.map((check) => (
            <div className="line-item" key={check.id}>
              <span className={`state ${TONE[check.state]}`}>
                <Glyph level={GLYPH[check.state]} />
                <span className="sr">{t(`settings.healthState.${check.state}`)}</span>
              </span>
              <div className="grow selectable">
                <div>{check.title}</div>
                <div className="sm t3">
                  {check.detail} {check.fix === null ? null : <span className="t2">{check.fix}</span>}
                </div>
              </div>
            </div>
          ))
        )}
      </div>
    </Panel>
  );
}
