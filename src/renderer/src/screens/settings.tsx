import { Copy } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import type { ConfigEntry } from '../../../shared/contract.ts';
import type { AppError } from '../../../shared/errors.ts';
import type { HostInput, HostState } from '../../../shared/host.ts';
import { LOCALE_NAMES, LOCALES } from '../../../shared/i18n/index.ts';
import { providerLabel } from '../../../shared/status.ts';
import { call, callHost, useCommand, useRoute } from '../api.ts';
import { useT } from '../i18n.tsx';
import { useUi } from '../state.ts';
import { useCopy, useSnapshot } from '../ui/hooks.ts';
import { Button, IconButton, Panel, Segments, Select, Switch } from '../ui/primitives.tsx';
import { Shell } from '../ui/shell.tsx';
import { HealthPart } from './health.tsx';

/** What most people change; everything else stands in config.yaml. */
export function Settings() {
  const t = useT();
  const host = useUi((state) => state.host);
  return (
    <Shell title={t('settings.title')}>
      <div className="body">
        <div className="grow pad scroll">
          <div className="settings">
            <ProviderPart />
            <ConnectPart />
            <ProxyPart />
            <LearningPart />
            {host === null ? null : <AppearancePart host={host} />}
            <HealthPart />
            {host === null ? null : (
              <Panel title={t('settings.about')}>
                <Row
                  label={t('settings.version')}
                  control={<span className="selectable">{host.version}</span>}
                />
                <Row
                  label={t('settings.secrets')}
                  control={<span className="t2 selectable secrets-place">{host.secrets.detail}</span>}
                />
              </Panel>
            )}
          </div>
        </div>
      </div>
    </Shell>
  );
}

function Row(props: { label: string; help?: string; control: ReactNode }) {
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

function ProviderPart() {
  const t = useT();
  const [, navigate] = useLocation();
  const { provider } = useSnapshot();
  return (
    <Panel title={t('settings.provider')}>
      <div className="line-item">
        <div className="grow">
          <div className="selectable">
            {provider.configured
              ? [providerLabel(provider), provider.model].filter(Boolean).join(', ')
              : t('settings.providerNone')}
          </div>
          {provider.configured ? <div className="sm t3 selectable">{provider.baseUrl}</div> : null}
        </div>
        <Button small tone={provider.configured ? 'plain' : 'primary'} onClick={() => navigate('/setup')}>
          {provider.configured ? t('settings.providerChange') : t('settings.providerSet')}
        </Button>
      </div>
    </Panel>
  );
}

function ConnectPart() {
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

/** Saves one key of the configuration and says when that did not work. */
function useSetting(path: string) {
  const t = useT();
  const entry = useRoute('config.get', { path });
  const set = useCommand('config.set');
  const toast = useUi((state) => state.toast);
  const save = (value: unknown) =>
    set.mutate(
      { path, value },
      {
        onError: (error: AppError) =>
          toast(t('settings.notSaved', { message: error.message }), { tone: 'danger' }),
      },
    );
  return { entry: entry.data, save, saving: set.isPending };
}

function helpOf(entry: ConfigEntry | undefined, help: string, overridden: (by: string) => string): string {
  return entry?.overriddenBy == null ? help : `${help} ${overridden(entry.overriddenBy)}`;
}

function SwitchRow({ path, label, help }: { path: string; label: string; help: string }) {
  const t = useT();
  const { entry, save, saving } = useSetting(path);
  return (
    <Row
      label={label}
      help={helpOf(entry, help, (by) => t('settings.overridden', { by }))}
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

function ProxyPart() {
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
  const toast = useUi((state) => state.toast);
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
  const restart = async () => {
    try {
      await call('proxy.stop', {});
      await call('proxy.start', {});
    } catch (error) {
      toast((error as AppError).message, { tone: 'danger' });
    }
  };
  return (
    <Row
      label={t('settings.port')}
      help={
        listensElsewhere
          ? t('settings.restartNeeded')
          : helpOf(entry, t('settings.portHelp'), (by) => t('settings.overridden', { by }))
      }
      control={
        <span className="flex">
          {listensElsewhere ? (
            <Button small tone="primary" onClick={() => void restart()}>
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

type AcceptRule = 'safe' | 'ask' | 'always';

function LearningPart() {
  const t = useT();
  const { entry, save } = useSetting('skills.auto_accept');
  return (
    <Panel title={t('settings.learning')}>
      <SwitchRow
        path="skills.enabled"
        label={t('settings.skillsEnabled')}
        help={t('settings.skillsEnabledHelp')}
      />
      <SwitchRow
        path="skills.auto_evolve"
        label={t('settings.autoEvolve')}
        help={t('settings.autoEvolveHelp')}
      />
      <Row
        label={t('settings.autoAccept')}
        help={t('settings.autoAcceptHelp')}
        control={
          <Segments<AcceptRule>
            label={t('settings.autoAccept')}
            value={(entry?.value as AcceptRule | undefined) ?? 'safe'}
            options={[
              { value: 'safe', label: t('settings.acceptSafe') },
              { value: 'ask', label: t('settings.acceptAsk') },
              { value: 'always', label: t('settings.acceptAlways') },
            ]}
            onChange={save}
          />
        }
      />
      <SwitchRow
        path="record.bodies"
        label={t('settings.recordBodies')}
        help={t('settings.recordBodiesHelp')}
      />
    </Panel>
  );
}

function AppearancePart({ host }: { host: HostState }) {
  const t = useT();
  const setHost = useUi((state) => state.setHost);
  const change = (request: Promise<HostState>) => void request.then(setHost);
  return (
    <Panel title={t('settings.appearance')}>
      <Row
        label={t('settings.theme')}
        help={t('settings.themeHelp')}
        control={
          <Segments
            label={t('settings.theme')}
            value={host.theme}
            options={[
              { value: 'system', label: t('settings.themeSystem') },
              { value: 'light', label: t('settings.themeLight') },
              { value: 'dark', label: t('settings.themeDark') },
            ]}
            onChange={(theme) => change(callHost('host.setTheme', { theme }))}
          />
        }
      />
      <Row
        label={t('settings.language')}
        help={t('settings.languageHelp')}
        control={
          <Select
            aria-label={t('settings.language')}
            value={host.language}
            onChange={(event) =>
              change(
                callHost('host.setLanguage', {
                  language: event.target.value as HostInput<'host.setLanguage'>['language'],
                }),
              )
            }
          >
            <option value="system">{t('settings.themeSystem')}</option>
            {LOCALES.map((locale) => (
              <option key={locale} value={locale} lang={locale}>
                {LOCALE_NAMES[locale]}
              </option>
            ))}
          </Select>
        }
      />
    </Panel>
  );
}
