import { useState } from 'react';
import { useLocation } from 'wouter';
import type { MemoryUnit } from '../../../../shared/memory.ts';
import { useCommand } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Button, Field } from '../../ui/primitives.tsx';

/** Makes one memory of several: begins with the longest text; the others are at hand to be taken instead. */
export function MergeDialog(props: {
  units: readonly MemoryUnit[];
  onClose: () => void;
  onDone: () => void;
}) {
  const t = useT();
  const [, navigate] = useLocation();
  const toast = useUi((state) => state.toast);
  const merge = useCommand('memory.merge');
  const texts = [...new Set(props.units.map(({ content }) => content))];
  const longest = texts.reduce((best, text) => (text.length > best.length ? text : best), '');
  const [content, setContent] = useState(longest);
  const doMerge = () =>
    merge.mutate(
      { ids: props.units.map(({ id }) => id), content },
      {
        onSuccess: ({ id, undo }) => {
          toast(t('memories.madeOneToast', { count: props.units.length }), { undo });
          props.onDone();
          props.onClose();
          navigate(`/memories/${encodeURIComponent(id)}`);
        },
      },
    );
  return (
    <Dialog
      open
      title={t('memories.mergeTitle', { count: props.units.length })}
      description={t('memories.mergeDetail')}
      onClose={props.onClose}
      footer={
        <>
          <Button onClick={props.onClose}>{t('common.cancel')}</Button>
          <Button tone="primary" disabled={content.trim() === '' || merge.isPending} onClick={doMerge}>
            {t('memories.merge')}
          </Button>
        </>
      }
    >
      <ul className="merge-texts">
        {texts.map((text) => (
          <li key={text}>
            <button
              type="button"
              className="version"
              aria-pressed={text === content}
              onClick={() => setContent(text)}
            >
              {text}
            </button>
          </li>
        ))}
      </ul>
      <Field id="merge-text" label={t('memories.becomes')}>
        <div className="input area">
          <textarea
            id="merge-text"
            rows={4}
            value={content}
            onChange={(event) => setContent(event.target.value)}
          />
        </div>
      </Field>
    </Dialog>
  );
}
