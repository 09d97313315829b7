import { Check, Pencil, Plus, Sparkles, Undo2, X } from 'lucide-react';
import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { formatWhen } from '../../../../shared/format.ts';
import type { SkillProposal } from '../../../../shared/model.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Empty, InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { useHotkeys, useNow } from '../../ui/hooks.ts';
import { Listbox } from '../../ui/listbox.tsx';
import { Badge } from '../../ui/primitives.tsx';
import { ProposalView, stateName } from './view.tsx';

/** Skills that were learned and wait, and what was decided before. */
export function Proposals({ selected, isEditing }: { selected: string | null; isEditing: boolean }) {
  const t = useT();
  const [path, navigate] = useLocation();
  const proposals = useRoute('proposals.list', {});
  const list = proposals.data ?? [];
  const waiting = list.filter((proposal) => proposal.state === 'waiting');
  const decided = list.filter((proposal) => proposal.state !== 'waiting');
  const firstId = waiting[0]?.id;
  const open = (id: string) =>
    navigate(`/skills/proposals/${encodeURIComponent(id)}`, { replace: selected !== null });
  // With room for both, the first one is open at once. Not on the way out, when this part is drawn once more.
  const isHere = path === '/skills/proposals';
  useEffect(() => {
    if (isHere && firstId !== undefined && window.innerWidth > 920) {
      navigate(`/skills/proposals/${encodeURIComponent(firstId)}`, { replace: true });
    }
  }, [firstId, isHere, navigate]);
  useHotkeys({ Escape: selected === null ? null : () => navigate('/skills/proposals') });
  if (proposals.isError) {
    return (
      <div className="pad">
        <InlineError error={proposals.error} onRetry={() => void proposals.refetch()} />
      </div>
    );
  }
  if (proposals.isSuccess && list.length === 0) {
    return (
      <div className="body">
        <Empty icon={<Sparkles className="big" aria-hidden="true" />} title={t('proposals.none')}>
          {t('proposals.noneHow')}
        </Empty>
      </div>
    );
  }
  const current = list.find((proposal) => proposal.id === selected);
  return (
    <div className={current === undefined ? 'body split' : 'body split opened'}>
      <section className="list skills-list" aria-label={t('skills.proposals')}>
        {proposals.isPending ? (
          <SkeletonRows rows={4} />
        ) : (
          <Listbox
            label={t('skills.proposals')}
            groups={[
              { key: 'waiting', title: t('proposals.waiting'), end: waiting.length, items: waiting },
              { key: 'decided', title: t('proposals.decided'), end: decided.length, items: decided },
            ].filter((group) => group.items.length > 0)}
            selected={selected}
            idOf={(proposal) => proposal.id}
            onSelect={open}
          >
            {(proposal) => <ProposalRow proposal={proposal} />}
          </Listbox>
        )}
      </section>
      <div className="detail">
        {current === undefined ? (
          <Empty
            icon={<Sparkles className="big" aria-hidden="true" />}
            title={waiting.length === 0 ? t('proposals.noneWaiting') : t('proposals.pick')}
          >
            {waiting.length === 0 ? t('proposals.noneHow') : t('proposals.pickHow')}
          </Empty>
        ) : (
          <ProposalView key={current.id} proposal={current} startsEditing={isEditing} />
        )}
      </div>
    </div>
  );
}

function ProposalRow({ proposal }: { proposal: SkillProposal }) {
  const t = useT();
  const now = useNow(60_000);
  const isWaiting = proposal.state === 'waiting';
  const line = isWaiting
    ? [
        t(proposal.kind === 'new' ? 'proposals.kindNew' : 'proposals.kindEdit'),
        t('proposals.turns', { count: proposal.evidence.length }),
        formatWhen(proposal.createdAt, now, t.locale),
      ].join(', ')
    : `${stateName(proposal, t)}, ${formatWhen(proposal.decidedAt ?? proposal.createdAt, now, t.locale)}`;
  return (
    <>
      <span className={proposal.state === 'accepted' ? 'ok row-icon' : 't3 row-icon'}>
        <ProposalIcon proposal={proposal} />
      </span>
      <div className="grow">
        <div className={isWaiting ? 'cut' : 'cut t2'}>{proposal.name}</div>
        <div className="l2">
          <span className="cut">{line}</span>
          {isWaiting && proposal.findings.length > 0 ? (
            <span className="end">
              <Badge tone="warn">{t('proposals.flagged')}</Badge>
            </span>
          ) : null}
        </div>
      </div>
    </>
  );
}

function ProposalIcon({ proposal }: { proposal: SkillProposal }) {
  switch (proposal.state) {
    case 'accepted':
      return <Check aria-hidden="true" />;
    case 'rejected':
      return <X aria-hidden="true" />;
    case 'undone':
      return <Undo2 aria-hidden="true" />;
    case 'waiting':
      return proposal.kind === 'new' ? <Plus aria-hidden="true" /> : <Pencil aria-hidden="true" />;
  }
}
