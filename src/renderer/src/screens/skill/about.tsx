import { useLocation } from 'wouter';
import { formatNumber, formatWhen } from '../../../../shared/format.ts';
import type { SkillDetail } from '../../../../shared/model.ts';
import { useCommand } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { useNow } from '../../ui/hooks.ts';
import { Button } from '../../ui/primitives.tsx';
import { Scope } from './scope.tsx';
import { Worth } from './worth.tsx';

/** The facts beside a skill's text, and the way to be rid of it. */
export function About({ skill }: { skill: SkillDetail }) {
  const t = useT();
  const now = useNow(60_000);
  const [, navigate] = useLocation();
  const toast = useUi((state) => state.toast);
  const remove = useCommand('skills.remove');
  const { name } = skill;
  const doRemove = () =>
    remove.mutate(
      { name },
      {
        onSuccess: ({ undo }) => {
          toast(t('skills.removedToast', { name }), { undo });
          navigate('/skills');
        },
      },
    );
  return (
    <aside className="aside narrow-aside">
      <Worth worth={skill.worth} />
      <div className="sect">
        <dl className="kv">
          <dt>{t('skills.uses')}</dt>
          <dd>{formatNumber(skill.uses, t.locale)}</dd>
          <dt>{t('skills.lastUsed')}</dt>
          <dd>
            {skill.lastUsedAt === null ? t('skills.never') : formatWhen(skill.lastUsedAt, now, t.locale)}
          </dd>
          <dt>{t('skills.updated')}</dt>
          <dd>{formatWhen(skill.updatedAt, now, t.locale)}</dd>
          <dt>{t('skills.tokens')}</dt>
          <dd>{formatNumber(skill.tokens, t.locale)}</dd>
        </dl>
      </div>
      <Scope key={name} skill={skill} />
      <div className="sect">
        <div className="label">{t('skills.file')}</div>
        <div className="mono selectable file-path">{skill.path}</div>
      </div>
      {skill.writable ? (
        <div className="sect">
          <Button tone="danger" small disabled={skill.locked || remove.isPending} onClick={doRemove}>
            {t('skills.remove')}
          </Button>
        </div>
      ) : null}
    </aside>
  );
}
