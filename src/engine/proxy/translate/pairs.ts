import type { Dialect } from '../../../shared/model.ts';
import type { AnswerWriter } from './answer.ts';
import { AnswerStream, type WireReader } from './answer-stream.ts';
import { AnthropicReader } from './anthropic-reader.ts';
import { AnthropicWriter } from './anthropic-writer.ts';
import { ChatReader } from './chat-reader.ts';
import { ChatWriter } from './chat-writer.ts';
import { clientWord, inClientWords } from './client-words.ts';
import { anthropicReplyToOpenai, openaiReplyToAnthropic } from './reply.ts';
import { openaiToAnthropic } from './request-to-anthropic.ts';
import { anthropicToOpenai } from './request-to-openai.ts';
import { ResponsesReader } from './responses/reader.ts';
import { chatReplyToResponse } from './responses/reply-from-chat.ts';
import { responseToChatReply } from './responses/reply-to-chat.ts';
import { chatToResponses } from './responses/request-from-chat.ts';
import { responsesToChat } from './responses/request-to-chat.ts';
import { ResponseWriter } from './responses/writer.ts';
import type {
  JsonObject,
  StreamTranslator,
  TranslatedRequest,
  TranslateOptions,
  TranslationContext,
} from './types.ts';

const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * A client's request in another dialect. Chat completions are the middle: between Anthropic's and the Responses API
 * there are two hops. (Streamed answers need none: any reader goes with any writer.) Throws BAD_INPUT and NOT_TRANSLATABLE.
 */
export function translateRequest(
  client: Dialect,
  upstream: Dialect,
  body: unknown,
  options: TranslateOptions,
): TranslatedRequest {
  if (client === 'openai')
    return upstream === 'anthropic' ? openaiToAnthropic(body, options) : chatToResponses(body, options);
  if (upstream === 'openai')
    return client === 'anthropic' ? anthropicToOpenai(body, options) : responsesToChat(body, options);
  // The middle is nobody's wire, so nothing is adapted to a server's quirks there.
  const middle: TranslateOptions = {
    ...options,
    maxTokensField: 'max_completion_tokens',
    developerRole: true,
    oneLeadingSystem: false,
    reasoning: 'drop',
    efforts: EFFORTS,
    thinkTags: false,
    wantUsage: true,
    middle: true,
  };
  const first = client === 'anthropic' ? anthropicToOpenai(body, middle) : responsesToChat(body, middle);
  const second = inClientWords(client, () =>
    upstream === 'anthropic' ? openaiToAnthropic(first.body, options) : chatToResponses(first.body, options),
  );
  const later = second.dropped.map((name) => clientWord(client, name));
  return {
    body: second.body,
    dropped: [...new Set([...first.dropped, ...later])],
    context: { ...first.context, hop: second.context },
  };
}

/** `onWhole` gets the response object that a Responses client is told. */
export function createTranslator(
  upstream: Dialect,
  client: Dialect,
  context: TranslationContext,
  onWhole?: (response: JsonObject) => void,
): StreamTranslator {
  return new AnswerStream(
    readerOf(upstream, context.hop ?? context),
    writerFor(client, context, onWhole),
    context,
  );
}

function readerOf(upstream: Dialect, context: TranslationContext): WireReader {
  if (upstream === 'openai') return new ChatReader(context);
  return upstream === 'anthropic' ? new AnthropicReader(context) : new ResponsesReader(context);
}

function writerFor(
  client: Dialect,
  context: TranslationContext,
  onWhole?: (response: JsonObject) => void,
): AnswerWriter {
  if (client === 'openai') return new ChatWriter(context);
  return client === 'anthropic' ? new AnthropicWriter(context) : new ResponseWriter(context, onWhole);
}

/** A whole answer in the client's dialect. Throws UPSTREAM_REFUSED when it is an error or no answer. */
export function translateReply(
  upstream: Dialect,
  client: Dialect,
  reply: JsonObject,
  context: TranslationContext,
): JsonObject {
  const hop = context.hop ?? context;
  const chat =
    upstream === 'openai'
      ? reply
      : upstream === 'anthropic'
        ? anthropicReplyToOpenai(reply, hop)
        : responseToChatReply(reply, hop);
  if (client === 'openai') return chat;
  return client === 'anthropic' ? openaiReplyToAnthropic(chat, context) : chatReplyToResponse(chat, context);
}
