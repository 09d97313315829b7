import { z } from 'zod';
import { TOOL_ERROR_MARK } from './arguments.ts';
import { asArray, asObject, asText, type DroppedNames, isObject, read, refuse } from './json.ts';
import { documentParts, imagePart, searchResultText } from './media.ts';
import type { CallIds, ToolNames } from './tool-names.ts';
import type { JsonObject, TranslateOptions } from './types.ts';

export interface HistoryTools {
  options: Pick<TranslateOptions, 'developerRole' | 'textOnly' | 'model' | 'reasoning' | 'middle'>;
  names: Pick<ToolNames, 'wire'>;
  ids: Pick<CallIds, 'call' | 'result'>;
  dropped: DroppedNames;
}

const blockShape = z.looseObject({ type: z.string() });
const contentShape = z.union([z.string(), z.array(blockShape)], {
  error: 'must be a string or an array of content blocks',
});
const textShape = z.looseObject({ text: z.string() });
const toolUseShape = z.looseObject({ id: z.string(), name: z.string(), input: z.unknown().optional() });
const toolResultShape = z.looseObject({
  tool_use_id: z.string(),
  content: contentShape.nullish(),
  is_error: z.boolean().nullish(),
});
type Block = z.infer<typeof blockShape>;

type Path = readonly PropertyKey[];

const SAID_BLOCKS = new Set(['refusal', 'text', 'tool_use', 'thinking']);
/** Fields of blocks that are said on the other wire. */
const BLOCK_FIELDS = new Set(
  `type text refusal thinking signature source title context content id name input tool_use_id tool_name is_error
  cache_control image_url input_audio file data`.split(/\s+/),
);

/** Anthropic `messages` → OpenAI messages in the same order (T23 to T28, T53, T55). */
export function anthropicMessages(
  messages: readonly { role?: unknown; content?: unknown }[],
  tools: HistoryTools,
  firstIndex = 0,
): JsonObject[] {
  const out: JsonObject[] = [];
  // A system message between calls and their results would part what OpenAI wants together.
  let heldSystem: JsonObject[] = [];
  for (const [offset, message] of messages.entries()) {
    const path = ['messages', firstIndex + offset];
    const content = read(contentShape, message.content ?? '', [...path, 'content']);
    const blocks: Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (message.role === 'assistant') out.push(...assistantMessage(blocks, path, tools));
    else if (message.role === 'system' || message.role === 'developer') {
      const system = systemMessage(blocks, path, tools);
      if (system === null) continue;
      if (resultsFollow(messages, offset)) heldSystem.push(system);
      else out.push(system);
    } else if (message.role === 'user') {
      const { results, rest } = userMessages(blocks, path, tools);
      out.push(...results, ...heldSystem, ...rest);
      heldSystem = [];
    } else refuse(`Messages of role ${String(message.role)} are not known.`, [...path, 'role']);
  }
  return [...out, ...heldSystem];
}

function resultsFollow(messages: readonly { role?: unknown; content?: unknown }[], from: number): boolean {
  const next = messages.slice(from + 1).find((message) => message.role !== 'system');
  return (
    next?.role === 'user' &&
    asArray(next.content).some((block) => isObject(block) && block.type === 'tool_result')
  );
}

function systemMessage(blocks: readonly Block[], path: Path, tools: HistoryTools): JsonObject | null {
  const texts = blocks.map((block, index) => {
    noteLost(block, tools);
    return read(textShape, block, [...path, 'content', index]).text;
  });
  const text = texts.filter((part) => part !== '').join('\n\n');
  return text === '' ? null : { role: tools.options.developerRole ? 'developer' : 'system', content: text };
}

function assistantMessage(blocks: readonly Block[], path: Path, tools: HistoryTools): JsonObject[] {
  let text = '';
  const thinking: string[] = [];
  const calls: JsonObject[] = [];
  for (const [index, block] of blocks.entries()) {
    const at = [...path, 'content', index];
    if (SAID_BLOCKS.has(block.type)) noteLost(block, tools);
    switch (block.type) {
      case 'refusal':
      case 'text': {
        const part = block.type === 'refusal' ? asText(block.refusal) : read(textShape, block, at).text;
        // Cited text is cut in the middle of sentences; other blocks are paragraphs of their own.
        const separator = text === '' || part === '' || asArray(block.citations).length > 0 ? '' : '\n';
        text += separator + part;
        break;
      }
      case 'tool_use': {
        const use = read(toolUseShape, block, at);
        calls.push({
          id: tools.ids.call(use.id),
          type: 'function',
          function: { name: tools.names.wire(use.name), arguments: JSON.stringify(use.input ?? {}) },
        });
        break;
      }
      case 'thinking':
        if (asText(block.thinking) !== '') thinking.push(asText(block.thinking));
        break;
      default:
        // What ran at Anthropic (searches, code) is over; its outcome stands in the text beside it.
        tools.dropped.add(`messages.${block.type}`);
    }
  }
  const keeps = tools.options.reasoning === 'reasoning_content';
  if (thinking.length > 0 && !keeps) tools.dropped.add('messages.thinking');
  if (text === '' && calls.length === 0 && !(keeps && thinking.length > 0)) return [];
  // Upstreams that want reasoning back refuse a tool call without the field, but take an empty one (T54).
  const wantsField = keeps && (thinking.length > 0 || calls.length > 0);
  return [
    {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...(wantsField ? { reasoning_content: thinking.join('\n') } : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
  ];
}

function userMessages(
  blocks: readonly Block[],
  path: Path,
  tools: HistoryTools,
): { results: JsonObject[]; rest: JsonObject[] } {
  const results: JsonObject[] = [];
  const fromResults: JsonObject[] = [];
  const own: JsonObject[] = [];
  for (const [index, block] of blocks.entries()) {
    const at = [...path, 'content', index];
    if (block.type !== 'tool_result') {
      own.push(...contentParts(block, at, tools));
      continue;
    }
    noteLost(block, tools);
    const result = read(toolResultShape, block, at);
    const id = tools.ids.result(result.tool_use_id);
    const { text, media } = resultContent(result.content, [...at, 'content'], tools);
    const content = result.is_error === true ? `${TOOL_ERROR_MARK} ${text}`.trim() : text;
    if (media.length > 0 && tools.options.middle === true) {
      const words = content === '' ? [] : [{ type: 'text', text: content }];
      results.push({ role: 'tool', tool_call_id: id, content: [...words, ...media] });
      continue;
    }
    results.push({ role: 'tool', tool_call_id: id, content });
    // On the wire a tool message holds text only; its images follow in the user's message, with their origin named.
    if (media.length > 0) fromResults.push({ type: 'text', text: `Output of tool call ${id}:` }, ...media);
  }
  const parts = [...fromResults, ...own].filter((part) => part.type !== 'text' || part.text !== '');
  return { results, rest: parts.length === 0 ? [] : [{ role: 'user', content: joinParts(parts) }] };
}

function resultContent(
  content: string | Block[] | null | undefined,
  path: Path,
  tools: HistoryTools,
): { text: string; media: JsonObject[] } {
  if (typeof content === 'string') return { text: content, media: [] };
  const texts: string[] = [];
  const media: JsonObject[] = [];
  for (const [index, block] of (content ?? []).entries()) {
    for (const part of resultParts(block, [...path, index], tools)) {
      if (part.type === 'text') texts.push(asText(part.text));
      else media.push(part);
    }
  }
  return { text: texts.join('\n'), media };
}

function resultParts(block: Block, path: Path, tools: HistoryTools): JsonObject[] {
  if (block.type === 'tool_reference')
    return [{ type: 'text', text: `Tool found: ${tools.names.wire(asText(block.tool_name))}` }];
  if (KNOWN_PARTS.has(block.type)) return contentParts(block, path, tools);
  // Anything newer is data for the model to read; as JSON text nothing of it is lost.
  const { cache_control: _, ...data } = block;
  return [{ type: 'text', text: JSON.stringify(data) }];
}

const KNOWN_PARTS = new Set(['text', 'image', 'image_url', 'document', 'search_result']);

function contentParts(block: Block, path: Path, tools: HistoryTools): JsonObject[] {
  noteLost(block, tools);
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: read(textShape, block, path).text }];
    case 'search_result':
      return [{ type: 'text', text: searchResultText(block) }];
    case 'image':
      return [media(imagePart(block, path), path, tools)];
    case 'document':
      return documentParts(block, path, tools.options.middle === true).map((part) =>
        part.type === 'text' ? part : media(part, path, tools),
      );
    case 'image_url':
    case 'input_audio':
    case 'file':
      // Already in OpenAI's shape: a client that mixes both dialects in one message (T35).
      return [block];
    default:
      return refuse(`Content of type ${block.type} cannot be sent to this provider.`, [...path, 'type']);
  }
}

function media(part: JsonObject, path: Path, tools: HistoryTools): JsonObject {
  if (tools.options.textOnly)
    refuse(`The model ${tools.options.model} takes text only; the message holds an image or a file.`, path);
  return part;
}

/** Text alone goes as a string, which every server understands; media needs parts. */
function joinParts(parts: readonly JsonObject[]): string | JsonObject[] {
  if (!parts.every((part) => part.type === 'text')) return [...parts];
  return parts.map((part) => asText(part.text)).join('\n');
}

function noteLost(block: Block, tools: HistoryTools): void {
  const { citations, caller, ...rest } = block;
  if (block.cache_control) tools.dropped.add('cache_control');
  if (asArray(citations).length > 0 || asObject(citations).enabled === true)
    tools.dropped.add('messages.citations');
  // `direct` is how every call is made that the model makes itself.
  if (isObject(caller) && caller.type !== 'direct') tools.dropped.add('messages.caller');
  tools.dropped.addUnknown(rest, BLOCK_FIELDS, 'messages.');
}
