import { Check, LoaderCircle, Play, X } from 'lucide-react';
import type { DemoEvent } from '../../../../shared/contract.ts';
import { useCommand } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Button, Panel } from '../../ui/primitives.tsx';

/** Runs the built-in demo and shows each of its steps as it happens. */
export function DemoPanel() {
  const t = useT();
  const events = useUi((state) => state.demo);
  const start = useCommand('demo.start');
  const last = events.at(-1);
  const isRunning = last !== undefined && last.step !== 'done' && last.step !== 'failed';
  return (
    <Panel title={t('overview.demo')} level={3}>
      <div className="pad4">
        {events.length === 0 ? (
          <p className="sm t2">{t('overview.demoDetail')}</p>
        ) : (
          <Steps events={events} />
        )}
        <div className="demo-action">
          <Button small disabled={isRunning || start.isPending} onClick={() => start.mutate({})}>
            <Play className="s" aria-hidden="true" />
            {isRunning
              ? t('overview.demoRunning')
              : last
                ? t('overview.runDemoAgain')
                : t('overview.runDemo')}
          </Button>
        </div>
      </div>
    </Panel>
  );
}

function Steps({ events }: { events: readonly DemoEvent[] }) {
  const t = useT();
  return (
    <ol className="demo-steps" aria-live="polite">
      {events.map((event, index) => {
        const isLast = index === events.length - 1;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are only ever added at the end
          <li key={index}>
            <StepIcon event={event} isLast={isLast} />
            <div className="grow">
              <div className={isLast ? 'med' : 't2'}>{t(`overview.demoStep.${event.step}`)}</div>
              <div className="sm t3">{event.text}</div>
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function StepIcon({ event, isLast }: { event: DemoEvent; isLast: boolean }) {
  if (event.step === 'failed') return <X className="danger" aria-hidden="true" />;
  if (isLast && event.step !== 'done') return <LoaderCircle className="acc spin" aria-hidden="true" />;
  return <Check className="ok" aria-hidden="true" />;
}
