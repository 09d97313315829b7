import { type BrowserWindow, dialog } from 'electron';
import type { HostInput } from '../shared/host.ts';

/** Asks for a file or a folder in the system's own dialog, over the window. Null when the user chose none. */
export async function pickPath(
  window: BrowserWindow | null,
  wish: HostInput<'host.pickPath'>,
): Promise<string | null> {
  if (window === null) return null;
  const { what, title, name, extensions } = wish;
  const filters =
    extensions.length === 0
      ? {}
      : { filters: [{ name: extensions.map((end) => `.${end}`).join(', '), extensions }] };
  if (what === 'new-file') {
    const { canceled, filePath } = await dialog.showSaveDialog(window, {
      title,
      ...(name === undefined ? {} : { defaultPath: name }),
      ...filters,
    });
    return canceled || filePath === '' ? null : filePath;
  }
  const { canceled, filePaths } = await dialog.showOpenDialog(window, {
    title,
    properties: [what === 'folder' ? 'openDirectory' : 'openFile'],
    ...filters,
  });
  return canceled ? null : (filePaths[0] ?? null);
}
