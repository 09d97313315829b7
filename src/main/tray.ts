import { join } from 'node:path';
import { Menu, type MenuItemConstructorOptions, nativeImage, nativeTheme, Tray } from 'electron';
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

export interface AppTrayDeps {
  /** Folder of the pictures. */
  icons: string;
  env: Readonly<Record<string, string | undefined>>;
  run: (id: TrayCommand) => void;
  hasProxyKey: () => boolean;
}

/** Puts the template on the screen and keeps it in step with the snapshot. */
export class AppTray {
  readonly #deps: AppTrayDeps;
  readonly #tray: Tray;
  #snapshot: Snapshot;
  #t: Translate;
  #shown = { icon: '', tooltip: '', menu: '' };
  #tick: NodeJS.Timeout | null = null;

  constructor(deps: AppTrayDeps & { snapshot: Snapshot; t: Translate }) {
    this.#deps = deps;
    this.#snapshot = deps.snapshot;
    this.#t = deps.t;
    this.#tray = new Tray(nativeImage.createFromPath(join(deps.icons, this.#iconName())));
    // macOS opens the menu on a click by itself; elsewhere the window is what a click is for.
    if (process.platform !== 'darwin') this.#tray.on('click', () => deps.run('open'));
    nativeTheme.on('updated', this.#onTheme);
    this.update(deps.snapshot, deps.t);
  }

  update(snapshot: Snapshot, t: Translate): void {
    this.#snapshot = snapshot;
    this.#t = t;
    this.#drawState();
    this.#drawMenu();
    const isWorking = snapshot.activeTurns.length > 0;
    if (isWorking && this.#tick === null) this.#tick = setInterval(() => this.#drawState(), 1000);
    if (!isWorking && this.#tick !== null) {
      clearInterval(this.#tick);
      this.#tick = null;
    }
  }

  /** What stands in the menu now. */
  template(): readonly TrayItem[] {
    return trayTemplate(this.#snapshot, this.#t, { now: Date.now(), hasProxyKey: this.#deps.hasProxyKey() });
  }

  /** The picture and the words that are shown. */
  shown(): { icon: string; tooltip: string } {
    return { icon: this.#shown.icon, tooltip: this.#shown.tooltip };
  }

  destroy(): void {
    nativeTheme.off('updated', this.#onTheme);
    if (this.#tick !== null) clearInterval(this.#tick);
    this.#tray.destroy();
  }

  readonly #onTheme = () => this.#drawState();

  #iconName(): string {
    const { level } = describe(this.#snapshot, this.#t, Date.now());
    const dark = isDarkPanel(
      process.platform,
      this.#deps.env.XDG_CURRENT_DESKTOP,
      nativeTheme.shouldUseDarkColors,
    );
    return trayIconName(level, process.platform, dark);
  }

  #drawState(): void {
    const icon = this.#iconName();
    const tooltip = describe(this.#snapshot, this.#t, Date.now()).sentence;
    if (icon !== this.#shown.icon)
      this.#tray.setImage(nativeImage.createFromPath(join(this.#deps.icons, icon)));
    if (tooltip !== this.#shown.tooltip) this.#tray.setToolTip(tooltip);
    this.#shown = { ...this.#shown, icon, tooltip };
  }

  /** A menu that is open would close when it is replaced: only a real change replaces it. */
  #drawMenu(): void {
    const template = this.template();
    const key = JSON.stringify(template);
    if (key === this.#shown.menu) return;
    this.#shown = { ...this.#shown, menu: key };
    this.#tray.setContextMenu(Menu.buildFromTemplate(template.map((item) => this.#build(item))));
  }

  #build(item: TrayItem): MenuItemConstructorOptions {
    switch (item.kind) {
      case 'separator':
        return { type: 'separator' };
      case 'text':
        return { label: item.label, enabled: false };
      case 'submenu':
        return {
          label: item.label,
          enabled: item.enabled,
          submenu: item.items.map((child) => this.#build(child)),
        };
      case 'command':
        return {
          id: item.id,
          label: item.label,
          enabled: item.enabled,
          ...(item.checked === undefined ? {} : { type: 'checkbox' as const, checked: item.checked }),
          click: () => this.#deps.run(item.id),
        };
    }
  }
}
