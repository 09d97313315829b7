import { CircleCheck, CircleX, Clock, LoaderCircle, RotateCw } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { ProviderTest, ProviderTestStep, RouteInput } from '../../../../shared/contract.ts';
import type { AppError } from '../../../../shared/errors.ts';
import { call } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Button } from '../../ui/primitives.tsx';
import { type Draft, useDraft } from './draft.ts';

const STEPS = ['address', 'connection', 'key', 'models', 'answer'] as const;
type StepId = (typeof STEPS)[number];
/** Long enough not to try every letter. */
const PAUSE_MS = 700;

export type FixTarget = 'address' | 'key' | 'model';

export interface RunningTest {
  readonly result: ProviderTest | null;
  readonly running: boolean;
  readonly error: AppError | null;
  readonly failedAt: StepId | null;
  again(): void;
}

/** Tries the drafted provider whenever it changes; an answer to an older draft is dropped. */
export function useProviderTest(): RunningTest {
  const { draft, test, setTest } = useDraft();
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<AppError | null>(null);
  const latest = useRef(0);
  const input = testInput(draft);
  const key = JSON.stringify(input);
  const tried = useRef<string | null>(null);

  const run = useCallback(
    (asked: string) => {
      latest.current += 1;
      const ticket = latest.current;
      tried.current = asked;
      setRunning(true);
      setError(null);
      call('setup.testProvider', JSON.parse(asked) as RouteInput<'setup.testProvider'>)
        .then(
          (result) => ticket === latest.current && setTest(result),
          (failure: AppError) => ticket === latest.current && setError(failure),
        )
        .finally(() => ticket === latest.current && setRunning(false));
    },
    [setTest],
  );

  useEffect(() => {
    if (key === 'null' || key === tried.current) return;
    // What was shown belongs to other words than those that stand there now.
    latest.current += 1;
    setTest(null);
    const timer = setTimeout(() => run(key), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [key, run, setTest]);

  const again = () => {
    if (input !== null) run(key);
  };
  const failedAt = test?.steps.find((step) => step.state === 'failed')?.id ?? null;
  return { result: test, running, error, failedAt, again };
}

function testInput(draft: Draft): RouteInput<'setup.testProvider'> | null {
  const baseUrl = draft.baseUrl.trim();
  const hasPlace = draft.program !== null || /^https?:\/\/[^\s/]+/.test(baseUrl);
  if (draft.provider === null || !hasPlace) return null;
  return {
    provider: draft.provider,
    baseUrl,
    model: draft.model.trim(),
    wire: draft.wire,
    ...(draft.apiKey === '' ? {} : { apiKey: draft.apiKey }),
  };
}

/** The rows of the live test: it stops at the first that fails, with its reason and one fix. */
export function ProviderTestPanel({
  test,
  onFix,
}: {
  test: RunningTest;
  onFix: (target: FixTarget) => void;
}) {
  const t = useT();
  const steps = test.result?.steps ?? [];
  const panel = useRef<HTMLElement>(null);
  const { failedAt } = test;
  const { program } = useDraft().draft;
  // The fix may stand below the edge of a small window. The panel is the last thing of its step.
  useEffect(() => {
    const step = panel.current?.closest('.scroll');
    if (failedAt !== null) step?.scrollTo({ top: step.scrollHeight });
  }, [failedAt]);
  return (
    <section ref={panel} className="panel test-panel" aria-label={t('setup.test')}>
      <header>
        <h2 className="panel-title">{t('setup.test')}</h2>
        <span className="sm t3">{test.running ? t('setup.testRunning') : t('setup.testWhen')}</span>
        <span className="end">
          <Button small tone="quiet" disabled={test.running} onClick={test.again}>
            <RotateCw className="s" aria-hidden="true" />
            {t('setup.testAgain')}
          </Button>
        </span>
      </header>
      <div className="test-rows" aria-live="polite">
        {STEPS.map((id, index) => (
          <TestRow
            key={id}
            id={id}
            step={steps.find((step) => step.id === id)}
            active={test.running && index === steps.length}
            program={program}
            onFix={onFix}
            onAgain={test.again}
          />
        ))}
        {test.error === null ? null : <div className="sm danger test-error">{test.error.message}</div>}
      </div>
    </section>
  );
}

function TestRow(props: {
  id: StepId;
  step: ProviderTestStep | undefined;
  active: boolean;
  program: string | null;
  onFix: (target: FixTarget) => void;
  onAgain: () => void;
}) {
  const t = useT();
  const { step } = props;
  const state = step?.state ?? (props.active ? 'running' : 'waiting');
  const detail = step?.detail || (state === 'running' ? t('setup.testRunning') : t('setup.testWaitsBefore'));
  const target: FixTarget =
    props.id === 'key' ? 'key' : props.id === 'models' || props.id === 'answer' ? 'model' : 'address';
  const label = { address: t('setup.fixAddress'), key: t('setup.fixKey'), model: t('setup.fixModel') }[
    target
  ];
  return (
    <>
      <div className="tr">
        <StateIcon state={state} />
        <span className="tr-name">{t(`setup.step.${props.id}`)}</span>
        <span
          className={state === 'failed' ? 'grow cut danger selectable' : 'grow cut t2 selectable'}
          title={detail}
        >
          {detail}
        </span>
        <span className="t3 sm nowrap">
          {state === 'ok' || state === 'failed' ? `${step?.ms ?? 0} ms` : ''}
        </span>
      </div>
      {state === 'failed' ? (
        <div className="tr-fix">
          {step?.fix == null ? null : <p className="sm t2">{step.fix}</p>}
          <div className="flex">
            {props.program !== null && target !== 'model' ? null : (
              <Button small tone="primary" onClick={() => props.onFix(target)}>
                {label}
              </Button>
            )}
            <Button small tone="quiet" onClick={props.onAgain}>
              {t('setup.fixAgain')}
            </Button>
          </div>
        </div>
      ) : null}
    </>
  );
}

function StateIcon({ state }: { state: ProviderTestStep['state'] | 'running' | 'waiting' }) {
  switch (state) {
    case 'ok':
      return <CircleCheck className="ok" aria-hidden="true" />;
    case 'failed':
      return <CircleX className="danger" aria-hidden="true" />;
    case 'running':
      return <LoaderCircle className="acc spin" aria-hidden="true" />;
    default:
      return <Clock className="t3" aria-hidden="true" />;
  }
}
