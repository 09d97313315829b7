import { type KeyboardEvent, useState } from 'react';
import {
  MEMORY_KINDS,
  type MemoryDetail,
  type MemoryKind,
  type MemoryScope,
} from '../../../../shared/memory.ts';
import { useCommand } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Button, Field, Select } from '../../ui/primitives.tsx';
import { ScopeField } from './scope-field.tsx';

/** A memory's text and facts, to be changed where they stand. Ctrl Enter saves, Esc leaves. */
export function EditForm({ memory, onDone }: { memory: MemoryDetail; onDone: () => void }) {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const edit = useCommand('memory.edit');
  const [content, setContent] = useState(memory.content);
  const [kind, setKind] = useState<MemoryKind>(memory.kind);
  const [scope, setScope] = useState<MemoryScope>(memory.scope);
  const [tags, setTags] = useState(memory.tags.join(', '));
  const [day, setDay] = useState(memory.expiresAt === null ? '' : localDay(memory.expiresAt));
  const isComplete = content.trim() !== '';
  const save = () => {
    if (!isComplete || edit.isPending) return;
    edit.mutate(
      {
        id: memory.id,
        base: memory.updatedAt,
        content,
        kind,
        scope,
        tags: tagsOf(tags),
        expiresAt: endOfDay(day),
      },
      {
        onSuccess: ({ undo }) => {
          toast(t('memories.editedToast'), { undo });
          onDone();
        },
      },
    );
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      save();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      onDone();
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the fields inside
    <div className="form" onKeyDown={onKeyDown}>
      <Field id="memory-text" label={t('memories.text')}>
        <div className="input area">
          <textarea
            id="memory-text"
            rows={4}
            // biome-ignore lint/a11y/noAutofocus: the form was asked for
            autoFocus
            value={content}
            onChange={(event) => setContent(event.target.value)}
          />
        </div>
      </Field>
      <KindField id="memory-kind" value={kind} onChange={setKind} />
      <ScopeField id="memory-scope" value={scope} onChange={setScope} />
      <Field id="memory-tags" label={t('memories.tags')} hint={t('memories.tagsHow')}>
        <div className="input">
          <input id="memory-tags" value={tags} onChange={(event) => setTags(event.target.value)} />
        </div>
      </Field>
      <Field id="memory-expires" label={t('memories.expires')} hint={t('memories.expiresHow')}>
        <div className="input">
          <input
            id="memory-expires"
            type="date"
            value={day}
            onChange={(event) => setDay(event.target.value)}
          />
        </div>
      </Field>
      <div className="flex form-end">
        <Button small onClick={onDone}>
          {t('common.cancel')}
        </Button>
        <Button small tone="primary" disabled={!isComplete || edit.isPending} onClick={save}>
          {t('memories.save')}
        </Button>
      </div>
    </div>
  );
}

export function KindField(props: { id: string; value: MemoryKind; onChange: (kind: MemoryKind) => void }) {
  const t = useT();
  return (
    <Field id={props.id} label={t('memories.kind')}>
      <Select
        id={props.id}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value as MemoryKind)}
      >
        {MEMORY_KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {t(`memories.kindOne.${kind}`)}
          </option>
        ))}
      </Select>
    </Field>
  );
}

/** Words with commas between them. */
function tagsOf(text: string): string[] {
  return text
    .split(/[,,、]/)
    .map((tag) => tag.trim())
    .filter(Boolean);
}

/** The end of a local day as an ISO time; null for none. */
export function endOfDay(day: string): string | null {
  return day === '' ? null : new Date(`${day}T23:59:59`).toISOString();
}

function localDay(iso: string): string {
  const date = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
