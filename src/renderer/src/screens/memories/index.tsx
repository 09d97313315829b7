import { NotebookText, X } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Empty, InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { Glyph } from '../../ui/glyph.tsx';
import { useHotkeys, useSettled } from '../../ui/hooks.ts';
import { Button, IconButton, Note } from '../../ui/primitives.tsx';
import { Shell } from '../../ui/shell.tsx';
import { useMemoryActions } from './actions.ts';
import { AddDialog } from './add.tsx';
import { BulkBar } from './bulk.tsx';
import { Conflicts } from './conflicts.tsx';
import { Facets } from './facets.tsx';
import { ImportDialog, useExport, useImportFile } from './files.tsx';
import { isNarrowed, useFilter } from './filter.ts';
import { Glance } from './glance.tsx';
import { useMarks, useMemories } from './list.ts';
import { MergeDialog } from './merge.tsx';
import { Said } from './said.tsx';
import { MemoryTable } from './table.tsx';
import { Toolbar, type ToolbarActions } from './toolbar.tsx';
import { MemoryView } from './view.tsx';
import { WipeDialog } from './wipe.tsx';

type Asking = { what: 'add' | 'merge' | 'wipe' } | { what: 'import'; path: string } | null;

/** All that is remembered: found, looked at, changed, and forgotten. */
export function Memories() {
  const t = useT();
  const [path] = useLocation();
  const [, , part] = path.split('/');
  return (
    <Shell title={t('memories.title')}>
      {part === 'conflicts' ? (
        <Conflicts />
      ) : (
        <Browser selected={part === undefined || part === '' ? null : decodeURIComponent(part)} />
      )}
    </Shell>
  );
}

function Browser({ selected }: { selected: string | null }) {
  const [, navigate] = useLocation();
  const { filter, change } = useFilter();
  const text = useSettled(filter.text, 150);
  const asked = useMemo(() => ({ ...filter, text }), [filter, text]);
  const memories = useMemories(asked);
  const marks = useMarks(asked);
  const [asking, setAsking] = useState<Asking>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const actions = useMemoryActions();
  const save = useExport();
  const pickFile = useImportFile();
  const at = selected ?? cursor;
  const open = (id: string) => {
    setCursor(id);
    navigate(`/memories/${encodeURIComponent(id)}`, { replace: selected !== null });
  };
  const close = () => {
    setCursor(selected);
    navigate('/memories');
  };
  // What is marked and not shown any more could not be seen before it is changed.
  const clear = useRef(marks.clear);
  clear.current = marks.clear;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another list is asked for
  useEffect(() => clear.current(), [asked]);

  const forget = () => {
    const place = memories.units.findIndex(({ id }) => id === at);
    const current = memories.units[place];
    const units = marks.units.length > 0 ? marks.units : current === undefined ? [] : [current];
    const gone = units.filter(({ status }) => status !== 'forgotten');
    if (gone.length === 0 || actions.busy) return;
    const next = memories.units[place + 1] ?? memories.units[place - 1];
    actions.forget(gone, false, () => {
      marks.clear();
      if (gone.length > 1 || next === undefined) return;
      setCursor(next.id);
      if (selected !== null) navigate(`/memories/${encodeURIComponent(next.id)}`, { replace: true });
    });
  };
  const bar: ToolbarActions = {
    add: () => setAsking({ what: 'add' }),
    wipe: () => setAsking({ what: 'wipe' }),
    exportAll: () => void save.run(),
    importFile: () =>
      void pickFile().then((file) => {
        if (file !== null) setAsking({ what: 'import', path: file });
      }),
  };
  useHotkeys({
    '/': () => search.current?.focus(),
    n: bar.add,
    Delete: forget,
    m: marks.units.length > 1 ? () => setAsking({ what: 'merge' }) : null,
    Escape:
      marks.units.length > 0
        ? marks.clear
        : selected !== null
          ? close
          : filter.text !== ''
            ? () => change({ text: '' })
            : null,
  });
  const { query } = memories;
  // Nothing is there that boxes could narrow.
  const isEmpty = query.isSuccess && memories.units.length === 0 && !isNarrowed(filter);
  return (
    <>
      <Toolbar field={search} asked={text} actions={bar} />
      <div className={selected === null ? 'body split memories' : 'body split memories opened'}>
        {isEmpty ? null : (
          <aside className="facets hide-medium">
            <Facets text={text} />
          </aside>
        )}
        <section className="list memory-list">
          <Banners />
          {query.isError ? (
            <div className="pad4">
              <InlineError error={query.error} onRetry={() => void query.refetch()} />
            </div>
          ) : query.isPending ? (
            <SkeletonRows rows={8} />
          ) : memories.units.length === 0 ? (
            <div className="grid-box">
              <Nothing actions={bar} />
              <Said text={text} />
            </div>
          ) : (
            <MemoryTable
              units={memories.units}
              total={memories.total}
              reasons={memories.reasons}
              at={at}
              marks={marks}
              onMove={(id) => (window.innerWidth > 920 ? open(id) : setCursor(id))}
              onOpen={open}
              onEnd={memories.more}
              foot={<Said text={text} />}
            />
          )}
          {memories.units.length === 0 ? null : (
            <BulkBar total={memories.total} marks={marks} onMerge={() => setAsking({ what: 'merge' })} />
          )}
        </section>
        <div className="detail memory-pane">
          {selected === null ? <Glance /> : <MemoryView key={selected} id={selected} />}
        </div>
      </div>
      <Question asking={asking} onClose={() => setAsking(null)}>
        {(onClose) => (
          <MergeDialog
            units={marks.units.filter(({ status }) => status === 'active')}
            onDone={marks.clear}
            onClose={onClose}
          />
        )}
      </Question>
    </>
  );
}

/** The dialog that is open; `children` is the one that needs what is marked. */
function Question(props: {
  asking: Asking;
  onClose: () => void;
  children: (onClose: () => void) => React.ReactNode;
}) {
  const { asking, onClose } = props;
  switch (asking?.what) {
    case undefined:
      return null;
    case 'add':
      return <AddDialog onClose={onClose} />;
    case 'wipe':
      return <WipeDialog onClose={onClose} />;
    case 'import':
      return <ImportDialog path={asking.path} onClose={onClose} />;
    case 'merge':
      return props.children(onClose);
  }
}

/** What stands over the list: why nothing new is remembered, what waits for a decision, whose conversation is shown. */
function Banners() {
  const t = useT();
  const [, navigate] = useLocation();
  const { filter, change } = useFilter();
  const stats = useRoute('memory.stats', {});
  const enabled = useRoute('config.get', { path: 'memory.enabled' });
  // The switch over the list says so already.
  const isOff = enabled.data?.value === false;
  const conflicts = useRoute('memory.conflicts', {}, { enabled: (stats.data?.conflicts ?? 0) > 0 });
  const list = conflicts.data ?? [];
  const twins = list.filter(({ why }) => why === 'near-duplicate').length;
  const words = [
    list.length - twins === 0 ? null : t('memories.countConflicts', { count: list.length - twins }),
    twins === 0 ? null : t('memories.countTwins', { count: twins }),
  ].filter((part) => part !== null);
  return (
    <>
      {stats.data !== undefined && !stats.data.enabled ? (
        <div className="list-note">
          <Note>
            {t('memories.offNow')} {isOff ? null : stats.data.reason}
          </Note>
        </div>
      ) : null}
      {filter.sessionId === null ? null : (
        <div className="banner-line">
          <span className="grow cut">{t('memories.ofSession')}</span>
          <IconButton small label={t('memories.showAll')} onClick={() => change({ sessionId: null })}>
            <X className="s" aria-hidden="true" />
          </IconButton>
        </div>
      )}
      {words.length === 0 ? null : (
        <div className="banner-line">
          <span className="warn-mark">
            <Glyph level="warning" />
          </span>
          <span className="grow cut">{words.join(', ')}</span>
          <Button small onClick={() => navigate('/memories/conflicts')}>
            {t('memories.lookAt', { count: list.length })}
          </Button>
        </div>
      )}
    </>
  );
}

/** Why the list is empty, and what fills it. */
function Nothing({ actions }: { actions: ToolbarActions }) {
  const t = useT();
  const { filter, clear } = useFilter();
  const stats = useRoute('memory.stats', {});
  const flush = useRoute('config.get', { path: 'memory.flush_every' });
  const set = useCommand('config.set');
  if (isNarrowed(filter)) {
    return (
      <Empty
        icon={null}
        title={t('memories.noneMatch')}
        action={<Button onClick={clear}>{t('memories.clearFilters')}</Button>}
      >
        {t('memories.noneMatchHow')}
      </Empty>
    );
  }
  const icon = <NotebookText className="big" aria-hidden="true" />;
  if (stats.data !== undefined && !stats.data.enabled) {
    return (
      <Empty
        icon={icon}
        title={t('memories.off')}
        action={
          <Button tone="primary" onClick={() => set.mutate({ path: 'memory.enabled', value: true })}>
            {t('memories.turnOn')}
          </Button>
        }
      >
        {t('memories.offHow')}
      </Empty>
    );
  }
  const pending = stats.data?.pending ?? 0;
  return (
    <Empty
      icon={icon}
      title={t('memories.none')}
      action={
        <>
          <Button onClick={actions.importFile}>{t('memories.import')}</Button>
          <Button tone="primary" onClick={actions.add}>
            {t('memories.add')}
          </Button>
        </>
      }
    >
      {t('memories.noneHow', { count: Number(flush.data?.value ?? 5) })}{' '}
      {pending === 0 ? null : t('memories.nonePending', { count: pending })}
    </Empty>
  );
}
