import { Plus } from 'lucide-react';
import { Tabs } from 'radix-ui';
import { useLocation } from 'wouter';
import { useRoute } from '../api.ts';
import { useT } from '../i18n.tsx';
import { useSnapshot } from '../ui/hooks.ts';
import { Button } from '../ui/primitives.tsx';
import { Shell } from '../ui/shell.tsx';
import { Library } from './library.tsx';
import { Proposals } from './proposals/index.tsx';
import { ImportButton } from './skill/import.tsx';
import { Upkeep } from './skill/upkeep.tsx';

/** The library and what waits to enter it. */
export function Skills() {
  const t = useT();
  const [path, navigate] = useLocation();
  const snapshot = useSnapshot();
  const skills = useRoute('skills.list', {});
  const [, , part, id, action] = path.split('/');
  const tab = part === 'proposals' || part === 'upkeep' ? part : 'library';
  const bank = useRoute('skills.bank', {});
  const overlaps = useRoute('skills.overlaps', {});
  const upkeep = (bank.data?.length ?? 0) + (overlaps.data?.length ?? 0);
  const selected = id === undefined ? null : decodeURIComponent(id);
  return (
    <Shell title={t('skills.title')}>
      <Tabs.Root
        className="detail-tabs"
        value={tab}
        onValueChange={(value) => navigate(value === 'library' ? '/skills' : `/skills/${value}`)}
      >
        <div className="bar">
          <Tabs.List className="tabs" aria-label={t('skills.title')}>
            <Tabs.Trigger value="library">
              {t('skills.library')} <span className="n">{skills.data?.skills.length}</span>
            </Tabs.Trigger>
            <Tabs.Trigger value="proposals">
              {t('skills.proposals')} <span className="n">{snapshot.waiting.proposals || null}</span>
            </Tabs.Trigger>
            <Tabs.Trigger value="upkeep">
              {t('skills.upkeep')} <span className="n">{upkeep || null}</span>
            </Tabs.Trigger>
          </Tabs.List>
          <span className="grow" />
          {tab === 'proposals' ? (
            <AcceptRule />
          ) : tab === 'upkeep' ? null : (
            <>
              <ImportButton />
              <Button hotkey="N" onClick={() => navigate('/skills/new')}>
                <Plus className="s" aria-hidden="true" />
                {t('skills.new')}
              </Button>
            </>
          )}
        </div>
        <Tabs.Content value="library" className="tab-body" tabIndex={-1}>
          <Library selected={selected} isNew={part === 'new'} />
        </Tabs.Content>
        <Tabs.Content value="proposals" className="tab-body" tabIndex={-1}>
          <Proposals selected={selected} isEditing={action === 'edit'} />
        </Tabs.Content>
        <Tabs.Content value="upkeep" className="tab-body" tabIndex={-1}>
          <Upkeep />
        </Tabs.Content>
      </Tabs.Root>
    </Shell>
  );
}

function AcceptRule() {
  const t = useT();
  const [, navigate] = useLocation();
  const rule = useRoute('config.get', { path: 'skills.auto_accept' });
  const value = rule.data?.value;
  if (value !== 'safe' && value !== 'ask' && value !== 'always') return null;
  return (
    <>
      <span className="sm t3 hide-narrow">{t(`proposals.auto.${value}`)}</span>
      <button type="button" className="btn quiet sm" onClick={() => navigate('/settings')}>
        {t('common.change')}
      </button>
    </>
  );
}
