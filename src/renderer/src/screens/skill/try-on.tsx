import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { formatNumber, formatWhen } from '../../../../shared/format.ts';
import type { TriedTurn } from '../../../../shared/model.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { useNow } from '../../ui/hooks.ts';
import { Badge, Button, Note } from '../../ui/primitives.tsx';

/** Shows, before a text is saved, which of the latest turns it would have entered. */
export function TryOnButton({ content, disabled }: { content: string; disabled: boolean }) {
  const t = useT();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button disabled={disabled} title={t('skills.tryOnHow')} onClick={() => setIsOpen(true)}>
        <FlaskConical className="s" aria-hidden="true" />
        {t('skills.tryOn')}
      </Button>
      {isOpen ? <TryOnDialog content={content} onClose={() => setIsOpen(false)} /> : null}
    </>
  );
}

function TryOnDialog({ content, onClose }: { content: string; onClose: () => void }) {
  const t = useT();
  const tried = useRoute('skills.tryOn', { content, limit: 20 });
  const turns = tried.data ?? [];
  const now = turns.filter(({ before }) => before).length;
  const then = turns.filter(({ entered }) => entered).length;
  return (
    <Dialog
      open
      wide
      title={t('skills.tryOnTitle')}
      description={t('skills.tryOnHow')}
      onClose={onClose}
      footer={<Button onClick={onClose}>{t('common.close')}</Button>}
    >
      <div className="try-on">
        {tried.isError ? (
          <InlineError error={tried.error} onRetry={() => void tried.refetch()} />
        ) : tried.isPending ? (
          <SkeletonRows rows={4} />
        ) : turns.length === 0 ? (
          <Note>{t('skills.tryOnNone')}</Note>
        ) : (
          <>
            <p className="med">
              {t('skills.tryOnSum', {
                count: then,
                of: formatNumber(turns.length, t.locale),
                now: formatNumber(now, t.locale),
              })}
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard */}
            <ul className="panel scroll" tabIndex={0} aria-label={t('activity.list')}>
              {turns.map((turn) => (
                <Tried key={turn.turnId} turn={turn} />
              ))}
            </ul>
          </>
        )}
      </div>
    </Dialog>
  );
}

function Tried({ turn }: { turn: TriedTurn }) {
  const t = useT();
  const now = useNow(60_000);
  const { entered, before } = turn;
  const why = [
    formatWhen(turn.at, now, t.locale),
    turn.score > 0 ? t('activity.score', { value: formatNumber(turn.score, t.locale, 2) }) : '',
    turn.reason,
  ].filter(Boolean);
  return (
    <li className="line-item">
      <div className="grow">
        <div className={entered ? 'cut' : 'cut t3'} title={turn.userText}>
          {turn.userText || '–'}
        </div>
        <div className="sm t3">{why.join(', ')}</div>
      </div>
      {entered ? (
        <Badge tone={before ? undefined : 'ok'}>
          {t(before ? 'skills.stillEnters' : 'skills.newlyEnters')}
        </Badge>
      ) : before ? (
        <Badge tone="warn">{t('skills.noLongerEnters')}</Badge>
      ) : null}
      <Link className="sm nowrap" href={`/activity/${encodeURIComponent(turn.turnId)}`}>
        {t('proposals.openTurn')}
      </Link>
    </li>
  );
}
