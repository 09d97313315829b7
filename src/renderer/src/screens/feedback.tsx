import { ThumbsDown, ThumbsUp } from 'lucide-react';
import { useState } from 'react';
import type { RouteOutput } from '../../../shared/contract.ts';
import { useCommand } from '../api.ts';
import { useT } from '../i18n.tsx';
import { useUi } from '../state.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Button, Field, IconButton } from '../ui/primitives.tsx';

/** Thumbs for one answer: learning reads them. The same one again takes it back. */
export function Feedback({ turn }: { turn: RouteOutput<'turns.get'> }) {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const set = useCommand('feedback.set');
  const [isAsking, setAsking] = useState(false);
  const [text, setText] = useState('');
  const label = turn.feedback?.label ?? null;
  const say = (next: 'good' | 'bad' | null, words = '') =>
    set.mutate(
      { turnId: turn.id, label: next, text: words },
      {
        onSuccess: () => {
          setAsking(false);
          toast(t(next === null ? 'activity.feedbackGone' : 'activity.feedbackNoted'));
        },
      },
    );
  return (
    <>
      <IconButton
        label={t('activity.good')}
        aria-pressed={label === 'good'}
        disabled={set.isPending}
        onClick={() => say(label === 'good' ? null : 'good')}
      >
        <ThumbsUp className={label === 'good' ? 'ok' : ''} aria-hidden="true" />
      </IconButton>
      <IconButton
        label={t('activity.bad')}
        aria-pressed={label === 'bad'}
        disabled={set.isPending}
        onClick={() => (label === 'bad' ? say(null) : setAsking(true))}
      >
        <ThumbsDown className={label === 'bad' ? 'danger' : ''} aria-hidden="true" />
      </IconButton>
      <Dialog
        open={isAsking}
        title={t('activity.badTitle')}
        description={t('activity.badDetail')}
        onClose={() => setAsking(false)}
        footer={
          <>
            <Button onClick={() => setAsking(false)}>{t('common.cancel')}</Button>
            <Button tone="primary" disabled={set.isPending} onClick={() => say('bad', text.trim())}>
              {t('activity.badSend')}
            </Button>
          </>
        }
      >
        <Field id="feedback-text" label={`${t('activity.badText')} (${t('proposals.reasonOptional')})`}>
          <div className="input lg">
            <input
              id="feedback-text"
              value={text}
              maxLength={2000}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
        </Field>
      </Dialog>
    </>
  );
}
