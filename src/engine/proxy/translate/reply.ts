import { AppError } from '../../../shared/errors.ts';
import { argumentsObject } from './arguments.ts';
import { readErrorObject } from './errors.ts';
import { asArray, asObject, asText, isObject } from './json.ts';
import { completionId, messageId, ReplyCallIds } from './reply-ids.ts';
import { splitThink } from './think-tags.ts';
import type { JsonObject, TranslationContext } from './types.ts';
import {
  anthropicStop,
  finishWord,
  guessTokens,
  openaiFinish,
  readAnthropicUsage,
  readOpenaiUsage,
  reasoningOf,
  splitContent,
  toAnthropicUsage,
  toOpenaiUsage,
} from './vocabulary.ts';

/** A turn that Anthropic paused and that did not come to its end either. */
export const STAYS_PAUSED =
  'The provider paused its turn in the middle of its own tool use and did not end it.';

/** Upstream OpenAI reply → Anthropic message. Throws UPSTREAM_REFUSED when it is an error or no reply at all. */
export function openaiReplyToAnthropic(reply: unknown, context: TranslationContext): JsonObject {
  const root = checked(reply);
  const choice = asArray(root.choices).find(isObject);
  const message = choice?.message;
  if (choice === undefined || !isObject(message)) throw notAReply();
  if (choice.finish_reason === 'error')
    throw new AppError('UPSTREAM_REFUSED', 'The upstream stopped with an error.');

  const parts = splitContent(message.content);
  const separate = reasoningOf(message) || parts.reasoning;
  const { text, thinking } = splitThink(parts.text, separate, context.thinkTags);
  const refusal = asText(message.refusal);
  const calls = asArray(message.tool_calls).filter(isObject);
  if (isObject(message.function_call)) calls.push({ function: message.function_call });

  const content: JsonObject[] = [];
  const reasoning = separate || thinking;
  if (reasoning !== '') content.push({ type: 'thinking', thinking: reasoning, signature: '' });
  if (text !== '') content.push({ type: 'text', text });
  if (refusal !== '') content.push({ type: 'text', text: refusal });
  const ids = new ReplyCallIds(context);
  for (const [order, call] of calls.entries())
    content.push(toolUse(call, ids.take(asText(call.id), order), context));

  const reason = anthropicStop(asText(choice.finish_reason) || null, calls.length > 0, refusal !== '');
  const told = asText(choice.stop_reason);
  const bySequence = reason === 'end_turn' && told !== '' && context.stopSequences.includes(told);
  const guessed = {
    input: context.estimatedInputTokens,
    output: guessTokens(JSON.stringify(content).length),
  };
  return {
    id: messageId(root.id, context),
    type: 'message',
    role: 'assistant',
    model: context.requestedModel,
    content,
    stop_reason: bySequence ? 'stop_sequence' : reason,
    stop_sequence: bySequence ? told : null,
    usage: toAnthropicUsage(readOpenaiUsage(root.usage) ?? readOpenaiUsage(choice.usage) ?? guessed),
  };
}

function toolUse(call: JsonObject, id: string, context: TranslationContext): JsonObject {
  const fn = isObject(call.function) ? call.function : asObject(call.custom);
  const wire = asText(fn.name);
  if (wire === '') throw new AppError('UPSTREAM_REFUSED', 'The upstream sent a tool call without a name.');
  return {
    type: 'tool_use',
    id,
    name: context.toolNames.get(wire) ?? wire,
    input: argumentsObject(fn.arguments ?? fn.input),
  };
}

/** Upstream Anthropic message → OpenAI chat completion. Throws UPSTREAM_REFUSED when it is an error or no message. */
export function anthropicReplyToOpenai(reply: unknown, context: TranslationContext): JsonObject {
  const root = checked(reply);
  if (!Array.isArray(root.content)) throw notAReply();
  if (root.stop_reason === 'pause_turn') {
    throw new AppError('UPSTREAM_REFUSED', STAYS_PAUSED);
  }
  let text = '';
  let thinking = '';
  const calls: JsonObject[] = [];
  for (const block of root.content.filter(isObject)) {
    if (block.type === 'text') text += asText(block.text);
    else if (block.type === 'thinking') thinking += asText(block.thinking);
    else if (block.type === 'tool_use') calls.push(toolCall(block, context));
  }
  const explanation = asText(asObject(root.stop_details).explanation);
  const counts = readAnthropicUsage(root.usage);
  const known = counts.input !== undefined || counts.output !== undefined;
  const guessed = {
    input: context.estimatedInputTokens,
    output: guessTokens(JSON.stringify(root.content).length),
  };
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: explanation === '' ? null : explanation,
    ...(thinking !== '' && context.showReasoning ? { reasoning_content: thinking } : {}),
    ...callsField(calls, context),
  };
  const finish = openaiFinish(asText(root.stop_reason) || null, calls.length > 0);
  return {
    id: completionId(root.id, context),
    object: 'chat.completion',
    created: context.createdAt,
    model: context.requestedModel,
    choices: [
      { index: 0, message, logprobs: null, finish_reason: finishWord(finish, context.legacyFunctions) },
    ],
    usage: toOpenaiUsage(known ? counts : guessed),
  };
}

function toolCall(block: JsonObject, context: TranslationContext): JsonObject {
  const wire = asText(block.name);
  const fn = {
    name: context.toolNames.get(wire) ?? wire,
    arguments: JSON.stringify(argumentsObject(block.input)),
  };
  return { id: asText(block.id), type: 'function', function: fn };
}

function callsField(calls: readonly JsonObject[], context: TranslationContext): JsonObject {
  if (calls.length === 0) return {};
  return context.legacyFunctions ? { function_call: calls[0]?.function } : { tool_calls: calls };
}

/** Some gateways answer an error with status 200. */
function checked(reply: unknown): JsonObject {
  if (!isObject(reply)) throw notAReply();
  if (reply.error || reply.type === 'error') {
    throw new AppError(
      'UPSTREAM_REFUSED',
      readErrorObject(reply)?.message ?? 'The upstream reported an error.',
    );
  }
  return reply;
}

function notAReply(): AppError {
  return new AppError('UPSTREAM_REFUSED', 'The upstream answered with something that is no chat reply.', {
    hint: 'Check the base URL of the provider: it may lead to a web page or to another kind of API.',
  });
}
