import { AppError } from '../../shared/errors.ts';
import type { Route } from './route.ts';

type Headers = Record<string, string | string[]>;

/** Anthropic takes a subscription's token under this beta only. */
const OAUTH_BETA = 'oauth-2025-04-20';
const SUBSCRIPTION = /^sk-ant-oat/;
const BEARER = /^bearer\s+/i;

/**
 * A request's headers with the route's credentials, or with the caller's own where those are passed on. A subscription
 * token of Anthropic is a bearer token only; other servers of that wire read one or the other (H18). Throws
 * CONFIG_INVALID for a key that no header can carry.
 */
export function withCredentials(route: Route, headers: Headers): Headers {
  const out = { ...headers, ...route.headers };
  if (route.passthrough) spellSubscription(out);
  else Object.assign(out, ours(route));
  if (route.wire !== 'anthropic') return out;
  if (isSubscription(out.authorization)) addBeta(out);
  return out;
}

function ours(route: Route): Headers {
  const key = sendable(route);
  if (key === '') return route.basic === null ? {} : { authorization: route.basic };
  const bearer = { authorization: `Bearer ${key}` };
  if (route.wire !== 'anthropic') return bearer;
  if (SUBSCRIPTION.test(key)) return bearer;
  const anthropic = new URL(route.baseUrl).host === 'api.anthropic.com';
  return anthropic ? { 'x-api-key': key } : { 'x-api-key': key, ...bearer };
}

/** The key without the line break that copying leaves behind. */
function sendable({ apiKey, name }: Route): string {
  const key = apiKey.trim();
  if (/^[\x21-\x7e]*$/.test(key)) return key;
  const what = /\s/.test(key) ? 'a space or a line break' : 'a character that keys do not have';
  throw new AppError('CONFIG_INVALID', `The key of ${name} holds ${what}.`, {
    hint: 'Paste the key again, whole and on one line: `metaclaw config llm.api_key KEY`.',
    field: 'llm.api_key',
  });
}

function spellSubscription(headers: Headers): void {
  const key = headers['x-api-key'];
  if (typeof key !== 'string' || !SUBSCRIPTION.test(key)) return;
  delete headers['x-api-key'];
  headers.authorization = `Bearer ${key}`;
}

function isSubscription(authorization: string | string[] | undefined): boolean {
  return typeof authorization === 'string' && SUBSCRIPTION.test(authorization.replace(BEARER, ''));
}

function addBeta(headers: Headers): void {
  const named = [headers['anthropic-beta'] ?? []].flat().flatMap((value) => value.split(','));
  const betas = [...named.map((name) => name.trim()).filter((name) => name !== ''), OAUTH_BETA];
  headers['anthropic-beta'] = [...new Set(betas)].join(',');
}
