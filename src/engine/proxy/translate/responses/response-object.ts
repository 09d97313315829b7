import { asText, isObject } from '../json.ts';
import type { JsonObject, TranslationContext } from '../types.ts';
import type { TokenCounts } from '../vocabulary.ts';

/** A response object of the Responses API while it is being answered; `openai` 7 names its fields. */
export function responseFrame(context: TranslationContext): JsonObject {
  const fields = context.responses?.fields ?? {};
  return {
    id: `resp_${context.replyId}`,
    object: 'response',
    created_at: context.createdAt,
    status: 'in_progress',
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: fields.instructions ?? null,
    max_output_tokens: fields.max_output_tokens ?? null,
    max_tool_calls: fields.max_tool_calls ?? null,
    metadata: isObject(fields.metadata) ? fields.metadata : {},
    model: context.requestedModel,
    output: [],
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    previous_response_id: fields.previous_response_id ?? null,
    prompt_cache_key: fields.prompt_cache_key ?? null,
    reasoning: { effort: null, summary: null, ...(isObject(fields.reasoning) ? fields.reasoning : {}) },
    safety_identifier: fields.safety_identifier ?? null,
    service_tier: 'default',
    store: fields.store ?? true,
    temperature: fields.temperature ?? null,
    text: { format: { type: 'text' }, ...(isObject(fields.text) ? fields.text : {}) },
    tool_choice: fields.tool_choice ?? 'auto',
    tools: fields.tools ?? [],
    top_logprobs: fields.top_logprobs ?? 0,
    top_p: fields.top_p ?? null,
    truncation: fields.truncation ?? 'disabled',
    usage: null,
    user: fields.user ?? null,
  };
}

export function toResponsesUsage(counts: TokenCounts): JsonObject {
  const cached = counts.cacheRead ?? 0;
  const written = counts.cacheWrite ?? 0;
  const input = (counts.input ?? 0) + cached + written;
  const output = counts.output ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: counts.reasoning ?? 0 },
    total_tokens: input + output,
  };
}

/** Codes with which a response may have failed; others would be refused by typed clients. */
export function responseErrorCode(code: string | null | undefined, status: number): string {
  if (asText(code) !== '') return code as string;
  return status === 429 ? 'rate_limit_exceeded' : 'server_error';
}
