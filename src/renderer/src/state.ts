import { create } from 'zustand';
import type { DemoEvent, Undo } from '../../shared/contract.ts';
import type { HostState } from '../../shared/host.ts';
import type { Snapshot } from '../../shared/status.ts';

export interface ToastItem {
  readonly id: number;
  readonly text: string;
  readonly tone: 'plain' | 'danger';
  readonly undo: Undo | null;
}

/** What lives in the window alone; everything else is asked of the engine. */
interface UiState {
  snapshot: Snapshot | null;
  host: HostState | null;
  paletteOpen: boolean;
  closing: 'first-hide' | 'no-tray' | null;
  toasts: readonly ToastItem[];
  /** Steps of the last demo since the window opened. */
  demo: readonly DemoEvent[];
  setSnapshot(snapshot: Snapshot): void;
  setHost(host: HostState): void;
  setPaletteOpen(open: boolean): void;
  setClosing(closing: UiState['closing']): void;
  toast(text: string, options?: { tone?: ToastItem['tone']; undo?: Undo }): void;
  dropToast(id: number): void;
  addDemo(event: DemoEvent): void;
}

export const useUi = create<UiState>((set, get) => ({
  snapshot: null,
  host: null,
  paletteOpen: false,
  closing: null,
  toasts: [],
  demo: [],
  setSnapshot: (snapshot) => set({ snapshot }),
  setHost: (host) => set({ host }),
  setPaletteOpen: (paletteOpen) => set({ paletteOpen }),
  setClosing: (closing) => set({ closing }),
  toast: (text, options = {}) => {
    const item: ToastItem = {
      id: (get().toasts.at(-1)?.id ?? 0) + 1,
      text,
      tone: options.tone ?? 'plain',
      undo: options.undo ?? null,
    };
    // More than three at once hide each other.
    set((state) => ({ toasts: [...state.toasts, item].slice(-3) }));
  },
  dropToast: (id) => set((state) => ({ toasts: state.toasts.filter((item) => item.id !== id) })),
  addDemo: (event) => set((state) => ({ demo: event.step === 'start' ? [event] : [...state.demo, event] })),
}));
