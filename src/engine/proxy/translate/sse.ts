import type { JsonObject } from './types.ts';

/** One Anthropic event; its name equals its type. */
export function anthropicEvent(data: JsonObject & { type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** One OpenAI chunk. */
export function openaiEvent(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

export const OPENAI_DONE = 'data: [DONE]\n\n';

/** True for OpenAI's end mark, with or without stray white space. */
export function isDone(data: string): boolean {
  return data.trim() === '[DONE]';
}
