import type { HostInput, HostState } from '../../../../shared/host.ts';
import { LOCALE_NAMES, LOCALES } from '../../../../shared/i18n/index.ts';
import { callHost } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { Panel, Segments, Select } from '../../ui/primitives.tsx';
import { Row } from './row.tsx';

/** Theme and language of the window, the tray and the menu. */
export function AppearancePart({ host }: { host: HostState }) {
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
