import { useT } from '../../i18n.tsx';
import { Panel, Segments } from '../../ui/primitives.tsx';
import { Row, SwitchRow, useSetting } from './row.tsx';

type AcceptRule = 'safe' | 'ask' | 'always';

/** What is added, learned and kept. */
export function LearningPart() {
  const t = useT();
  const { entry, save } = useSetting('skills.auto_accept');
  return (
    <Panel title={t('settings.learning')}>
      <SwitchRow
        path="skills.enabled"
        label={t('settings.skillsEnabled')}
        help={t('settings.skillsEnabledHelp')}
      />
      <SwitchRow
        path="skills.auto_evolve"
        label={t('settings.autoEvolve')}
        help={t('settings.autoEvolveHelp')}
      />
      <Row
        label={t('settings.autoAccept')}
        help={t('settings.autoAcceptHelp')}
        control={
          <Segments<AcceptRule>
            label={t('settings.autoAccept')}
            value={(entry?.value as AcceptRule | undefined) ?? 'safe'}
            options={[
              { value: 'safe', label: t('settings.acceptSafe') },
              { value: 'ask', label: t('settings.acceptAsk') },
              { value: 'always', label: t('settings.acceptAlways') },
            ]}
            onChange={save}
          />
        }
      />
      <SwitchRow path="memory.enabled" label={t('memories.rememberNew')} help={t('settings.memoryHelp')} />
      <SwitchRow
        path="record.bodies"
        label={t('settings.recordBodies')}
        help={t('settings.recordBodiesHelp')}
      />
    </Panel>
  );
}
