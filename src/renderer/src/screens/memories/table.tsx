import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp, Pin } from 'lucide-react';
import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useRef } from 'react';
import { formatNumber, formatWhen } from '../../../../shared/format.ts';
import type { MemoryUnit } from '../../../../shared/memory.ts';
import { useT } from '../../i18n.tsx';
import { useNow } from '../../ui/hooks.ts';
import { rowAfterKey } from '../../ui/list-keys.ts';
import { type Sort, useFilter } from './filter.ts';
import type { Marks } from './list.ts';
import { scopeWords } from './words.ts';

const HEAD = 28;
const ROW = 48;

/**
 * The list as a grid with one tab stop. Arrows or J and K move, with Shift they mark; Space marks, Ctrl A marks all,
 * Enter opens. Only the rows in sight exist, however many there are.
 */
export function MemoryTable(props: {
  units: readonly MemoryUnit[];
  total: number;
  reasons: Readonly<Record<string, string>>;
  /** The row that the keys are at. */
  at: string | null;
  marks: Marks;
  onMove: (id: string) => void;
  onOpen: (id: string) => void;
  /** The end of what is loaded is near. */
  onEnd: () => void;
  /** Stands under the last row. */
  foot?: ReactNode;
}) {
  const t = useT();
  const box = useRef<HTMLDivElement>(null);
  const { units, marks, at, onEnd } = props;
  const place = at === null ? -1 : units.findIndex(({ id }) => id === at);
  const rows = useVirtualizer({
    count: units.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 10,
    scrollMargin: HEAD,
    scrollPaddingStart: HEAD,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (units.length > 0 && last >= units.length - 30) onEnd();
  }, [last, units.length, onEnd]);
  useEffect(() => {
    if (place !== -1) rows.scrollToIndex(place);
  }, [place, rows]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.altKey) return;
    const isModified = event.ctrlKey || event.metaKey;
    if (isModified && event.key.toLowerCase() === 'a') {
      event.preventDefault();
      marks.all();
      return;
    }
    if (isModified) return;
    const current = units[place];
    const to = rowAfterKey(event.key, place, units.length);
    const next = to === null ? undefined : units[to];
    if (to !== null && next !== undefined) {
      event.preventDefault();
      if (event.shiftKey) {
        if (current !== undefined && marks.units.length === 0) marks.toggle(current);
        marks.extend(units, to);
      }
      props.onMove(next.id);
    } else if (event.key === 'Enter' && current !== undefined) {
      event.preventDefault();
      props.onOpen(current.id);
    } else if (event.key === ' ' && current !== undefined) {
      event.preventDefault();
      marks.toggle(current);
    }
  };
  const onClick = (event: MouseEvent, index: number, unit: MemoryUnit) => {
    const isBox = event.target instanceof Element && event.target.closest('.mark-cell') !== null;
    if (event.shiftKey) marks.extend(units, index);
    else if (isBox || event.ctrlKey || event.metaKey) marks.toggle(unit);
    else props.onOpen(unit.id);
  };

  const allMarked = units.length > 0 && marks.units.length >= props.total;
  const isShown = place !== -1 && shown.some(({ index }) => index === place);
  const rest = rows.getTotalSize() - (shown.at(-1)?.end ?? HEAD) + HEAD;
  return (
    <div ref={box} className="grid-box">
      <table
        className="grid"
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid is a table whose rows can be chosen
        role="grid"
        tabIndex={0}
        aria-label={t('memories.title')}
        aria-multiselectable="true"
        aria-rowcount={props.total + 1}
        aria-activedescendant={isShown && at !== null ? rowId(at) : undefined}
        onKeyDown={onKeyDown}
      >
        <thead>
          <tr aria-rowindex={1}>
            <th className="mark-cell">
              <input
                type="checkbox"
                className="check"
                aria-label={t('memories.markAll')}
                checked={allMarked}
                ref={(element) => {
                  if (element !== null) element.indeterminate = !allMarked && marks.units.length > 0;
                }}
                onChange={() => (allMarked ? marks.clear() : marks.all())}
              />
            </th>
            <th>{t('memories.memory')}</th>
            <SortHead label={t('memories.usedIn')} sorts={['used']} width="used-cell" />
            <SortHead label={t('memories.learned')} sorts={['newest', 'oldest']} width="when-cell" />
          </tr>
        </thead>
        <tbody>
          <Gap height={(shown[0]?.start ?? HEAD) - HEAD} />
          {shown.map(({ index }) => {
            const unit = units[index];
            if (unit === undefined) return null;
            return (
              <tr
                key={unit.id}
                id={rowId(unit.id)}
                aria-rowindex={index + 2}
                aria-selected={marks.has(unit.id)}
                className={unit.id === at ? 'on' : ''}
                onClick={(event) => onClick(event, index, unit)}
              >
                <Cells unit={unit} reason={props.reasons[unit.id]} isMarked={marks.has(unit.id)} />
              </tr>
            );
          })}
          <Gap height={rest} />
        </tbody>
      </table>
      {props.foot}
    </div>
  );
}

/** Stands for the rows that are out of sight. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row of a table takes no focus
    <tr className="gap" aria-hidden="true">
      <td colSpan={4} style={{ height }} />
    </tr>
  );
}

function Cells({ unit, reason, isMarked }: { unit: MemoryUnit; reason?: string; isMarked: boolean }) {
  const t = useT();
  const now = useNow(60_000);
  const isCurrent = unit.status === 'active';
  return (
    <>
      <td className="mark-cell">
        <span className={isMarked ? 'check on' : 'check'} aria-hidden="true" />
      </td>
      <td>
        <div className="flex l1">
          {unit.pinned ? (
            <span className="acc">
              <Pin className="s" aria-hidden="true" />
              <span className="sr">{t('memories.pinned')}</span>
            </span>
          ) : null}
          <span className={isCurrent ? 'cut' : 'cut t3 gone'}>{unit.content}</span>
        </div>
        <div className="l2 cut">
          {t(`memories.kindOne.${unit.kind}`)}
          <span className="dot-sep">{scopeWords(unit.scope, t)}</span>
          {reason === undefined || reason === '' ? null : <span className="dot-sep reason">{reason}</span>}
        </div>
      </td>
      <td className={unit.usedIn === 0 ? 'num t3' : 'num'}>{formatNumber(unit.usedIn, t.locale)}</td>
      <td className="num t3 sm">
        {isCurrent ? formatWhen(unit.createdAt, now, t.locale) : t(`memories.stateOne.${unit.status}`)}
      </td>
    </>
  );
}

/** A column's name that sorts by it; pressed again, the other way round where there is one. */
function SortHead({ label, sorts, width }: { label: string; sorts: readonly Sort[]; width: string }) {
  const { filter, change } = useFilter();
  const at = sorts.indexOf(filter.sort);
  // What is searched for comes by relevance.
  const isActive = at !== -1 && filter.text === '';
  const next = sorts[(at + 1) % sorts.length] ?? filter.sort;
  const isUp = filter.sort === 'oldest';
  return (
    <th className={`num ${width}`} aria-sort={isActive ? (isUp ? 'ascending' : 'descending') : 'none'}>
      <button
        type="button"
        className="sort"
        disabled={filter.text !== ''}
        onClick={() => change({ sort: next })}
      >
        {isActive ? (
          isUp ? (
            <ArrowUp className="s" aria-hidden="true" />
          ) : (
            <ArrowDown className="s" aria-hidden="true" />
          )
        ) : null}
        {label}
      </button>
    </th>
  );
}

function rowId(id: string): string {
  return `memory-${id}`;
}
