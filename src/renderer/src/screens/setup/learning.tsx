import { RadioGroup } from 'radix-ui';
import { useT } from '../../i18n.tsx';
import { Switch } from '../../ui/primitives.tsx';
import { useDraft } from './draft.ts';
import { StepFrame, type StepProps } from './frame.tsx';

/** What is learned by itself, and what is kept. */
export function Learning(step: StepProps) {
  const t = useT();
  const { draft, change } = useDraft();
  return (
    <StepFrame title={t('setup.learningTitle')} lead={t('setup.learningLead')} step={step}>
      <Choice
        title={t('setup.acceptTitle')}
        value={draft.autoAccept}
        options={[
          ['safe', t('setup.acceptSafe'), t('setup.acceptSafeDetail')],
          ['ask', t('setup.acceptAsk'), t('setup.acceptAskDetail')],
        ]}
        onChange={(autoAccept) => change({ autoAccept: autoAccept as 'safe' | 'ask' })}
      />
      <Choice
        title={t('setup.recordTitle')}
        value={draft.recordBodies ? 'on' : 'off'}
        options={[
          ['on', t('setup.recordOn'), t('setup.recordOnDetail')],
          ['off', t('setup.recordOff'), t('setup.recordOffDetail')],
        ]}
        onChange={(value) => change({ recordBodies: value === 'on' })}
      />
      <div className="panel">
        <div className="line-item">
          <div className="grow">
            <div>{t('setup.proxyKeyTitle')}</div>
            <div className="sm t3">{t('setup.proxyKeyDetail')}</div>
          </div>
          <Switch
            label={t('setup.proxyKeyTitle')}
            checked={draft.proxyKey}
            onChange={(proxyKey) => change({ proxyKey })}
          />
        </div>
      </div>
    </StepFrame>
  );
}

function Choice(props: {
  title: string;
  value: string;
  options: readonly (readonly [string, string, string])[];
  onChange: (value: string) => void;
}) {
  return (
    <section>
      <h2 className="choice-title">{props.title}</h2>
      <RadioGroup.Root
        className="choices"
        aria-label={props.title}
        value={props.value}
        onValueChange={props.onChange}
      >
        {props.options.map(([value, label, detail]) => (
          <RadioGroup.Item key={value} value={value} className="tile choice">
            <span className="radio" aria-hidden="true" />
            <span className="grow">
              <span className="tile-line">{label}</span>
              <span className="sm t3 tile-line">{detail}</span>
            </span>
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
    </section>
  );
}
