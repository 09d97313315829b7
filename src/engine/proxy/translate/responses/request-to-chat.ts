import { z } from 'zod';
import { asArray, asObject, asText, DroppedNames, isObject, read, refuse } from '../json.ts';
import { mergeLeadingSystem } from '../openai-messages.ts';
import { otherClientContext } from '../reply-context.ts';
import { effortsOf, nearestEffort } from '../request-to-openai.ts';
import { CallIds, OPENAI_NAME_LIMIT, ToolNames } from '../tool-names.ts';
import type { JsonObject, TranslatedRequest, TranslateOptions } from '../types.ts';
import { chatMessages } from './history-to-chat.ts';
import { inputItems } from './items.ts';
import { chatToolChoice, chatTools, ToolBook } from './tools.ts';

/** The outline of `POST /v1/responses`; items are read where they are translated. */
const requestShape = z.looseObject({
  model: z.string().optional(),
  input: z.union([z.string(), z.array(z.looseObject({}))]).nullish(),
  instructions: z.string().nullish(),
  tools: z.array(z.looseObject({})).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_output_tokens: z.number().int().positive().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_logprobs: z.number().nullish(),
  stream: z.boolean().nullish(),
  reasoning: z.looseObject({}).nullish(),
  text: z.looseObject({}).nullish(),
  include: z.array(z.string()).nullish(),
  user: z.string().nullish(),
});
type ResponsesRequest = z.infer<typeof requestShape>;

/** Answered by this proxy itself, or without meaning for another provider. */
const OURS = [
  'store',
  'metadata',
  'previous_response_id',
  'stream_options',
  'background',
  'conversation',
  'prompt',
];
const HANDLED = new Set([...Object.keys(requestShape.shape), ...OURS, 'truncation', 'service_tier']);
/** What a request asks to be told of, and its answer here always holds. */
const INCLUDED = new Set(['reasoning.encrypted_content', 'message.output_text.logprobs']);
/** The reply shows whatever reasoning the provider shows. */
const SHOWN_REASONING = new Set(['effort', 'summary', 'generate_summary']);

/**
 * Responses request → chat completions request. Throws BAD_INPUT for a body that is no such request,
 * NOT_TRANSLATABLE for what only OpenAI can do: stored prompts and conversations, background answers, its own tools.
 */
export function responsesToChat(body: unknown, options: TranslateOptions): TranslatedRequest {
  const request = read(requestShape, body);
  const dropped = new DroppedNames();
  refuseUntranslatable(request);
  dropped.addUnknown(request, HANDLED);
  if (request.truncation === 'auto') dropped.add('truncation');
  if (!['auto', 'default', undefined, null].includes(request.service_tier as string))
    dropped.add('service_tier');
  for (const name of request.include ?? []) if (!INCLUDED.has(name)) dropped.add(`include.${name}`);

  const book = new ToolBook(new ToolNames(OPENAI_NAME_LIMIT));
  const items = inputItems(request.input);
  // Tools may also be added along the way; all of them are known from the start here.
  const added = items
    .filter((item) => item.type === 'additional_tools')
    .flatMap((item) => asArray(item.tools));
  const declared = chatTools([...(request.tools ?? []), ...added.filter(isObject)], book, dropped);
  const { tools, choice } = chatToolChoice(request.tool_choice, declared, book);
  const ids = CallIds.forOpenai();
  const history = chatMessages(items, { options, book, ids, dropped });
  const role = options.developerRole ? 'developer' : 'system';
  const instructions = asText(request.instructions);
  const messages = instructions === '' ? history : [{ role, content: instructions }, ...history];
  if (messages.length === 0) read(z.never({ error: 'nothing in it has any content' }), null, ['input']);

  const out: JsonObject = {
    model: options.model,
    messages: options.oneLeadingSystem === true ? mergeLeadingSystem(messages) : messages,
  };
  if (typeof request.max_output_tokens === 'number') out[options.maxTokensField] = request.max_output_tokens;
  if (tools.length > 0) {
    out.tools = tools;
    if (choice !== undefined) out.tool_choice = choice;
    if (request.parallel_tool_calls === false) out.parallel_tool_calls = false;
  } else if (isObject(choice) || choice === 'required') dropped.add('tool_choice');
  if (typeof request.temperature === 'number') out.temperature = request.temperature;
  if (typeof request.top_p === 'number') out.top_p = request.top_p;
  if (request.user) out.user = request.user;
  const wantsLogprobs = setLogprobs(out, request, dropped);
  setEffort(out, request, options, dropped);
  setFormat(out, request, dropped);
  if (typeof request.stream === 'boolean') out.stream = request.stream;
  if (request.stream === true && options.wantUsage) out.stream_options = { include_usage: true };

  const context = otherClientContext(request, options, {
    toolNames: new Map(),
    stopSequences: [],
    responses: { fields: { ...request, ...options.echo }, tools: book.known, wantsLogprobs },
  });
  return { body: out, dropped: dropped.list(), context };
}

function refuseUntranslatable(request: ResponsesRequest): void {
  if (request.background === true)
    refuse('This provider cannot answer in the background; leave `background` out.', ['background']);
  if (request.conversation !== undefined && request.conversation !== null)
    refuse('Conversations are kept at OpenAI; send the items, or a previous_response_id.', ['conversation']);
  if (isObject(request.prompt)) refuse('Stored prompts are kept at OpenAI; send their text.', ['prompt']);
}

function setLogprobs(out: JsonObject, request: ResponsesRequest, dropped: DroppedNames): boolean {
  const wanted = request.include?.includes('message.output_text.logprobs') === true;
  if (!wanted && request.top_logprobs) dropped.add('top_logprobs');
  if (!wanted) return false;
  out.logprobs = true;
  if (request.top_logprobs) out.top_logprobs = request.top_logprobs;
  return true;
}

function setEffort(
  out: JsonObject,
  request: ResponsesRequest,
  options: TranslateOptions,
  dropped: DroppedNames,
): void {
  dropped.addUnknown(request.reasoning ?? {}, SHOWN_REASONING, 'reasoning.');
  const wanted = asText(request.reasoning?.effort);
  if (wanted === '') return;
  // Between two dialects the words pass as they are: the next translation reads them.
  const effort = options.middle === true ? wanted : nearestEffort(wanted, effortsOf(options));
  if (effort !== null) out.reasoning_effort = effort;
  if (effort !== wanted) dropped.add('reasoning.effort');
}

function setFormat(out: JsonObject, request: ResponsesRequest, dropped: DroppedNames): void {
  const { format, verbosity, ...rest } = request.text ?? {};
  // The default is left out: servers that do not know the field would refuse it.
  if (asText(verbosity) !== '' && verbosity !== 'medium') out.verbosity = verbosity;
  for (const name of Object.keys(rest)) dropped.add(`text.${name}`);
  const { type, ...schema } = asObject(format);
  if (type === 'json_object') out.response_format = { type };
  else if (type === 'json_schema') out.response_format = { type, json_schema: schema };
  else if (type !== undefined && type !== 'text')
    refuse(`text.format ${asText(type)} is not available through this provider.`, ['text', 'format', 'type']);
}
