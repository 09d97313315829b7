import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { InjectedItem, LeftOutItem, TurnSummary } from '../../../../shared/model.ts';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Button, Panel } from '../../ui/primitives.tsx';
import { PLAIN, useFilter } from './filter.ts';

/** What a memory says that a turn carried, by its present words; a link to it where there is more to see. */
export function InjectedText({ item }: { item: InjectedItem | LeftOutItem }) {
  const isUnit = !/^t\d+$/.test(item.id);
  const memory = useRoute('memory.get', { id: item.id }, { enabled: isUnit });
  const title = 'title' in item ? item.title : item.id;
  if (!isUnit || memory.isError) return title;
  return (
    <Link className="row-link" title={title} href={`/memories/${encodeURIComponent(item.id)}`}>
      {memory.data?.content ?? title}
    </Link>
  );
}

/** Forgets a memory that a turn carried, from where it is shown. */
export function ForgetInjected({ item }: { item: InjectedItem }) {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const forget = useCommand('memory.forget');
  return (
    <Button
      small
      tone="quiet"
      disabled={forget.isPending || forget.isSuccess}
      aria-label={t('memories.forgetNamed', { text: item.title })}
      onClick={() =>
        forget.mutate(
          { ids: [item.id] },
          {
            onSuccess: ({ undo, note }) => {
              const text = t('memories.forgotOne', { text: item.title });
              toast(note === null ? text : `${text}. ${note}`, undo === null ? {} : { undo });
            },
          },
        )
      }
    >
      {t(forget.isSuccess ? 'memories.stateOne.forgotten' : 'memories.forgetThis')}
    </Button>
  );
}

/** What was remembered of a turn's conversation, and the way to forget it. */
export function FromConversation({ turn }: { turn: TurnSummary }) {
  const t = useT();
  const [, navigate] = useLocation();
  const change = useFilter((state) => state.change);
  const [asks, setAsks] = useState(false);
  const { sessionId } = turn;
  const memories = useRoute('memory.list', { sessionId, limit: 5 });
  if (memories.data === undefined) return null;
  const { units, total } = memories.data;
  return (
    <Panel
      title={t('memories.fromConversation')}
      level={3}
      end={
        <>
          {total === 0 ? null : (
            <Button
              small
              tone="quiet"
              onClick={() => {
                change({ ...PLAIN, sessionId });
                navigate('/memories');
              }}
            >
              {t('memories.showThese', { count: total })}
            </Button>
          )}
          <Button small tone="danger" onClick={() => setAsks(true)}>
            {t('memories.forgetConversation')}
          </Button>
        </>
      }
    >
      {total === 0 ? (
        <p className="line-item t3">{t('memories.nothingFrom')}</p>
      ) : (
        units.map((unit) => (
          <div key={unit.id} className="line-item">
            <div className="grow">
              <button
                type="button"
                className="linkish cut plain-link"
                onClick={() => navigate(`/memories/${encodeURIComponent(unit.id)}`)}
              >
                {unit.content}
              </button>
              <div className="sm t3">{t(`memories.kindOne.${unit.kind}`)}</div>
            </div>
          </div>
        ))
      )}
      {asks ? <ForgetDialog sessionId={sessionId} total={total} onClose={() => setAsks(false)} /> : null}
    </Panel>
  );
}

function ForgetDialog(props: { sessionId: string; total: number; onClose: () => void }) {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const forget = useCommand('memory.forgetSession');
  const run = () =>
    forget.mutate(
      { sessionId: props.sessionId },
      {
        onSuccess: ({ forgotten, turns, undo }) => {
          const text = t('memories.forgotConversation', {
            units: t('memories.count', { count: forgotten }),
            turns: t('memories.lines', { count: turns }),
          });
          toast(text, undo === null ? {} : { undo });
          props.onClose();
        },
      },
    );
  return (
    <Dialog
      open
      title={t('memories.forgetConversationTitle')}
      description={t('memories.forgetConversationDetail', {
        units: t('memories.count', { count: props.total }),
      })}
      onClose={props.onClose}
      footer={
        <>
          <Button onClick={props.onClose}>{t('common.cancel')}</Button>
          <Button tone="danger" disabled={forget.isPending} onClick={run}>
            {t('memories.forget')}
          </Button>
        </>
      }
    />
  );
}
