import { useState } from 'react';
import type { AppError } from '../../../../shared/errors.ts';
import { call, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { proxyAddress, useSnapshot } from '../../ui/hooks.ts';
import { Button, Note } from '../../ui/primitives.tsx';
import { useDraft } from './draft.ts';
import { StepFrame, type StepProps } from './frame.tsx';

/** Everything that will be saved, before it is. */
export function Review(step: StepProps) {
  const t = useT();
  const snapshot = useSnapshot();
  const presets = useRoute('setup.presets', {});
  const port = useRoute('config.get', { path: 'proxy.port' });
  const storedKey = useRoute('config.get', { path: 'llm.api_key' });
  const { draft, test, change } = useDraft();
  const [saving, setSaving] = useState(false);
  const [error, setError] = useState<AppError | null>(null);
  const preset = presets.data?.find((candidate) => candidate.id === draft.provider);
  const address = proxyAddress(snapshot) ?? `127.0.0.1:${String(port.data?.value ?? '')}`;

  const save = async () => {
    setSaving(true);
    setError(null);
    try {
      if (draft.provider !== null) {
        await call('setup.saveProvider', {
          provider: draft.provider,
          baseUrl: draft.baseUrl.trim(),
          model: draft.model.trim(),
          wire: draft.wire,
          ...(draft.apiKey === '' ? {} : { apiKey: draft.apiKey }),
        });
        // Saved: it is not needed here any more.
        change({ apiKey: '' });
      }
      await call('setup.finish', {
        autoAccept: draft.autoAccept,
        recordBodies: draft.recordBodies,
        ...(draft.proxyKey ? { proxyKey: true } : {}),
      });
      const isDown = snapshot.proxy.state === 'stopped' || snapshot.proxy.state === 'failed';
      // A proxy that cannot start is shown, with its reason, on the next step.
      if (isDown) await call('proxy.start', {}).catch(() => {});
      step.next();
    } catch (failure) {
      setError(failure as AppError);
    } finally {
      setSaving(false);
    }
  };

  const key =
    draft.program !== null
      ? t('setup.reviewKeyProgram')
      : draft.apiKey !== ''
        ? t('setup.reviewKeyNew')
        : storedKey.data?.isSet === true
          ? t('setup.reviewKeyKept')
          : t('setup.reviewKeyNone');
  const rows: readonly (readonly [string, string])[] = [
    [
      t('setup.reviewProvider'),
      draft.provider === null
        ? t('settings.providerNone')
        : [preset?.id === 'custom' ? t('setup.custom') : (preset?.name ?? draft.provider), draft.baseUrl]
            .filter(Boolean)
            .join(', '),
    ],
    [t('setup.reviewModel'), draft.model || t('overview.noModel')],
    [t('setup.reviewKey'), key],
    [t('setup.reviewTest'), test?.ok === true ? t('setup.reviewTestOk') : t('setup.reviewTestNot')],
    [t('setup.reviewSkills'), t(draft.autoAccept === 'safe' ? 'setup.acceptSafe' : 'setup.acceptAsk')],
    [t('setup.reviewRecord'), t(draft.recordBodies ? 'setup.recordOn' : 'setup.recordOff')],
    [
      t('setup.reviewProxy'),
      [t('setup.reviewProxyAt', { address }), draft.proxyKey ? t('setup.reviewProxyKey') : null]
        .filter((part) => part !== null)
        .join(', '),
    ],
  ];
  return (
    <StepFrame
      title={t('setup.reviewTitle')}
      lead={t('setup.reviewLead')}
      step={step}
      actions={
        <Button tone="primary" disabled={saving} onClick={() => void save()}>
          {t('setup.save')}
        </Button>
      }
    >
      <dl className="panel review">
        {rows.map(([label, value]) => (
          <div className="line-item" key={label}>
            <dt className="t3">{label}</dt>
            <dd className="grow selectable">{value}</dd>
          </div>
        ))}
      </dl>
      {error === null ? null : (
        <Note tone="danger" role="alert">
          <b>{error.message}</b> {error.hint ?? ''}
        </Note>
      )}
    </StepFrame>
  );
}
