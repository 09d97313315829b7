import { z } from 'zod';
import type { ErrorJson } from './errors.ts';
import { LOCALES, type Locale } from './i18n/index.ts';

/**
 * Calls that the window's host answers itself, beside those of the engine (`contract.ts`). They go over the same
 * channel and are parsed the same way; they exist so that the window works even when the engine could not start.
 */
export const HOST_ROUTES = {
  'host.state': z.object({}).strict(),
  'host.setTheme': z.object({ theme: z.enum(['system', 'light', 'dark']) }),
  'host.setLanguage': z.object({ language: z.enum(['system', ...LOCALES]) }),
  'host.copy': z.object({ text: z.string().max(20_000) }),
  'host.openExternal': z.object({ url: z.string().max(2000) }),
  /** Lets the user choose a file to read, a folder, or a file to write. `extensions` are without the dot; none: any. */
  'host.pickPath': z.object({
    what: z.enum(['file', 'folder', 'new-file']),
    title: z.string().max(200),
    /** File name to begin with, for `new-file`. */
    name: z.string().max(200).optional(),
    extensions: z.array(z.string().max(20)).max(20).default([]),
  }),
  /** What the user chose when the window asked before it closed. */
  'host.closeAnswer': z.object({ answer: z.enum(['stay', 'hide', 'minimise', 'quit']) }),
  /** Opens the engine after all, e.g. when the host that owned the folder has ended. */
  'host.retry': z.object({}).strict(),
  'host.quit': z.object({}).strict(),
} as const;

export type HostRouteName = keyof typeof HOST_ROUTES;
export type HostInput<R extends HostRouteName> = z.output<(typeof HOST_ROUTES)[R]>;
/** What the window passes. */
export type HostCallInput<R extends HostRouteName> = z.input<(typeof HOST_ROUTES)[R]>;

export type Theme = 'system' | 'light' | 'dark';

export interface HostState {
  version: string;
  /** `linux`, `darwin`, `win32`, or `browser`. */
  platform: string;
  theme: Theme;
  language: Locale | 'system';
  /** The language in force. */
  locale: Locale;
  /** Whether this desktop shows a tray icon. */
  tray: boolean;
  /** Where keys are kept. */
  secrets: { kind: 'keychain' | 'file'; detail: string };
  /** Why there is no engine behind this window; null when there is. */
  blocked: ErrorJson | null;
}

export interface HostOutputs {
  'host.state': HostState;
  'host.setTheme': HostState;
  'host.setLanguage': HostState;
  'host.copy': null;
  'host.openExternal': null;
  /** Absolute; null when nothing was chosen. */
  'host.pickPath': { path: string | null };
  'host.closeAnswer': null;
  'host.retry': HostState;
  'host.quit': null;
}

/** What the host tells its window. */
export interface HostEvents {
  /** Show this place of the window, such as `/skills/proposals`. */
  navigate: { path: string };
  /** The window is about to close: explain what that means and answer with `host.closeAnswer`. */
  closing: { reason: 'first-hide' | 'no-tray' };
  host: HostState;
}

/** The one object that the preload script puts into the page. */
export interface Bridge {
  readonly platform: string;
  request(route: string, input: unknown): Promise<unknown>;
  /** Returns the disposer. */
  on(event: string, listener: (payload: unknown) => void): () => void;
}
