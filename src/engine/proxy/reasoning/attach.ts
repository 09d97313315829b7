import { decodeValue, member, type Skim, type SkimMessage, skimBlocks, skimMembers } from '../skim.ts';
import { removeMembers, type Splice } from '../splice.ts';
import { asArray, asText, isObject } from '../translate/json.ts';
import type { JsonObject } from '../translate/types.ts';
import { reasoningOf } from '../translate/vocabulary.ts';
import { extraOf, isThinking, type Reasoning } from './memory.ts';
import { type MessageKey, messageKey } from './message-key.ts';

/** Looks up one request's assistant messages; asked from the newest to the oldest. */
export type Recall = (key: MessageKey) => Reasoning | null;

/** Names under which OpenAI-style messages carry reasoning. */
const FIELDS: readonly string[] = ['reasoning_content', 'reasoning', 'reasoning_text', 'reasoning_details'];
const ASSISTANT = 'assistant';

/** What an upstream wants of earlier reasoning that its client may have dropped. */
export interface Wants {
  /** `reasoning_content`, on every call and on the answer to its result, be it empty (T53, T54). */
  text: boolean;
  /** `reasoning_details`, where they are known. */
  details: boolean;
  /** Signatures of calls: where they are known, or on every step's first call. */
  signatures: 'none' | 'known' | 'always';
}

export interface Attached {
  splices: Splice[];
  /** Messages whose reasoning the upstream demands and nobody knows any more; they carry an empty one. */
  missing: number;
}

/** Gives OpenAI-style messages back what their upstream wants of the reasoning behind them. */
export function attachReasoning(from: Skim, recall: Recall, wants: Wants): Attached {
  const splices: Splice[] = [];
  let missing = 0;
  for (let at = from.messages.length - 1; at >= 0; at -= 1) {
    const span = from.messages[at] as SkimMessage;
    if (span.role !== ASSISTANT) continue;
    const message = decodeValue(from, span) as JsonObject;
    const returned = returnedTo(message, from.messages[at - 1]?.role, recall, wants);
    if (returned.fields.reasoning_content === '') missing += 1;
    const members = skimMembers(from, span);
    for (const [name, value] of Object.entries(returned.fields)) {
      const json = JSON.stringify(value);
      const current = members.find((candidate) => candidate.key === name);
      splices.push(
        current
          ? { at: current.value.start, remove: current.value.end - current.value.start, insert: json }
          : { at: span.start + 1, remove: 0, insert: `${JSON.stringify(name)}:${json},` },
      );
    }
    const list = members.find((candidate) => candidate.key === 'tool_calls');
    const calls = list?.value.kind === 'array' ? skimBlocks(from, list.value) : [];
    for (const [index, call] of calls.entries()) {
      const extra = returned.extras[index];
      if (extra)
        splices.push({ at: call.start + 1, remove: 0, insert: `"extra_content":${JSON.stringify(extra)},` });
    }
  }
  return { splices, missing };
}

/** The same for messages of a translated request; changes them. Returns how many nobody knows. */
export function attachToMessages(messages: readonly unknown[], recall: Recall, wants: Wants): number {
  let missing = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (!isObject(message) || message.role !== ASSISTANT) continue;
    const before = messages[at - 1];
    const returned = returnedTo(message, isObject(before) ? asText(before.role) : '', recall, wants);
    if (returned.fields.reasoning_content === '') missing += 1;
    Object.assign(message, returned.fields);
    const calls = asArray(message.tool_calls);
    for (const [index, call] of calls.entries()) {
      const extra = returned.extras[index];
      if (extra && isObject(call)) call.extra_content = extra;
    }
  }
  return missing;
}

interface Returned {
  /** Members of the message. */
  fields: JsonObject;
  /** `extra_content` by call; null where it stays as it is. */
  extras: (JsonObject | null)[];
}

/** Google's own word for a call whose signature is not known, e.g. because another vendor's model made it. */
const UNSIGNED: JsonObject = { google: { thought_signature: 'skip_thought_signature_validator' } };

/** A message is looked up once, however much of it is wanted: an entry answers for one message only. */
function returnedTo(
  message: JsonObject,
  roleBefore: string | undefined,
  recall: Recall,
  wants: Wants,
): Returned {
  let looked: Extract<Reasoning, { wire: 'openai' }> | null | undefined;
  const known = () => {
    if (looked !== undefined) return looked;
    const found = recall(messageKey('openai', message));
    looked = found?.wire === 'openai' ? found : null;
    return looked;
  };
  const fields: JsonObject = {};
  if (wants.text) {
    const text = wantedReasoning(message, roleBefore, known);
    if (text !== null) fields.reasoning_content = text;
  }
  if (wants.details && asArray(message.reasoning_details).length === 0) {
    const { details, text = '' } = known() ?? {};
    if (details) fields.reasoning_details = details;
    else if (text !== '' && !wants.text && reasoningOf(message) === '') fields.reasoning = text;
  }
  return { fields, extras: wants.signatures === 'none' ? [] : signatures(message, known, wants) };
}

function signatures(
  message: JsonObject,
  known: () => { extras?: (JsonObject | null)[] | undefined } | null,
  wants: Wants,
): (JsonObject | null)[] {
  const calls = asArray(message.tool_calls);
  if (calls.length === 0 || calls.some((call) => extraOf(call) !== null)) return [];
  const { extras = [] } = known() ?? {};
  if (extras.length > 0 || wants.signatures === 'known') return extras;
  return [UNSIGNED];
}

/**
 * What a message's `reasoning_content` has to become; null when it stays as it is. A tool call and the answer to its
 * result must have one, be it empty.
 */
function wantedReasoning(
  message: JsonObject,
  roleBefore: string | undefined,
  known: () => { text: string } | null,
): string | null {
  if (asText(message.reasoning_content) !== '') return null;
  const told = reasoningOf(message) || (known()?.text ?? '');
  if (told !== '') return told;
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

/** Takes what vendors hang on calls (`extra_content`) out of messages, for upstreams that refuse what they do not know. */
export function removeExtras(from: Skim): Splice[] {
  return from.messages.flatMap((span) => {
    if (span.role !== ASSISTANT) return [];
    if (!from.bytes.subarray(span.start, span.end).includes('"extra_content"')) return [];
    const members = skimMembers(from, span);
    const list = members.find(({ key }) => key === 'tool_calls')?.value;
    const calls = list?.kind === 'array' ? skimBlocks(from, list) : [];
    return [...calls.map((call) => skimMembers(from, call)), members].flatMap((those) =>
      removeMembers(those, (key) => key === 'extra_content'),
    );
  });
}

/** The sealed reasoning items that belong before a chat client's assistant message; null when none is known. */
export function sealedItems(message: JsonObject, recall: Recall): JsonObject[] | null {
  const known = recall(messageKey('openai', message));
  return known?.wire === 'responses' ? known.blocks : null;
}

/** The thinking blocks of an assistant message that has a call but lost them; null when there is nothing to add. */
export function lostThinking(message: JsonObject, recall: Recall): JsonObject[] | null {
  return lostBlocks(message, recall)?.blocks ?? null;
}

function lostBlocks(
  message: JsonObject,
  recall: Recall,
): Extract<Reasoning, { wire: 'anthropic' | 'responses' }> | null {
  const blocks = asArray(message.content).filter(isObject);
  if (!blocks.some((block) => block.type === 'tool_use') || blocks.some(isThinking)) return null;
  const known = recall(messageKey('anthropic', message));
  return known?.wire === 'anthropic' ? known : null;
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
    const lost = lostBlocks(decodeValue(from, span) as JsonObject, recall);
    if (lost === null) continue;
    const others = skimBlocks(from, content);
    for (const [n, block] of lost.blocks.entries()) {
      // Thinking between words goes back between them; where those were changed, before them all.
      const before = others[lost.at?.[n] ?? 0] ?? others[0];
      if (before) splices.push({ at: before.start, remove: 0, insert: `${JSON.stringify(block)},` });
    }
  }
  return splices;
}

function asksToThink(from: Skim): boolean {
  const thinking = member(from, 'thinking');
  if (thinking?.value.kind !== 'object') return false;
  const { type } = decodeValue(from, thinking.value) as { type?: unknown };
  return type === 'enabled' || type === 'adaptive';
}
