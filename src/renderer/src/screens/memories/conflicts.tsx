import { ChevronLeft, Scale } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { formatWhen } from '../../../../shared/format.ts';
import type { MemoryConflict, MemoryUnit } from '../../../../shared/memory.ts';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Empty, InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { useHotkeys, useNow } from '../../ui/hooks.ts';
import { Badge, Button } from '../../ui/primitives.tsx';
import { MergeDialog } from './merge.tsx';
import { scopeWords } from './words.ts';

type Keep = 'one' | 'other' | 'both';

/** Pairs of memories that cannot both hold, or nearly say the same: the user decides. 1, 2 and B decide the first. */
export function Conflicts() {
  const t = useT();
  const [, navigate] = useLocation();
  const toast = useUi((state) => state.toast);
  const conflicts = useRoute('memory.conflicts', {});
  const settle = useCommand('memory.settle');
  const [merging, setMerging] = useState<MemoryConflict | null>(null);
  const leave = () => navigate('/memories');
  const [first] = conflicts.data ?? [];
  const decide = (conflict: MemoryConflict, keep: Keep) =>
    settle.mutate(
      { id: conflict.id, keep },
      {
        onSuccess: ({ undo }) =>
          toast(t(keep === 'both' ? 'memories.keptBoth' : 'memories.keptOne'), { undo }),
      },
    );
  const decideFirst = (keep: Keep) =>
    first === undefined || settle.isPending ? null : () => decide(first, keep);
  useHotkeys({
    '1': decideFirst('one'),
    '2': decideFirst('other'),
    b: decideFirst('both'),
    Escape: leave,
  });
  return (
    <>
      <div className="bar">
        <Button tone="quiet" small onClick={leave}>
          <ChevronLeft className="s" aria-hidden="true" />
          {t('memories.allMemories')}
        </Button>
        <span className="grow" />
        <span className="sm t3">{t('memories.open', { count: conflicts.data?.length ?? 0 })}</span>
      </div>
      <div className="body">
        <div className="grow scroll pad">
          {conflicts.isError ? (
            <InlineError error={conflicts.error} onRetry={() => void conflicts.refetch()} />
          ) : conflicts.isPending ? (
            <SkeletonRows rows={4} />
          ) : conflicts.data.length === 0 ? (
            <Empty
              icon={<Scale className="big" aria-hidden="true" />}
              title={t('memories.noConflicts')}
              action={<Button onClick={leave}>{t('memories.allMemories')}</Button>}
            >
              {t('memories.noConflictsHow')}
            </Empty>
          ) : (
            <ul className="conflicts">
              {conflicts.data.map((conflict, at) => (
                <li key={conflict.id}>
                  <Pair
                    conflict={conflict}
                    hasKeys={at === 0}
                    busy={settle.isPending}
                    onDecide={(keep) => decide(conflict, keep)}
                    onMerge={() => setMerging(conflict)}
                  />
                </li>
              ))}
            </ul>
          )}
        </div>
      </div>
      {merging === null ? null : (
        <MergeDialog
          units={[merging.one, merging.other]}
          onDone={() => {}}
          onClose={() => setMerging(null)}
        />
      )}
    </>
  );
}

function Pair(props: {
  conflict: MemoryConflict;
  hasKeys: boolean;
  busy: boolean;
  onDecide: (keep: Keep) => void;
  onMerge: () => void;
}) {
  const t = useT();
  const { conflict, hasKeys, busy } = props;
  const side = (unit: MemoryUnit, keep: 'one' | 'other') => (
    <div className="side-of">
      <Side unit={unit} />
      <Button
        small
        disabled={busy}
        aria-label={t('memories.keepNamed', { text: unit.content })}
        {...(hasKeys ? { hotkey: keep === 'one' ? '1' : '2' } : {})}
        onClick={() => props.onDecide(keep)}
      >
        {t('memories.keepThis')}
      </Button>
    </div>
  );
  return (
    <article className="panel conflict" aria-label={t(`memories.why.${conflict.why}`)}>
      <header>
        <Badge tone={conflict.why === 'contradiction' ? 'warn' : 'line'}>
          {t(`memories.why.${conflict.why}`)}
        </Badge>
      </header>
      <div className="sides">
        {side(conflict.one, 'one')}
        {side(conflict.other, 'other')}
      </div>
      <footer className="flex">
        <span className="grow" />
        {conflict.why === 'near-duplicate' ? (
          <Button small onClick={props.onMerge} disabled={busy}>
            {t('memories.mergeThese')}
          </Button>
        ) : null}
        <Button
          small
          tone="quiet"
          disabled={busy}
          {...(hasKeys ? { hotkey: 'B' } : {})}
          onClick={() => props.onDecide('both')}
        >
          {t('memories.keepBoth')}
        </Button>
      </footer>
    </article>
  );
}

function Side({ unit }: { unit: MemoryUnit }) {
  const t = useT();
  const now = useNow(60_000);
  return (
    <div className="grow">
      <p className="selectable">{unit.content}</p>
      <div className="sm t3 facts">
        <span>{t(`memories.kindOne.${unit.kind}`)}</span>
        <span>{scopeWords(unit.scope, t)}</span>
        <span>{formatWhen(unit.observedAt, now, t.locale)}</span>
        <span>{t(`memories.origins.${unit.origin}`)}</span>
        <span>
          <Link href={`/memories/${encodeURIComponent(unit.id)}`}>{t('memories.look')}</Link>
        </span>
      </div>
    </div>
  );
}
