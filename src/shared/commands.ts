import type { MessageKey } from './i18n/index.ts';
import type { Snapshot } from './status.ts';

export type CommandId =
  | 'overview'
  | 'activity'
  | 'usage'
  | 'skills'
  | 'memories'
  | 'proposals'
  | 'settings'
  | 'setup'
  | 'startProxy'
  | 'stopProxy'
  | 'bypassOn'
  | 'bypassOff'
  | 'copyOpenai'
  | 'copyAnthropic'
  | 'copyCurl'
  | 'demo'
  | 'palette'
  | 'quit';

/** Something a user can do from everywhere; feeds the palette, the application menu and the tray. */
export interface Command {
  readonly id: CommandId;
  readonly title: MessageKey;
  /** Electron accelerator; the window shows it in the platform's own writing. */
  readonly shortcut?: string;
  /** Place in the window that it opens. */
  readonly path?: string;
  /** Whether it makes sense now; always when absent. */
  readonly when?: (snapshot: Snapshot) => boolean;
}

const isUp = (snapshot: Snapshot) =>
  snapshot.proxy.state === 'running' || snapshot.proxy.state === 'starting';

/** Every command, in the order in which the palette lists them. */
export const COMMANDS: readonly Command[] = [
  { id: 'overview', title: 'command.overview', shortcut: 'CmdOrCtrl+1', path: '/' },
  { id: 'activity', title: 'command.activity', shortcut: 'CmdOrCtrl+2', path: '/activity' },
  { id: 'skills', title: 'command.skills', shortcut: 'CmdOrCtrl+3', path: '/skills' },
  { id: 'proposals', title: 'command.proposals', shortcut: 'CmdOrCtrl+4', path: '/skills/proposals' },
  { id: 'usage', title: 'command.usage', shortcut: 'CmdOrCtrl+5', path: '/usage' },
  { id: 'memories', title: 'command.memories', shortcut: 'CmdOrCtrl+6', path: '/memories' },
  { id: 'settings', title: 'command.settings', shortcut: 'CmdOrCtrl+,', path: '/settings' },
  { id: 'setup', title: 'command.setup', path: '/setup' },
  { id: 'startProxy', title: 'command.startProxy', when: (snapshot) => !isUp(snapshot) },
  { id: 'stopProxy', title: 'command.stopProxy', when: isUp },
  { id: 'bypassOn', title: 'command.bypassOn', when: (snapshot) => !snapshot.bypass },
  { id: 'bypassOff', title: 'command.bypassOff', when: (snapshot) => snapshot.bypass },
  { id: 'copyOpenai', title: 'command.copyOpenai', when: isUp },
  { id: 'copyAnthropic', title: 'command.copyAnthropic', when: isUp },
  { id: 'copyCurl', title: 'command.copyCurl', when: isUp },
  { id: 'demo', title: 'command.demo' },
  { id: 'palette', title: 'command.palette', shortcut: 'CmdOrCtrl+K' },
  { id: 'quit', title: 'command.quit', shortcut: 'CmdOrCtrl+Q' },
];

/** Finds a command; every id has one. */
export function commandById(id: CommandId): Command {
  const found = COMMANDS.find((command) => command.id === id);
  if (found === undefined) throw new Error(`No command ${id}`);
  return found;
}
