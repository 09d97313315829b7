import { Check } from 'lucide-react';
import { useLocation, useParams } from 'wouter';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { skipSetup } from '../../ui/first-run.ts';
import { Brand } from '../../ui/glyph.tsx';
import { STEPS, type Step, useDraft } from './draft.ts';
import type { StepProps } from './frame.tsx';
import { Hello } from './hello.tsx';
import { Learning } from './learning.tsx';
import { Provider } from './provider.tsx';
import { Review } from './review.tsx';
import { What } from './what.tsx';

const TITLES = {
  what: 'setup.stepWhat',
  provider: 'setup.stepProvider',
  learning: 'setup.stepLearning',
  review: 'setup.stepReview',
  hello: 'setup.stepHello',
} as const;

/** The first run: one question a screen, Back always safe, nothing changed before the review. */
export function Setup() {
  const { step: asked } = useParams<{ step?: string }>();
  const [, navigate] = useLocation();
  const step: Step = STEPS.find((name) => name === asked) ?? 'what';
  const index = STEPS.indexOf(step);
  const go = (to: Step) => navigate(`/setup/${to}`);
  const next = () => go(STEPS[index + 1] ?? 'hello');
  const back = index === 0 ? null : () => go(STEPS[index - 1] ?? 'what');
  const leave = () => {
    skipSetup();
    navigate('/');
  };
  const props: StepProps = { next, back, leave };
  return (
    <div className="setup">
      <Rail step={step} />
      <main className="col setup-main">
        {step === 'what' ? <What {...props} /> : null}
        {step === 'provider' ? <Provider {...props} /> : null}
        {step === 'learning' ? <Learning {...props} /> : null}
        {step === 'review' ? <Review {...props} /> : null}
        {step === 'hello' ? <Hello {...props} back={null} /> : null}
      </main>
    </div>
  );
}

function Rail({ step }: { step: Step }) {
  const t = useT();
  const provider = useDraft((state) => state.draft.provider);
  const presets = useRoute('setup.presets', {});
  const name =
    provider === 'custom' ? t('setup.custom') : presets.data?.find((preset) => preset.id === provider)?.name;
  const at = STEPS.indexOf(step);
  return (
    <aside className="rail">
      <div className="brand">
        <Brand />
        <span>MetaClaw</span>
      </div>
      <ol aria-label={t('setup.steps')}>
        {STEPS.map((id, index) => {
          const isDone = index < at;
          const isOn = id === step;
          return (
            <li
              key={id}
              className={isOn ? 'on' : isDone ? 'done' : ''}
              aria-current={isOn ? 'step' : undefined}
            >
              <b aria-hidden="true">{isDone ? <Check className="s" /> : index + 1}</b>
              <div className="grow">
                <div>{t(TITLES[id])}</div>
                {id === 'provider' && isDone && name !== undefined ? (
                  <div className="sm t3 cut">{name}</div>
                ) : null}
              </div>
            </li>
          );
        })}
      </ol>
      <div className="sm t3 rail-note">
        {step === 'hello' ? t('setup.railNoteDone') : t('setup.railNote')}
      </div>
    </aside>
  );
}
