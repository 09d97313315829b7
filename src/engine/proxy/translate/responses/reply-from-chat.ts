import { CallIndex } from '../call-index.ts';
import { asArray, asObject, asText, isObject } from '../json.ts';
import { splitThink } from '../think-tags.ts';
import type { JsonObject, TranslationContext } from '../types.ts';
import { guessTokens, readOpenaiUsage, reasoningOf, splitContent } from '../vocabulary.ts';
import { ResponseWriter } from './writer.ts';

/** A chat completion → response object. The caller has made sure that it is an answer. */
export function chatReplyToResponse(reply: JsonObject, context: TranslationContext): JsonObject {
  const choice = asObject(asArray(reply.choices)[0]);
  const message = asObject(choice.message);
  const writer = new ResponseWriter(context);
  const parts = splitContent(message.content);
  const separate = reasoningOf(message) || parts.reasoning;
  const { text, thinking } = splitThink(parts.text, separate, context.thinkTags);
  const refusal = asText(message.refusal);
  const calls = asArray(message.tool_calls).filter(isObject);
  if (isObject(message.function_call)) calls.push({ function: message.function_call });
  const reasoning = separate || thinking;
  if (reasoning !== '') writer.thinking(reasoning);
  if (text !== '') writer.text(text, asArray(asObject(choice.logprobs).content));
  if (refusal !== '') writer.refusal(refusal);
  const index = new CallIndex();
  for (const [order, piece] of calls.entries()) {
    const { call, added } = index.add({ ...piece, index: order });
    writer.call(call, added);
  }
  const guessed = {
    input: context.estimatedInputTokens,
    output: guessTokens(text.length + separate.length + JSON.stringify(calls).length),
  };
  writer.finish({
    finish: asText(choice.finish_reason) || null,
    stopSequence: null,
    hasCalls: calls.length > 0,
    refused: refusal !== '',
    counts: readOpenaiUsage(reply.usage) ?? readOpenaiUsage(choice.usage) ?? guessed,
  });
  return writer.response;
}
