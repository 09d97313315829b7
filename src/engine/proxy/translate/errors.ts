import type { Dialect } from '../../../shared/model.ts';
import { asArray, asText, isObject, parseJson } from './json.ts';
import { EventCounter } from './responses/events.ts';
import { responseErrorCode } from './responses/response-object.ts';
import type { JsonObject, WireError } from './types.ts';

/** Error types that the Anthropic API documents; other words are replaced by the status's type. */
const ANTHROPIC_TYPES = new Set([
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'conflict_error',
  'request_too_large',
  'rate_limit_error',
  'timeout_error',
  'api_error',
  'overloaded_error',
]);

/** The field of an Anthropic request that names a conversation which the service keeps. */
export const THREAD = 'thread';
/** Anthropic's SDK (1.14) goes on with the whole conversation when it reads these details of an error. */
const THREAD_DETAILS = { error_code: 'thread_unsupported_request', unsupported: [THREAD] };

const STATUS_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const OPENAI_CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  402: 'insufficient_quota',
  404: 'not_found',
  413: 'request_too_large',
  429: 'rate_limit_exceeded',
};

/** Longest message that is passed on from an upstream that answered a page instead of an error object. */
const MAX_PLAIN_MESSAGE = 500;
/** How much of such a page is looked at. */
const MAX_READ_CHARACTERS = 10_000;

/** The error type that both vendors' clients know for an HTTP status. */
export function errorType(status: number): string {
  return STATUS_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** The status that a client of this dialect can make sense of: 529 is known to Anthropic clients only (H06). */
export function clientStatus(dialect: Dialect, status: number): number {
  return dialect !== 'anthropic' && status === 529 ? 503 : status;
}

/** HTTP status for an in-band error that names only its type. */
export function statusOfType(type: string | undefined): number {
  if (type === 'invalid_request_error') return 400;
  for (const [status, known] of Object.entries(STATUS_TYPES)) if (known === type) return Number(status);
  if (type === 'insufficient_quota' || type === 'rate_limit_exceeded') return 429;
  return 500;
}

/**
 * Reads an upstream's error body of either dialect, of common servers' own shapes (FastAPI `detail`,
 * Gemini's array, a bare `error` string), plain text or an HTML page. Never throws.
 */
export function readUpstreamError(status: number, body: string): WireError {
  const parsed = parseJson(body);
  const root = Array.isArray(parsed) ? parsed[0] : parsed;
  if (isObject(root)) {
    const found = readErrorObject(root);
    if (found !== null) return { ...found, type: found.type ?? errorType(status), status };
  }
  return {
    type: errorType(status),
    message: plainMessage(body) || `The upstream answered HTTP ${status}.`,
    code: null,
    status,
  };
}

/** Reads an error object, also one inside a stream event or a 200 reply; null when there is none. */
export function readErrorObject(root: JsonObject): WireError | null {
  const vendors = readBaseResp(root);
  if (vendors !== null) return vendors;
  const inner = root.error ?? (asArray(root.errors)[0] as unknown);
  if (typeof inner === 'string' && inner !== '') {
    // Some servers put the sentence into `message` and only a word into `error`.
    return { message: asText(root.message) || inner, code: codeOf(root.code) };
  }
  if (isObject(inner)) {
    const message = asText(inner.message) || asText(inner.detail) || JSON.stringify(inner);
    const numeric =
      typeof inner.code === 'number' && inner.code >= 400 && inner.code < 600 ? inner.code : undefined;
    return {
      type: asText(inner.type) || (numeric === undefined ? undefined : errorType(numeric)),
      message,
      code: codeOf(inner.code),
      param: typeof inner.param === 'string' ? inner.param : null,
      status: numeric,
    };
  }
  if (root.type === 'error' && typeof root.message === 'string')
    return { message: root.message, code: codeOf(root.code) };
  if (typeof root.detail === 'string') return { message: root.detail, code: null };
  if (Array.isArray(root.detail)) {
    const lines = root.detail.map((item: unknown) =>
      isObject(item) ? `${asArray(item.loc).join('.')}: ${asText(item.msg)}` : String(item),
    );
    return { message: lines.join('; '), code: null };
  }
  if (typeof root.message === 'string' && root.choices === undefined)
    return { message: root.message, code: codeOf(root.code) };
  if (root.success === false) return { message: asText(root.msg) || 'error', code: codeOf(root.code) };
  return null;
}

/** MiniMax's error codes (its API reference, "Error codes") as statuses; all others are its own trouble. */
const BASE_RESP_STATUSES: Readonly<Record<number, number>> = {
  1001: 504,
  1002: 429,
  1004: 401,
  1008: 402,
  1026: 400,
  1027: 400,
  1039: 429,
  1041: 429,
  2013: 400,
  2045: 429,
  2049: 401,
  2056: 429,
};

/** MiniMax puts its errors into a good answer: `base_resp` with a code other than 0. */
function readBaseResp(root: JsonObject): WireError | null {
  if (!isObject(root.base_resp)) return null;
  const code = Number(root.base_resp.status_code ?? 0);
  if (code === 0) return null;
  const status = BASE_RESP_STATUSES[code] ?? 502;
  const message = asText(root.base_resp.status_msg) || `The provider reported error ${code}.`;
  return { type: errorType(status), message, code: String(code), status };
}

/** True for a chunk of chat completions that is an error, whatever its form. */
export function isErrorChunk(chunk: JsonObject): boolean {
  return Boolean(chunk.error) || readBaseResp(chunk) !== null;
}

function codeOf(code: unknown): string | null {
  if (typeof code === 'string' && code !== '') return code;
  return typeof code === 'number' ? String(code) : null;
}

function plainMessage(whole: string): string {
  const body = whole.slice(0, MAX_READ_CHARACTERS);
  const text = /<html|<!doctype/i.test(body)
    ? (/<title[^>]*>([^<]*)<\/title>/i.exec(body)?.[1] ?? body.replace(/<[^>]*>/g, ' '))
    : body;
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_PLAIN_MESSAGE);
}

/** The body of a failed request in the client's own shape (H12). */
export function errorBody(dialect: Dialect, status: number, error: WireError, requestId: string): JsonObject {
  if (dialect === 'anthropic') {
    return { type: 'error', error: anthropicError(error, status), request_id: requestId };
  }
  return {
    error: {
      message: error.message,
      type: error.type ?? errorType(status),
      param: error.param ?? null,
      code: error.code ?? OPENAI_CODES[status] ?? null,
    },
  };
}

/** SSE text of an error after output began (S42, S43); nothing may follow it. The Responses API numbers its events. */
export function errorEvent(dialect: Dialect, error: WireError, sequence = 0): string {
  const status = error.status ?? statusOfType(error.type);
  if (dialect === 'anthropic') {
    return `event: error\ndata: ${JSON.stringify({ type: 'error', error: anthropicError(error, status) })}\n\n`;
  }
  if (dialect === 'responses') {
    const code = responseErrorCode(error.code, status);
    return new EventCounter(sequence).event('error', {
      code,
      message: error.message,
      param: error.param ?? null,
    });
  }
  const body = { message: error.message, type: error.type ?? errorType(status), code: error.code ?? null };
  return `data: ${JSON.stringify({ error: body })}\n\n`;
}

function anthropicError(error: WireError, status: number): JsonObject {
  const known = error.type !== undefined && ANTHROPIC_TYPES.has(error.type);
  return {
    type: known ? error.type : errorType(status),
    message: error.message,
    ...(error.param === THREAD ? { details: THREAD_DETAILS } : {}),
  };
}
