import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { protocol, type Session } from 'electron';
import { locate } from './page-files.ts';

const SCHEME = 'app';
/** Where the window's page lives. */
export const ORIGIN = `${SCHEME}://metaclaw`;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** Must run before the app is ready: makes app:// a standard, secure origin with its own storage. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
}

/**
 * Serves the built page, and nothing outside its folder, with a policy that lets it load from nowhere else.
 * Styles that libraries add at run time need the nonce, which is new on each load.
 */
export function servePage(session: Session, folder: string): void {
  session.protocol.handle(SCHEME, async (request) => {
    const url = new URL(request.url);
    if (`${url.protocol}//${url.host}` !== ORIGIN || request.method !== 'GET') return notFound();
    const file = await locate(folder, url.pathname);
    if (file === null) return notFound();
    const isPage = extname(file) === '.html';
    const nonce = randomBytes(16).toString('base64');
    const body = await readFile(file);
    const content = isPage
      ? body.toString('utf8').replace('name="csp-nonce" content=""', `name="csp-nonce" content="${nonce}"`)
      : body;
    return new Response(content, {
      headers: {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        'content-security-policy': policy(nonce),
        'x-content-type-options': 'nosniff',
        'cache-control': isPage ? 'no-store' : 'no-cache',
      },
    });
  });
}

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join('; ');
}

function notFound(): Response {
  return new Response('', { status: 404 });
}
