import { z } from 'zod';
import { isObject, refuse } from './json.ts';

/** A function as a chat request declares or chooses it. */
export const functionShape = z.looseObject({ name: z.string().min(1) });

/** The outline of `POST /v1/chat/completions` that both translations need; parts are read where they are translated. */
export const chatRequestShape = z.looseObject({
  model: z.string().optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown().optional() })).min(1),
  tools: z.array(z.looseObject({ type: z.string().optional() })).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
  functions: z.array(functionShape).nullish(),
  function_call: z.union([z.string(), functionShape]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_tokens: z.number().int().positive().nullish(),
  max_completion_tokens: z.number().int().positive().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.number().nullish(),
  reasoning_effort: z.string().nullish(),
  response_format: z.looseObject({ type: z.string() }).nullish(),
  modalities: z.array(z.string()).nullish(),
  audio: z.unknown().optional(),
  web_search_options: z.unknown().optional(),
});
export type ChatRequest = z.infer<typeof chatRequestShape>;

/** Refuses what only chat completions have. */
export function refuseChatOnly(request: ChatRequest): void {
  if (typeof request.n === 'number' && request.n !== 1)
    refuse('This provider gives one answer per request; n must be 1.', ['n']);
  if (isObject(request.audio) || request.modalities?.some((modality) => modality !== 'text'))
    refuse('This provider answers in text only.', ['modalities']);
  if (isObject(request.web_search_options))
    refuse('Web search inside the model is not available through this provider.', ['web_search_options']);
}
