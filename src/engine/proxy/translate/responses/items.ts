import { asArray, asText, isObject } from '../json.ts';
import type { JsonObject } from '../types.ts';

/**
 * What an item of the Responses API is in a conversation. Items have no role but messages do; a tool's output counts
 * as `tool`, everything else that is no message came from the model.
 */
export function roleOfItem(type: string, role: string): string {
  if (role !== '') return role;
  if (type === 'message' || type === '') return '';
  return isOutputType(type) ? 'tool' : 'assistant';
}

/** Items that bring a tool's result back. */
export function isOutputType(type: string): boolean {
  return type.endsWith('_output');
}

/** The items of a request's `input`; a bare string is one user message. */
export function inputItems(input: unknown): JsonObject[] {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
  return asArray(input).filter(isObject);
}

/** Words of a reasoning item: the model's own, else their summary. */
export function reasoningText(item: JsonObject): string {
  return joined(item.content) || joined(item.summary);
}

function joined(parts: unknown): string {
  return asArray(parts)
    .map((part) => (isObject(part) ? asText(part.text) : ''))
    .filter((text) => text !== '')
    .join('\n\n');
}

/** What a person sees of one output item. */
export function visibleText(item: JsonObject): string {
  if (item.type !== 'message') return '';
  return asArray(item.content)
    .map((part) => (isObject(part) ? asText(part.text) || asText(part.refusal) : ''))
    .join('');
}
