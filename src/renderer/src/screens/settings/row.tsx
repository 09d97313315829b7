import type { ReactNode } from 'react';
import { BY_FLAG } from '../../../../shared/config-rules.ts';
import type { ConfigEntry } from '../../../../shared/contract.ts';
import type { Translate } from '../../../../shared/i18n/index.ts';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { Switch } from '../../ui/primitives.tsx';

/** One thing that can be set: what it is, what it does, and the control. */
export function Row(props: { label: string; help?: string; control: ReactNode }) {
  return (
    <div className="line-item">
      <div className="grow">
        <div>{props.label}</div>
        {props.help === undefined ? null : <div className="sm t3">{props.help}</div>}
      </div>
      {props.control}
    </div>
  );
}

/** Saves one key of the configuration and says when that did not work. */
export function useSetting(path: string) {
  const t = useT();
  const entry = useRoute('config.get', { path });
  const set = useCommand('config.set', ({ message }) => t('settings.notSaved', { message }));
  const save = (value: unknown) => set.mutate({ path, value });
  return { entry: entry.data, save, saving: set.isPending };
}

/** The help of a key, and who has overridden it. */
export function helpOf(entry: ConfigEntry | undefined, help: string, t: Translate): string {
  const by = entry?.overriddenBy ?? null;
  if (by === null) return help;
  return `${help} ${by === BY_FLAG ? t('settings.overriddenByFlag') : t('settings.overridden', { by })}`;
}

/** A key that is on or off. */
export function SwitchRow({ path, label, help }: { path: string; label: string; help: string }) {
  const t = useT();
  const { entry, save, saving } = useSetting(path);
  return (
    <Row
      label={label}
      help={helpOf(entry, help, t)}
      control={
        <Switch
          label={label}
          checked={entry?.value === true}
          disabled={entry === undefined || saving || entry.overriddenBy !== null}
          onChange={save}
        />
      }
    />
  );
}
