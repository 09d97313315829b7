import type { TurnKind } from '../../shared/model.ts';

export interface KindFacts {
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly fields: Readonly<Record<string, string | undefined>>;
  readonly maxTokens: number | null;
  readonly hasTools: boolean;
  readonly messageCount: number;
  readonly endsWithToolResult: boolean;
  readonly systemText: string;
  readonly firstUserText: string;
  readonly userText: string;
}

/** Instructions of calls that clients make for themselves: titles, summaries, topic and command checks. */
const SIDE_SYSTEM: readonly RegExp[] = [
  // opencode
  /^\s*you are a title generator\b/i,
  /\btasked with summarizing conversations\b/i,
  /\bsummarize what was done in this conversation\b/i,
  // Claude Code
  /\bindicates a new conversation topic\b/i,
  /\bsentence-case title\b/i,
  /\bsummarize this coding conversation\b/i,
  /\bwrite a 5-10 word title\b/i,
  /\bextract any file paths that this command reads or modifies\b/i,
  /\bprocess bash commands that an ai coding agent wants to run\b/i,
];
/** Requests for a title and the like, where no instructions but the message itself shows it; never with tools. */
const SIDE_OPENING: readonly RegExp[] = [
  // opencode, and many chat screens
  /^(?:please )?(?:generate|write|create|suggest|give me) (?:an? )?(?:[\w-]+ ){0,6}title\b[^\n]{0,80}\b(?:conversation|chat|thread|session)\b/i,
  // Open WebUI: title, tags, follow-ups, search queries
  /^### Task:\s+(?:generate|suggest|analyze|autocomplete)\b[^\n]{0,200}\b(?:titles?|tags?|follow-?ups?|search|quer(?:y|ies)|chat history)\b/i,
];
/** The conversation is about to be put into fewer words: Claude Code, Codex, OpenClaw. */
const COMPACTION: readonly RegExp[] = [
  /^your task is to create a detailed summary of (?:the|this|our) conversation\b/i,
  /\bcontext checkpoint compaction\b/i,
  /^pre-compaction memory flush\b/i,
];
/** What agents say to themselves in the user's place. Looked for in the first 600 characters. */
const SIDE_USER: readonly RegExp[] = [
  // Claude Code
  /^\[SUGGESTION MODE:/,
  /^Warmup$/i,
  ...COMPACTION,
  // OpenClaw: heartbeat, cron
  /^read heartbeat\.md\b/i,
  /^heartbeat_ok\b/i,
  /^\[cron:[^\]\n]{1,200}\]/i,
];
/** Greetings that connection tests send, with room for next to no answer. */
const TEST_WORDS =
  /^(?:ping|hi|hello|hey|test|ok|say (?:hi|hello|ok|test|pong)|reply with \w+|respond with \w+|1\s*\+\s*1\s*=?)[\s.!?"']*$/i;
const TEST_TOKENS = 64;
/** QwenPaw asks about a tiny picture to learn whether a model sees. */
const IMAGE_PROBE = /\bcolou?r\b[^\n]{0,80}\b(?:image|picture|photo|video)\b/i;
const IMAGE_PROBE_TOKENS = 512;
/** Control words with which an agent's own runs answer when there is nothing to say. */
const SILENT_REPLY = /^\s*(?:NO_REPLY|HEARTBEAT_OK)\s*\.?\s*$/;

/**
 * Tells the user's turns from calls that the client makes for itself; only `main` turns are injected and learned from.
 *
 * An explicit turn type decides. Without one a turn is main unless it is recognised: the original made every turn with
 * an `x-session-id` and no type a side turn, so that clients which name their session learned nothing.
 */
export function turnKind(facts: KindFacts): TurnKind {
  const explicit = (facts.headers['x-turn-type'] || facts.fields.turn_type || '').trim().toLowerCase();
  if (explicit !== '') return explicit === 'main' ? 'main' : 'side';
  if (facts.maxTokens !== null && facts.maxTokens <= 1) return 'side';
  const words = facts.userText.trim();
  if (words === '' && !facts.endsWithToolResult) return 'side';
  const head = words.slice(0, 600);
  if (SIDE_USER.some((pattern) => pattern.test(head))) return 'side';
  if (facts.hasTools) return 'main';
  if (isProbe(facts, head) || opensSideCall(facts)) return 'side';
  return SIDE_SYSTEM.some((pattern) => pattern.test(facts.systemText.slice(0, 8000))) ? 'side' : 'main';
}

function isProbe(facts: KindFacts, words: string): boolean {
  if (facts.messageCount > 2 || facts.maxTokens === null) return false;
  if (facts.maxTokens <= TEST_TOKENS && TEST_WORDS.test(words)) return true;
  return facts.messageCount === 1 && facts.maxTokens <= IMAGE_PROBE_TOKENS && IMAGE_PROBE.test(words);
}

/** The request for a title may stand in a message of its own, before the words that it is about. */
function opensSideCall(facts: KindFacts): boolean {
  if (facts.messageCount > 4) return false;
  const opening = facts.firstUserText.trimStart().slice(0, 600);
  return SIDE_OPENING.some((pattern) => pattern.test(opening));
}

/** True when the answer shows that a turn was none of the user's after all. */
export function isSilentReply(replyText: string): boolean {
  return replyText.length < 40 && SILENT_REPLY.test(replyText);
}

/** True when a client asks for its conversation in fewer words, after which the rest of it is gone from its requests. */
export function isCompaction(userText: string): boolean {
  const head = userText.trim().slice(0, 600);
  return COMPACTION.some((pattern) => pattern.test(head));
}
