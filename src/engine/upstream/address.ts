import { isLoopback } from '../../shared/config-rules.ts';
import { AppError } from '../../shared/errors.ts';
import type { Dialect } from '../../shared/model.ts';

const ENDPOINTS =
  /\/(?:chat\/completions|responses|completions|embeddings|messages(?:\/count_tokens)?|models)$/;

/**
 * The prefix that endpoint paths are appended to, whatever spelling the user pasted: with or without `/v1`, with a
 * trailing slash, or a whole endpoint path. Paths that carry a version of their own (`/api/paas/v4`, `/v1beta/openai`)
 * get none added. Throws CONFIG_INVALID for what is no http(s) address.
 */
export function apiRoot(baseUrl: string, wire: Dialect): string {
  const url = parse(baseUrl);
  let path = url.pathname.replace(/\/+$/, '');
  const exact = ENDPOINTS.test(path);
  path = path.replace(ENDPOINTS, '');
  // A whole endpoint path says where everything is; nothing is guessed then.
  if (!exact && !hasVersion(path, wire)) path += '/v1';
  return `${url.origin}${path.replace(/\/v1\/v1$/, '/v1')}`;
}

/** True for addresses on this machine: they never use a proxy of the environment. */
export function isLocalUrl(url: string): boolean {
  try {
    const { hostname } = new URL(url);
    return hostname === '0.0.0.0' || isLoopback(hostname);
  } catch {
    return false;
  }
}

function hasVersion(path: string, wire: Dialect): boolean {
  if (wire === 'anthropic') return /\/v\d+$/.test(path);
  return path.split('/').some((segment) => /^v\d+(?:(?:alpha|beta)\d*)?$/.test(segment));
}

function parse(baseUrl: string): URL {
  const text = baseUrl.trim();
  const local = /^(?:localhost|127\.|\[|0\.0\.0\.0|192\.168\.|10\.)/i.test(text);
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${local ? 'http' : 'https'}://${text}`;
  let url: URL | null = null;
  try {
    url = new URL(full);
  } catch {
    // Reported below.
  }
  if (text === '' || !url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new AppError('CONFIG_INVALID', `${JSON.stringify(baseUrl)} is not an http or https address.`, {
      hint: 'Use an address like https://api.example.com/v1.',
      field: 'llm.api_base',
    });
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  return url;
}
