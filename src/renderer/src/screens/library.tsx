import { Layers } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Translate } from '../../../shared/i18n/index.ts';
import type { SkillSummary } from '../../../shared/model.ts';
import { useRoute } from '../api.ts';
import { useT } from '../i18n.tsx';
import { Empty, InlineError, SkeletonRows } from '../ui/feedback.tsx';
import { useHotkeys } from '../ui/hooks.ts';
import { FilterField } from '../ui/list-parts.tsx';
import { Listbox } from '../ui/listbox.tsx';
import { Badge, Button, Note, Select } from '../ui/primitives.tsx';
import { categoryName } from './category.ts';
import { SkillView } from './skill/index.tsx';
import { NewSkill } from './skill/new.tsx';
import { WorthMark } from './skill/worth.tsx';

type Order = 'uses' | 'worth' | 'name';

/** Every skill, with what it says and where it was used. */
export function Library({ selected, isNew }: { selected: string | null; isNew: boolean }) {
  const t = useT();
  const [, navigate] = useLocation();
  const [filter, setFilter] = useState('');
  const [order, setOrder] = useState<Order>('uses');
  const search = useRef<HTMLInputElement>(null);
  const skills = useRoute('skills.list', {});
  const all = skills.data?.skills;
  const shown = useMemo(() => filterSkills(all ?? [], filter, order, t), [all, filter, order, t]);
  const open = (name: string) =>
    navigate(`/skills/library/${encodeURIComponent(name)}`, { replace: selected !== null });
  useHotkeys({
    '/': () => search.current?.focus(),
    Escape: selected === null && !isNew ? null : () => navigate('/skills'),
    n: () => navigate('/skills/new'),
  });
  if (skills.isError) {
    return (
      <div className="pad">
        <InlineError error={skills.error} onRetry={() => void skills.refetch()} />
      </div>
    );
  }
  const problems = skills.data?.problems ?? [];
  return (
    <div className={selected === null && !isNew ? 'body split' : 'body split opened'}>
      <section className="list skills-list" aria-label={t('skills.list')}>
        <div className="bar tight">
          <FilterField
            field={search}
            label={t('skills.search', { count: all?.length ?? 0 })}
            value={filter}
            onChange={setFilter}
          />
          <Select
            aria-label={t('skills.sort')}
            value={order}
            onChange={(event) => setOrder(event.target.value as Order)}
          >
            <option value="uses">{t('skills.uses')}</option>
            <option value="worth">{t('skills.worth')}</option>
            <option value="name">{t('proposals.name')}</option>
          </Select>
        </div>
        {problems.length === 0 ? null : (
          <div className="list-note">
            <Note tone="warn">
              <b>{t('skills.problems', { count: problems.length })}.</b> {t('skills.problemsStill')}
              <ul className="selectable problem-paths">
                {problems.map((problem) => (
                  <li key={problem.path}>
                    <span className="mono">{problem.path}</span> {problem.message}
                  </li>
                ))}
              </ul>
            </Note>
          </div>
        )}
        {skills.isPending ? (
          <SkeletonRows rows={8} />
        ) : shown.length === 0 ? (
          <Empty
            icon={null}
            title={filter === '' ? t('skills.none') : t('skills.noneMatch')}
            action={
              filter === '' ? undefined : (
                <Button onClick={() => setFilter('')}>{t('activity.clearFilter')}</Button>
              )
            }
          >
            {filter === '' ? t('skills.noneHow') : t('skills.noneMatchHow')}
          </Empty>
        ) : (
          <Listbox
            label={t('skills.list')}
            groups={[{ key: 'all', title: '', items: shown }]}
            selected={selected}
            idOf={(skill) => skill.name}
            onSelect={open}
          >
            {(skill) => <SkillRow skill={skill} />}
          </Listbox>
        )}
      </section>
      <div className="detail">
        {isNew ? (
          <NewSkill />
        ) : selected === null ? (
          <Empty icon={<Layers className="big" aria-hidden="true" />} title={t('skills.pick')}>
            {t('skills.pickHow')}
          </Empty>
        ) : (
          <SkillView key={selected} name={selected} />
        )}
      </div>
    </div>
  );
}

function SkillRow({ skill }: { skill: SkillSummary }) {
  const t = useT();
  return (
    <>
      <div className="grow">
        <div className={skill.enabled ? 'cut' : 'cut t3'}>{skill.name}</div>
        <div className="l2">
          <span className="cut">
            {t(`skills.source.${skill.source}`)}
            <span className="dot-sep">{categoryName(skill.category, t)}</span>
          </span>
          {skill.locked ? <Badge tone="line">{t('skills.locked')}</Badge> : null}
          {skill.worth?.advice === 'hurts' ? <Badge tone="danger">{t('skills.hurts')}</Badge> : null}
          {skill.enabled ? null : <Badge tone="line">{t('common.off')}</Badge>}
        </div>
      </div>
      {skill.worth?.effect ? <WorthMark effect={skill.worth.effect} /> : null}
      <span className="sm t3 nowrap">
        {skill.uses === 0 ? t('skills.unused') : t('skills.used', { count: skill.uses })}
      </span>
    </>
  );
}

function filterSkills(
  skills: readonly SkillSummary[],
  filter: string,
  order: Order,
  t: Translate,
): readonly SkillSummary[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found =
    words.length === 0
      ? skills
      : skills.filter((skill) => {
          const text =
            `${skill.name} ${skill.description} ${skill.category} ${categoryName(skill.category, t)}`.toLowerCase();
          return words.every((word) => text.includes(word));
        });
  const worth = ({ worth: known }: SkillSummary) => known?.effect?.difference ?? -2;
  const by: Record<Order, (a: SkillSummary, b: SkillSummary) => number> = {
    uses: (a, b) => b.uses - a.uses,
    worth: (a, b) => worth(b) - worth(a),
    name: () => 0,
  };
  return [...found].sort((a, b) => by[order](a, b) || a.name.localeCompare(b.name));
}
