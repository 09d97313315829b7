import type { Usage } from '../../../shared/model.ts';
import { asCount, asObject, asText, isObject } from './json.ts';
import type { JsonObject } from './types.ts';

/** OpenAI finish reason → Anthropic stop reason (S25). Never null; unknown words mean a normal end. */
export function anthropicStop(finish: string | null, hasTools: boolean, refused: boolean): string {
  if (refused || finish === 'content_filter') return 'refusal';
  if (finish === 'length' || finish === 'max_tokens') return 'max_tokens';
  // Several servers say `stop` after tool calls, or `tool_calls` without any; the client acts on what is there.
  return hasTools ? 'tool_use' : 'end_turn';
}

/** Anthropic stop reason → OpenAI finish reason (S26). */
export function openaiFinish(stop: string | null, hasTools: boolean): string {
  if (stop === 'max_tokens' || stop === 'model_context_window_exceeded') return 'length';
  if (stop === 'refusal') return 'content_filter';
  return hasTools ? 'tool_calls' : 'stop';
}

/** A finish reason as a chat client knows it: those who sent `functions` have their own word for calls. */
export function finishWord(finish: string | null, legacyFunctions: boolean): string | null {
  return finish === 'tool_calls' && legacyFunctions ? 'function_call' : finish;
}

/** Counts of one reply; a field is absent when the upstream did not tell it. */
export interface TokenCounts {
  /** Prompt tokens without those read from or written to a cache. */
  input?: number | undefined;
  output?: number | undefined;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
  /** Of `cacheWrite`, what is kept for an hour. */
  cacheHour?: number | undefined;
  reasoning?: number | undefined;
  /** What the call cost, in the provider's own unit. */
  cost?: number | undefined;
}

/** Reads an OpenAI `usage`, with the spellings of DeepSeek and Kimi for cache hits (S23). */
export function readOpenaiUsage(value: unknown): TokenCounts | null {
  if (!isObject(value)) return null;
  const prompt = asCount(value.prompt_tokens);
  const output = asCount(value.completion_tokens);
  if (prompt === undefined && output === undefined) return null;
  const details = asObject(value.prompt_tokens_details);
  const cacheRead =
    asCount(details.cached_tokens) ?? asCount(value.prompt_cache_hit_tokens) ?? asCount(value.cached_tokens);
  const cacheWrite = asCount(details.cache_write_tokens);
  return {
    input: prompt === undefined ? undefined : Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output,
    cacheRead,
    cacheWrite,
    reasoning: asCount(asObject(value.completion_tokens_details).reasoning_tokens),
    // With a key of one's own at the vendor behind a gateway, it is the gateway's fee alone.
    ...(typeof value.cost === 'number' && value.is_byok !== true ? { cost: value.cost } : {}),
  };
}

/** Reads an Anthropic `usage` over what is known so far: its counts are totals, so the newest wins (S24). */
export function readAnthropicUsage(value: unknown, known: TokenCounts = {}): TokenCounts {
  if (!isObject(value)) return known;
  return {
    input: asCount(value.input_tokens) ?? known.input,
    output: asCount(value.output_tokens) ?? known.output,
    cacheRead: asCount(value.cache_read_input_tokens) ?? known.cacheRead,
    cacheWrite: asCount(value.cache_creation_input_tokens) ?? known.cacheWrite,
    cacheHour: asCount(asObject(value.cache_creation).ephemeral_1h_input_tokens) ?? known.cacheHour,
    reasoning: asCount(asObject(value.output_tokens_details).thinking_tokens) ?? known.reasoning,
  };
}

export function toAnthropicUsage(counts: TokenCounts): JsonObject {
  return {
    input_tokens: counts.input ?? 0,
    ...(counts.cacheRead === undefined ? {} : { cache_read_input_tokens: counts.cacheRead }),
    ...(counts.cacheWrite === undefined ? {} : { cache_creation_input_tokens: counts.cacheWrite }),
    output_tokens: counts.output ?? 0,
    ...(counts.reasoning === undefined
      ? {}
      : { output_tokens_details: { thinking_tokens: counts.reasoning } }),
  };
}

export function toOpenaiUsage(counts: TokenCounts): JsonObject {
  const cached = counts.cacheRead ?? 0;
  const written = counts.cacheWrite ?? 0;
  const prompt = (counts.input ?? 0) + cached + written;
  const completion = counts.output ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cached,
      ...(written === 0 ? {} : { cache_write_tokens: written }),
    },
    ...(counts.reasoning === undefined
      ? {}
      : { completion_tokens_details: { reasoning_tokens: counts.reasoning } }),
  };
}

/** For the record; null when the upstream told nothing. */
export function toUsage(counts: TokenCounts | null): Usage | null {
  if (counts === null || (counts.input === undefined && counts.output === undefined)) return null;
  return {
    inputTokens: counts.input ?? 0,
    outputTokens: counts.output ?? 0,
    cacheReadTokens: counts.cacheRead ?? 0,
    cacheWriteTokens: counts.cacheWrite ?? 0,
    estimated: false,
    ...(counts.cacheHour ? { cacheHourTokens: counts.cacheHour } : {}),
    ...(counts.cost === undefined ? {} : { reportedCost: counts.cost }),
  };
}

/** Rough token count of text when the upstream counts nothing: about four characters each. */
export function guessTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

/** Reasoning of an OpenAI message or delta under any of its names, once (S10). */
export function reasoningOf(message: JsonObject): string {
  for (const name of ['reasoning_content', 'reasoning', 'reasoning_text']) {
    const text = asText(message[name]);
    if (text !== '') return text;
  }
  if (!Array.isArray(message.reasoning_details)) return '';
  return message.reasoning_details
    .map((detail: unknown) => (isObject(detail) ? asText(detail.text) || asText(detail.summary) : ''))
    .join('');
}

/** Content of an OpenAI message or delta: a string, or parts (Mistral puts its thinking there too). */
export function splitContent(content: unknown): { text: string; reasoning: string } {
  if (typeof content === 'string') return { text: content, reasoning: '' };
  let text = '';
  let reasoning = '';
  for (const part of Array.isArray(content) ? content : []) {
    if (typeof part === 'string') text += part;
    else if (isObject(part) && part.type === 'thinking')
      reasoning += typeof part.thinking === 'string' ? part.thinking : splitContent(part.thinking).text;
    else if (isObject(part)) text += asText(part.text);
  }
  return { text, reasoning };
}
