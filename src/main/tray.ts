import { join } from 'node:path';
import { Menu, type MenuItemConstructorOptions, nativeImage, nativeTheme, Tray } from 'electron';
import type { Translate } from '../shared/i18n/index.ts';
import { describe, type Snapshot } from '../shared/status.ts';
import { isDarkPanel, type TrayCommand, type TrayItem, trayIconName, trayTemplate } from './tray-menu.ts';

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
