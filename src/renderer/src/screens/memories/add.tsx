import { useState } from 'react';
import { useLocation } from 'wouter';
import type { MemoryKind, MemoryScope } from '../../../../shared/memory.ts';
import { useCommand } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Button, Field } from '../../ui/primitives.tsx';
import { endOfDay, KindField } from './edit.tsx';
import { ScopeField } from './scope-field.tsx';

/** A memory that the user writes by hand. */
export function AddDialog({ onClose }: { onClose: () => void }) {
  const t = useT();
  const [, navigate] = useLocation();
  const toast = useUi((state) => state.toast);
  const add = useCommand('memory.add');
  const [content, setContent] = useState('');
  const [kind, setKind] = useState<MemoryKind>('semantic');
  const [scope, setScope] = useState<MemoryScope>({ user: '', workspace: '', agent: '' });
  const [pinned, setPinned] = useState(false);
  const [day, setDay] = useState('');
  const isComplete = content.trim() !== '';
  const save = () => {
    if (!isComplete || add.isPending) return;
    add.mutate(
      { content, kind, scope, pinned, expiresAt: endOfDay(day) },
      {
        onSuccess: ({ id, merged, superseded, undo }) => {
          toast(
            merged
              ? t('memories.mergedToast')
              : superseded.length > 0
                ? t('memories.supersededToast', { count: superseded.length })
                : t('memories.addedToast'),
            { undo },
          );
          onClose();
          navigate(`/memories/${encodeURIComponent(id)}`);
        },
      },
    );
  };
  return (
    <Dialog
      open
      title={t('memories.addTitle')}
      description={t('memories.addDetail')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button tone="primary" hotkey="Ctrl ↵" disabled={!isComplete || add.isPending} onClick={save}>
            {t('memories.remember')}
          </Button>
        </>
      }
    >
      <Field id="add-text" label={t('memories.text')}>
        <div className="input area">
          <textarea
            id="add-text"
            rows={3}
            placeholder={t('memories.addExample')}
            value={content}
            onChange={(event) => setContent(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save();
            }}
          />
        </div>
      </Field>
      <div className="field-pair">
        <KindField id="add-kind" value={kind} onChange={setKind} />
        <ScopeField id="add-scope" value={scope} onChange={setScope} />
      </div>
      <div className="field-pair">
        <Field id="add-expires" label={t('memories.expires')}>
          <div className="input">
            <input
              id="add-expires"
              type="date"
              value={day}
              onChange={(event) => setDay(event.target.value)}
            />
          </div>
        </Field>
        <div className="field pin-field">
          <div className="flex">
            <input
              id="add-pinned"
              type="checkbox"
              className="check"
              checked={pinned}
              onChange={(event) => setPinned(event.target.checked)}
            />
            <label htmlFor="add-pinned">{t('memories.pinIt')}</label>
          </div>
        </div>
      </div>
    </Dialog>
  );
}
