import { realpath } from 'node:fs/promises';
import { extname, join, resolve, sep } from 'node:path';

/** The file behind a path, or null when there is none inside the folder, links resolved. */
export async function locate(folder: string, pathname: string): Promise<string | null> {
  try {
    const path = decodeURIComponent(pathname);
    if (path.includes('\0')) return null;
    const root = await realpath(resolve(folder));
    const file = await realpath(join(root, path === '/' ? 'index.html' : path));
    return file.startsWith(root + sep) && extname(file) !== '' ? file : null;
  } catch {
    return null;
  }
}
