import { asArray, asObject, asText, isObject } from './json.ts';
import type { JsonObject } from './types.ts';

/**
 * Anthropic request for an Anthropic upstream, changed only where it must be: thinking without a signature, which came
 * from another vendor through this proxy, would be refused. Signed thinking stays as it is, byte for byte (T51). A tool
 * loop that is left without its thinking goes on without any, since calls must begin with it where it has a budget.
 * Returns the same object when nothing had to change, so the caller can relay the bytes.
 */
export function adaptAnthropicRequest(body: JsonObject): JsonObject {
  if (!Array.isArray(body.messages) || !body.messages.some(hasUnsigned)) return body;
  const messages = body.messages.flatMap((message: unknown) => {
    if (!isObject(message) || !hasUnsigned(message) || !Array.isArray(message.content)) return [message];
    const content = message.content.filter((block) => !isUnsigned(block));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  const without: JsonObject = { ...body, messages };
  if (asObject(body.thinking).type !== 'enabled' || !loopLacksThinking(messages)) return without;
  const { thinking: _, ...rest } = without;
  return rest;
}

/** True when results stand last and the calls that they answer do not begin with thinking. */
function loopLacksThinking(messages: readonly unknown[]): boolean {
  for (const message of messages.toReversed()) {
    const { role, content } = asObject(message);
    const types = asArray(content).map((block) => asObject(block).type);
    if (role === 'user' && !types.includes('tool_result')) return false;
    if (role === 'assistant' && types.includes('tool_use'))
      return types[0] !== 'thinking' && types[0] !== 'redacted_thinking';
  }
  return false;
}

function hasUnsigned(message: unknown): boolean {
  return isObject(message) && Array.isArray(message.content) && message.content.some(isUnsigned);
}

function isUnsigned(block: unknown): boolean {
  return isObject(block) && block.type === 'thinking' && asText(block.signature) === '';
}
