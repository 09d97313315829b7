import type { Translate } from '../shared/i18n/index.ts';
import { describe, type Snapshot, type StatusLevel } from '../shared/status.ts';

export type TrayCommand =
  | 'status'
  | 'review'
  | 'setup'
  | 'start'
  | 'stop'
  | 'copy-openai'
  | 'copy-anthropic'
  | 'copy-key'
  | 'copy-curl'
  | 'bypass'
  | 'open'
  | 'skills'
  | 'memories'
  | 'activity'
  | 'demo'
  | 'settings'
  | 'quit';

export type TrayItem =
  | { kind: 'separator' }
  | { kind: 'text'; label: string }
  | { kind: 'command'; id: TrayCommand; label: string; enabled: boolean; checked?: boolean }
  | { kind: 'submenu'; label: string; enabled: boolean; items: readonly TrayItem[] };

/**
 * The tray's menu for a state, as data. The first line says what happens and why; then what waits, what can be
 * switched, what can be copied, and the ways into the window.
 * @param now milliseconds since the epoch, for the seconds of a running turn
 */
export function trayTemplate(
  snapshot: Snapshot,
  t: Translate,
  facts: { now: number; hasProxyKey: boolean },
): readonly TrayItem[] {
  const status = describe(snapshot, t, facts.now);
  const isUp = snapshot.proxy.state === 'running' || snapshot.proxy.state === 'starting';
  const command = (id: TrayCommand, label: string, enabled = true): TrayItem => ({
    kind: 'command',
    id,
    label,
    enabled,
  });
  const separator: TrayItem = { kind: 'separator' };
  const waiting = snapshot.waiting.proposals;
  return [
    command('status', status.sentence),
    ...(status.detail === null ? [] : [{ kind: 'text' as const, label: short(status.detail) }]),
    ...(waiting === 0 ? [] : [command('review', t('tray.review', { count: waiting }))]),
    ...(snapshot.provider.configured ? [] : [command('setup', t('tray.setup'))]),
    separator,
    isUp ? command('stop', t('tray.stop')) : command('start', t('tray.start')),
    {
      kind: 'submenu',
      label: t('tray.copy'),
      enabled: isUp,
      items: [
        command('copy-openai', t('tray.copyOpenai')),
        command('copy-anthropic', t('tray.copyAnthropic')),
        command('copy-key', t('tray.copyKey'), facts.hasProxyKey),
        command('copy-curl', t('tray.copyCurl')),
      ],
    },
    { kind: 'command', id: 'bypass', label: t('tray.bypass'), enabled: true, checked: snapshot.bypass },
    separator,
    command('open', t('tray.open')),
    command('skills', t('tray.skills')),
    command('memories', t('tray.memories')),
    command('activity', t('tray.activity')),
    command('demo', t('tray.demo')),
    separator,
    command('settings', t('tray.settings')),
    separator,
    command('quit', t('tray.quit')),
  ];
}

/** The picture for a state: a template on macOS, else drawn for a light or a dark panel. */
export function trayIconName(level: StatusLevel, platform: string, darkPanel: boolean): string {
  if (platform === 'darwin') return `${level}Template.png`;
  const tone = darkPanel ? 'dark' : 'light';
  return platform === 'win32' ? `${level}-${tone}-win.png` : `${level}-${tone}.png`;
}

/** GNOME's panel is dark in every theme; other desktops colour theirs like their windows. */
export function isDarkPanel(platform: string, desktop: string | undefined, dark: boolean): boolean {
  return platform === 'linux' && /gnome|unity/i.test(desktop ?? '') ? true : dark;
}

/** Menus of some desktops do not wrap. */
function short(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79).trimEnd()}…`;
}
