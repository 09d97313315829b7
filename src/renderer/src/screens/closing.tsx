import type { HostInput } from '../../../shared/host.ts';
import { callHost } from '../api.ts';
import { useT } from '../i18n.tsx';
import { useUi } from '../state.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Button } from '../ui/primitives.tsx';

/** What closing the window means: told once where there is a tray, asked each time where there is none. */
export function ClosingDialog() {
  const t = useT();
  const closing = useUi((state) => state.closing);
  const setClosing = useUi((state) => state.setClosing);
  if (closing === null) return null;
  const answer = (choice: HostInput<'host.closeAnswer'>['answer']) => {
    setClosing(null);
    void callHost('host.closeAnswer', { answer: choice });
  };
  return closing === 'first-hide' ? (
    <Dialog
      open
      title={t('host.stillTitle')}
      description={t('host.stillDetail')}
      onClose={() => answer('stay')}
      footer={
        <>
          <Button tone="quiet" onClick={() => answer('quit')}>
            {t('host.quitInstead')}
          </Button>
          <Button tone="primary" autoFocus onClick={() => answer('hide')}>
            {t('host.gotIt')}
          </Button>
        </>
      }
    />
  ) : (
    <Dialog
      open
      title={t('host.noTrayTitle')}
      description={t('host.noTrayDetail')}
      onClose={() => answer('stay')}
      footer={
        <>
          <Button onClick={() => answer('minimise')}>{t('host.minimise')}</Button>
          <Button tone="primary" autoFocus onClick={() => answer('quit')}>
            {t('host.quit')}
          </Button>
        </>
      }
    />
  );
}
