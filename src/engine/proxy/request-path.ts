/** What a request's address says. */
export interface ProxyPath {
  /** From `/a/<agent>/…`; null on the bare paths. */
  agent: string | null;
  /** From `/a/<agent>/k/<token>/…`, for agents that can send no header. */
  token: string | null;
  /** The path behind that, with `/v1` once and no trailing slash. */
  path: string;
  /** With its question mark, or empty. */
  query: string;
  /** From an address in absolute form, as programs send it that take us for their HTTP proxy; else null. */
  host: string | null;
}

export type ModelCall = 'chat' | 'messages' | 'responses';

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;
const AGENT = /^\/a\/([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?:\/k\/([^/]{1,200}))?(\/.*|$)/;
/** Paths that clients also ask for when their base URL lacks the `/v1`. */
const WITHOUT_VERSION =
  /^\/(?:chat\/completions|messages(?:\/count_tokens)?|models(?:\/.+)?|responses(?:\/.+)?|embeddings)$/;

/** Reads the address of a request; spellings that a base URL with or without `/v1` leads to are one path. */
export function readPath(address: string): ProxyPath {
  const absolute = ABSOLUTE.exec(address);
  const url = absolute ? address.slice(absolute[0].length) : address;
  const mark = url.indexOf('?');
  const raw = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? '' : url.slice(mark);
  const match = AGENT.exec(raw);
  const inner = (match ? match[3] : raw) ?? '';
  let path = inner.replace(/\/{2,}/g, '/').replace(/^(?:\/v1)+(?=\/|$)/, '/v1');
  if (path.length > 1) path = path.replace(/\/$/, '');
  if (path === '') path = '/';
  if (WITHOUT_VERSION.test(path)) path = `/v1${path}`;
  return {
    agent: match?.[1] ?? null,
    token: match?.[2] ? safeDecode(match[2]) : null,
    path,
    query,
    host: absolute?.[1] ?? null,
  };
}

/** The paths that models answer on, or null. */
export function modelCall(path: string): ModelCall | null {
  if (path === '/v1/chat/completions') return 'chat';
  if (path === '/v1/responses') return 'responses';
  return path === '/v1/messages' ? 'messages' : null;
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
