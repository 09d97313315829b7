import { z } from 'zod';
import { chatRequestShape, functionShape, refuseChatOnly } from './chat-request.ts';
import { openaiMessages, systemBlocks, usesFunctionCalls } from './history-to-anthropic.ts';
import { asArray, asObject, asText, DroppedNames, isObject, read, refuse } from './json.ts';
import { chatClientContext } from './reply-context.ts';
import { anthropicSchema } from './schemas.ts';
import { ANTHROPIC_NAME_LIMIT, CallIds, ToolNames } from './tool-names.ts';
import type { JsonObject, TranslatedRequest, TranslateOptions } from './types.ts';

const requestShape = chatRequestShape.extend({
  top_k: z.number().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  user: z.string().nullish(),
});
type OpenaiRequest = z.infer<typeof requestShape>;

const HANDLED = new Set([...Object.keys(requestShape.shape), 'reasoning', 'safety_identifier']);
const HANDLED_FUNCTION_FIELDS = new Set(['name', 'description', 'parameters']);

/** Thinking tokens for an effort word; Anthropic wants at least 1024 and less than `max_tokens`. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16384,
  xhigh: 32000,
  max: 32000,
};
const MIN_BUDGET = 1024;
const ADAPTIVE_EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
};

const JSON_ONLY = 'Answer with one JSON object and nothing else.';

/**
 * OpenAI chat completions request → Anthropic messages request.
 * Throws BAD_INPUT for a body that is no chat request, NOT_TRANSLATABLE for what Anthropic's wire cannot carry.
 */
export function openaiToAnthropic(body: unknown, options: TranslateOptions): TranslatedRequest {
  const request = read(requestShape, body);
  const dropped = new DroppedNames();
  const names = new ToolNames(ANTHROPIC_NAME_LIMIT);
  refuseChatOnly(request);
  dropped.addUnknown(request, HANDLED);

  const tools = toolDefinitions(request, names, dropped);
  const legacyFunctions = request.functions?.length ? true : usesFunctionCalls(request.messages);
  const system = systemBlocks(request.messages, dropped);
  const history = openaiMessages(request.messages, { options, names, ids: CallIds.forAnthropic(), dropped });
  // Some clients send their whole prompt as system text; Anthropic wants a user message to answer to.
  if (history.length === 0) {
    const last = system.pop();
    if (last === undefined) return read(z.never({ error: 'no message has any content' }), null, ['messages']);
    history.push({ role: 'user', content: [last] });
  }
  setFormat(request, system, dropped);

  const stopSequences = stopsOf(request, dropped);
  const out: JsonObject = {
    model: options.model,
    max_tokens: request.max_completion_tokens ?? request.max_tokens ?? options.defaultMaxTokens,
    ...(system.length > 0 ? { system } : {}),
    messages: history,
  };
  if (tools.length > 0) {
    out.tools = allowedTools(tools, request, names);
    const choice = toolChoice(request, names);
    if (choice !== null) out.tool_choice = choice;
  }
  if (stopSequences.length > 0) out.stop_sequences = stopSequences;
  const user = request.user || asText(request.safety_identifier);
  if (user) out.metadata = { user_id: user };
  if (request.user && request.safety_identifier) dropped.add('safety_identifier');
  setSampling(out, request, dropped);
  setThinking(out, request, options, dropped);
  setOutputFormat(out, request, dropped);
  if (typeof request.stream === 'boolean') out.stream = request.stream;

  const context = chatClientContext(request, options, {
    toolNames: names.renamed(),
    stopSequences,
    legacyFunctions,
  });
  return { body: out, dropped: dropped.list(), context };
}

function toolDefinitions(request: OpenaiRequest, names: ToolNames, dropped: DroppedNames): JsonObject[] {
  const definitions: [unknown, readonly PropertyKey[]][] = [];
  for (const [index, tool] of (request.tools ?? []).entries()) {
    if (tool.type !== undefined && tool.type !== 'function') {
      refuse(`Tools of type ${tool.type} exist only at the provider they were made for.`, [
        'tools',
        index,
        'type',
      ]);
    }
    // Some clients leave the wrapper out and put name and parameters beside `type`.
    definitions.push([tool.function ?? tool, ['tools', index, 'function']]);
  }
  for (const [index, definition] of (request.functions ?? []).entries())
    definitions.push([definition, ['functions', index]]);

  return definitions.map(([value, path]) => {
    const definition = read(functionShape, value, path);
    dropped.addUnknown(
      definition,
      definition === value ? new Set([...HANDLED_FUNCTION_FIELDS, 'type']) : HANDLED_FUNCTION_FIELDS,
      'tools.',
    );
    return {
      name: names.wire(definition.name),
      ...(asText(definition.description) === '' ? {} : { description: definition.description }),
      input_schema: inputSchema(definition.parameters),
    };
  });
}

function inputSchema(parameters: unknown): JsonObject {
  const schema = asObject(parameters);
  if (schema.type === 'object') return schema;
  return { ...schema, type: 'object', properties: asObject(schema.properties) };
}

function toolChoice(request: OpenaiRequest, names: ToolNames): JsonObject | null {
  const single = request.parallel_tool_calls === false || (request.functions?.length ?? 0) > 0;
  const flag = single ? { disable_parallel_tool_use: true } : {};
  const choice = request.tool_choice ?? request.function_call;
  if (choice === undefined || choice === null) return single ? { type: 'auto', ...flag } : null;
  if (typeof choice === 'string') {
    if (choice === 'auto') return { type: 'auto', ...flag };
    if (choice === 'required' || choice === 'any') return { type: 'any', ...flag };
    if (choice === 'none') return { type: 'none' };
    return refuse(`tool_choice ${choice} is not known.`, ['tool_choice']);
  }
  if (choice.type === 'allowed_tools')
    return { type: asObject(choice.allowed_tools).mode === 'required' ? 'any' : 'auto', ...flag };
  const named = isObject(choice.function) ? choice.function : choice;
  return {
    type: 'tool',
    name: names.wire(read(functionShape, named, ['tool_choice', 'function']).name),
    ...flag,
  };
}

/** Anthropic has no choice among some of the tools, so the others are left out. */
function allowedTools(
  tools: readonly JsonObject[],
  { tool_choice: choice }: OpenaiRequest,
  names: ToolNames,
): readonly JsonObject[] {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return tools;
  const path = ['tool_choice', 'allowed_tools', 'tools'];
  const allowed = asArray(asObject(choice.allowed_tools).tools)
    .filter(isObject)
    .map((tool) =>
      names.wire(read(functionShape, isObject(tool.function) ? tool.function : tool, path).name),
    );
  const left = tools.filter((tool) => allowed.includes(asText(tool.name)));
  if (left.length === 0) refuse('tool_choice allows none of the tools.', path);
  return left;
}

function stopsOf(request: OpenaiRequest, dropped: DroppedNames): string[] {
  const all = typeof request.stop === 'string' ? [request.stop] : (request.stop ?? []);
  // Anthropic refuses sequences of nothing but white space.
  const usable = all.filter((sequence) => sequence.trim() !== '');
  if (usable.length < all.length) dropped.add('stop');
  return usable;
}

/** Anthropic's temperature ends at 1 (T39). */
function setSampling(out: JsonObject, request: OpenaiRequest, dropped: DroppedNames): void {
  if (typeof request.temperature === 'number') {
    out.temperature = Math.min(1, Math.max(0, request.temperature));
    if (out.temperature !== request.temperature) dropped.add('temperature>1');
  }
  if (typeof request.top_p === 'number') out.top_p = request.top_p;
  if (typeof request.top_k === 'number') out.top_k = request.top_k;
}

function setThinking(
  out: JsonObject,
  request: OpenaiRequest,
  options: TranslateOptions,
  dropped: DroppedNames,
): void {
  const effort = request.reasoning_effort ?? asText(asObject(request.reasoning).effort);
  const budget = BUDGETS[effort];
  if (effort === '' || effort === 'none') return;
  const choice = asObject(out.tool_choice).type;
  const room = typeof out.max_tokens === 'number' ? out.max_tokens - 1 : 0;
  // Anthropic refuses thinking with a forced tool, with no room for it, and in a tool loop that began without it.
  if (
    budget === undefined ||
    choice === 'any' ||
    choice === 'tool' ||
    room < MIN_BUDGET ||
    !thinkingStands(asArray(out.messages), options)
  ) {
    dropped.add('reasoning_effort');
    return;
  }
  if (options.thinkingForm === 'adaptive') {
    out.thinking = { type: 'adaptive' };
    out.output_config = { effort: ADAPTIVE_EFFORTS[effort] };
  } else out.thinking = { type: 'enabled', budget_tokens: Math.min(budget, room) };
  for (const name of ['temperature', 'top_k', 'top_p']) {
    if (out[name] === undefined) continue;
    delete out[name];
    dropped.add(name);
  }
}

/**
 * In a tool loop the assistant's turn still goes on: its calls must begin with the thinking that led to them, which
 * an OpenAI client cannot carry. What is known of it is put back; false when the loop's newest call has none.
 */
function thinkingStands(messages: readonly unknown[], options: TranslateOptions): boolean {
  const inLoop = asArray(asObject(messages.at(-1)).content).some(
    (block) => isObject(block) && block.type === 'tool_result',
  );
  const answers = messages.filter(isObject).filter((message) => message.role === 'assistant');
  const known = answers
    .reverse()
    .map((message) => ({ message, blocks: options.thinkingOf?.(message) ?? null }));
  if (inLoop && !known[0]?.blocks) return false;
  for (const { message, blocks } of known)
    if (blocks) message.content = [...blocks, ...asArray(message.content)];
  return true;
}

function setFormat(request: OpenaiRequest, system: JsonObject[], dropped: DroppedNames): void {
  const type = request.response_format?.type;
  if (type === 'json_object') {
    // Anthropic has no such switch; asking is the nearest thing, and it is reported because it promises less.
    system.push({ type: 'text', text: JSON_ONLY });
    dropped.add('response_format');
  } else if (type !== undefined && type !== 'text' && type !== 'json_schema') {
    refuse(`response_format ${type} is not available through this provider.`, ['response_format', 'type']);
  }
}

function setOutputFormat(out: JsonObject, request: OpenaiRequest, dropped: DroppedNames): void {
  if (request.response_format?.type !== 'json_schema') return;
  const wrapper = asObject(request.response_format.json_schema);
  const asked = read(z.looseObject({}), wrapper.schema ?? {}, ['response_format', 'json_schema', 'schema']);
  const { schema, loosened } = anthropicSchema(asked);
  if (loosened) dropped.add('response_format.json_schema.schema');
  out.output_config = { ...asObject(out.output_config), format: { type: 'json_schema', schema } };
}
