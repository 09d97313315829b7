/** Text that clients put around or beside what the user wrote; captured from real clients, see test/fixtures/clients. */

/** OpenClaw: data for the model in a user message of its own, or behind the user's words (2026.9). */
const INTERNAL_CONTEXT =
  /<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>[\s\S]*?(?:<<<END_OPENCLAW_INTERNAL_CONTEXT>>>|$)/g;
/** Claude Code: reminders among the blocks of a user message. */
const SYSTEM_REMINDER = /<system-reminder>[\s\S]*?(?:<\/system-reminder>|$)/g;
/** Older OpenClaw: fenced metadata before the words, e.g. "Conversation info (untrusted metadata):". */
const UNTRUSTED_METADATA =
  /^(?:[A-Z][^\n]{0,80}\(untrusted[^)\n]{0,60}\):\s*```(?:json)?\n[\s\S]*?\n```\s*)+/;
/** OpenClaw: `[Tue 2026-12-01 02:57 UTC] ` before the words. */
const TIME_PREFIX =
  /^\[(?:[A-Z][a-z]{2} )?\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?: [A-Za-z0-9+:/_-]{1,40})?\]\s*/;
/** OpenClaw: the words of a call that failed come again under a heading. */
const QUEUED = /^\[Queued user messages?\b[^\]\n]*\]:?\s*/;
/** OpenClaw: facts of the running agent behind the first message's words. */
const RUNTIME_LINE = /\n*^Runtime: agent=[^\n]*$/m;

/** Rough test on raw bytes, cheaper than decoding a message to look for its wrappers. */
export const INTERNAL_MARK = '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>';

/**
 * The user's own words in one message's text: wrappers of known clients removed. Empty when the client wrote
 * all of it.
 */
export function ownWords(text: string): string {
  let words = text;
  if (words.includes('<<<BEGIN_OPENCLAW')) words = words.replace(INTERNAL_CONTEXT, '');
  if (words.includes('<system-reminder>')) words = words.replace(SYSTEM_REMINDER, '');
  words = words.trim();
  // Wrappers nest in either order: a queued message has its own time stamp, and so may the heading.
  for (let round = 0; round < 4; round += 1) {
    const before = words;
    words = words.replace(TIME_PREFIX, '').replace(QUEUED, '').replace(UNTRUSTED_METADATA, '');
    if (words === before) break;
  }
  return words.replace(RUNTIME_LINE, '').trim();
}

/** True when a message is the client's own context and no part of the conversation. */
export function isInternal(text: string): boolean {
  return text.includes(INTERNAL_MARK) && ownWords(text) === '';
}
