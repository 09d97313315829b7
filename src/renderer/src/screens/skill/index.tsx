import { Lock, LockOpen } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { DetailTitle } from '../../ui/list-parts.tsx';
import { Markdown, withoutFrontMatter } from '../../ui/markdown.tsx';
import { Badge, IconButton, Segments, Switch } from '../../ui/primitives.tsx';
import { categoryName } from '../category.ts';
import { About } from './about.tsx';
import { SkillEditor } from './editor.tsx';
import { History } from './history.tsx';

type View = 'preview' | 'edit' | 'history';

/** One skill: its text, the editor, and every text that it has had. */
export function SkillView({ name }: { name: string }) {
  const t = useT();
  const [, navigate] = useLocation();
  const skill = useRoute('skills.get', { name });
  const setEnabled = useCommand('skills.setEnabled');
  const lock = useCommand('skills.lock');
  const toast = useUi((state) => state.toast);
  const [view, setView] = useState<View>('preview');
  if (skill.isError) {
    return (
      <div className="pad4">
        <InlineError error={skill.error} onRetry={() => void skill.refetch()} />
      </div>
    );
  }
  if (skill.isPending) return <SkeletonRows rows={4} />;
  const { data } = skill;
  const switchTo = (enabled: boolean) =>
    setEnabled.mutate(
      { name, enabled },
      {
        onSuccess: ({ undo }) =>
          toast(t(enabled ? 'skills.turnedOn' : 'skills.turnedOff', { name }), { undo }),
      },
    );
  const setLocked = (locked: boolean) =>
    lock.mutate(
      { name, locked },
      {
        onSuccess: ({ undo }) =>
          toast(t(locked ? 'skills.lockedToast' : 'skills.unlockedToast', { name }), { undo }),
      },
    );
  return (
    <>
      <DetailTitle
        title={data.name}
        facts={
          <>
            <span>{t('skills.version', { number: String(data.version) })}</span>
            <span>{t(`skills.source.${data.source}`)}</span>
            <span>{categoryName(data.category, t)}</span>
            <span>{t('activity.tokens', { count: data.tokens })}</span>
          </>
        }
        onBack={() => navigate('/skills')}
      >
        {data.locked ? <Badge tone="line">{t('skills.locked')}</Badge> : null}
        <Segments
          label={t('skills.view')}
          value={view}
          options={[
            { value: 'preview', label: t('skills.preview') },
            { value: 'edit', label: t('skills.edit') },
            { value: 'history', label: t('skills.history') },
          ]}
          onChange={setView}
        />
        {data.writable ? (
          <IconButton
            label={t(data.locked ? 'skills.unlock' : 'skills.lock', { name })}
            disabled={lock.isPending}
            onClick={() => setLocked(!data.locked)}
          >
            {data.locked ? <Lock aria-hidden="true" /> : <LockOpen aria-hidden="true" />}
          </IconButton>
        ) : null}
        <Switch
          label={t('skills.enable', { name })}
          checked={data.enabled}
          disabled={setEnabled.isPending}
          onChange={switchTo}
        />
      </DetailTitle>
      {view === 'edit' ? (
        <SkillEditor skill={data} onSaved={() => setView('history')} />
      ) : (
        <div className="grow split-aside">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard */}
          <section className="grow scroll detail-body" tabIndex={0} aria-label={data.name}>
            {view === 'history' ? (
              <History skill={data} />
            ) : (
              <>
                <p className="t2 skill-description selectable">{data.description}</p>
                <Markdown text={withoutFrontMatter(data.content)} />
              </>
            )}
          </section>
          <About skill={data} />
        </div>
      )}
    </>
  );
}
