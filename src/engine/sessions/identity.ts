import { createHash } from 'node:crypto';
import type { IdentitySource } from '../../shared/model.ts';
import { redact } from '../platform/redact.ts';

/** The part of a request that may name its session. */
export interface IdentityFacts {
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly fields: Readonly<Record<string, string | undefined>>;
  readonly firstUserText: string;
}

/** A session id that the client gave, fit for paths, headers and SQL; and where it stood. */
export interface ClientIdentity {
  id: string;
  source: Exclude<IdentitySource, 'history'>;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
/** OpenClaw numbers its attempts behind the session's uuid: `<uuid>:0`. */
const NUMBERED = new RegExp(`^(${UUID}):\\d{1,6}$`, 'i');
const OPENCLAW_RUNTIME = new RegExp(`^Runtime: agent=[^\\n]*?\\bsessionId=(${UUID})(?![0-9a-f-])`, 'im');
const OPENCLAW_LANE = /^Runtime: agent=[^\n]*?\bsession=([^\s|]{1,200})/m;
/** Older Claude Code: `user_<hash>_account_<uuid>_session_<uuid>`. */
const CLAUDE_USER = new RegExp(`_session_(${UUID})$`, 'i');
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9._:@=+~-]{0,127}$/;

/**
 * Finds the session's name in a request, strongest sign first: our header, the original's header and body field, the
 * headers of known clients, body fields, OpenClaw's runtime line. Null: only the history can tell.
 *
 * `x-client-request-id` names a request in most clients. It names the session only where it has OpenClaw's numbered
 * form, `<uuid>:<n>`; Codex repeats its session there as a bare uuid, but sends `session-id` beside it.
 */
export function identify(facts: IdentityFacts): ClientIdentity | null {
  for (const [source, values] of candidates(facts)) {
    for (const value of values) {
      const id = safeId(value);
      if (id !== null) return { id, source };
    }
  }
  return null;
}

function* candidates(facts: IdentityFacts): Generator<[ClientIdentity['source'], (string | undefined)[]]> {
  const { headers, fields } = facts;
  yield ['metaclaw-header', [headers['x-metaclaw-session']]];
  yield ['original-header', [headers['x-session-id'], fields.session_id]];
  yield [
    'client-header',
    [
      headers['x-mc-session'],
      headers['x-claude-code-session-id'],
      headers.session_id,
      headers['session-id'],
      headers['thread-id'],
      headers['x-session-affinity'],
      headers['x-session-key'],
      headers['x-opencode-session'],
      numbered(headers['x-client-request-id']),
    ],
  ];
  yield [
    'body',
    [
      fields.prompt_cache_key,
      sessionOfUserId(fields['metadata.user_id']),
      fields['client_metadata.session_id'],
    ],
  ];
  yield ['openclaw-text', [OPENCLAW_RUNTIME.exec(facts.firstUserText)?.[1]]];
}

function numbered(value: string | undefined): string | undefined {
  return value !== undefined && NUMBERED.test(value.trim()) ? value : undefined;
}

/** Claude Code: a JSON string with `session_id`, or the older underscored form; anything else names a user. */
function sessionOfUserId(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (!text.startsWith('{')) return CLAUDE_USER.exec(text)?.[1];
  try {
    const session = (JSON.parse(text) as { session_id?: unknown }).session_id;
    return typeof session === 'string' ? session : undefined;
  } catch {
    return undefined;
  }
}

/**
 * An id that is safe everywhere: at most 128 characters of letters, digits and `._:@=+~-`. Anything else, and what
 * looks like a credential, is replaced by its hash. Null when there is nothing.
 */
export function safeId(raw: string | undefined): string | null {
  const value = raw?.trim() ?? '';
  if (value === '') return null;
  const id = NUMBERED.exec(value)?.[1] ?? value;
  if (SAFE_ID.test(id) && !id.includes('..') && !redact(id).masked) return id;
  return `x-${createHash('sha256').update(value).digest('hex').slice(0, 32)}`;
}

/** The agent's own key of a chat that stays the same over `/new`; null when it sends none. */
export function laneOf(facts: IdentityFacts): string | null {
  return safeId(facts.headers['x-session-key'] ?? OPENCLAW_LANE.exec(facts.firstUserText)?.[1]);
}

const TRUE = new Set(['1', 'true', 'yes', 'on']);

/** The client says that this is the session's last turn; the header wins over the body field. */
export function isDone(facts: Pick<IdentityFacts, 'headers' | 'fields'>): boolean {
  const value = facts.headers['x-session-done'] ?? facts.fields.session_done ?? '';
  return TRUE.has(value.trim().toLowerCase());
}

export type NewSessionSign = 'command' | 'announcement';

/**
 * The user asked for a fresh session: the text is exactly `/new` or `/reset`, or it is the message with which OpenClaw
 * opens the session that follows one of them.
 */
export function newSessionSign(userText: string): NewSessionSign | null {
  if (/^\s*\/(?:new|reset)\s*$/i.test(userText)) return 'command';
  return /\bnew session was started via \/new or \/reset\b/i.test(userText.slice(0, 400))
    ? 'announcement'
    : null;
}
