import { Copy } from 'lucide-react';
import { useState } from 'react';
import { useCommand, useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useCopy, useSnapshot } from '../../ui/hooks.ts';
import { Button, IconButton, Panel, Switch } from '../../ui/primitives.tsx';
import { helpOf, Row, useSetting } from './row.tsx';

/** What an agent needs to be told. */
export function ConnectPart() {
  const t = useT();
  const copy = useCopy();
  const endpoints = useRoute('proxy.endpoints', {});
  if (endpoints.data === undefined) return null;
  const { openai, anthropic, model, keySet } = endpoints.data;
  const value = (text: string) => (
    <span className="flex">
      <span className="mono selectable cut">{text}</span>
      <IconButton small label={t('common.copy')} onClick={() => copy(text)}>
        <Copy className="s" aria-hidden="true" />
      </IconButton>
    </span>
  );
  return (
    <Panel
      title={t('settings.connect')}
      end={<span className="sm t3 hide-narrow">{t('settings.connectHelp')}</span>}
    >
      <Row label={t('settings.openaiBase')} control={value(openai)} />
      <Row label={t('settings.anthropicBase')} control={value(anthropic)} />
      {model === '' ? null : <Row label={t('settings.model')} control={value(model)} />}
      <Row
        label={t('settings.key')}
        control={<span className="t2">{keySet ? t('settings.keySet') : t('settings.keyNone')}</span>}
      />
    </Panel>
  );
}

/** The port, and the bypass. */
export function ProxyPart() {
  const t = useT();
  const { bypass } = useSnapshot();
  const setBypass = useCommand('proxy.bypass');
  return (
    <Panel title={t('settings.proxy')}>
      <PortRow />
      <Row
        label={t('settings.bypass')}
        help={t('settings.bypassHelp')}
        control={
          <Switch
            label={t('settings.bypass')}
            checked={bypass}
            disabled={setBypass.isPending}
            onChange={(on) => setBypass.mutate({ on })}
          />
        }
      />
    </Panel>
  );
}

function PortRow() {
  const t = useT();
  const snapshot = useSnapshot();
  const start = useCommand('proxy.start');
  const stop = useCommand('proxy.stop');
  const { entry, save } = useSetting('proxy.port');
  const [draft, setDraft] = useState<string | null>(null);
  const saved = typeof entry?.value === 'number' ? String(entry.value) : '';
  const shown = draft ?? saved;
  const isValid = /^\d{1,5}$/.test(shown) && Number(shown) <= 65535;
  const listensElsewhere =
    snapshot.proxy.state === 'running' &&
    entry !== undefined &&
    entry.value !== 0 &&
    entry.overriddenBy === null &&
    snapshot.proxy.port !== entry.value;
  const commit = () => {
    if (isValid && shown !== saved) save(Number(shown));
    if (isValid) setDraft(null);
  };
  const restart = () => stop.mutate({}, { onSuccess: () => start.mutate({}) });
  return (
    <Row
      label={t('settings.port')}
      help={listensElsewhere ? t('settings.restartNeeded') : helpOf(entry, t('settings.portHelp'), t)}
      control={
        <span className="flex">
          {listensElsewhere ? (
            <Button small tone="primary" disabled={stop.isPending || start.isPending} onClick={restart}>
              {t('settings.restart')}
            </Button>
          ) : null}
          <span className={isValid || shown === '' ? 'input port' : 'input port bad'}>
            <input
              aria-label={t('settings.port')}
              inputMode="numeric"
              value={shown}
              disabled={entry === undefined || entry.overriddenBy !== null}
              aria-invalid={!isValid}
              onChange={(event) => setDraft(event.target.value.trim())}
              onBlur={commit}
              onKeyDown={(event) => {
                if (event.key === 'Enter') commit();
                if (event.key === 'Escape') setDraft(null);
              }}
            />
          </span>
        </span>
      }
    />
  );
}
