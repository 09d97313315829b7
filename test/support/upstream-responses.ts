/** The scripted answer as the Responses API tells it, and what that API refuses; after openai 7's types. */
import type { ReplyPart, ReplyUsage, ScriptedReply, StreamEvent } from './upstream-reply.ts';
import { partsOf } from './upstream-reply.ts';
import type { Refusal, Strictness } from './upstream-rules.ts';

type Json = Record<string, unknown>;

const DEFAULT_USAGE: ReplyUsage = { input: 11, output: 7 };

function usageOf(usage: ReplyUsage): Json {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead ?? 0, cache_write_tokens: usage.cacheWrite ?? 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  };
}

function items(reply: ScriptedReply): Json[] {
  const out: Json[] = partsOf(reply).map((part, at) => itemOf(part, at));
  if (reply.refusal !== undefined)
    out.push({
      id: 'msg_refusal',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'refusal', refusal: reply.refusal }],
    });
  return out;
}

function itemOf(part: ReplyPart, at: number): Json {
  if (part.type === 'text')
    return {
      id: `msg_up_${at}`,
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: part.text, annotations: [], logprobs: [] }],
    };
  if (part.type === 'reasoning')
    return {
      id: `rs_up_${at}`,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: part.text }],
      encrypted_content: part.signature ?? 'gAAAAsealed',
    };
  return {
    id: `fc_up_${at}`,
    type: 'function_call',
    status: 'completed',
    call_id: part.id,
    name: part.name,
    arguments: part.arguments,
  };
}

/** The response object. */
export function responsesWhole(reply: ScriptedReply, model: string, request: Json = {}): Json {
  const usage = reply.usage === undefined ? DEFAULT_USAGE : reply.usage;
  const short = reply.stop === 'max_output_tokens' || reply.stop === 'content_filter';
  return {
    id: 'resp_scripted',
    object: 'response',
    created_at: 1_760_000_000,
    status: short ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: short ? { reason: reply.stop } : null,
    instructions: request.instructions ?? null,
    metadata: {},
    model: reply.model ?? model,
    output: items(reply),
    parallel_tool_calls: true,
    previous_response_id: request.previous_response_id ?? null,
    temperature: 1,
    tool_choice: 'auto',
    tools: request.tools ?? [],
    top_p: 1,
    usage: usage === null ? null : usageOf(usage),
    ...reply.extra,
  };
}

/** The response as stream events, every one numbered. */
export function responsesEvents(reply: ScriptedReply, model: string, request: Json = {}): StreamEvent[] {
  const whole = responsesWhole(reply, model, request);
  const size = reply.chunk ?? 5;
  const events: StreamEvent[] = [];
  const push = (type: string, fields: Json) => {
    const sequence_number = events.length;
    events.push({ event: type, data: JSON.stringify({ type, ...fields, sequence_number }) });
  };
  const begun = { ...whole, status: 'in_progress', output: [], usage: null };
  push('response.created', { response: begun });
  push('response.in_progress', { response: begun });
  for (const [output_index, item] of items(reply).entries()) {
    const at = { item_id: item.id, output_index };
    if (item.type === 'function_call') {
      push('response.output_item.added', {
        output_index,
        item: { ...item, status: 'in_progress', arguments: '' },
      });
      for (const delta of cut(String(item.arguments), size))
        push('response.function_call_arguments.delta', { ...at, delta });
      push('response.function_call_arguments.done', { ...at, name: item.name, arguments: item.arguments });
    } else if (item.type === 'reasoning') {
      const text = (item.summary as { text: string }[])[0]?.text ?? '';
      const where = { ...at, summary_index: 0 };
      push('response.output_item.added', { output_index, item: { ...item, summary: [] } });
      push('response.reasoning_summary_part.added', { ...where, part: { type: 'summary_text', text: '' } });
      for (const delta of cut(text, size)) push('response.reasoning_summary_text.delta', { ...where, delta });
      push('response.reasoning_summary_text.done', { ...where, text });
      push('response.reasoning_summary_part.done', { ...where, part: { type: 'summary_text', text } });
    } else {
      const [part = {}] = item.content as Json[];
      const where = { ...at, content_index: 0 };
      const refused = part.type === 'refusal';
      const text = String(refused ? part.refusal : part.text);
      push('response.output_item.added', {
        output_index,
        item: { ...item, status: 'in_progress', content: [] },
      });
      push('response.content_part.added', {
        ...where,
        part: refused ? { ...part, refusal: '' } : { ...part, text: '' },
      });
      for (const delta of cut(text, size))
        if (refused) push('response.refusal.delta', { ...where, delta });
        else push('response.output_text.delta', { ...where, delta, logprobs: [] });
      if (refused) push('response.refusal.done', { ...where, refusal: text });
      else push('response.output_text.done', { ...where, text, logprobs: [] });
      push('response.content_part.done', { ...where, part });
    }
    push('response.output_item.done', { output_index, item });
  }
  events.push(...(reply.extraEvents ?? []));
  if (!reply.wire?.noEnd)
    push(whole.status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response: whole });
  return events;
}

function cut(text: string, size: number): string[] {
  if (size === 0 || text === '') return text === '' ? [] : [text];
  const points = [...text];
  const out: string[] = [];
  for (let at = 0; at < points.length; at += size) out.push(points.slice(at, at + size).join(''));
  return out;
}

const FIELDS = new Set(
  `background client_metadata context_management conversation include input instructions max_output_tokens max_tool_calls
  metadata model parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning
  safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p
  truncation user`.split(/\s+/),
);
const ITEMS = new Set(
  `message function_call function_call_output custom_tool_call custom_tool_call_output reasoning item_reference
  web_search_call`.split(/\s+/),
);
const PARTS: Readonly<Record<string, ReadonlySet<string>>> = {
  assistant: new Set(['output_text', 'refusal']),
  user: new Set(['input_text', 'input_image', 'input_file']),
  system: new Set(['input_text', 'input_image', 'input_file']),
  developer: new Set(['input_text', 'input_image', 'input_file']),
};

/** null when the service would accept the request. */
export function refuseResponses(body: unknown, strict: Strictness): Refusal | null {
  if (!isObject(body)) return refuse('the body must be an object');
  if (typeof body.model !== 'string') return refuse('Missing required parameter: model.', 'model');
  if (strict.unknownFields)
    for (const field of Object.keys(body))
      if (!FIELDS.has(field)) return refuse(`Unknown parameter: '${field}'.`, field);
  if (typeof body.max_output_tokens === 'number' && body.max_output_tokens < 16)
    return refuse('Invalid max_output_tokens: expected a value >= 16.', 'max_output_tokens');
  for (const [at, tool] of ((body.tools ?? []) as Json[]).entries()) {
    if (tool.function !== undefined) return refuse(`Unknown parameter: 'tools[${at}].function'.`, 'tools');
    if (tool.type === 'function' && !/^[a-zA-Z0-9_-]{1,64}$/.test(String(tool.name)))
      return refuse(`Invalid 'tools[${at}].name'.`, 'tools');
  }
  if (typeof body.input === 'string') return null;
  if (!Array.isArray(body.input)) return refuse('Missing required parameter: input.', 'input');
  if (strict.demandReasoning) {
    const bare = (body.input as Json[]).findIndex(
      (item, at, list) => item.type === 'function_call' && !isReasoned(list, at),
    );
    if (bare >= 0)
      return refuse(
        `input[${bare}]: a function_call was provided without its required reasoning item`,
        'input',
      );
  }
  return refuseItems(body.input as Json[], body.previous_response_id !== undefined);
}

/** A sealed reasoning item stands before the call, or before the calls and words that came with it. */
function isReasoned(list: readonly Json[], at: number): boolean {
  for (let before = at - 1; before >= 0; before -= 1) {
    const item = list[before] as Json;
    if (item.type === 'reasoning') return typeof item.encrypted_content === 'string';
    if (item.type !== 'function_call' && item.role !== 'assistant') return false;
  }
  return false;
}

function refuseItems(list: readonly Json[], continued: boolean): Refusal | null {
  const open = new Set<string>();
  for (const [at, item] of list.entries()) {
    const where = `input[${at}]`;
    const type = String(item.type ?? 'message');
    if (!ITEMS.has(type)) return refuse(`Invalid value: '${type}'.`, `${where}.type`);
    if (type === 'message') {
      const parts = PARTS[String(item.role)];
      if (!parts) return refuse(`Invalid value: '${String(item.role)}'.`, `${where}.role`);
      if (typeof item.content === 'string') continue;
      for (const part of (item.content ?? []) as Json[])
        if (!parts.has(String(part.type)))
          return refuse(`Invalid value: '${String(part.type)}'.`, `${where}.content`);
    } else if (type.endsWith('_call')) {
      const text = type === 'function_call' ? item.arguments : item.input;
      if (type !== 'web_search_call' && typeof text !== 'string')
        return refuse(`Missing required parameter: '${where}.arguments'.`, where);
      if (type !== 'web_search_call') open.add(String(item.call_id));
    } else if (type.endsWith('_output') && !open.delete(String(item.call_id)) && !continued)
      return refuse(
        `No tool call found for function call output with call_id ${String(item.call_id)}.`,
        'input',
      );
  }
  const [missing] = open;
  return missing === undefined ? null : refuse(`No tool output found for function call ${missing}.`, 'input');
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(message: string, param: string | null = null): Refusal {
  return { message, param };
}
