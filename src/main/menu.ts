import { Menu, type MenuItemConstructorOptions } from 'electron';
import { type CommandId, commandById } from '../shared/commands.ts';
import type { Translate } from '../shared/i18n/index.ts';

/** The application menu: editing keys, the ways through the window, and Quit (which really quits). */
export function setAppMenu(deps: {
  t: Translate;
  platform: string;
  go: (path: string) => void;
  quit: () => void;
  close: () => void;
}): void {
  const { t } = deps;
  const place = (id: CommandId): MenuItemConstructorOptions => {
    const { title, shortcut, path } = commandById(id);
    // The window binds these keys itself.
    return {
      id,
      label: t(title),
      accelerator: shortcut,
      registerAccelerator: false,
      click: () => deps.go(path ?? '/'),
    };
  };
  const quit: MenuItemConstructorOptions = {
    id: 'quit',
    label: t('command.quit'),
    accelerator: commandById('quit').shortcut,
    click: deps.quit,
  };
  const close: MenuItemConstructorOptions = {
    id: 'close',
    label: t('menu.close'),
    accelerator: 'CmdOrCtrl+W',
    click: deps.close,
  };
  const places = [
    place('overview'),
    place('activity'),
    place('skills'),
    place('proposals'),
    place('usage'),
    place('memories'),
    place('settings'),
  ];
  const template: MenuItemConstructorOptions[] = [
    deps.platform === 'darwin'
      ? {
          role: 'appMenu',
          submenu: [
            { role: 'about' },
            { type: 'separator' },
            { role: 'hide' },
            { role: 'hideOthers' },
            { role: 'unhide' },
            { type: 'separator' },
            quit,
          ],
        }
      : { label: t('menu.file'), submenu: [close, { type: 'separator' }, quit] },
    { role: 'editMenu', label: t('menu.edit') },
    { label: t('menu.go'), submenu: places },
    {
      label: t('menu.view'),
      submenu: [
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
      ],
    },
    {
      label: t('menu.window'),
      submenu: [
        { role: 'minimize', label: t('menu.minimise') },
        ...(deps.platform === 'darwin' ? [close] : []),
      ],
    },
  ];
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}
