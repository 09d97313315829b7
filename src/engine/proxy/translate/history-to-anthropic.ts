import { z } from 'zod';
import { argumentsObject, TOOL_ERROR_MARK } from './arguments.ts';
import { asText, type DroppedNames, isObject, read, refuse } from './json.ts';
import { documentBlock, imageBlock } from './media.ts';
import { isSystemRole } from './openai-messages.ts';
import type { CallIds, ToolNames } from './tool-names.ts';
import type { JsonObject, TranslateOptions } from './types.ts';

export interface HistoryTools {
  options: Pick<TranslateOptions, 'textOnly' | 'model'>;
  names: ToolNames;
  ids: CallIds;
  dropped: DroppedNames;
}

type Path = readonly PropertyKey[];
type Message = JsonObject & { role: string };

const partShape = z.looseObject({ type: z.string() });
const contentShape = z.union([z.string(), z.array(partShape)], {
  error: 'must be a string or an array of content parts',
});
const functionShape = z.looseObject({ name: z.string(), arguments: z.unknown().optional() });
const callShape = z.looseObject({
  id: z.string().nullish(),
  type: z.string().nullish(),
  function: functionShape,
});
const toolUseShape = z.looseObject({ id: z.string(), name: z.string(), input: z.unknown().optional() });
type Part = z.infer<typeof partShape>;

/** Calls of the old `function_call` form carry no id; their results follow directly. */
const FUNCTION_CALL_ID = 'function_call';

const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text', 'reasoning_details'];
const MESSAGE_FIELDS = new Set([
  ...REASONING_FIELDS,
  ...'role content name tool_calls tool_call_id function_call refusal audio'.split(' '),
]);
const PART_FIELDS = new Set(
  'type text refusal image_url file cache_control annotations id name input'.split(' '),
);
const CALL_FIELDS = new Set(['id', 'type', 'function', 'index']);
/** Content of Anthropic's own shape, carried as it is. */
const NATIVE_PARTS = new Set(['image', 'document', 'tool_use', 'tool_result']);

/** True when the history uses the form that came before `tools`. */
export function usesFunctionCalls(messages: readonly Message[]): boolean {
  return messages.some((message) => isObject(message.function_call) || message.role === 'function');
}

/** All system and developer texts, in order, as Anthropic's top-level blocks (T03). */
export function systemBlocks(messages: readonly Message[], dropped: DroppedNames): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isSystemRole(message.role)) continue;
    for (const part of partsOf(message, index)) {
      if (part.type !== 'text') refuse('System messages hold text only.', ['messages', index, 'content']);
      if (hasWords(part.text)) blocks.push(textBlock(part));
    }
    if (message.name !== undefined) dropped.add('messages.name');
  }
  return blocks;
}

/**
 * OpenAI messages → Anthropic messages: neighbours of one role merged (T07), tool results first in their message
 * (T29), nothing empty (T32). System messages are left to `systemBlocks`.
 */
export function openaiMessages(messages: readonly Message[], tools: HistoryTools): JsonObject[] {
  const out: { role: 'user' | 'assistant'; content: JsonObject[] }[] = [];
  for (const [index, message] of messages.entries()) {
    tools.dropped.addUnknown(message, MESSAGE_FIELDS, 'messages.');
    const blocks = blocksOf(message, index, tools);
    if (blocks.length === 0) continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = out.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else out.push({ role, content: blocks });
  }
  for (const message of out) {
    if (message.role === 'user') message.content = resultsFirst(message.content);
  }
  trimLastAnswer(out.at(-1));
  return out;
}

function blocksOf(message: Message, index: number, tools: HistoryTools): JsonObject[] {
  const path = ['messages', index];
  switch (message.role) {
    case 'system':
    case 'developer':
      return [];
    case 'user':
      if (message.name !== undefined) tools.dropped.add('messages.name');
      return partsOf(message, index).flatMap((part, at) => userBlock(part, [...path, 'content', at], tools));
    case 'assistant':
      return assistantBlocks(message, index, tools);
    case 'tool': {
      const id = read(z.string(), message.tool_call_id, [...path, 'tool_call_id']);
      return [resultBlock(tools.ids.result(id), partsOf(message, index), [...path, 'content'], tools)];
    }
    case 'function':
      return [
        resultBlock(tools.ids.result(FUNCTION_CALL_ID), partsOf(message, index), [...path, 'content'], tools),
      ];
    default:
      return refuse(`Messages of role ${message.role} are not known.`, [...path, 'role']);
  }
}

function partsOf(message: Message, index: number): Part[] {
  const content = read(contentShape, message.content ?? '', ['messages', index, 'content']);
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function noteLost(part: Part, tools: HistoryTools): void {
  if (!NATIVE_PARTS.has(part.type)) tools.dropped.addUnknown(part, PART_FIELDS, 'messages.');
}

function assistantBlocks(message: Message, index: number, tools: HistoryTools): JsonObject[] {
  const path = ['messages', index];
  const blocks: JsonObject[] = [];
  for (const [at, part] of partsOf(message, index).entries()) {
    const partPath = [...path, 'content', at];
    noteLost(part, tools);
    if (part.type === 'text' || part.type === 'refusal') {
      const text = asText(part.type === 'text' ? part.text : part.refusal);
      if (hasWords(text)) blocks.push(textBlock({ ...part, text }));
    } else if (part.type === 'tool_use') blocks.push(toolUse(part, partPath, tools));
    // Foreign reasoning has no signature that Anthropic would accept.
    else tools.dropped.add(`messages.${part.type}`);
  }
  if (hasWords(message.refusal)) blocks.push({ type: 'text', text: message.refusal });
  for (const field of REASONING_FIELDS) if (message[field]) tools.dropped.add(`messages.${field}`);
  if (message.name !== undefined) tools.dropped.add('messages.name');
  if (isObject(message.audio)) tools.dropped.add('messages.audio');

  const calls =
    read(z.array(callShape.or(partShape)).nullish(), message.tool_calls, [...path, 'tool_calls']) ?? [];
  for (const [at, value] of calls.entries()) {
    const callPath = [...path, 'tool_calls', at];
    if (value.type === 'custom') refuse('Calls of custom tools cannot be sent to this provider.', callPath);
    const call = read(callShape, value, callPath);
    tools.dropped.addUnknown(call, CALL_FIELDS, 'messages.tool_calls.');
    blocks.push(callBlock(call.id ?? `call_${index}_${at}`, call.function, tools));
  }
  if (isObject(message.function_call)) {
    blocks.push(
      callBlock(
        FUNCTION_CALL_ID,
        read(functionShape, message.function_call, [...path, 'function_call']),
        tools,
      ),
    );
  }
  return blocks;
}

function callBlock(id: string, call: { name: string; arguments?: unknown }, tools: HistoryTools): JsonObject {
  return {
    type: 'tool_use',
    id: tools.ids.call(id),
    name: tools.names.wire(call.name),
    input: argumentsObject(call.arguments),
  };
}

/** A block that is in Anthropic's shape already (T35). */
function toolUse(part: Part, path: Path, tools: HistoryTools): JsonObject {
  const use = read(toolUseShape, part, path);
  return callBlock(use.id, { name: use.name, arguments: use.input }, tools);
}

function userBlock(part: Part, path: Path, tools: HistoryTools): JsonObject[] {
  noteLost(part, tools);
  switch (part.type) {
    case 'text':
      return hasWords(part.text) ? [textBlock(part)] : [];
    case 'image_url':
      if (
        isObject(part.image_url) &&
        part.image_url.detail !== undefined &&
        part.image_url.detail !== 'auto'
      ) {
        tools.dropped.add('image_url.detail');
      }
      return [media(cached(part, imageBlock(part, path)), path, tools)];
    case 'file':
      return [media(cached(part, documentBlock(part, path)), path, tools)];
    case 'image':
    case 'document':
      return [media(part, path, tools)];
    case 'tool_result': {
      const id = read(z.string(), part.tool_use_id, [...path, 'tool_use_id']);
      const content = read(contentShape, part.content ?? '', [...path, 'content']);
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      const block = resultBlock(tools.ids.result(id), parts, [...path, 'content'], tools);
      return [part.is_error === true ? { ...block, is_error: true } : block];
    }
    default:
      return refuse(`Content of type ${part.type} cannot be sent to this provider.`, [...path, 'type']);
  }
}

function resultBlock(id: string, parts: readonly Part[], path: Path, tools: HistoryTools): JsonObject {
  const onlyText = parts.every((part) => part.type === 'text');
  const joined = parts.map((part) => asText(part.text)).join('\n');
  const failed = (onlyText ? joined : asText(parts[0]?.text)).startsWith(TOOL_ERROR_MARK);
  const flag = failed ? { is_error: true } : {};
  if (onlyText)
    return { type: 'tool_result', tool_use_id: id, content: failed ? unmarked(joined) : joined, ...flag };
  const content = parts.flatMap((part, at) =>
    userBlock(
      failed && at === 0 ? { ...part, text: unmarked(asText(part.text)) } : part,
      [...path, at],
      tools,
    ),
  );
  return { type: 'tool_result', tool_use_id: id, content, ...flag };
}

/** An error must say something, so a bare mark stays as its text. */
function unmarked(text: string): string {
  return text.slice(TOOL_ERROR_MARK.length).replace(/^ /, '') || TOOL_ERROR_MARK;
}

function media(block: JsonObject, path: Path, tools: HistoryTools): JsonObject {
  if (tools.options.textOnly)
    refuse(`The model ${tools.options.model} takes text only; the message holds an image or a file.`, path);
  return block;
}

/** Keeps a client's own cache breakpoint: OpenAI-style clients of Anthropic models set it on their parts. */
function textBlock(part: JsonObject): JsonObject {
  return cached(part, { type: 'text', text: part.text });
}

function cached(part: JsonObject, block: JsonObject): JsonObject {
  return isObject(part.cache_control) ? { ...block, cache_control: part.cache_control } : block;
}

function hasWords(text: unknown): boolean {
  return typeof text === 'string' && text.trim() !== '';
}

function resultsFirst(blocks: readonly JsonObject[]): JsonObject[] {
  const isResult = (block: JsonObject): boolean => block.type === 'tool_result';
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

/** Anthropic refuses a conversation that ends in an answer with trailing white space. */
function trimLastAnswer(message: { role: string; content: JsonObject[] } | undefined): void {
  const last = message?.role === 'assistant' ? message.content.at(-1) : undefined;
  if (last?.type === 'text') last.text = asText(last.text).trimEnd();
}
