import { isLoopback } from '../../shared/config-rules.ts';
import { AppError } from '../../shared/errors.ts';
import type { Dialect } from '../../shared/model.ts';
import { knownPath } from './presets.ts';

const ENDPOINTS =
  /\/(?:chat\/completions|responses|completions|embeddings|messages(?:\/count_tokens)?|models)$/i;
/** Ollama's own API stands beside the one that we speak. */
const OLLAMA = /\/api\/(?:chat|generate|tags)$/i;

/**
 * The prefix that endpoint paths are appended to, whatever spelling the user pasted: with or without `/v1`, with a
 * trailing slash, or a whole endpoint path. Paths that carry a version of their own (`/api/paas/v4`, `/v1beta/openai`)
 * get none added. Throws CONFIG_INVALID for what is no http(s) address.
 */
export function apiRoot(baseUrl: string, wire: Dialect): string {
  const url = parse(baseUrl);
  let path = url.pathname.replace(/\/+$/, '').replace(OLLAMA, '');
  const exact = ENDPOINTS.test(path);
  path = path.replace(ENDPOINTS, '');
  if (!exact) path = knownPath(url.hostname, path, wire) ?? path;
  // A whole endpoint path says where everything is; nothing is guessed then.
  if (!exact && !hasVersion(path, wire)) path += '/v1';
  return `${url.origin}${path.replace(/\/v1\/v1$/i, '/v1')}`;
}

/** What an address says beside the place: a query that every request carries, and a name and password. */
export interface AddressExtras {
  /** Without its question mark; empty for none. */
  query: string;
  /** `Basic …` for `https://name:password@host`; null for none. */
  basic: string | null;
}

/** Azure's `?api-version=…`, and the sign-in of a server behind HTTP basic auth. Throws CONFIG_INVALID. */
export function addressExtras(baseUrl: string): AddressExtras {
  const { search, username, password } = parse(baseUrl);
  const login = `${unescaped(username)}:${unescaped(password)}`;
  return {
    query: search.replace(/^\?/, ''),
    basic: login === ':' ? null : `Basic ${Buffer.from(login).toString('base64')}`,
  };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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
  if (wire === 'anthropic') return /\/v\d+$/i.test(path);
  return path.split('/').some((segment) => /^v\d+(?:(?:alpha|beta)\d*)?$/i.test(segment));
}

/** Hosts of this machine and network, which rarely have a certificate: of addresses, one label, `.local` and the like. */
const NEARBY =
  /^(?:[^/@]*@)?(?:localhost|127\.|\[|0\.0\.0\.0|192\.168\.|10\.|172\.(?:1[6-9]|2\d|3[01])\.|[\w-]+(?::\d+)?(?:\/|$)|[\w.-]+\.(?:local|lan|internal|home\.arpa)(?:[:/]|$))/i;

function parse(baseUrl: string): URL {
  const text = baseUrl.trim();
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
    ? text
    : `${NEARBY.test(text) ? 'http' : 'https'}://${text}`;
  let url: URL | null = null;
  try {
    url = new URL(full);
  } catch {
    // Reported below.
  }
  if (text === '' || !url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new AppError(
      'CONFIG_INVALID',
      `${JSON.stringify(text.replace(/\/\/[^/@]*@/, '//'))} is not an http or https address.`,
      {
        hint: 'Use an address like https://api.example.com/v1.',
        field: 'llm.api_base',
      },
    );
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  return url;
}
