import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { ConfigProblem } from '../../../../shared/contract.ts';
import type { Translate } from '../../../../shared/i18n/index.ts';
import { describeTrouble, type ProviderTrouble, providerLabel } from '../../../../shared/status.ts';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useSnapshot } from '../../ui/hooks.ts';
import { Button, Note } from '../../ui/primitives.tsx';

/** What is broken: what happened, what still works, one action. The first row that needs the user. */
export function Banners({ now }: { now: number }) {
  const t = useT();
  const snapshot = useSnapshot();
  const problems = useRoute('config.problems', {});
  const broken = problems.data?.find((problem) => problem.severity === 'error');
  const { lastError } = snapshot.provider;
  return (
    <>
      {snapshot.proxy.state === 'failed' ? <ProxyBanner /> : null}
      {snapshot.proxy.state === 'running' && lastError !== null ? (
        <ProviderBanner name={providerLabel(snapshot.provider)} trouble={lastError} now={now} />
      ) : null}
      {broken === undefined ? null : (
        <Note tone="danger" large role="alert">
          <b>{t('banner.configBroken')}</b> {configWords(broken, t)} {t('banner.configStill')}
        </Note>
      )}
    </>
  );
}

function ProxyBanner() {
  const t = useT();
  const { proxy } = useSnapshot();
  const start = useCommand('proxy.start');
  if (proxy.state !== 'failed') return null;
  return (
    <Banner action={t('banner.startAgain')} disabled={start.isPending} onAction={() => start.mutate({})}>
      <b>{t('banner.proxyFailed')}</b> {proxy.message} {proxy.hint ?? ''} {t('banner.proxyFailedStill')}
    </Banner>
  );
}

function ProviderBanner({ name, trouble, now }: { name: string; trouble: ProviderTrouble; now: number }) {
  const t = useT();
  const [, navigate] = useLocation();
  const isKey = trouble.status === 401 || trouble.status === 403;
  return (
    <Banner
      action={isKey ? t('banner.replaceKey') : t('banner.checkProvider')}
      onAction={() => navigate('/setup')}
    >
      <b>{describeTrouble(name, trouble, t, now)}</b> {t('banner.providerStill')}
    </Banner>
  );
}

function Banner(props: { action: string; disabled?: boolean; onAction: () => void; children: ReactNode }) {
  const button = (
    <Button tone="primary" disabled={props.disabled} onClick={props.onAction}>
      {props.action}
    </Button>
  );
  return (
    <Note tone="danger" large role="alert" action={button}>
      {props.children}
    </Note>
  );
}

function configWords(problem: ConfigProblem, t: Translate): string {
  const text =
    problem.line === null
      ? problem.message
      : t('banner.configAt', { line: problem.line, message: problem.message });
  return /[.!?。]$/.test(text) ? text : `${text}.`;
}
