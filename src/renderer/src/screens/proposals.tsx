import { Check, ChevronLeft, Lightbulb, Pencil, Plus, Sparkles, Undo2, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { formatWhen } from '../../../shared/format.ts';
import type { Translate } from '../../../shared/i18n/index.ts';
import { SKILL_CATEGORIES, type SkillProposal } from '../../../shared/model.ts';
import { useRoute } from '../api.ts';
import { useT } from '../i18n.tsx';
import { Empty, InlineError, SkeletonRows } from '../ui/feedback.tsx';
import { useHotkeys, useNow } from '../ui/hooks.ts';
import { Listbox } from '../ui/listbox.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Badge, Button, Field, IconButton, Note, Select } from '../ui/primitives.tsx';
import { Findings, FlaggedDialog, type ProposalEdit, RejectDialog, useDecision } from './decide.tsx';
import { categoryName } from './library.tsx';

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

function stateName(proposal: SkillProposal, t: Translate): string {
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

function ProposalView({ proposal, startsEditing }: { proposal: SkillProposal; startsEditing: boolean }) {
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
      <div className="bar detail-title">
        <span className="narrow-only">
          <IconButton label={t('activity.toList')} onClick={() => navigate('/skills/proposals')}>
            <ChevronLeft aria-hidden="true" />
          </IconButton>
        </span>
        <div className="grow">
          <h2 className="cut selectable">{proposal.name}</h2>
          <div className="sm t3 facts">
            <span>{t(proposal.kind === 'new' ? 'proposals.new' : 'proposals.edit', { when })}</span>
            <span>{categoryName(proposal.category, t)}</span>
          </div>
        </div>
        {isWaiting ? null : <Badge tone="line">{stateName(proposal, t)}</Badge>}
      </div>
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

function EditForm({ edit, onChange }: { edit: ProposalEdit; onChange: (edit: ProposalEdit) => void }) {
  const t = useT();
  const categories = SKILL_CATEGORIES.includes(edit.category as (typeof SKILL_CATEGORIES)[number])
    ? SKILL_CATEGORIES
    : [...SKILL_CATEGORIES, edit.category];
  return (
    <div className="form edit-form">
      <Field id="edit-name" label={t('proposals.name')}>
        <div className="input lg">
          <input
            id="edit-name"
            value={edit.name}
            onChange={(event) => onChange({ ...edit, name: event.target.value })}
          />
        </div>
      </Field>
      <Field id="edit-description" label={t('proposals.description')}>
        <div className="input lg">
          <input
            id="edit-description"
            value={edit.description}
            onChange={(event) => onChange({ ...edit, description: event.target.value })}
          />
        </div>
      </Field>
      <Field id="edit-category" label={t('proposals.category')}>
        <Select
          id="edit-category"
          large
          value={edit.category}
          onChange={(event) => onChange({ ...edit, category: event.target.value })}
        >
          {categories.map((category) => (
            <option key={category} value={category}>
              {categoryName(category, t)}
            </option>
          ))}
        </Select>
      </Field>
      <Field id="edit-body" label={t('proposals.body')}>
        <div className="input area">
          <textarea
            id="edit-body"
            className="mono"
            rows={14}
            value={edit.body}
            onChange={(event) => onChange({ ...edit, body: event.target.value })}
          />
        </div>
      </Field>
    </div>
  );
}

function editOf({ name, description, category, body }: SkillProposal): ProposalEdit {
  return { name, description, category, body };
}

function isComplete(edit: ProposalEdit): boolean {
  return edit.name.trim() !== '' && edit.description.trim() !== '' && edit.body.trim() !== '';
}
