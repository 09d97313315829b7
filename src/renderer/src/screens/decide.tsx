import { useState } from 'react';
import type { RouteInput } from '../../../shared/contract.ts';
import type { SkillProposal } from '../../../shared/model.ts';
import { useCommand } from '../api.ts';
import { useT } from '../i18n.tsx';
import { useUi } from '../state.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Button, Field, Note } from '../ui/primitives.tsx';

export type ProposalEdit = NonNullable<RouteInput<'proposals.accept'>['edit']>;

/** What can be done with one proposal, and the questions that this takes. */
export interface Decision {
  readonly proposal: SkillProposal;
  readonly busy: boolean;
  readonly asking: 'reject' | 'flagged' | null;
  /** Accepts it, as it is or with changed text; a flagged one is asked about once more. */
  accept(edit?: ProposalEdit): void;
  acceptDespiteFindings(): void;
  askReject(): void;
  reject(reason: string): void;
  cancel(): void;
}

/** Decides a proposal; both ways can be taken back from the toast. */
export function useDecision(proposal: SkillProposal, onDone: () => void = () => {}): Decision {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const accept = useCommand('proposals.accept');
  const reject = useCommand('proposals.reject');
  const [asking, setAsking] = useState<Decision['asking']>(null);
  const [edit, setEdit] = useState<ProposalEdit | undefined>(undefined);
  const doAccept = (changed: ProposalEdit | undefined, despiteFindings: boolean) =>
    accept.mutate(
      {
        id: proposal.id,
        despiteFindings,
        ...(changed === undefined ? {} : { edit: changed }),
        ...(proposal.edit?.hash ? { base: proposal.edit.hash } : {}),
      },
      {
        onSuccess: ({ skill, undo }) => {
          setAsking(null);
          toast(
            t(proposal.kind === 'edit' ? 'proposals.editedToast' : 'proposals.acceptedToast', {
              name: skill,
            }),
            {
              undo,
            },
          );
          onDone();
        },
      },
    );
  return {
    proposal,
    busy: accept.isPending || reject.isPending,
    asking,
    accept: (changed) => {
      setEdit(changed);
      if (proposal.findings.length > 0) setAsking('flagged');
      else doAccept(changed, false);
    },
    acceptDespiteFindings: () => doAccept(edit, true),
    askReject: () => setAsking('reject'),
    reject: (reason) =>
      reject.mutate(
        { id: proposal.id, reason },
        {
          onSuccess: ({ undo }) => {
            setAsking(null);
            toast(t('proposals.rejectedToast', { name: proposal.name }), { undo });
            onDone();
          },
        },
      ),
    cancel: () => setAsking(null),
  };
}

export function RejectDialog({ decision }: { decision: Decision }) {
  const t = useT();
  const [reason, setReason] = useState('');
  const id = `reason-${decision.proposal.id}`;
  return (
    <Dialog
      open={decision.asking === 'reject'}
      title={t('proposals.rejectTitle', { name: decision.proposal.name })}
      description={t('proposals.rejectDetail')}
      onClose={decision.cancel}
      footer={
        <>
          <Button onClick={decision.cancel}>{t('common.cancel')}</Button>
          <Button tone="danger" disabled={decision.busy} onClick={() => decision.reject(reason.trim())}>
            {t('proposals.rejectDo')}
          </Button>
        </>
      }
    >
      <Field id={id} label={`${t('proposals.reason')} (${t('proposals.reasonOptional')})`}>
        <div className="input lg">
          <input id={id} value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
        </div>
      </Field>
    </Dialog>
  );
}

export function FlaggedDialog({ decision }: { decision: Decision }) {
  const t = useT();
  return (
    <Dialog
      open={decision.asking === 'flagged'}
      title={t('proposals.flaggedTitle', { name: decision.proposal.name })}
      description={t('proposals.flaggedDetail')}
      onClose={decision.cancel}
      footer={
        <>
          <Button onClick={decision.cancel}>{t('common.cancel')}</Button>
          <Button tone="danger" disabled={decision.busy} onClick={decision.acceptDespiteFindings}>
            {t('proposals.acceptAnyway')}
          </Button>
        </>
      }
    >
      <Findings proposal={decision.proposal} />
    </Dialog>
  );
}

/** What the safety scan found, with the text that triggered it. */
export function Findings({ proposal }: { proposal: SkillProposal }) {
  return (
    <ul className="findings">
      {proposal.findings.map((finding) => (
        <li key={`${finding.rule} ${finding.excerpt}`}>
          <Note tone="warn">
            <b>{finding.message}</b>
            <div className="mono selectable excerpt">{finding.excerpt}</div>
          </Note>
        </li>
      ))}
    </ul>
  );
}
