import { createHash } from 'node:crypto';

/** What a conversation without any id is recognised by. */
export interface HistoryFacts {
  readonly agent: string;
  readonly clientAddress: string;
  readonly systemText: string;
  readonly firstUserText: string;
}

/** How a request relates to what is known of a session, best last. */
export type Continuation = 'none' | 'slides' | 'repeats' | 'extends';

/** Fewest messages that must agree before a cut-off history counts as the same conversation. */
const LEAST_OVERLAP = 3;
const SYSTEM_CHARS = 4096;

/** Clocks and dates in a system prompt change from turn to turn and say nothing about the conversation. */
const MOMENTS =
  /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d{1,2}:\d\d(?::\d\d)?(?: ?[AP]M\b)?|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b|\b\d{10,13}\b|\b(?:Mon|Tues?|Wednes|Thurs?|Fri|Satur|Sun)(?:day)?\b,?|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? \d{1,2}(?:st|nd|rd|th)?\b(?:,? \d{4})?/g;

/** Hash of where a conversation comes from and how it began. The model is left out: it may be switched. */
export function fingerprint(facts: HistoryFacts): string {
  const system = facts.systemText.slice(0, SYSTEM_CHARS).replace(MOMENTS, '#');
  return createHash('sha256')
    .update(JSON.stringify([facts.clientAddress, facts.agent, system, facts.firstUserText]))
    .digest('hex')
    .slice(0, 32);
}

/**
 * Compares a request's message digests with those of a session's newest request.
 *
 * - `extends`: all known messages stand at its beginning, and more follow.
 * - `repeats`: the very same messages: a retry, or the answer is generated anew.
 * - `slides`: the client dropped old messages from the front; what is left is the end of what is known.
 * - `none`: another conversation. An edited message starts one too, since two chats with the same opening and the same
 *   polite answer could otherwise not be told apart; the edited branch goes on beside the first.
 */
export function compare(known: readonly string[], request: readonly string[]): Continuation {
  if (known.length === 0 || request.length === 0) return 'none';
  if (startsWith(request, known, 0)) return request.length === known.length ? 'repeats' : 'extends';
  for (let from = 1; known.length - from >= LEAST_OVERLAP; from += 1)
    if (known[from] === request[0] && startsWith(request, known, from)) return 'slides';
  return 'none';
}

/** True when `list` begins with `known` from its position `from` on. */
function startsWith(list: readonly string[], known: readonly string[], from: number): boolean {
  if (list.length < known.length - from) return false;
  for (let i = from; i < known.length; i += 1) if (list[i - from] !== known[i]) return false;
  return true;
}
