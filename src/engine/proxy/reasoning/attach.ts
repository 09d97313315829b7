import { decodeValue, member, type Skim, type SkimMessage, skimMembers } from '../skim.ts';
import { removeMembers, type Splice } from '../splice.ts';
import { asArray, asText, isObject } from '../translate/json.ts';
import type { JsonObject } from '../translate/types.ts';
import { reasoningOf } from '../translate/vocabulary.ts';
import { isThinking, type Reasoning } from './memory.ts';
import { type MessageKey, messageKey } from './message-key.ts';

/** Looks up one request's assistant messages; asked from the newest to the oldest. */
export type Recall = (key: MessageKey) => Reasoning | null;

/** Names under which OpenAI-style messages carry reasoning. */
const FIELDS: readonly string[] = ['reasoning_content', 'reasoning', 'reasoning_text', 'reasoning_details'];
const ASSISTANT = 'assistant';

export interface Attached {
  splices: Splice[];
  /** Messages whose reasoning the upstream demands and nobody knows any more; they carry an empty one. */
  missing: number;
}

/** Gives OpenAI-style messages the `reasoning_content` that their upstream demands (T53, T54). */
export function attachReasoning(from: Skim, recall: Recall): Attached {
  const splices: Splice[] = [];
  let missing = 0;
  for (let at = from.messages.length - 1; at >= 0; at -= 1) {
    const span = from.messages[at] as SkimMessage;
    if (span.role !== ASSISTANT) continue;
    const message = decodeValue(from, span) as JsonObject;
    const wanted = wantedReasoning(message, from.messages[at - 1]?.role, recall);
    if (wanted === null) continue;
    if (wanted === '') missing += 1;
    const json = JSON.stringify(wanted);
    const current = skimMembers(from, span).find((candidate) => candidate.key === 'reasoning_content');
    splices.push(
      current
        ? { at: current.value.start, remove: current.value.end - current.value.start, insert: json }
        : { at: span.start + 1, remove: 0, insert: `"reasoning_content":${json},` },
    );
  }
  return { splices, missing };
}

/** The same for messages of a translated request; changes them. Returns how many nobody knows. */
export function attachToMessages(messages: readonly unknown[], recall: Recall): number {
  let missing = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (!isObject(message) || message.role !== ASSISTANT) continue;
    const before = messages[at - 1];
    const wanted = wantedReasoning(message, isObject(before) ? asText(before.role) : '', recall);
    if (wanted === null) continue;
    if (wanted === '') missing += 1;
    message.reasoning_content = wanted;
  }
  return missing;
}

/**
 * What a message's `reasoning_content` has to become; null when it stays as it is. A tool call and the answer to its
 * result must have one, be it empty.
 */
function wantedReasoning(message: JsonObject, roleBefore: string | undefined, recall: Recall): string | null {
  if (asText(message.reasoning_content) !== '') return null;
  const told = reasoningOf(message);
  if (told !== '') return told;
  const known = recall(messageKey('openai', message));
  if (known?.wire === 'openai') return known.text;
  const demanded = asArray(message.tool_calls).length > 0 || roleBefore === 'tool';
  return demanded ? '' : null;
}

/** Takes every kind of reasoning out of OpenAI-style messages, for upstreams that know none (T55). */
export function removeReasoning(from: Skim): Splice[] {
  return from.messages.flatMap((span) => {
    if (span.role !== ASSISTANT || !mayHoldReasoning(from, span)) return [];
    return removeMembers(skimMembers(from, span), (key) => FIELDS.includes(key));
  });
}

function mayHoldReasoning(from: Skim, span: SkimMessage): boolean {
  return from.bytes.subarray(span.start, span.end).includes('"reasoning');
}

/** The sealed reasoning items that belong before a chat client's assistant message; null when none is known. */
export function sealedItems(message: JsonObject, recall: Recall): JsonObject[] | null {
  const known = recall(messageKey('openai', message));
  return known?.wire === 'responses' ? known.blocks : null;
}

/** The thinking blocks of an assistant message that has a call but lost them; null when there is nothing to add. */
export function lostThinking(message: JsonObject, recall: Recall): JsonObject[] | null {
  const blocks = asArray(message.content).filter(isObject);
  if (!blocks.some((block) => block.type === 'tool_use') || blocks.some(isThinking)) return null;
  const known = recall(messageKey('anthropic', message));
  return known?.wire === 'anthropic' ? known.blocks : null;
}

/**
 * Anthropic wants the thinking of the tool loop that is going on; a client that dropped it gets it back, block by
 * block as it was signed. What the client sent stays untouched (T51).
 */
export function attachThinking(from: Skim, recall: Recall): Splice[] {
  if (!asksToThink(from)) return [];
  const splices: Splice[] = [];
  for (let at = from.messages.length - 1; at >= 0; at -= 1) {
    const span = from.messages[at] as SkimMessage;
    if (span.role !== ASSISTANT) {
      if (
        span.content?.kind === 'array' &&
        from.bytes.subarray(span.start, span.end).includes('"tool_result"')
      )
        continue;
      break;
    }
    const { content } = span;
    if (content?.kind !== 'array') continue;
    const blocks = lostThinking(decodeValue(from, span) as JsonObject, recall);
    if (blocks === null) continue;
    const json = blocks.map((block) => JSON.stringify(block)).join(',');
    splices.push({ at: content.start + 1, remove: 0, insert: `${json},` });
  }
  return splices;
}

function asksToThink(from: Skim): boolean {
  const thinking = member(from, 'thinking');
  if (thinking?.value.kind !== 'object') return false;
  const { type } = decodeValue(from, thinking.value) as { type?: unknown };
  return type === 'enabled' || type === 'adaptive';
}
