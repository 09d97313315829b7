import { asText, isObject } from './json.ts';
import type { JsonObject } from './types.ts';

/**
 * Anthropic request for an Anthropic upstream, changed only where it must be: thinking without a signature, which came
 * from another vendor through this proxy, would be refused. Signed thinking stays as it is, byte for byte (T51).
 * Returns the same object when nothing had to change, so the caller can relay the bytes.
 */
export function adaptAnthropicRequest(body: JsonObject): JsonObject {
  if (!Array.isArray(body.messages) || !body.messages.some(hasUnsigned)) return body;
  const messages = body.messages.flatMap((message: unknown) => {
    if (!isObject(message) || !hasUnsigned(message) || !Array.isArray(message.content)) return [message];
    const content = message.content.filter((block) => !isUnsigned(block));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  return { ...body, messages };
}

function hasUnsigned(message: unknown): boolean {
  return isObject(message) && Array.isArray(message.content) && message.content.some(isUnsigned);
}

function isUnsigned(block: unknown): boolean {
  return isObject(block) && block.type === 'thinking' && asText(block.signature) === '';
}
