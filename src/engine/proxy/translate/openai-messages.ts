import { z } from 'zod';
import { anthropicMessages } from './history-to-openai.ts';
import { asText, DroppedNames, isObject, read } from './json.ts';
import type { JsonObject } from './types.ts';

/** Between system texts that become one (T02, T04). */
export const TEXT_SEPARATOR = '\n\n';

/** True for the two roles that carry instructions on the OpenAI wire. */
export function isSystemRole(role: unknown): boolean {
  return role === 'system' || role === 'developer';
}

/** Text of a message's content, parts joined by line feeds. */
export function contentText(content: unknown): string {
  if (!Array.isArray(content)) return asText(content);
  return content
    .map((part: unknown) =>
      typeof part === 'string' ? part : isObject(part) ? asText(part.text) || asText(part.refusal) : '',
    )
    .filter((text) => text !== '')
    .join('\n');
}

/** All system messages as one at the front, each text once and in order, for upstreams that take only that (T04). */
export function mergeLeadingSystem(messages: readonly JsonObject[]): JsonObject[] {
  const system = messages.filter((message) => isSystemRole(message.role));
  const first = system[0];
  if (first === undefined || (system.length === 1 && messages[0] === first)) return [...messages];
  const texts = system.map((message) => contentText(message.content)).filter((text) => text !== '');
  const rest = messages.filter((message) => !isSystemRole(message.role));
  return [{ role: first.role, content: texts.join(TEXT_SEPARATOR) }, ...rest];
}

const requestShape = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown().optional() })),
});

/**
 * OpenAI request for an OpenAI upstream, changed only where it must be: Anthropic-shaped tool blocks in messages are
 * understood (T35), `developer` becomes `system` where the upstream does not know it (T05), system messages are merged
 * where it takes one (T04). Returns the same object when nothing had to change, so the caller can relay the bytes.
 */
export function adaptOpenaiRequest(
  body: JsonObject,
  options: { developerRole: boolean; oneLeadingSystem: boolean; reasoning: 'drop' | 'reasoning_content' },
): JsonObject {
  if (!Array.isArray(body.messages)) return body;
  const original: readonly JsonObject[] = read(requestShape, body).messages;
  let messages: readonly JsonObject[] = original;
  if (original.some(hasForeignBlocks)) {
    const tools = {
      options: {
        ...options,
        developerRole: options.developerRole,
        textOnly: false,
        model: asText(body.model),
      },
      names: { wire: same },
      ids: { call: same, result: same },
      dropped: new DroppedNames(),
    };
    messages = original.flatMap((message, index) =>
      hasForeignBlocks(message) ? anthropicMessages([message], tools, index) : [message],
    );
  }
  if (!options.developerRole && messages.some((message) => message.role === 'developer')) {
    messages = messages.map((message) =>
      message.role === 'developer' ? { ...message, role: 'system' } : message,
    );
  }
  if (options.oneLeadingSystem) {
    const merged = mergeLeadingSystem(messages);
    if (merged.some((message, index) => message !== messages[index])) messages = merged;
  }
  return messages === original ? body : { ...body, messages };
}

const FOREIGN = new Set(['tool_use', 'tool_result', 'image', 'document', 'thinking']);

function same(text: string): string {
  return text;
}

function hasForeignBlocks(message: JsonObject): boolean {
  if (!Array.isArray(message.content)) return false;
  return message.content.some((part) => isObject(part) && FOREIGN.has(asText(part.type)));
}
