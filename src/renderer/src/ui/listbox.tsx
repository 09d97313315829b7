import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { rowAfterKey } from './list-keys.ts';

export interface ListGroup<Item> {
  readonly key: string;
  readonly title: string;
  readonly end?: ReactNode;
  readonly items: readonly Item[];
}

/**
 * A list with one tab stop: arrows or J and K move, Home and End jump, Enter opens. The selection follows the keys.
 */
export function Listbox<Item>(props: {
  label: string;
  groups: readonly ListGroup<Item>[];
  selected: string | null;
  idOf: (item: Item) => string;
  onSelect: (id: string) => void;
  onOpen?: (id: string) => void;
  children: (item: Item) => ReactNode;
  foot?: ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  const ids = props.groups.flatMap((group) => group.items.map(props.idOf));
  const { selected } = props;
  useEffect(() => {
    if (selected === null) return;
    const option = box.current?.querySelector(`[data-id="${CSS.escape(selected)}"]`);
    option?.scrollIntoView({ block: 'nearest' });
  }, [selected]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = selected === null ? -1 : ids.indexOf(selected);
    const to = rowAfterKey(event.key, at, ids.length);
    if (to !== null) {
      event.preventDefault();
      const id = ids[to];
      if (id !== undefined) props.onSelect(id);
    } else if (event.key === 'Enter' && selected !== null) {
      event.preventDefault();
      (props.onOpen ?? props.onSelect)(selected);
    }
  };

  return (
    <div className="rows">
      <div
        ref={box}
        className="listbox"
        role="listbox"
        tabIndex={0}
        aria-label={props.label}
        aria-activedescendant={selected !== null && ids.includes(selected) ? optionId(selected) : undefined}
        onKeyDown={onKeyDown}
      >
        {props.groups.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options is no fieldset
          <div role="group" aria-label={group.title === '' ? props.label : group.title} key={group.key}>
            {group.title === '' ? null : (
              <div className="group" aria-hidden="true">
                <span className="cut">{group.title}</span>
                <span className="end nowrap">{group.end}</span>
              </div>
            )}
            {group.items.map((item) => {
              const id = props.idOf(item);
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox handles the keys
                // biome-ignore lint/a11y/useFocusableInteractive: options of a listbox with aria-activedescendant are not focused
                <div
                  key={id}
                  id={optionId(id)}
                  data-id={id}
                  role="option"
                  aria-selected={id === selected}
                  className={id === selected ? 'row on' : 'row'}
                  onClick={() => (props.onOpen ?? props.onSelect)(id)}
                >
                  {props.children(item)}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {props.foot}
    </div>
  );
}

function optionId(id: string): string {
  return `option-${id}`;
}
