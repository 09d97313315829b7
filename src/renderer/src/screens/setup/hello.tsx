import { Copy, LoaderCircle } from 'lucide-react';
import { useState } from 'react';
import { formatDuration } from '../../../../shared/format.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { agentLabel, useCopy, useSnapshot } from '../../ui/hooks.ts';
import { Button, IconButton, Note } from '../../ui/primitives.tsx';
import { useDraft } from './draft.ts';
import { StepFrame, type StepProps } from './frame.tsx';

/** The first real turn: a command to copy, and a line that turns green when it came through. */
export function Hello(step: StepProps) {
  const t = useT();
  const copy = useCopy();
  const { proxy } = useSnapshot();
  const clear = useDraft((state) => state.clear);
  const endpoints = useRoute('proxy.endpoints', {});
  const turns = useRoute('turns.list', { limit: 20 });
  // Only a turn that came after this screen opened counts.
  const [openedAt] = useState(() => Date.now());
  const first = turns.data?.turns.find(
    (turn) => Date.parse(turn.startedAt) >= openedAt - 1000 && turn.status === 'answered',
  );
  const finish = () => {
    clear();
    step.leave();
  };
  return (
    <StepFrame
      title={t('setup.helloTitle')}
      lead={t('setup.helloLead')}
      step={{ ...step, leave: null }}
      actions={
        <Button tone={first === undefined ? 'plain' : 'primary'} onClick={finish}>
          {first === undefined ? t('setup.finishEarly') : t('setup.finish')}
        </Button>
      }
    >
      {endpoints.data === undefined ? null : (
        <>
          <div className="panel curl">
            <pre className="pre selectable">{endpoints.data.curl}</pre>
            <Button small onClick={() => copy(endpoints.data.curl)}>
              <Copy className="s" aria-hidden="true" />
              {t('common.copy')}
            </Button>
          </div>
          <div className="panel">
            {(
              [
                [t('settings.openaiBase'), endpoints.data.openai],
                [t('settings.anthropicBase'), endpoints.data.anthropic],
              ] as const
            ).map(([label, value]) => (
              <div className="line-item" key={label}>
                <span className="grow">{label}</span>
                <span className="mono selectable cut">{value}</span>
                <IconButton small label={`${t('common.copy')}: ${label}`} onClick={() => copy(value)}>
                  <Copy className="s" aria-hidden="true" />
                </IconButton>
              </div>
            ))}
          </div>
        </>
      )}
      <div aria-live="polite">
        {proxy.state === 'failed' ? (
          <Note tone="danger">{t('setup.helloNotRunning', { message: proxy.message })}</Note>
        ) : first === undefined ? (
          <Note icon={<LoaderCircle className="spin" aria-hidden="true" />}>{t('setup.helloWaiting')}</Note>
        ) : (
          <Note tone="ok">
            <b>
              {t('setup.helloDone', {
                agent: agentLabel(first.agent, t),
                took: formatDuration(first.durationMs ?? 0, t.locale),
              })}
            </b>
          </Note>
        )}
      </div>
    </StepFrame>
  );
}
