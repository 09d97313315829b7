import { useLocation } from 'wouter';
import { type CommandId, commandById } from '../../../shared/commands.ts';
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
