import { GitMerge, Pin, PinOff, X } from 'lucide-react';
import { useT } from '../../i18n.tsx';
import { Button, IconButton } from '../../ui/primitives.tsx';
import { useMemoryActions } from './actions.ts';
import type { Marks } from './list.ts';

/** How many there are, how many are marked, and what can be done with those. */
export function BulkBar(props: { total: number; marks: Marks; onMerge: () => void }) {
  const t = useT();
  const actions = useMemoryActions();
  const { marks, total } = props;
  const { units } = marks;
  const forgotten = units.filter(({ status }) => status === 'forgotten');
  const rest = units.filter(({ status }) => status !== 'forgotten');
  const active = units.filter(({ status }) => status === 'active');
  const allPinned = active.length > 0 && active.every(({ pinned }) => pinned);
  return (
    <div className="actions bulk">
      <span className="sm t3 cut grow" role="status">
        {t('memories.shown', { count: total })}
        {units.length === 0 ? '' : `, ${t('memories.marked', { count: units.length })}`}
      </span>
      {units.length === 0 ? null : (
        <>
          {active.length === 0 ? null : (
            <Button
              small
              tone="quiet"
              disabled={actions.busy}
              onClick={() => actions.pin(active, !allPinned)}
            >
              {allPinned ? (
                <PinOff className="s" aria-hidden="true" />
              ) : (
                <Pin className="s" aria-hidden="true" />
              )}
              {t(allPinned ? 'memories.unpin' : 'memories.pin')}
            </Button>
          )}
          {active.length < 2 || active.length > 20 ? null : (
            <Button small tone="quiet" disabled={actions.busy} onClick={props.onMerge}>
              <GitMerge className="s" aria-hidden="true" />
              {t('memories.merge')}
            </Button>
          )}
          {forgotten.length === 0 ? null : (
            <Button
              small
              disabled={actions.busy}
              onClick={() => {
                actions.restore(forgotten);
                marks.clear();
              }}
            >
              {t('memories.restore')}
            </Button>
          )}
          {rest.length === 0 ? null : (
            <Button
              small
              tone="danger"
              disabled={actions.busy}
              onClick={() => actions.forget(rest, false, marks.clear)}
            >
              {t('memories.forget')}
            </Button>
          )}
          <IconButton small label={t('memories.unmark')} onClick={marks.clear}>
            <X className="s" aria-hidden="true" />
          </IconButton>
        </>
      )}
    </div>
  );
}
