import { createHash } from 'node:crypto';
import type { Dialect } from '../../../shared/model.ts';
import { asArray, asObject, asText, isObject, parseJson } from '../translate/json.ts';
import type { JsonObject } from '../translate/types.ts';
import { splitContent } from '../translate/vocabulary.ts';

/** What an assistant message is recognised by when a client sends it back. */
export interface MessageKey {
  /** Ids of its tool calls without their punctuation: some clients take it out (`call_1` comes back as `call1`). */
  ids: readonly string[];
  /** Covers its words and its calls, not their spelling. */
  hash: string;
}

/** The key of an assistant message in the shape of its dialect, whether from a request or from a reply. */
export function messageKey(dialect: Dialect, message: JsonObject): MessageKey {
  return dialect === 'anthropic' ? anthropicKey(message) : openaiKey(message);
}

function openaiKey(message: JsonObject): MessageKey {
  const calls = asArray(message.tool_calls).filter(isObject);
  return key(
    splitContent(message.content).text,
    calls.map((call) => {
      const { name, arguments: args } = asObject(call.function);
      return {
        id: asText(call.id),
        name: asText(name),
        input: typeof args === 'string' ? parseJson(args) : args,
      };
    }),
  );
}

function anthropicKey(message: JsonObject): MessageKey {
  const { content } = message;
  if (typeof content === 'string') return key(content, []);
  const blocks = asArray(content).filter(isObject);
  return key(
    blocks.map((block) => (block.type === 'text' ? asText(block.text) : '')).join(''),
    blocks
      .filter((block) => block.type === 'tool_use')
      .map((block) => ({ id: asText(block.id), name: asText(block.name), input: block.input })),
  );
}

function key(text: string, calls: readonly { id: string; name: string; input: unknown }[]): MessageKey {
  const said = [text.trim(), ...calls.map((call) => [call.name, sorted(call.input ?? {})])];
  return {
    ids: calls.map((call) => call.id.replace(/[^a-zA-Z0-9]/g, '')).filter((id) => id !== ''),
    hash: createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 22),
  };
}

/** Clients parse arguments and write them anew: the order of keys says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}
