import { Check, Lightbulb, Pencil } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { formatWhen } from '../../../../shared/format.ts';
import type { Translate } from '../../../../shared/i18n/index.ts';
import type { SkillProposal } from '../../../../shared/model.ts';
import { useT } from '../../i18n.tsx';
import { useHotkeys, useNow } from '../../ui/hooks.ts';
import { DetailTitle } from '../../ui/list-parts.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { Badge, Button, Note } from '../../ui/primitives.tsx';
import { Findings, FlaggedDialog, type ProposalEdit, RejectDialog, useDecision } from '../decide.tsx';
import { categoryName } from '../library.tsx';
import { EditForm, editOf, isComplete } from './edit.tsx';

/** What a proposal has become. */
export function stateName(proposal: SkillProposal, t: Translate): string {
  switch (proposal.state) {
    case 'accepted':
      return proposal.auto ? t('proposals.acceptedAuto') : t('proposals.accepted');
    case 'rejected':
      return t('proposals.rejected');
    case 'undone':
      return t('proposals.undone');
    case 'waiting':
      return t('proposals.waiting');
  }
}

/** One proposal: its text, why it was made, what the scan found, and the decision. */
export function ProposalView({
  proposal,
  startsEditing,
}: {
  proposal: SkillProposal;
  startsEditing: boolean;
}) {
  const t = useT();
  const now = useNow(60_000);
  const [, navigate] = useLocation();
  const isWaiting = proposal.state === 'waiting';
  const [edit, setEdit] = useState<ProposalEdit | null>(startsEditing && isWaiting ? editOf(proposal) : null);
  const decision = useDecision(proposal, () => navigate('/skills/proposals'));
  const canDecide = isWaiting && !decision.busy;
  useHotkeys({
    a: canDecide && edit === null ? () => decision.accept() : null,
    e: canDecide && edit === null ? () => setEdit(editOf(proposal)) : null,
    x: canDecide && edit === null ? decision.askReject : null,
  });
  const when = formatWhen(proposal.createdAt, now, t.locale);
  return (
    <>
      <DetailTitle
        title={proposal.name}
        facts={
          <>
            <span>{t(proposal.kind === 'new' ? 'proposals.new' : 'proposals.edit', { when })}</span>
            <span>{categoryName(proposal.category, t)}</span>
          </>
        }
        onBack={() => navigate('/skills/proposals')}
      >
        {isWaiting ? null : <Badge tone="line">{stateName(proposal, t)}</Badge>}
      </DetailTitle>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard */}
      <section className="grow scroll detail-body" tabIndex={0} aria-label={proposal.name}>
        {proposal.reason === '' ? null : (
          <div className="why">
            <Note tone="acc" icon={<Lightbulb aria-hidden="true" />}>
              <span className="selectable">
                <b>{t('proposals.why')}</b> {proposal.reason}
              </span>
            </Note>
          </div>
        )}
        {edit === null ? (
          <div className="two">
            <div>
              <div className="panel skill-text">
                <p className="t3 selectable skill-description">{proposal.description}</p>
                <Markdown text={proposal.body} />
              </div>
              <Evidence proposal={proposal} />
            </div>
            <Scan proposal={proposal} />
          </div>
        ) : (
          <EditForm edit={edit} onChange={setEdit} />
        )}
      </section>
      {isWaiting ? (
        <div className="actions">
          {edit === null ? (
            <>
              <Button tone="danger" hotkey="X" disabled={decision.busy} onClick={decision.askReject}>
                {t('proposals.reject')}
              </Button>
              <span className="sm t3 hide-narrow">{t('proposals.notAgain')}</span>
              <span className="grow" />
              <Button hotkey="E" onClick={() => setEdit(editOf(proposal))}>
                <Pencil className="s" aria-hidden="true" />
                {t('proposals.editFirst')}
              </Button>
              <Button
                tone={proposal.findings.length > 0 ? 'plain' : 'primary'}
                hotkey="A"
                disabled={decision.busy}
                onClick={() => decision.accept()}
              >
                {proposal.findings.length > 0 ? `${t('proposals.accept')}…` : t('proposals.accept')}
              </Button>
            </>
          ) : (
            <>
              <span className="grow" />
              <Button onClick={() => setEdit(null)}>{t('common.cancel')}</Button>
              <Button
                tone="primary"
                disabled={decision.busy || !isComplete(edit)}
                onClick={() => decision.accept(edit)}
              >
                {t('proposals.acceptEdited')}
              </Button>
            </>
          )}
        </div>
      ) : null}
      <RejectDialog decision={decision} />
      <FlaggedDialog decision={decision} />
    </>
  );
}

function Evidence({ proposal }: { proposal: SkillProposal }) {
  const t = useT();
  if (proposal.evidence.length === 0) return null;
  return (
    <section>
      <h3 className="section-title">{t('proposals.evidence')}</h3>
      <div className="panel">
        {proposal.evidence.map((piece) => (
          <div className="line-item" key={`${piece.turnId} ${piece.excerpt}`}>
            <span className="grow two-lines selectable" title={piece.excerpt}>
              “{piece.excerpt}”
            </span>
            <Link className="sm nowrap" href={`/activity/${encodeURIComponent(piece.turnId)}`}>
              {t('proposals.openTurn')}
            </Link>
          </div>
        ))}
      </div>
    </section>
  );
}

function Scan({ proposal }: { proposal: SkillProposal }) {
  const t = useT();
  const { findings } = proposal;
  return (
    <section>
      <h3 className="scan-title">{t('proposals.scan')}</h3>
      {findings.length === 0 ? (
        <div className="flex">
          <Check className="ok s" aria-hidden="true" />
          {t('proposals.scanClean')}
        </div>
      ) : (
        <>
          <p className="sm warn scan-count">{t('proposals.scanFound', { count: findings.length })}</p>
          <Findings proposal={proposal} />
        </>
      )}
    </section>
  );
}
