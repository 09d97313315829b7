import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../shared/config-rules.ts';

/** One address that the proxy listens on. */
export interface Listener {
  host: string;
  port: number;
  /** A key of its own; null: `proxy.api_key`, when one is set. */
  ownKey: string | null;
}

const IP_LITERAL = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/i;

/**
 * True when the `Host` header names this machine. Anything else means that a web page reached us through a name of
 * its own (DNS rebinding, case R137). On a listener for other machines an address literal is no name.
 */
export function hostAllowed(
  header: string | undefined,
  listener: Listener,
  allowed: readonly string[],
): boolean {
  const host = hostName(header);
  if (host === '') return false;
  if (isLoopback(host)) return true;
  if (allowed.some((name) => name.toLowerCase() === host)) return true;
  if (isLoopback(listener.host)) return false;
  return host === listener.host.toLowerCase() || IP_LITERAL.test(host) || host === 'host.docker.internal';
}

/** True without an `Origin`, for an allowed one, and for pages that this listener itself served. */
export function originAllowed(headers: IncomingHttpHeaders, allowed: readonly string[]): boolean {
  const { origin } = headers;
  if (origin === undefined) return true;
  if (allowed.includes(origin)) return true;
  return origin.toLowerCase() === `http://${String(headers.host).toLowerCase()}`;
}

/** True when a browser says that another site's page makes the call; a picture or a link carries no `Origin`. */
export function fromOtherSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return headers.origin === undefined && (site === 'cross-site' || site === 'same-site');
}

/** True when no key is set, or the caller shows it as bearer, `x-api-key` or in the path. Takes constant time. */
export function keyAccepted(
  expected: string,
  headers: IncomingHttpHeaders,
  pathToken: string | null,
): boolean {
  if (expected === '') return true;
  const shown = [bearerOf(headers), headers['x-api-key'], pathToken].filter((key) => typeof key === 'string');
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const wanted = digest(expected);
  return shown.map((key) => timingSafeEqual(digest(key), wanted)).includes(true);
}

/** Takes our own key out of a call's headers: what is left in them may be passed on to a provider. */
export function hideKey(ours: string, headers: IncomingHttpHeaders): void {
  if (ours === '') return;
  if (bearerOf(headers) === ours) delete headers.authorization;
  if (headers['x-api-key'] === ours) delete headers['x-api-key'];
}

function bearerOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^bearer\s+(.+)$/i.exec(authorization)?.[1]?.trim();
}

/** True for bodies that a model call can have: JSON, or none named (no browser form sends that without an Origin). */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === '') return true;
  return /^(?:application|text)\/(?:[\w.+-]*\+)?json\b/i.test(contentType.trim());
}

function hostName(header: string | undefined): string {
  const text = (header ?? '').trim().toLowerCase();
  return text.startsWith('[') ? text.replace(/\]:\d+$/, ']') : text.replace(/:\d+$/, '');
}
