import { create } from 'zustand';
import type { ProviderPreset, ProviderTest } from '../../../../shared/contract.ts';

export type Wire = 'auto' | 'openai' | 'anthropic';
export const STEPS = ['what', 'provider', 'learning', 'review', 'hello'] as const;
export type Step = (typeof STEPS)[number];

/** What was chosen in the wizard and is not saved yet. The key lives here only until it is saved; it is never read back. */
export interface Draft {
  provider: string | null;
  /** The vendor's program that answers in place of a server; null: the provider has an address. */
  program: string | null;
  baseUrl: string;
  model: string;
  wire: Wire;
  apiKey: string;
  autoAccept: 'safe' | 'ask';
  recordBodies: boolean;
  proxyKey: boolean;
}

interface DraftState {
  draft: Draft;
  test: ProviderTest | null;
  change(change: Partial<Draft>): void;
  choose(preset: ProviderPreset, found?: { baseUrl: string; models: string[] }): void;
  setTest(test: ProviderTest | null): void;
  clear(): void;
}

const EMPTY: Draft = {
  provider: null,
  program: null,
  baseUrl: '',
  model: '',
  wire: 'auto',
  apiKey: '',
  autoAccept: 'safe',
  recordBodies: true,
  proxyKey: false,
};

/** The draft outlives the wizard's screens, so that Back and leaving lose nothing. */
export const useDraft = create<DraftState>((set) => ({
  draft: EMPTY,
  test: null,
  change: (change) => set((state) => ({ draft: { ...state.draft, ...change } })),
  choose: (preset, found) =>
    set((state) => ({
      test: null,
      draft: {
        ...state.draft,
        provider: preset.id,
        program: preset.program,
        baseUrl: found?.baseUrl ?? preset.baseUrl,
        model: preset.suggestedModel || (found?.models[0] ?? ''),
        wire: preset.id === 'custom' ? 'auto' : preset.wire,
        // A key belongs to one provider and is not sent to another.
        apiKey: state.draft.provider === preset.id ? state.draft.apiKey : '',
      },
    })),
  setTest: (test) => set({ test }),
  clear: () => set({ draft: EMPTY, test: null }),
}));
