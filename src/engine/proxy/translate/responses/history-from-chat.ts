import { z } from 'zod';
import { asArray, asText, type DroppedNames, isObject, read, refuse } from '../json.ts';
import { contentText, isSystemRole, TEXT_SEPARATOR } from '../openai-messages.ts';
import { CallIds, type ToolNames } from '../tool-names.ts';
import type { JsonObject, TranslateOptions } from '../types.ts';
import { reasoningOf } from '../vocabulary.ts';

type Message = JsonObject & { role: string };
type Path = readonly PropertyKey[];

export interface HistoryTools {
  options: Pick<TranslateOptions, 'textOnly' | 'model' | 'itemsOf'>;
  names: ToolNames;
  dropped: DroppedNames;
}

const contentShape = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))], {
  error: 'must be a string or an array of content parts',
});
const MESSAGE_FIELDS = new Set(
  `role content name tool_calls tool_call_id function_call refusal audio reasoning_content reasoning reasoning_text
  reasoning_details`.split(/\s+/),
);
const PART_FIELDS = new Set(
  'type text refusal image_url file annotations prompt_cache_breakpoint'.split(' '),
);
const CALL_FIELDS = new Set(['id', 'type', 'function', 'custom', 'index']);
/** Calls of the old `function_call` form carry no id; their results follow directly. */
const FUNCTION_CALL_ID = 'function_call';

/** Chat messages → `instructions` (what stands before the conversation) and input items. */
export function responsesItems(
  messages: readonly Message[],
  tools: HistoryTools,
): { instructions: string; input: JsonObject[]; legacyCalls: boolean } {
  const first = messages.findIndex((message) => !isSystemRole(message.role));
  const leading = messages.slice(0, first < 0 ? messages.length : first);
  const instructions = leading
    .map((message) => contentText(message.content))
    .filter((text) => text !== '')
    .join(TEXT_SEPARATOR);
  const ids = CallIds.forOpenai();
  const input = messages
    .slice(leading.length)
    .flatMap((message, at) => itemsOf(message, ['messages', leading.length + at], tools, ids));
  // Some clients send their whole prompt as system text; there must be something to answer to.
  if (input.length === 0)
    return { instructions: '', input: [{ role: 'user', content: instructions }], legacyCalls: false };
  const legacyCalls = messages.some(
    (message) => isObject(message.function_call) || message.role === 'function',
  );
  return { instructions, input, legacyCalls };
}

function itemsOf(message: Message, path: Path, tools: HistoryTools, ids: CallIds): JsonObject[] {
  tools.dropped.addUnknown(message, MESSAGE_FIELDS, 'messages.');
  if (message.name !== undefined && message.role !== 'function') tools.dropped.add('messages.name');
  switch (message.role) {
    case 'system':
    case 'developer': {
      const text = contentText(message.content);
      return text === '' ? [] : [{ role: message.role, content: text }];
    }
    case 'user': {
      const content = partsOf(message, path).map((part, at) =>
        inputPart(part, [...path, 'content', at], tools),
      );
      const [first, ...more] = content;
      const only = more.length === 0 && isPlainText(first) ? first.text : content;
      return content.length === 0 ? [] : [{ role: 'user', content: only }];
    }
    case 'assistant':
      return answerItems(message, path, tools, ids);
    case 'tool':
      return [
        outputItem(
          ids.result(read(z.string(), message.tool_call_id, [...path, 'tool_call_id'])),
          message,
          path,
          tools,
        ),
      ];
    case 'function':
      return [outputItem(ids.result(FUNCTION_CALL_ID), message, path, tools)];
    default:
      return refuse(`Messages of role ${message.role} are not known.`, [...path, 'role']);
  }
}

function answerItems(message: Message, path: Path, tools: HistoryTools, ids: CallIds): JsonObject[] {
  const known = tools.options.itemsOf?.(message) ?? null;
  const items: JsonObject[] = known === null ? [] : [...known];
  if (known === null && reasoningOf(message) !== '') tools.dropped.add('messages.reasoning_content');
  if (isObject(message.audio)) tools.dropped.add('messages.audio');
  const refusal = asText(message.refusal);
  const text = contentText(message.content);
  if (text !== '') items.push({ role: 'assistant', content: text });
  else if (refusal !== '') items.push({ role: 'assistant', content: refusal });
  for (const [at, call] of asArray(message.tool_calls).filter(isObject).entries()) {
    const callPath = [...path, 'tool_calls', at];
    const kind = call.type === 'custom' ? 'custom' : 'function';
    const inner = read(z.looseObject({ name: z.string() }), call[kind], [...callPath, kind]);
    tools.dropped.addUnknown(call, CALL_FIELDS, 'messages.tool_calls.');
    const id = ids.call(asText(call.id) || `call_${String(path[1])}_${at}`);
    const name = tools.names.wire(inner.name);
    items.push(
      kind === 'custom'
        ? { type: 'custom_tool_call', call_id: id, name, input: asText(inner.input) }
        : { type: 'function_call', call_id: id, name, arguments: argumentsText(inner.arguments) },
    );
  }
  if (isObject(message.function_call)) {
    const call = read(z.looseObject({ name: z.string() }), message.function_call, [...path, 'function_call']);
    items.push({
      type: 'function_call',
      call_id: ids.call(FUNCTION_CALL_ID),
      name: tools.names.wire(call.name),
      arguments: argumentsText(call.arguments),
    });
  }
  return items;
}

function outputItem(id: string, message: Message, path: Path, tools: HistoryTools): JsonObject {
  const parts = partsOf(message, path);
  const onlyText = parts.every((part) => part.type === 'text');
  const output = onlyText
    ? parts.map((part) => asText(part.text)).join('\n')
    : parts.map((part, at) => inputPart(part, [...path, 'content', at], tools));
  return { type: 'function_call_output', call_id: id, output };
}

function partsOf(message: Message, path: Path): JsonObject[] {
  const content = read(contentShape, message.content ?? '', [...path, 'content']);
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function isPlainText(part: JsonObject | undefined): part is JsonObject {
  return part?.type === 'input_text' && part.prompt_cache_breakpoint === undefined;
}

/** Breakpoints of the prompt cache are called the same on both wires. */
function inputPart(part: JsonObject, path: Path, tools: HistoryTools): JsonObject {
  const said = plainPart(part, path, tools);
  const { prompt_cache_breakpoint: mark } = part;
  tools.dropped.addUnknown(part, PART_FIELDS, 'messages.');
  return mark === undefined || mark === null ? said : { ...said, prompt_cache_breakpoint: mark };
}

function plainPart(part: JsonObject, path: Path, tools: HistoryTools): JsonObject {
  const { textOnly, model } = tools.options;
  if (part.type === 'text' || part.type === 'refusal')
    return { type: 'input_text', text: asText(part.text) || asText(part.refusal) };
  if (textOnly) refuse(`The model ${model} takes text only; the message holds an image or a file.`, path);
  if (part.type === 'image_url') {
    const image = isObject(part.image_url) ? part.image_url : { url: part.image_url };
    return { type: 'input_image', image_url: asText(image.url), detail: asText(image.detail) || 'auto' };
  }
  if (part.type === 'file' && isObject(part.file)) return { type: 'input_file', ...part.file };
  return refuse(`Content of type ${asText(part.type)} cannot be sent to this provider.`, [...path, 'type']);
}

function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '{}' : value;
  return JSON.stringify(value ?? {});
}
