/** What the real services refuse; the test upstream refuses it too, so that a wrong translation cannot pass. */

export interface Refusal {
  message: string;
  param: string | null;
}

export interface Strictness {
  /** Refuse top-level fields that the dialect does not document. */
  unknownFields: boolean;
  /** OpenAI: refuse an assistant turn with tool calls and no reasoning_content (as DeepSeek and Kimi do). */
  demandReasoning: boolean;
}

type Json = Record<string, unknown>;

const OPENAI_FIELDS = new Set(
  `messages model stream stream_options max_tokens max_completion_tokens tools tool_choice parallel_tool_calls
  temperature top_p n stop seed logprobs top_logprobs logit_bias presence_penalty frequency_penalty response_format
  reasoning_effort user metadata store prompt_cache_key prompt_cache_retention safety_identifier service_tier modalities
  audio prediction verbosity web_search_options functions function_call`.split(/\s+/),
);
const ANTHROPIC_FIELDS = new Set(
  `messages model system stream max_tokens tools tool_choice temperature top_p top_k stop_sequences metadata thinking
  context_management output_config service_tier container mcp_servers cache_control inference_geo thread`.split(
    /\s+/,
  ),
);

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(message: string, param: string | null = null): Refusal {
  return { message, param };
}

/** null when the service would accept the request. */
export function refuseOpenai(body: unknown, strict: Strictness): Refusal | null {
  if (!isObject(body)) return refuse('the body must be an object');
  if (typeof body.model !== 'string') return refuse('you must provide a model parameter', 'model');
  if (!Array.isArray(body.messages) || body.messages.length === 0)
    return refuse('messages is required', 'messages');
  if (strict.unknownFields)
    for (const field of Object.keys(body))
      if (!OPENAI_FIELDS.has(field)) return refuse(`Unrecognized request argument supplied: ${field}`, field);
  if (Array.isArray(body.tools)) {
    if (body.tools.length === 0) return refuse('[] is too short - tools', 'tools');
    for (const tool of body.tools as Json[]) {
      const name = (tool.function as Json | undefined)?.name;
      if (tool.type === 'function' && !/^[a-zA-Z0-9_-]{1,64}$/.test(String(name)))
        return refuse(`Invalid tools[].function.name: ${String(name)}`, 'tools');
    }
  }
  let open: string[] = [];
  for (const [at, message] of (body.messages as Json[]).entries()) {
    const where = `messages.[${at}]`;
    const role = String(message.role);
    if (!['system', 'developer', 'user', 'assistant', 'tool', 'function'].includes(role))
      return refuse(`${where}: invalid role ${role}`, `${where}.role`);
    if (role === 'tool') {
      const id = String(message.tool_call_id);
      if (!open.includes(id))
        return refuse(`${where}: a tool message must follow the tool_calls that it answers (${id})`, where);
      open = open.filter((other) => other !== id);
      if (message.content === null || message.content === undefined)
        return refuse(`${where}: content of a tool message is required`, `${where}.content`);
      continue;
    }
    if (open.length > 0)
      return refuse(`${where}: tool_call_ids without a response: ${open.join(', ')}`, where);
    if ((role === 'user' || role === 'system') && message.content == null)
      return refuse(`${where}: content is required`, `${where}.content`);
    if (Array.isArray(message.content))
      for (const part of message.content as Json[])
        if (!['text', 'image_url', 'input_audio', 'file', 'refusal'].includes(String(part.type)))
          return refuse(`${where}: invalid content type ${String(part.type)}`, `${where}.content`);
    if (role === 'assistant' && Array.isArray(message.tool_calls)) {
      if (strict.demandReasoning && typeof message.reasoning_content !== 'string')
        return refuse(`${where}: reasoning_content is missing in assistant tool call message`, where);
      open = [];
      for (const call of message.tool_calls as Json[]) {
        if (typeof (call.function as Json | undefined)?.arguments !== 'string')
          return refuse(`${where}: tool call arguments must be a string`, where);
        open.push(String(call.id));
      }
    }
  }
  return open.length > 0 ? refuse(`tool_call_ids without a response: ${open.join(', ')}`, 'messages') : null;
}

/** null when the service would accept the request. `betas` are the names in `anthropic-beta`. */
export function refuseAnthropic(
  body: unknown,
  strict: Strictness,
  betas: readonly string[],
  counting: boolean,
): Refusal | null {
  if (!isObject(body)) return refuse('the body must be an object');
  if (typeof body.model !== 'string') return refuse('model: Field required', 'model');
  if (!counting && (typeof body.max_tokens !== 'number' || body.max_tokens < 1))
    return refuse('max_tokens: Field required', 'max_tokens');
  if (!Array.isArray(body.messages) || body.messages.length === 0)
    return refuse('messages: at least one message is required', 'messages');
  if (strict.unknownFields)
    for (const field of Object.keys(body))
      if (!ANTHROPIC_FIELDS.has(field)) return refuse(`${field}: Extra inputs are not permitted`, field);
  if (body.system !== undefined && typeof body.system !== 'string' && !Array.isArray(body.system))
    return refuse('system: Input should be a valid string or list', 'system');
  for (const [at, block] of (Array.isArray(body.system) ? (body.system as Json[]) : []).entries())
    if (block.type !== 'text' || typeof block.text !== 'string' || block.text === '')
      return refuse(`system.${at}: text content blocks must be non-empty`, 'system');
  if (typeof body.temperature === 'number' && body.temperature > 1)
    return refuse('temperature: range: 0..1', 'temperature');
  let open: string[] = [];
  let breakpoints = 0;
  for (const [at, message] of (body.messages as Json[]).entries()) {
    const where = `messages.${at}`;
    const role = String(message.role);
    // Claude Code sends system messages inside a conversation, under its betas (captured 2026-12-01).
    if (role === 'system' && betas.some((beta) => /^(claude-code|mid-conversation)-/.test(beta))) continue;
    if (role !== 'user' && role !== 'assistant')
      return refuse(`${where}: unexpected role "${role}"`, 'messages');
    if (at === 0 && role !== 'user')
      return refuse('messages: first message must use the "user" role', 'messages');
    const blocks: Json[] =
      typeof message.content === 'string'
        ? [{ type: 'text', text: message.content }]
        : ((message.content ?? []) as Json[]);
    if (blocks.length === 0) return refuse(`${where}: content must be non-empty`, 'messages');
    let resultsOver = false;
    for (const block of blocks) {
      if (block.cache_control) breakpoints += 1;
      if (block.type === 'text' && (typeof block.text !== 'string' || block.text === ''))
        return refuse(`${where}: text content blocks must be non-empty`, 'messages');
      if (
        ![
          'text',
          'image',
          'document',
          'tool_use',
          'tool_result',
          'thinking',
          'redacted_thinking',
          'search_result',
          'server_tool_use',
          'web_search_tool_result',
        ].includes(String(block.type))
      )
        return refuse(`${where}: unexpected block type ${String(block.type)}`, 'messages');
      if (role === 'user' && block.type === 'tool_result') {
        if (resultsOver) return refuse(`${where}: tool_result blocks must come first`, 'messages');
        const id = String(block.tool_use_id);
        if (!open.includes(id))
          return refuse(`${where}: unexpected tool_use_id ${id} in tool_result blocks`, 'messages');
        open = open.filter((other) => other !== id);
      } else if (role === 'user') resultsOver = true;
    }
    if (open.length > 0) {
      const next = (body.messages as Json[])[at + 1];
      // Results may be spread over a run of user messages; anything else between is refused.
      if (role === 'assistant' || next?.role !== 'user')
        return refuse(
          `${where}: tool_use ids were found without tool_result blocks: ${open.join(', ')}`,
          'messages',
        );
    }
    if (role === 'assistant')
      open = blocks.filter((block) => block.type === 'tool_use').map((block) => String(block.id));
  }
  if (breakpoints > 4) return refuse('A maximum of 4 blocks with cache_control may be provided', 'messages');
  return open.length > 0
    ? refuse(`tool_use ids were found without tool_result blocks: ${open.join(', ')}`, 'messages')
    : null;
}
