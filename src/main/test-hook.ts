import type { AppTray } from './tray.ts';
import type { TrayCommand, TrayItem } from './tray-menu.ts';
import type { MainWindow } from './window.ts';

/** What end-to-end tests can see and press of the parts that no browser driver reaches. */
export interface TestHook {
  trayTemplate(): readonly TrayItem[];
  trayShown(): { icon: string; tooltip: string } | null;
  clickTray(id: TrayCommand): void;
  hasTray(): boolean;
  isVisible(): boolean;
}

/** Puts the hook where Playwright's `evaluate` finds it. Called under METACLAW_E2E=1 only. */
export function installTestHook(deps: {
  tray: () => AppTray | null;
  run: (id: TrayCommand) => void;
  hasTray: () => boolean;
  window: MainWindow;
}): void {
  const hook: TestHook = {
    trayTemplate: () => deps.tray()?.template() ?? [],
    trayShown: () => deps.tray()?.shown() ?? null,
    clickTray: deps.run,
    hasTray: deps.hasTray,
    isVisible: () => deps.window.window?.isVisible() ?? false,
  };
  Object.assign(globalThis, { metaclawTest: hook });
}
