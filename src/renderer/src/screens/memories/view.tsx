import { ChevronLeft, Pencil, Pin, PinOff } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { formatNumber, formatWhen } from '../../../../shared/format.ts';
import { type MemoryDetail, type MemorySource, scopeName } from '../../../../shared/memory.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Empty, InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { useHotkeys, useNow } from '../../ui/hooks.ts';
import { Badge, Button, IconButton } from '../../ui/primitives.tsx';
import { useMemoryActions } from './actions.ts';
import { EditForm } from './edit.tsx';
import { History } from './history.tsx';
import { scopeWords } from './words.ts';

/** One memory: what it says, where that comes from, what it said before, and where it was used. */
export function MemoryView({ id }: { id: string }) {
  const t = useT();
  const memory = useRoute('memory.get', { id });
  if (memory.isError) {
    return memory.error.code === 'NOT_FOUND' ? (
      <Empty icon={null} title={t('memories.gone')}>
        {memory.error.message}
      </Empty>
    ) : (
      <div className="pad4">
        <InlineError error={memory.error} onRetry={() => void memory.refetch()} />
      </div>
    );
  }
  if (memory.isPending) return <SkeletonRows rows={4} />;
  return <Shown memory={memory.data} />;
}

function Shown({ memory }: { memory: MemoryDetail }) {
  const t = useT();
  const now = useNow(60_000);
  const [, navigate] = useLocation();
  const [isEditing, setIsEditing] = useState(false);
  const actions = useMemoryActions();
  const isActive = memory.status === 'active';
  const mayEdit = isActive || memory.status === 'expired';
  const pin = () => actions.pin([memory], !memory.pinned);
  useHotkeys({
    e: mayEdit && !isEditing ? () => setIsEditing(true) : null,
    p: isActive ? pin : null,
  });
  return (
    <>
      <div className="sect">
        <div className="flex memory-head">
          <span className="narrow-only">
            <IconButton small label={t('activity.toList')} onClick={() => navigate('/memories')}>
              <ChevronLeft aria-hidden="true" />
            </IconButton>
          </span>
          {memory.pinned ? (
            <Badge tone="acc">
              <Pin className="s" aria-hidden="true" /> {t('memories.pinned')}
            </Badge>
          ) : null}
          <Badge>{t(`memories.kindOne.${memory.kind}`)}</Badge>
          {isActive ? null : <Badge tone="line">{t(`memories.stateOne.${memory.status}`)}</Badge>}
          <span className="grow" />
          {isActive ? (
            <IconButton
              small
              label={t(memory.pinned ? 'memories.unpin' : 'memories.pin')}
              aria-keyshortcuts="P"
              disabled={actions.busy}
              onClick={pin}
            >
              {memory.pinned ? <PinOff aria-hidden="true" /> : <Pin aria-hidden="true" />}
            </IconButton>
          ) : null}
          {mayEdit ? (
            <IconButton
              small
              label={t('memories.edit')}
              aria-keyshortcuts="E"
              aria-expanded={isEditing}
              onClick={() => setIsEditing(!isEditing)}
            >
              <Pencil aria-hidden="true" />
            </IconButton>
          ) : null}
        </div>
        {isEditing ? (
          <EditForm key={memory.updatedAt} memory={memory} onDone={() => setIsEditing(false)} />
        ) : (
          <p className={isActive ? 'memory-text selectable' : 'memory-text selectable t2 gone'}>
            {memory.content}
          </p>
        )}
      </div>
      {isEditing ? null : (
        <>
          <Sources memory={memory} />
          <History memory={memory} />
          <div className="sect">
            <dl className="kv">
              <dt>{t('memories.scope')}</dt>
              <dd title={scopeName(memory.scope)} className="selectable">
                {scopeWords(memory.scope, t)}
              </dd>
              <dt>{t('memories.usedIn')}</dt>
              <dd>
                {t('memories.usedTurns', { count: memory.usedIn })}
                {memory.lastUsedAt === null
                  ? ''
                  : `, ${t('memories.lastUsed', { when: formatWhen(memory.lastUsedAt, now, t.locale) })}`}
              </dd>
              <dt>{t('memories.expires')}</dt>
              <dd>
                {memory.expiresAt === null
                  ? t('memories.never')
                  : formatWhen(memory.expiresAt, now, t.locale)}
              </dd>
              <dt>{t('memories.by')}</dt>
              <dd>{t(`memories.origins.${memory.origin}`)}</dd>
              <dt>{t('memories.tokens')}</dt>
              <dd>{formatNumber(memory.tokens, t.locale)}</dd>
              {memory.tags.length === 0 ? null : (
                <>
                  <dt>{t('memories.tags')}</dt>
                  <dd>{memory.tags.join(', ')}</dd>
                </>
              )}
            </dl>
            <UsedBy memory={memory} />
          </div>
          <Ways memory={memory} />
        </>
      )}
    </>
  );
}

/** The ways out of use, and back. */
function Ways({ memory }: { memory: MemoryDetail }) {
  const t = useT();
  const actions = useMemoryActions();
  return (
    <div className="sect flex wrap">
      {memory.status === 'forgotten' ? (
        <>
          <Button small disabled={actions.busy} onClick={() => actions.restore([memory])}>
            {t('memories.restore')}
          </Button>
          <Button small tone="danger" disabled={actions.busy} onClick={() => actions.forget([memory], true)}>
            {t('memories.purge')}
          </Button>
        </>
      ) : (
        <Button
          small
          tone="danger"
          aria-keyshortcuts="Delete"
          disabled={actions.busy}
          onClick={() => actions.forget([memory], false)}
        >
          {t('memories.forget')}
        </Button>
      )}
    </div>
  );
}

function Sources({ memory }: { memory: MemoryDetail }) {
  const t = useT();
  if (memory.sources.length === 0) return null;
  return (
    <section className="sect" aria-label={t('memories.from')}>
      <h2 className="label">{t('memories.from')}</h2>
      <ul className="stack4 sources">
        {memory.sources.map((source) => (
          <li key={`${source.sessionId} ${source.saidAt} ${source.role} ${source.quote}`}>
            <Source source={source} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Source({ source }: { source: MemorySource }) {
  const t = useT();
  const now = useNow(60_000);
  return (
    <>
      <blockquote className="quote selectable">{source.quote}</blockquote>
      <div className="flex sm t3 source-foot">
        <span className="cut">
          {source.role === 'user' && (source.speaker === '' || source.speaker === 'user')
            ? t('memories.you')
            : source.speaker || t('memories.assistant')}
          , {formatWhen(source.saidAt, now, t.locale)}
        </span>
        {source.turnId === null ? null : (
          <Link className="end nowrap" href={`/activity/${encodeURIComponent(source.turnId)}`}>
            {t('proposals.openTurn')}
          </Link>
        )}
      </div>
    </>
  );
}

function UsedBy({ memory }: { memory: MemoryDetail }) {
  const t = useT();
  const now = useNow(60_000);
  if (memory.usedBy.length === 0) return null;
  return (
    <details className="used-by sm">
      <summary>{t('memories.usedBy')}</summary>
      <ul>
        {memory.usedBy.map(({ turnId, at }) => (
          <li key={turnId}>
            <Link href={`/activity/${encodeURIComponent(turnId)}`}>
              {t('memories.turnAt', { when: formatWhen(at, now, t.locale) })}
            </Link>
          </li>
        ))}
      </ul>
    </details>
  );
}
