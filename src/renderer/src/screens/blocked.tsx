import type { ErrorJson } from '../../../shared/errors.ts';
import { callHost } from '../api.ts';
import { useT } from '../i18n.tsx';
import { Brand } from '../ui/glyph.tsx';
import { Button } from '../ui/primitives.tsx';

/** Why there is no engine behind this window: another host owns the folder, or it cannot be opened. */
export function Blocked({ error }: { error: ErrorJson }) {
  const t = useT();
  const isBusy = error.code === 'ALREADY_RUNNING';
  return (
    <main className="blocked">
      <div className="blocked-box">
        <div className="brand">
          <Brand />
          <span>MetaClaw</span>
        </div>
        <h1>{isBusy ? t('host.blockedBusyTitle') : t('host.blockedTitle')}</h1>
        <p className="selectable">{isBusy ? afterColon(error.message) : error.message}</p>
        <p className="t2 selectable">
          {isBusy ? `${t('host.blockedBusy')} ` : ''}
          <WithCode text={error.hint ?? ''} />
        </p>
        <Button tone="primary" onClick={() => void callHost('host.quit', {})}>
          {t('host.quit')}
        </Button>
      </div>
    </main>
  );
}

/** The heading already says what the message begins with. */
function afterColon(message: string): string {
  const rest = message.replace(/^[^:]+:\s*/, '');
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** A hint names commands between backticks. */
function WithCode({ text }: { text: string }) {
  return text.split('`').map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
    index % 2 === 1 ? <code key={index}>{part}</code> : part,
  );
}
