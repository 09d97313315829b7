import { z } from 'zod';
import { chatRequestShape, refuseChatOnly } from '../chat-request.ts';
import { asObject, asText, DroppedNames, isObject, read, refuse } from '../json.ts';
import { chatClientContext } from '../reply-context.ts';
import { OPENAI_NAME_LIMIT, ToolNames } from '../tool-names.ts';
import type { JsonObject, TranslatedRequest, TranslateOptions } from '../types.ts';
import { responsesItems } from './history-from-chat.ts';

const requestShape = chatRequestShape.extend({
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().nullish(),
  verbosity: z.string().nullish(),
});
type Request = z.infer<typeof requestShape>;

/** Called the same on both wires. */
const SAME = [
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'top_logprobs',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
] as const;
const HANDLED = new Set([...Object.keys(requestShape.shape), ...SAME, 'reasoning']);
/** Models of OpenAI's that reason. */
const REASONING_MODEL = /(?:^|\/)(?:o\d|gpt-[5-9]|gpt-oss|codex)/;
/** OpenAI refuses a smaller `max_output_tokens`. */
const LEAST_TOKENS = 16;

/**
 * Chat completions request → Responses request. Nothing is stored at the provider: the client holds its own history.
 * Throws BAD_INPUT for a body that is no chat request, NOT_TRANSLATABLE for what the other API cannot carry.
 */
export function chatToResponses(body: unknown, options: TranslateOptions): TranslatedRequest {
  const request = read(requestShape, body);
  const dropped = new DroppedNames();
  const names = new ToolNames(OPENAI_NAME_LIMIT);
  refuseChatOnly(request);
  dropped.addUnknown(request, HANDLED);

  const tools = toolDefinitions(request, names, dropped);
  const { instructions, input, legacyCalls } = responsesItems(request.messages, { options, names, dropped });
  const legacyFunctions = legacyCalls || (request.functions?.length ?? 0) > 0;

  const out: JsonObject = {
    model: options.model,
    ...(instructions === '' ? {} : { instructions }),
    input,
    store: false,
  };
  for (const name of SAME) {
    const value = request[name];
    if (value !== undefined && value !== null) out[name] = value;
  }
  if (tools.length > 0) {
    out.tools = tools;
    const choice = toolChoice(request, names);
    if (choice !== null) out.tool_choice = choice;
  } else delete out.parallel_tool_calls;
  setLimit(out, request, dropped);
  const effort = request.reasoning_effort ?? asText(asObject(request.reasoning).effort);
  if (effort) out.reasoning = { effort };
  const include = [
    // Sealed reasoning comes only when it is asked for, and other models refuse to be asked.
    ...(effort || REASONING_MODEL.test(options.model) ? ['reasoning.encrypted_content'] : []),
    ...(request.logprobs === true ? ['message.output_text.logprobs'] : []),
  ];
  if (include.length > 0) out.include = include;
  setText(out, request);
  if (typeof request.stream === 'boolean') out.stream = request.stream;

  const context = chatClientContext(request, options, {
    toolNames: names.renamed(),
    stopSequences: [],
    legacyFunctions,
  });
  return { body: out, dropped: dropped.list(), context };
}

/** Without `strict`, the Responses API makes every schema strict and chat completions none; so it is always said. */
function toolDefinitions(request: Request, names: ToolNames, dropped: DroppedNames): JsonObject[] {
  const tools: JsonObject[] = [];
  for (const [index, tool] of (request.tools ?? []).entries()) {
    const path = ['tools', index];
    if (tool.type === 'custom' && isObject(tool.custom)) tools.push(customTool(tool.custom, names));
    else if (tool.type !== undefined && tool.type !== 'function')
      refuse(`Tools of type ${tool.type} exist only at the provider they were made for.`, [...path, 'type']);
    else tools.push(functionTool(tool.function ?? tool, [...path, 'function'], names, dropped));
  }
  for (const [index, definition] of (request.functions ?? []).entries())
    tools.push(functionTool(definition, ['functions', index], names, dropped));
  return tools;
}

const FUNCTION_FIELDS = new Set(['name', 'description', 'parameters', 'strict', 'type']);

function functionTool(
  value: unknown,
  path: readonly PropertyKey[],
  names: ToolNames,
  dropped: DroppedNames,
): JsonObject {
  const definition = read(z.looseObject({ name: z.string() }), value, path);
  dropped.addUnknown(definition, FUNCTION_FIELDS, 'tools.');
  return {
    type: 'function',
    name: names.wire(definition.name),
    ...(asText(definition.description) === '' ? {} : { description: definition.description }),
    parameters: isObject(definition.parameters) ? definition.parameters : { type: 'object', properties: {} },
    strict: definition.strict === true,
  };
}

/** A grammar has a wrapper of its own on the chat wire only. */
function customTool(custom: JsonObject, names: ToolNames): JsonObject {
  const format = asObject(custom.format);
  const grammar =
    format.type === 'grammar' ? { format: { type: 'grammar', ...asObject(format.grammar) } } : {};
  const { format: _, ...rest } = custom;
  return { type: 'custom', ...rest, name: names.wire(asText(custom.name)), ...grammar };
}

function toolChoice(request: Request, names: ToolNames): unknown {
  const choice = request.tool_choice ?? request.function_call;
  if (choice === undefined || choice === null) return null;
  if (typeof choice === 'string') return choice;
  if (choice.type === 'allowed_tools') {
    const { mode, tools } = asObject(choice.allowed_tools);
    const list = Array.isArray(tools) ? tools.filter(isObject) : [];
    return { type: 'allowed_tools', mode: mode ?? 'auto', tools: list.map((tool) => named(tool, names)) };
  }
  return named(choice, names);
}

function named(choice: JsonObject, names: ToolNames): JsonObject {
  const kind = choice.type === 'custom' ? 'custom' : 'function';
  const inner = isObject(choice[kind]) ? asObject(choice[kind]) : choice;
  return { type: kind, name: names.wire(read(z.string(), inner.name, ['tool_choice', kind, 'name'])) };
}

function setLimit(out: JsonObject, request: Request, dropped: DroppedNames): void {
  const limit = request.max_completion_tokens ?? request.max_tokens;
  if (typeof limit !== 'number') return;
  out.max_output_tokens = Math.max(LEAST_TOKENS, limit);
  if (limit < LEAST_TOKENS) dropped.add(`max_tokens<${LEAST_TOKENS}`);
}

function setText(out: JsonObject, request: Request): void {
  const { type, json_schema: wrapper } = asObject(request.response_format);
  const format =
    type === 'json_schema' ? { type, ...asObject(wrapper) } : type === 'json_object' ? { type } : null;
  if (type !== undefined && type !== 'text' && format === null)
    refuse(`response_format ${asText(type)} is not available through this provider.`, [
      'response_format',
      'type',
    ]);
  const text = {
    ...(format === null ? {} : { format }),
    ...(request.verbosity ? { verbosity: request.verbosity } : {}),
  };
  if (Object.keys(text).length > 0) out.text = text;
}
