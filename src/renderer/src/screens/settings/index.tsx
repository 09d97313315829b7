import { useLocation } from 'wouter';
import { providerLabel } from '../../../../shared/status.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { useSnapshot } from '../../ui/hooks.ts';
import { Button, Panel } from '../../ui/primitives.tsx';
import { Shell } from '../../ui/shell.tsx';
import { AppearancePart } from './appearance.tsx';
import { HealthPart } from './health.tsx';
import { LearningPart } from './learning.tsx';
import { ConnectPart, ProxyPart } from './proxy.tsx';
import { QuirksPart } from './quirks.tsx';
import { Row } from './row.tsx';

/** What most people change; everything else stands in config.yaml. */
export function Settings() {
  const t = useT();
  const host = useUi((state) => state.host);
  return (
    <Shell title={t('settings.title')}>
      <div className="body">
        <div className="grow pad scroll">
          <div className="settings">
            <ProviderPart />
            <ConnectPart />
            <ProxyPart />
            <LearningPart />
            {host === null ? null : <AppearancePart host={host} />}
            <QuirksPart />
            <HealthPart />
            {host === null ? null : (
              <Panel title={t('settings.about')}>
                <Row
                  label={t('settings.version')}
                  control={<span className="selectable">{host.version}</span>}
                />
                <Row
                  label={t('settings.secrets')}
                  control={<span className="t2 selectable secrets-place">{host.secrets.detail}</span>}
                />
              </Panel>
            )}
          </div>
        </div>
      </div>
    </Shell>
  );
}

function ProviderPart() {
  const t = useT();
  const [, navigate] = useLocation();
  const { provider } = useSnapshot();
  return (
    <Panel title={t('settings.provider')}>
      <div className="line-item">
        <div className="grow">
          <div className="selectable">
            {provider.configured
              ? [providerLabel(provider), provider.model].filter(Boolean).join(', ')
              : t('settings.providerNone')}
          </div>
          {provider.configured ? <div className="sm t3 selectable">{provider.baseUrl}</div> : null}
        </div>
        <Button small tone={provider.configured ? 'plain' : 'primary'} onClick={() => navigate('/setup')}>
          {provider.configured ? t('settings.providerChange') : t('settings.providerSet')}
        </Button>
      </div>
    </Panel>
  );
}
