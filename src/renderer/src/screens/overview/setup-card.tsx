import { useLocation } from 'wouter';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Button } from '../../ui/primitives.tsx';

/** Leads back to the wizard for as long as something of it is missing. */
export function SetupCard() {
  const t = useT();
  const [, navigate] = useLocation();
  const setup = useRoute('setup.state', {});
  if (setup.data === undefined) return null;
  const { providerSet, hasTurns } = setup.data;
  if (providerSet && hasTurns) return null;
  const share = providerSet ? 0.75 : 0.25;
  const around = 2 * Math.PI * 11;
  return (
    <section className={providerSet ? 'panel' : 'panel todo-card'} aria-label={t('overview.setupTitle')}>
      <div className="line-item">
        <svg width="28" height="28" viewBox="0 0 28 28" aria-hidden="true">
          <circle className="ring" cx="14" cy="14" r="11" />
          <circle
            className="ring done"
            cx="14"
            cy="14"
            r="11"
            strokeDasharray={`${around * share} ${around}`}
            transform="rotate(-90 14 14)"
          />
        </svg>
        <div className="grow">
          <div className="med">{providerSet ? t('overview.setupHello') : t('overview.setupTitle')}</div>
          <div className="sm t3">
            {providerSet ? t('overview.setupHelloDetail') : t('overview.setupDetail')}
          </div>
        </div>
        <Button
          small
          tone={providerSet ? 'plain' : 'primary'}
          onClick={() => navigate(providerSet ? '/setup/hello' : '/setup')}
        >
          {providerSet ? t('overview.setupFinish') : t('overview.setupGo')}
        </Button>
      </div>
    </section>
  );
}
