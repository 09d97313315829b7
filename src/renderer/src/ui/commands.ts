import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { COMMANDS, type CommandId, commandById } from '../../../shared/commands.ts';
import type { AppError } from '../../../shared/errors.ts';
import { call, callHost } from '../api.ts';
import { useUi } from '../state.ts';
import { useCopy } from './hooks.ts';

/** Runs one of the commands that palette and menu list. */
export function useRunCommand(): (id: CommandId) => void {
  const [, navigate] = useLocation();
  const copy = useCopy();
  const toast = useUi((state) => state.toast);
  const setPaletteOpen = useUi((state) => state.setPaletteOpen);
  const fail = (error: AppError) => toast(error.message, { tone: 'danger' });
  const copyEndpoint = async (which: 'openai' | 'anthropic' | 'curl') => {
    const endpoints = await call('proxy.endpoints', {});
    copy(endpoints[which]);
  };
  const actions: Partial<Record<CommandId, () => Promise<unknown>>> = {
    startProxy: () => call('proxy.start', {}),
    stopProxy: () => call('proxy.stop', {}),
    bypassOn: () => call('proxy.bypass', { on: true }),
    bypassOff: () => call('proxy.bypass', { on: false }),
    copyOpenai: () => copyEndpoint('openai'),
    copyAnthropic: () => copyEndpoint('anthropic'),
    copyCurl: () => copyEndpoint('curl'),
    demo: () => {
      navigate('/');
      return call('demo.start', {});
    },
    quit: () => callHost('host.quit', {}),
  };
  return (id) => {
    if (id === 'palette') return setPaletteOpen(true);
    const { path } = commandById(id);
    if (path !== undefined) navigate(path);
    actions[id]?.().catch(fail);
  };
}

/**
 * Binds the shortcuts of the commands. The menu only shows them, so that they work the same wherever the window is;
 * Quit alone belongs to the menu, since it must work with a page that hangs.
 */
export function useShortcuts(): void {
  const run = useRunCommand();
  const isOpen = useUi((state) => state.paletteOpen);
  const setPaletteOpen = useUi((state) => state.setPaletteOpen);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      const shortcut = `CmdOrCtrl+${event.key.toUpperCase()}`;
      const command = COMMANDS.find(
        (candidate) => candidate.shortcut === shortcut && candidate.id !== 'quit',
      );
      if (command === undefined) return;
      event.preventDefault();
      if (command.id === 'palette') setPaletteOpen(!isOpen);
      else if (document.querySelector('[role="dialog"]') === null) run(command.id);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [isOpen, run, setPaletteOpen]);
}
