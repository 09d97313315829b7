import { Ellipsis, Filter as FilterIcon, Plus } from 'lucide-react';
import { DropdownMenu, Popover } from 'radix-ui';
import type { RefObject } from 'react';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { FilterField } from '../../ui/list-parts.tsx';
import { Button, IconButton, Switch } from '../../ui/primitives.tsx';
import { Facets } from './facets.tsx';
import { ticked, useFilter } from './filter.ts';

export interface ToolbarActions {
  add: () => void;
  importFile: () => void;
  exportAll: () => void;
  wipe: () => void;
}

/** Search, the switch, and what is done with all memories at once. */
export function Toolbar(props: {
  field: RefObject<HTMLInputElement | null>;
  /** The text that is searched for by now. */
  asked: string;
  actions: ToolbarActions;
}) {
  const t = useT();
  const { filter, change } = useFilter();
  const { actions } = props;
  return (
    <div className="bar memories-bar">
      <FilterField
        field={props.field}
        label={t('memories.searchField')}
        value={filter.text}
        onChange={(text) => change({ text })}
      />
      <FacetsButton asked={props.asked} />
      <span className="grow" />
      <RememberSwitch />
      <Button tone="quiet" className="hide-medium" onClick={actions.importFile}>
        {t('memories.import')}
      </Button>
      <Button tone="quiet" className="hide-medium" onClick={actions.exportAll}>
        {t('memories.export')}
      </Button>
      <More actions={actions} />
      <Button tone="primary" hotkey="N" onClick={actions.add}>
        <Plus className="s" aria-hidden="true" />
        {t('memories.add')}
      </Button>
    </div>
  );
}

/** Where there is no room for the column of boxes, they are behind a button. */
function FacetsButton({ asked }: { asked: string }) {
  const t = useT();
  const count = ticked(useFilter((state) => state.filter));
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <Button className="medium-only">
          <FilterIcon className="s" aria-hidden="true" />
          {t('memories.filters')}
          {count === 0 ? null : <span className="badge acc">{count}</span>}
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className="popover facets"
          aria-label={t('memories.filters')}
          align="start"
          sideOffset={4}
          collisionPadding={8}
        >
          <Facets text={asked} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function RememberSwitch() {
  const t = useT();
  const enabled = useRoute('config.get', { path: 'memory.enabled' });
  const set = useCommand('config.set');
  if (enabled.data === undefined) return null;
  return (
    <span className="flex sm t2 remember">
      <span className="hide-narrow" aria-hidden="true">
        {t('memories.rememberNew')}
      </span>
      <Switch
        label={t('memories.rememberNew')}
        checked={enabled.data.value === true}
        disabled={set.isPending || enabled.data.overriddenBy !== null}
        onChange={(value) => set.mutate({ path: 'memory.enabled', value })}
      />
    </span>
  );
}

function More({ actions }: { actions: ToolbarActions }) {
  const t = useT();
  const toast = useUi((state) => state.toast);
  const tidy = useCommand('memory.consolidate');
  const doTidy = () =>
    tidy.mutate(
      {},
      {
        onSuccess: ({ superseded, expired, conflicts }) =>
          toast(
            superseded + expired + conflicts === 0
              ? t('memories.tidyNothing')
              : t('memories.tidied', {
                  replaced: t('memories.countReplaced', { count: superseded }),
                  expired: t('memories.countExpired', { count: expired }),
                  conflicts: t('memories.countConflicts', { count: conflicts }),
                }),
          ),
      },
    );
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <IconButton label={t('memories.more')}>
          <Ellipsis aria-hidden="true" />
        </IconButton>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4} collisionPadding={8}>
          <DropdownMenu.Item className="menu-item" onSelect={actions.importFile}>
            {t('memories.import')}
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item" onSelect={actions.exportAll}>
            {t('memories.export')}
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item" disabled={tidy.isPending} onSelect={doTidy}>
            {t('memories.tidy')}
          </DropdownMenu.Item>
          <DropdownMenu.Separator className="menu-line" />
          <DropdownMenu.Item className="menu-item danger" onSelect={actions.wipe}>
            {t('memories.wipe')}
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
