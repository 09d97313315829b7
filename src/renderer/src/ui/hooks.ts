import { useEffect, useMemo, useState } from 'react';
import { agentName } from '../../../shared/agents.ts';
import type { Translate } from '../../../shared/i18n/index.ts';
import { describe, type Snapshot, type Status } from '../../../shared/status.ts';
import { callHost } from '../api.ts';
import { useT } from '../i18n.tsx';
import { useUi } from '../state.ts';

/** The snapshot; screens render only once there is one. */
export function useSnapshot(): Snapshot {
  const snapshot = useUi((state) => state.snapshot);
  if (snapshot === null) throw new Error('no snapshot yet');
  return snapshot;
}

/** The present, refreshed so often. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** The sentence of tray and header. */
export function useStatus(): Status {
  const snapshot = useSnapshot();
  const t = useT();
  const now = useNow(snapshot.activeTurns.length > 0 ? 500 : 30_000);
  return useMemo(() => describe(snapshot, t, Math.max(now, Date.now())), [snapshot, t, now]);
}

/** Puts a text on the clipboard and says so. */
export function useCopy(): (text: string) => void {
  const t = useT();
  const toast = useUi((state) => state.toast);
  return (text) => {
    callHost('host.copy', { text }).then(
      () => toast(t('common.copied')),
      (error: Error) => toast(error.message, { tone: 'danger' }),
    );
  };
}

/** Binds single keys while no field has the focus and no dialog is open. Values may be null to switch a key off. */
export function useHotkeys(keys: Readonly<Record<string, (() => void) | null>>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isEditing(event.target)) return;
      if (document.querySelector('[role="dialog"]') !== null) return;
      const run = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (run === undefined || run === null) return;
      event.preventDefault();
      run();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [keys]);
}

/** Whether keys go into a field; a box to tick takes none but Space. */
export function isEditing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && target.type === 'checkbox') return false;
  return target.closest('input, textarea, select, [contenteditable]') !== null;
}

/** An agent's name, or a word for one that did not say. */
export function agentLabel(id: string, t: Translate): string {
  return agentName(id) ?? t('overview.agent');
}

/** `127.0.0.1:30000` of a proxy that runs or is meant to. */
export function proxyAddress(snapshot: Snapshot): string | null {
  const { proxy } = snapshot;
  if (proxy.state === 'running') return `${proxy.host}:${proxy.port}`;
  return proxy.state === 'stopped' ? null : `127.0.0.1:${proxy.port}`;
}

/** A value that has not changed for a while. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
