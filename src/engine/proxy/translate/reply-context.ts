import type { ResponsesEcho, TranslateOptions, TranslationContext } from './types.ts';

interface Asked {
  model?: string | undefined;
  stream?: boolean | null | undefined;
}

type Told = Pick<TranslationContext, 'toolNames' | 'stopSequences'>;

/** What the reply to a chat client must remember of its request. */
export function chatClientContext(
  request: Asked & { stream_options?: { include_usage?: boolean | null | undefined } | null | undefined },
  options: TranslateOptions,
  told: Told & { legacyFunctions: boolean },
): TranslationContext {
  return {
    ...common(request, options),
    ...told,
    includeUsage: request.stream_options?.include_usage === true,
    showReasoning: options.showReasoning ?? true,
    thinkTags: false,
  };
}

/** The same for the clients of the other dialects, who always get usage and reasoning. */
export function otherClientContext(
  request: Asked,
  options: TranslateOptions,
  told: Told & { responses?: ResponsesEcho },
): TranslationContext {
  return {
    ...common(request, options),
    ...told,
    includeUsage: true,
    showReasoning: true,
    thinkTags: options.thinkTags ?? true,
    legacyFunctions: false,
  };
}

function common(
  request: Asked,
  options: TranslateOptions,
): Pick<TranslationContext, 'replyId' | 'createdAt' | 'requestedModel' | 'stream' | 'estimatedInputTokens'> {
  return {
    replyId: options.replyId,
    createdAt: options.createdAt,
    requestedModel: request.model ?? options.model,
    stream: request.stream === true,
    estimatedInputTokens: options.estimatedInputTokens ?? 0,
  };
}
