import { Check, Lightbulb, Pencil } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { formatWhen } from '../../../../shared/format.ts';
import type { MessageKey, Translate } from '../../../../shared/i18n/index.ts';
import type { SkillProposal } from '../../../../shared/model.ts';
import { useT } from '../../i18n.tsx';
import { useHotkeys, useNow } from '../../ui/hooks.ts';
import { DetailTitle } from '../../ui/list-parts.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { Badge, Button, Note, Segments } from '../../ui/primitives.tsx';
import { TextDiff } from '../../ui/text-diff.tsx';
import { categoryName } from '../category.ts';
import { Findings, FlaggedDialog, type ProposalEdit, RejectDialog, useDecision } from '../decide.tsx';
import { EditForm, editOf, isComplete } from './edit.tsx';

/** How an edit stands to a skill that has changed since. */
const EDIT_STATES: Record<'merged' | 'conflict' | 'gone', MessageKey> = {
  merged: 'proposals.editMerged',
  conflict: 'proposals.editConflict',
  gone: 'proposals.editGone',
};

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
  const [look, setLook] = useState<'words' | 'lines' | 'result'>('words');
  const decision = useDecision(proposal, () => navigate('/skills/proposals'));
  const editState = isWaiting ? proposal.edit?.state : undefined;
  const canAccept = editState !== 'conflict' && editState !== 'gone';
  const canDecide = isWaiting && !decision.busy;
  useHotkeys({
    a: canDecide && canAccept && edit === null ? () => decision.accept() : null,
    e: canDecide && editState !== 'gone' && edit === null ? () => setEdit(editOf(proposal)) : null,
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
        {proposal.edit && edit === null ? (
          <Segments
            label={t('skills.compare')}
            value={look}
            options={[
              { value: 'words', label: t('proposals.words') },
              { value: 'lines', label: t('proposals.lines') },
              { value: 'result', label: t('proposals.result') },
            ]}
            onChange={setLook}
          />
        ) : null}
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
        {editState === undefined || editState === 'fresh' ? null : (
          <div className="why">
            <Note tone="warn">{t(EDIT_STATES[editState])}</Note>
          </div>
        )}
        {edit === null ? (
          <div className="two">
            <div>
              <div className="panel skill-text">
                {proposal.edit === null || look === 'result' ? (
                  <>
                    <p className="t3 selectable skill-description">{proposal.description}</p>
                    <Markdown text={proposal.body} />
                  </>
                ) : (
                  <>
                    <div className="t2 diff-description">
                      <TextDiff
                        before={proposal.edit.base.description}
                        after={proposal.description}
                        by={look}
                      />
                    </div>
                    <TextDiff before={proposal.edit.base.body} after={proposal.body} by={look} />
                  </>
                )}
              </div>
              <Evidence proposal={proposal} />
            </div>
            <Scan proposal={proposal} />
          </div>
        ) : (
          <EditForm edit={edit} keepsName={proposal.kind === 'edit'} onChange={setEdit} />
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
              <Button hotkey="E" disabled={editState === 'gone'} onClick={() => setEdit(editOf(proposal))}>
                <Pencil className="s" aria-hidden="true" />
                {t('proposals.editFirst')}
              </Button>
              <Button
                tone={proposal.findings.length > 0 ? 'plain' : 'primary'}
                hotkey="A"
                disabled={decision.busy || !canAccept}
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
