import { X } from 'lucide-react';
import { Toast } from 'radix-ui';
import { type ReactNode, useEffect } from 'react';
import type { Undo } from '../../../shared/contract.ts';
import type { AppError } from '../../../shared/errors.ts';
import { call } from '../api.ts';
import { useT } from '../i18n.tsx';
import { type ToastItem, useUi } from '../state.ts';
import { isEditing } from './hooks.ts';
import { Button, IconButton, Note } from './primitives.tsx';

/** Why there is nothing here, how it fills, and one action. */
export function Empty(props: { icon: ReactNode; title: string; children: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      {props.icon}
      <h2>{props.title}</h2>
      <p className="t2">{props.children}</p>
      {props.action === undefined ? null : <div className="flex">{props.action}</div>}
    </div>
  );
}

/** Rows in the shape of what comes; they appear after 150 ms only. */
export function SkeletonRows({ rows = 3 }: { rows?: number }) {
  const t = useT();
  return (
    <div role="status" aria-label={t('common.loading')}>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move
        <div className="line-item" key={row}>
          <span className="skel skel-mark" />
          <div className="grow skel-lines">
            <span className={`skel w${(row % 3) + 1}`} />
            <span className="skel w4" />
          </div>
        </div>
      ))}
    </div>
  );
}

/** A failed request for a part of a screen: what failed, what still works, one action. */
export function InlineError({ error, onRetry }: { error: AppError; onRetry: () => void }) {
  const t = useT();
  return (
    <Note
      tone="danger"
      role="alert"
      action={
        <Button small onClick={onRetry}>
          {t('common.retry')}
        </Button>
      }
    >
      <b>{t('error.title')}.</b> {error.message} {error.hint ?? t('error.still')}
    </Note>
  );
}

/** What was done and how to take it back. */
export function Toasts() {
  const toasts = useUi((state) => state.toasts);
  useUndoKey();
  return (
    <Toast.Provider swipeDirection="down" duration={8000}>
      {toasts.map((item) => (
        <ToastLine key={item.id} item={item} />
      ))}
      <Toast.Viewport className="toasts" />
    </Toast.Provider>
  );
}

/** Takes back what a toast tells of. */
function useTakeBack(): (undo: Undo) => void {
  const t = useT();
  const toast = useUi((state) => state.toast);
  return (undo) => {
    call('undo.apply', { token: undo.token }).then(
      () => toast(t('common.undone')),
      (error: AppError) => toast(error.message, { tone: 'danger' }),
    );
  };
}

/** Ctrl or ⌘ Z takes back what the newest toast with an undo tells of; in a field it stays the field's own. */
function useUndoKey(): void {
  const toasts = useUi((state) => state.toasts);
  const drop = useUi((state) => state.dropToast);
  const takeBack = useTakeBack();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      if (event.key.toLowerCase() !== 'z' || isEditing(event.target)) return;
      const item = [...toasts].reverse().find(({ undo }) => undo !== null);
      if (item?.undo == null) return;
      event.preventDefault();
      drop(item.id);
      takeBack(item.undo);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [drop, takeBack, toasts]);
}

function ToastLine({ item }: { item: ToastItem }) {
  const t = useT();
  const drop = useUi((state) => state.dropToast);
  const takeBack = useTakeBack();
  const isMac = useUi((state) => state.host?.platform === 'darwin');
  const { undo } = item;
  return (
    <Toast.Root
      className={`toast ${item.tone}`}
      onOpenChange={(open) => {
        if (!open) drop(item.id);
      }}
    >
      <Toast.Description className="grow">{item.text}</Toast.Description>
      {undo === null ? null : (
        <Toast.Action asChild altText={t('common.undo')}>
          <Button
            small
            tone="quiet"
            className="undo"
            hotkey={isMac ? '⌘ Z' : 'Ctrl Z'}
            onClick={() => takeBack(undo)}
          >
            {t('common.undo')}
          </Button>
        </Toast.Action>
      )}
      <Toast.Close asChild>
        <IconButton small label={t('common.close')}>
          <X aria-hidden="true" />
        </IconButton>
      </Toast.Close>
    </Toast.Root>
  );
}
