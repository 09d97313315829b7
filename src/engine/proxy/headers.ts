import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Dialect } from '../../shared/model.ts';

type Headers = Record<string, string | string[]>;

const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Never sent on: about the connection to us, or about this machine and its other programs. */
const NOT_UPSTREAM = new Set([
  ...HOP_BY_HOP,
  'host',
  'content-length',
  'expect',
  'accept-encoding',
  'content-encoding',
  'cookie',
  'origin',
  'referer',
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  // The original's protocol: for the proxy alone.
  'x-session-id',
  'x-turn-type',
  'x-session-done',
  'x-memory-scope',
  'x-user-id',
  'x-workspace-id',
]);
const CREDENTIALS = new Set(['authorization', 'x-api-key']);

/** Names that a `Connection` header declares to be about this connection alone. */
function namedByConnection(connection: string | string[] | undefined): ReadonlySet<string> {
  const names = [connection ?? []].flat().join(',').toLowerCase();
  return new Set(names.split(',').map((name) => name.trim()));
}

/** What a caller's headers look like upstream on the same wire; credentials only where they are the caller's to spend. */
export function upstreamHeaders(headers: IncomingHttpHeaders, keepCredentials: boolean): Headers {
  const out: Headers = {};
  const hop = namedByConnection(headers.connection);
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || NOT_UPSTREAM.has(name) || hop.has(name)) continue;
    if (name.startsWith('x-metaclaw-')) continue;
    if (CREDENTIALS.has(name) && !keepCredentials) continue;
    if (name.startsWith('sec-') || name.startsWith('access-control-')) continue;
    out[name] = value;
  }
  return out;
}

/** On another wire only what every HTTP service understands; the caller's credentials under the name known there. */
export function plainUpstreamHeaders(
  headers: IncomingHttpHeaders,
  wire: Dialect,
  keepCredentials: boolean,
): Headers {
  const out: Headers = { 'content-type': 'application/json' };
  for (const name of ['user-agent', 'traceparent', 'tracestate', ...(keepCredentials ? CREDENTIALS : [])]) {
    const value = headers[name];
    if (value !== undefined) out[name] = value;
  }
  if (wire === 'anthropic') bearerToKey(out);
  else keyToBearer(out);
  return out;
}

function keyToBearer(headers: Headers): void {
  const { authorization, 'x-api-key': key } = headers;
  if (authorization === undefined && key !== undefined) headers.authorization = `Bearer ${one(key)}`;
  delete headers['x-api-key'];
}

/** All but a subscription's token, which Anthropic takes as a bearer token only (H18). */
function bearerToKey(headers: Headers): void {
  const token = /^bearer\s+(.+)$/i.exec(one(headers.authorization) ?? '')?.[1];
  if (headers['x-api-key'] !== undefined || token === undefined || token.startsWith('sk-ant-oat')) return;
  headers['x-api-key'] = token;
  delete headers.authorization;
}

const NOT_DOWNSTREAM = new Set([
  ...HOP_BY_HOP,
  'set-cookie',
  'set-cookie2',
  'alt-svc',
  'strict-transport-security',
]);

/** A provider's headers for the client: rate limits, ids and the rest stay; cookies, CORS and connection matters go. */
export function clientHeaders(headers: Headers, body: 'same-bytes' | 'new-bytes'): OutgoingHttpHeaders {
  const out: OutgoingHttpHeaders = {};
  const hop = namedByConnection(headers.connection);
  for (const name in headers) {
    if (NOT_DOWNSTREAM.has(name) || hop.has(name) || name.startsWith('access-control-')) continue;
    if (body === 'new-bytes' && (name === 'content-length' || name === 'content-encoding' || name === 'etag'))
      continue;
    out[name] = headers[name];
  }
  return out;
}

/** A header value from any text: names of skills may hold what HTTP does not allow. */
export function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (char) => encodeURIComponent(char));
}

/** The first value of a header. */
export function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
