import { useState } from 'react';
import { useLocation } from 'wouter';
import { useCommand } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { DetailTitle } from '../../ui/list-parts.tsx';
import { Button } from '../../ui/primitives.tsx';
import { TextForm } from './editor.tsx';

const FRAME = `---
name: my-skill
description: Use when …
metadata:
  category: general
  triggers: ""
---

1. …

**Anti-pattern:** …
`;

/** A skill that its user writes from nothing. */
export function NewSkill() {
  const t = useT();
  const [, navigate] = useLocation();
  const toast = useUi((state) => state.toast);
  const add = useCommand('skills.add');
  const [content, setContent] = useState(FRAME);
  const doAdd = () =>
    add.mutate(
      { content },
      {
        onSuccess: ({ name, undo }) => {
          toast(t('skills.addedToast', { name }), { undo });
          navigate(`/skills/library/${encodeURIComponent(name)}`);
        },
      },
    );
  return (
    <>
      <DetailTitle
        title={t('skills.new')}
        facts={<span>{t('skills.newHow')}</span>}
        onBack={() => navigate('/skills')}
      />
      <TextForm label={t('skills.new')} content={content} onChange={setContent} onSave={doAdd}>
        {(isValid) => (
          <>
            <Button onClick={() => navigate('/skills')}>{t('common.cancel')}</Button>
            <Button
              tone="primary"
              hotkey="Ctrl S"
              disabled={!isValid || content === FRAME || add.isPending}
              onClick={doAdd}
            >
              {t('skills.add')}
            </Button>
          </>
        )}
      </TextForm>
    </>
  );
}
