import { AppError } from '../../../../shared/errors.ts';
import { asArray, asCount, asObject, asText, isObject } from '../json.ts';
import { completionId } from '../reply-ids.ts';
import type { JsonObject, TranslationContext, WireError } from '../types.ts';
import { finishWord, guessTokens, type TokenCounts, toOpenaiUsage } from '../vocabulary.ts';
import { reasoningText } from './items.ts';

/** A response object → chat completion. Throws UPSTREAM_REFUSED when it is an error or no whole response. */
export function responseToChatReply(reply: unknown, context: TranslationContext): JsonObject {
  if (!isObject(reply)) throw notAReply();
  if (reply.status === 'failed' || reply.status === 'cancelled' || isObject(reply.error))
    throw new AppError('UPSTREAM_REFUSED', failureOf(reply).message);
  if (!Array.isArray(reply.output)) throw notAReply();
  let text = '';
  let refusal = '';
  const reasoning: string[] = [];
  const calls: JsonObject[] = [];
  const logprobs: unknown[] = [];
  for (const item of reply.output.filter(isObject)) {
    if (item.type === 'reasoning') reasoning.push(reasoningText(item));
    else if (item.type === 'function_call' || item.type === 'custom_tool_call')
      calls.push(callOf(item, context));
    else if (item.type === 'message')
      for (const part of asArray(item.content).filter(isObject)) {
        text += asText(part.text);
        refusal += asText(part.refusal);
        logprobs.push(...asArray(part.logprobs));
      }
  }
  const thought = reasoning.filter((part) => part !== '').join('\n\n');
  const message = {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(thought !== '' && context.showReasoning ? { reasoning_content: thought } : {}),
    ...(calls.length === 0
      ? {}
      : context.legacyFunctions
        ? { function_call: calls[0]?.function }
        : { tool_calls: calls }),
  };
  const guessed = {
    input: context.estimatedInputTokens,
    output: guessTokens(text.length + thought.length),
  };
  const choice = {
    index: 0,
    message,
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: finishWord(finishOf(reply, calls.length > 0), context.legacyFunctions),
  };
  return {
    id: completionId(reply.id, context),
    object: 'chat.completion',
    created: context.createdAt,
    model: context.requestedModel,
    choices: [choice],
    usage: toOpenaiUsage(readResponsesUsage(reply.usage) ?? guessed),
  };
}

/** Reads a `usage` of the Responses API. */
export function readResponsesUsage(value: unknown): TokenCounts | null {
  if (!isObject(value)) return null;
  const input = asCount(value.input_tokens);
  const output = asCount(value.output_tokens);
  if (input === undefined && output === undefined) return null;
  const details = asObject(value.input_tokens_details);
  const cacheRead = asCount(details.cached_tokens);
  const cacheWrite = asCount(details.cache_write_tokens);
  return {
    input: input === undefined ? undefined : Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output,
    cacheRead,
    cacheWrite,
    reasoning: asCount(asObject(value.output_tokens_details).reasoning_tokens),
  };
}

/** Why a response failed, in the words of either wire. */
export function failureOf(response: JsonObject): WireError {
  const error = asObject(response.error);
  const code = asText(error.code) || null;
  const type = code === 'rate_limit_exceeded' ? 'rate_limit_error' : 'api_error';
  return { type, message: asText(error.message) || 'The upstream reported that its answer failed.', code };
}

/** How a response ended, as a finish reason of chat completions. */
export function finishOf(response: JsonObject, hasCalls: boolean): string {
  const { reason } = asObject(response.incomplete_details);
  if (response.status === 'incomplete' || asText(reason) !== '')
    return reason === 'content_filter' ? 'content_filter' : 'length';
  return hasCalls ? 'tool_calls' : 'stop';
}

export function callHead(
  item: JsonObject,
  context: TranslationContext,
): { custom: boolean; id: string; name: string } {
  const wire = asText(item.name);
  return {
    custom: item.type === 'custom_tool_call',
    id: asText(item.call_id) || asText(item.id),
    name: context.toolNames.get(wire) ?? wire,
  };
}

function callOf(item: JsonObject, context: TranslationContext): JsonObject {
  const { custom, id, name } = callHead(item, context);
  return custom
    ? { id, type: 'custom', custom: { name, input: argumentsOf(item) } }
    : { id, type: 'function', function: { name, arguments: argumentsOf(item) || '{}' } };
}

export function argumentsOf(item: JsonObject): string {
  return asText(item.type === 'custom_tool_call' ? item.input : item.arguments);
}

function notAReply(): AppError {
  return new AppError('UPSTREAM_REFUSED', 'The upstream answered with something that is no response.', {
    hint: 'Check the base URL of the provider: it may lead to a web page or to another kind of API.',
  });
}
