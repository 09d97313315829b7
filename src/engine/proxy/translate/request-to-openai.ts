import { z } from 'zod';
import { THREAD } from './errors.ts';
import { anthropicMessages } from './history-to-openai.ts';
import { asArray, asObject, asText, DroppedNames, isObject, read, refuse } from './json.ts';
import { mergeLeadingSystem, TEXT_SEPARATOR } from './openai-messages.ts';
import { otherClientContext } from './reply-context.ts';
import { fitsStrict } from './schemas.ts';
import { CallIds, OPENAI_NAME_LIMIT, ToolNames } from './tool-names.ts';
import type { JsonObject, TranslatedRequest, TranslateOptions } from './types.ts';

/** The outline of `POST /v1/messages`; blocks are read where they are translated. */
const requestShape = z.looseObject({
  model: z.string().optional(),
  max_tokens: z.number().int().positive(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown().optional() })).min(1),
  system: z
    .union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))])
    .nullish(),
  tools: z.array(z.looseObject({ type: z.string().nullish(), name: z.string().optional() })).nullish(),
  tool_choice: z.looseObject({ type: z.string() }).nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  thinking: z.looseObject({ type: z.string() }).nullish(),
  output_config: z.looseObject({}).nullish(),
});
type AnthropicRequest = z.infer<typeof requestShape>;

const HANDLED = new Set([...Object.keys(requestShape.shape), 'mcp_servers']);
const HANDLED_TOOL_FIELDS = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'cache_control',
  'strict',
]);
const DEFAULT_EFFORTS: readonly string[] = ['low', 'medium', 'high'];
const EFFORT_ORDER = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Claude Code's first system block: bookkeeping for Anthropic's own service, different in every version. */
const BILLING_MARK = 'x-anthropic-billing-header:';

/**
 * Anthropic messages request → OpenAI chat completions request.
 * Throws BAD_INPUT for a body that is no messages request, NOT_TRANSLATABLE for what OpenAI's wire cannot carry
 * and the model would miss.
 */
export function anthropicToOpenai(body: unknown, options: TranslateOptions): TranslatedRequest {
  const request = read(requestShape, body);
  const dropped = new DroppedNames();
  const names = new ToolNames(OPENAI_NAME_LIMIT);
  dropped.addUnknown(request, HANDLED);
  if (isObject(request.thread)) {
    refuse('A thread of messages is kept by Anthropic alone; send the whole conversation without it.', [
      THREAD,
    ]);
  }
  if (asArray(request.mcp_servers).length > 0) {
    refuse('MCP servers run at Anthropic; this provider cannot call them.', ['mcp_servers']);
  }

  // Tools first, so that their names are settled before any history that mentions them.
  const tools = toolDefinitions(request, options, names, dropped);
  const history = anthropicMessages(request.messages, { options, names, ids: CallIds.forOpenai(), dropped });
  const system = systemText(request, dropped);
  const leading =
    system === '' ? [] : [{ role: options.developerRole ? 'developer' : 'system', content: system }];
  if (history.length === 0) read(z.never({ error: 'no message has any content' }), null, ['messages']);
  const messages = [...leading, ...history];

  const out: JsonObject = {
    model: options.model,
    messages: options.oneLeadingSystem === true ? mergeLeadingSystem(messages) : messages,
    [options.maxTokensField]: request.max_tokens,
  };
  if (tools.length > 0) Object.assign(out, { tools }, toolChoice(request, names));
  else if (request.tool_choice && request.tool_choice.type !== 'none') dropped.add('tool_choice');
  setStops(out, request, options, dropped);
  if (typeof request.top_p === 'number') out.top_p = request.top_p;
  setReasoning(out, request, options, dropped);
  setFormat(out, request, dropped);
  if (typeof request.stream === 'boolean') out.stream = request.stream;
  if (request.stream === true && options.wantUsage) out.stream_options = { include_usage: true };

  const context = otherClientContext(request, options, {
    toolNames: names.renamed(),
    stopSequences: request.stop_sequences ?? [],
  });
  return { body: out, dropped: dropped.list(), context };
}

function systemText(request: AnthropicRequest, dropped: DroppedNames): string {
  if (typeof request.system === 'string') return request.system;
  const texts: string[] = [];
  for (const block of request.system ?? []) {
    if (block.cache_control) dropped.add('cache_control');
    if (asArray(block.citations).length > 0) dropped.add('system.citations');
    if (block.text.startsWith(BILLING_MARK)) dropped.add('system.x-anthropic-billing-header');
    else if (block.text !== '') texts.push(block.text);
  }
  return texts.join(TEXT_SEPARATOR);
}

function toolDefinitions(
  request: AnthropicRequest,
  options: TranslateOptions,
  names: ToolNames,
  dropped: DroppedNames,
): JsonObject[] {
  const tools: JsonObject[] = [];
  for (const [index, tool] of (request.tools ?? []).entries()) {
    const path = ['tools', index];
    const type = tool.type ?? 'custom';
    if (type.startsWith('tool_search_tool_')) {
      // Search only hides deferred tools from the model; all of them are sent openly instead.
      dropped.add(`tools.${type}`);
      continue;
    }
    if (type !== 'custom') {
      refuse(
        `The tool ${tool.name ?? type} (${type}) exists only at Anthropic; ${options.model} cannot be given it.`,
        [...path, 'type'],
      );
    }
    const name = read(z.string().min(1), tool.name, [...path, 'name']);
    if (tool.cache_control) dropped.add('cache_control');
    dropped.addUnknown(tool, HANDLED_TOOL_FIELDS, 'tools.');
    const strict = tool.strict === true && fitsStrict(tool.input_schema);
    if (tool.strict === true && !strict) dropped.add('tools.strict');
    tools.push({
      type: 'function',
      function: {
        name: names.wire(name),
        ...(typeof tool.description === 'string' ? { description: tool.description } : {}),
        parameters: isObject(tool.input_schema) ? tool.input_schema : { type: 'object', properties: {} },
        ...(strict ? { strict } : {}),
      },
    });
  }
  return tools;
}

function toolChoice(request: AnthropicRequest, names: ToolNames): JsonObject {
  const choice = request.tool_choice;
  if (!choice) return {};
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  switch (choice.type) {
    case 'auto':
      return { tool_choice: 'auto', ...parallel };
    case 'any':
      return { tool_choice: 'required', ...parallel };
    case 'none':
      return { tool_choice: 'none' };
    case 'tool': {
      const name = read(z.string().min(1), choice.name, ['tool_choice', 'name']);
      return { tool_choice: { type: 'function', function: { name: names.wire(name) } }, ...parallel };
    }
    default:
      return refuse(`tool_choice of type ${choice.type} is not known.`, ['tool_choice', 'type']);
  }
}

/** Chat completions know four at most. */
const MOST_STOPS = 4;

function setStops(
  out: JsonObject,
  { stop_sequences: stops }: AnthropicRequest,
  options: TranslateOptions,
  dropped: DroppedNames,
): void {
  if (!stops?.length) return;
  const few = options.middle !== true && stops.length > MOST_STOPS;
  out.stop = few ? stops.slice(0, MOST_STOPS) : stops;
  if (few) dropped.add(`stop_sequences>${MOST_STOPS}`);
}

/** Thinking and effort → `reasoning_effort` (T45); sampling settings that reasoning forbids go (T47). */
function setReasoning(
  out: JsonObject,
  request: AnthropicRequest,
  options: TranslateOptions,
  dropped: DroppedNames,
): void {
  const thinking = request.thinking?.type;
  const told = asText(request.output_config?.effort);
  const budget = request.thinking?.budget_tokens;
  const wanted =
    thinking === 'disabled'
      ? ''
      : thinking === 'enabled' && typeof budget === 'number'
        ? effortOfBudget(budget)
        : told;
  const effort = wanted === '' ? null : nearestEffort(wanted, effortsOf(options));
  if (effort !== null) out.reasoning_effort = effort;
  if (wanted !== '' && effort !== wanted) dropped.add(told === wanted ? 'output_config.effort' : 'thinking');
  // How much to think is then the model's own choice, on either side; only that it shall think is not said.
  if (thinking !== undefined && thinking !== 'disabled' && wanted === '') dropped.add('thinking');
  dropped.addUnknown(request.thinking ?? {}, THINKING_FIELDS, 'thinking.');

  const thinks = thinking !== undefined && thinking !== 'disabled';
  if (typeof request.temperature !== 'number') return;
  if (thinks && effort !== null) dropped.add('temperature');
  else out.temperature = request.temperature;
}

/** The reply shows whatever thinking the provider shows. */
const THINKING_FIELDS = new Set(['type', 'budget_tokens', 'display']);

function effortOfBudget(budget: number): string {
  if (budget < 4096) return 'low';
  return budget < 16384 ? 'medium' : 'high';
}

/** OpenAI's models before the reasoning ones refuse the field altogether. */
export function effortsOf(options: TranslateOptions): readonly string[] {
  if (options.efforts !== undefined) return options.efforts;
  return /^(openai\/)?(gpt-3|gpt-4|chatgpt-4)/.test(options.model) ? [] : DEFAULT_EFFORTS;
}

/** The known word that comes nearest; null for words of no rank, or where none is known. */
export function nearestEffort(wanted: string, known: readonly string[]): string | null {
  if (known.includes(wanted)) return wanted;
  const rank = EFFORT_ORDER.indexOf(wanted);
  if (rank < 0) return null;
  const ranked = known.filter((name) => EFFORT_ORDER.includes(name));
  ranked.sort((a, b) => Math.abs(EFFORT_ORDER.indexOf(a) - rank) - Math.abs(EFFORT_ORDER.indexOf(b) - rank));
  return ranked[0] ?? null;
}

function setFormat(out: JsonObject, request: AnthropicRequest, dropped: DroppedNames): void {
  const config = asObject(request.output_config);
  for (const key of Object.keys(config))
    if (key !== 'effort' && key !== 'format') dropped.add(`output_config.${key}`);
  const format = asObject(config.format);
  if (format.type !== 'json_schema') {
    if (format.type !== undefined) dropped.add('output_config.format');
    return;
  }
  out.response_format = {
    type: 'json_schema',
    // OpenAI holds a model to schemas of a strict form only; others are asked for as well as it goes.
    json_schema: { name: 'output', schema: format.schema, strict: fitsStrict(format.schema) },
  };
}
