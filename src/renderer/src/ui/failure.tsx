import { Component, type ReactNode } from 'react';
import { messageOf } from '../../../shared/errors.ts';
import { useT } from '../i18n.tsx';
import { Button } from './primitives.tsx';

/** Keeps a bug of one screen from taking the window with it. */
export class Failure extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    return this.state.error === null ? (
      this.props.children
    ) : (
      <FailureText message={messageOf(this.state.error)} />
    );
  }
}

function FailureText({ message }: { message: string }) {
  const t = useT();
  return (
    <main className="blocked" role="alert">
      <div className="blocked-box">
        <h1>{t('error.screenTitle')}</h1>
        <p className="t2 selectable">{t('error.screenDetail', { message })}</p>
        <div className="blocked-actions">
          <Button tone="primary" onClick={() => window.location.reload()}>
            {t('error.reload')}
          </Button>
        </div>
      </div>
    </main>
  );
}
