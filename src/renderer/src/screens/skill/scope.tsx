import { useState } from 'react';
import type { SkillDetail } from '../../../../shared/model.ts';
import { useCommand } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Button, Field } from '../../ui/primitives.tsx';

/** For which agents and projects a skill is meant, and the way to say so. */
export function Scope({ skill }: { skill: SkillDetail }) {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const set = useCommand('skills.setScope');
  const [isOpen, setOpen] = useState(false);
  const [agents, setAgents] = useState(skill.scope.agents.join(', '));
  const [projects, setProjects] = useState(skill.scope.projects.join(', '));
  const save = () =>
    set.mutate(
      { name: skill.name, agents: agents.split(','), projects: projects.split(',') },
      {
        onSuccess: ({ undo }) => {
          setOpen(false);
          toast(t('skills.scopeToast', { name: skill.name }), { undo });
        },
      },
    );
  return (
    <div className="sect">
      <div className="label flex">
        <span className="grow">{t('skills.where')}</span>
        <Button tone="quiet" small onClick={() => setOpen(true)}>
          {t('common.change')}
        </Button>
      </div>
      <dl className="kv worth-facts">
        <dt>{t('skills.agents')}</dt>
        <dd>{skill.scope.agents.join(', ') || t('skills.everywhere')}</dd>
        <dt>{t('skills.projects')}</dt>
        <dd>{skill.scope.projects.join(', ') || t('skills.everywhere')}</dd>
      </dl>
      <Dialog
        open={isOpen}
        title={t('skills.scopeTitle', { name: skill.name })}
        description={t('skills.scopeDetail')}
        onClose={() => setOpen(false)}
        footer={
          <>
            <Button onClick={() => setOpen(false)}>{t('common.cancel')}</Button>
            <Button tone="primary" disabled={set.isPending} onClick={save}>
              {t('skills.scopeSave')}
            </Button>
          </>
        }
      >
        <Field id="scope-agents" label={t('skills.agents')}>
          <div className="input lg">
            <input id="scope-agents" value={agents} onChange={(event) => setAgents(event.target.value)} />
          </div>
        </Field>
        <Field id="scope-projects" label={t('skills.projects')}>
          <div className="input lg">
            <input
              id="scope-projects"
              value={projects}
              onChange={(event) => setProjects(event.target.value)}
            />
          </div>
        </Field>
      </Dialog>
    </div>
  );
}
