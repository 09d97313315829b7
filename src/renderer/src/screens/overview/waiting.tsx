import { Pencil, Plus } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import type { SkillProposal } from '../../../../shared/model.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { Badge, Button, Panel } from '../../ui/primitives.tsx';
import { FlaggedDialog, RejectDialog, useDecision } from '../decide.tsx';

const SHOWN = 3;

/** Proposals that wait, decided in place. */
export function WaitingPanel() {
  const t = useT();
  const proposals = useRoute('proposals.list', { state: 'waiting' });
  const list = proposals.data ?? [];
  // One primary action; nothing that was flagged is it.
  const firstClean = list.find((proposal) => proposal.findings.length === 0);
  return (
    <Panel title={t('overview.waiting')} level={3} end={<span className="t3 sm">{list.length || null}</span>}>
      {proposals.isError ? (
        <div className="pad4">
          <InlineError error={proposals.error} onRetry={() => void proposals.refetch()} />
        </div>
      ) : proposals.isPending ? (
        <SkeletonRows rows={2} />
      ) : (
        list
          .slice(0, SHOWN)
          .map((proposal) => (
            <Waiting key={proposal.id} proposal={proposal} first={proposal.id === firstClean?.id} />
          ))
      )}
      {list.length > SHOWN ? (
        <div className="line-item">
          <Link href="/skills/proposals" className="sm">
            {t('overview.allProposals')}
          </Link>
        </div>
      ) : null}
    </Panel>
  );
}

function Waiting({ proposal, first }: { proposal: SkillProposal; first: boolean }) {
  const t = useT();
  const [, navigate] = useLocation();
  const decision = useDecision(proposal);
  const Icon = proposal.kind === 'new' ? Plus : Pencil;
  const path = `/skills/proposals/${encodeURIComponent(proposal.id)}`;
  return (
    <div className="waiting">
      <div className="flex top">
        <span className="t3">
          <Icon aria-hidden="true" />
        </span>
        <div className="grow">
          <div className="flex">
            <Link href={path} className="cut row-link med">
              {proposal.name}
            </Link>
            {proposal.findings.length > 0 ? (
              <span className="end">
                <Badge tone="warn">{t('proposals.flagged')}</Badge>
              </span>
            ) : null}
          </div>
          <div className="sm t3 two-lines" title={proposal.description}>
            {proposal.description}
          </div>
        </div>
      </div>
      <div className="flex waiting-actions">
        <Button
          small
          tone={first ? 'primary' : 'plain'}
          disabled={decision.busy}
          onClick={() => decision.accept()}
        >
          {proposal.findings.length > 0 ? `${t('proposals.accept')}…` : t('proposals.accept')}
        </Button>
        <Button small onClick={() => navigate(`${path}/edit`)}>
          {t('proposals.editShort')}
        </Button>
        <Button small tone="quiet" onClick={decision.askReject}>
          {t('proposals.reject')}
        </Button>
      </div>
      <RejectDialog decision={decision} />
      <FlaggedDialog decision={decision} />
    </div>
  );
}
