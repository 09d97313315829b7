import type { Config } from '../../../shared/config.ts';
import type { Facts } from '../facts.ts';
import type { Skim, SkimMessage } from '../skim.ts';
import { isSystemRole, type Splice } from '../splice.ts';
import { type CutMessage, chooseCut } from './cut.ts';
import type { TokenCounter } from './token-counter.ts';

/** Messages that a turn leaves out, so that the rest fits. */
export interface Cut {
  messages: readonly SkimMessage[];
  tokens: number;
}

/** Room for an answer whose limit the client left open. */
const DEFAULT_ANSWER = 4096;
/** No text has more tokens a byte; what is below the limit by this measure needs no count. */
const MOST_TOKENS_PER_BYTE = 0.62;
const OPAQUE_TOKENS = 1500;
/** Counting gives way to other turns after so many milliseconds. */
const SLICE_MS = 15;

/** Largest prompt that the user allows, in tokens; null: none is set. */
export function promptLimit(config: Config, maxTokens: number | null): number | null {
  const { max_context_tokens: most, context_window: window } = config;
  if (most === 0) return null;
  const limits: number[] = most === 'auto' ? [] : [most];
  if (window > 0) limits.push(window - Math.min(maxTokens ?? DEFAULT_ANSWER, Math.floor(window / 2)));
  return limits.length === 0 ? null : Math.min(...limits);
}

/**
 * What a request has to leave out to keep to `limit`; null when it fits. `addedTokens` is what MetaClaw puts in.
 * Tool results never stay without their calls, nor calls without their results.
 */
export async function cutToLimit(
  counter: TokenCounter,
  input: { skim: Skim; facts: Facts; limit: number; addedTokens: number },
): Promise<Cut | null> {
  const { skim, facts, limit, addedTokens } = input;
  const bytes = skim.bytes.length - skim.opaqueBytes;
  if (bytes * MOST_TOKENS_PER_BYTE + (skim.opaqueBytes > 0 ? OPAQUE_TOKENS : 0) + addedTokens <= limit)
    return null;

  const talk = new Set(facts.conversation);
  const count = counting(counter, skim);
  let fixed = addedTokens;
  for (const { key, value } of skim.members) {
    const said =
      key === 'system' ||
      key === 'instructions' ||
      key === 'tools' ||
      key === 'functions' ||
      key === 'response_format';
    if (said) fixed += await count(value.start, value.end);
  }
  const messages: CutMessage[] = [];
  const all = messagesOf(skim);
  for (const message of all)
    messages.push({
      part: partOf(skim, message, talk),
      tokens: await count(message.start, message.end),
    });
  const chosen = chooseCut(messages, fixed, limit);
  if (chosen.length === 0) return null;
  return {
    messages: chosen.map((index) => all[index] as SkimMessage),
    tokens: chosen.reduce((sum, index) => sum + (messages[index]?.tokens ?? 0), 0),
  };
}

/** Takes cut messages out of a body, and every other change that was meant for them. */
export function applyCut(from: Skim, cut: Cut | null, splices: readonly Splice[]): Splice[] {
  if (!cut) return [...splices];
  const gone = new Set(cut.messages);
  const removals: Splice[] = [];
  const all = messagesOf(from);
  for (const [index, message] of all.entries()) {
    const next = all[index + 1];
    // The newest message always stays, so that one follows.
    if (gone.has(message) && next)
      removals.push({ at: message.start, remove: next.start - message.start, insert: '' });
  }
  // What stands at a removed message's very start was meant to come before it.
  const stays = splices.filter(
    ({ at }) => !removals.some((removal) => at > removal.at && at < removal.at + removal.remove),
  );
  return [...stays, ...removals];
}

/** Messages, or the items of a Responses request. */
function messagesOf(skim: Skim): readonly SkimMessage[] {
  return skim.items.length > 0 ? skim.items : skim.messages;
}

function counting(counter: TokenCounter, skim: Skim): (start: number, end: number) => Promise<number> {
  let since = performance.now();
  return async (start, end) => {
    if (performance.now() - since > SLICE_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      since = performance.now();
    }
    return counter.count(skim.bytes.toString('utf8', start, end));
  };
}

function partOf(skim: Skim, message: SkimMessage, talk: ReadonlySet<SkimMessage>): CutMessage['part'] {
  if (isSystemRole(message.role)) return 'keep';
  if (message.role === 'assistant') return 'answer';
  if (message.role !== 'user' || !talk.has(message)) return 'follow';
  const isResult =
    message.content?.kind === 'array' &&
    skim.bytes.subarray(message.start, message.end).includes('"tool_result"');
  return isResult ? 'follow' : 'open';
}
