import type { Rectangle } from 'electron';
import Store from 'electron-store';
import type { Theme } from '../shared/host.ts';
import type { Locale } from '../shared/i18n/index.ts';

/** Trivia of this host; nothing of the product itself. */
export interface Preferences {
  theme: Theme;
  language: Locale | 'system';
  bounds: Rectangle | null;
  /** Whether it was explained that closing the window leaves the tray. */
  hideExplained: boolean;
}

const DEFAULTS: Preferences = { theme: 'system', language: 'system', bounds: null, hideExplained: false };

/** Keeps preferences in a file of their own; a damaged one is started anew. */
export class PreferenceStore {
  readonly #store: Store<Preferences>;

  constructor(folder: string) {
    this.#store = new Store<Preferences>({
      name: 'window',
      cwd: folder,
      defaults: DEFAULTS,
      clearInvalidConfig: true,
    });
  }

  get<K extends keyof Preferences>(name: K): Preferences[K] {
    return this.#store.get(name, DEFAULTS[name]);
  }

  set<K extends keyof Preferences>(name: K, value: Preferences[K]): void {
    this.#store.set(name, value);
  }
}
