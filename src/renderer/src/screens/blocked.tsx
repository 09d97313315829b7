import { useState } from 'react';
import type { ErrorJson } from '../../../shared/errors.ts';
import { callHost } from '../api.ts';
import { useT } from '../i18n.tsx';
import { useUi } from '../state.ts';
import { Brand } from '../ui/glyph.tsx';
import { Button } from '../ui/primitives.tsx';

/** Why there is no engine behind this window (another host owns the folder, or it cannot be opened), and another try. */
export function Blocked({ error }: { error: ErrorJson }) {
  const t = useT();
  const setHost = useUi((state) => state.setHost);
  const [tried, setTried] = useState<'no' | 'now' | 'in vain'>('no');
  const retry = async () => {
    setTried('now');
    const state = await callHost('host.retry', {});
    if (state.blocked !== null) setTried('in vain');
    setHost(state);
  };
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
        <div className="flex blocked-actions">
          <Button tone="primary" disabled={tried === 'now'} onClick={() => void retry()}>
            {t('common.retry')}
          </Button>
          <Button onClick={() => void callHost('host.quit', {})}>{t('host.quit')}</Button>
          <span className="sm t3" role="status">
            {tried === 'in vain' ? t('host.stillBlocked') : ''}
          </span>
        </div>
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
