import type { Usage } from '../../shared/model.ts';
import type { ReceivedReply } from '../sessions/index.ts';
import { isObject } from './translate/json.ts';
import type { AssembledReply, JsonObject } from './translate/types.ts';
import { guessTokens } from './translate/vocabulary.ts';

/** Fields of an answer that nobody pays for as output. */
const NOT_WRITTEN = new Set(['id', 'call_id', 'type', 'role', 'status', 'object', 'finish_reason']);

/**
 * Tokens of a turn: what the provider counted, made good where its answer broke off before it had counted to the end,
 * or our estimate where it did not count at all. Null for a turn that used nothing.
 * @param prompt our estimate of the prompt's tokens
 */
export function usageOf(
  end: { status: ReceivedReply['status']; answer: Pick<AssembledReply, 'reply' | 'usage'> | null },
  prompt: number,
): Usage | null {
  const { status, answer } = end;
  const counted = answer?.usage ?? null;
  if (counted !== null && status === 'answered') return counted;
  const written = guessTokens(writtenChars(answer?.reply ?? null));
  // Anthropic's streams begin with a count of the answer that says nothing yet.
  if (counted !== null)
    return written > counted.outputTokens ? { ...counted, outputTokens: written, estimated: true } : counted;
  if (status === 'failed' && written === 0) return null;
  return {
    inputTokens: prompt,
    outputTokens: written,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    estimated: true,
  };
}

/** Characters that the model wrote: words, thoughts, names and arguments of calls. */
function writtenChars(reply: JsonObject | null): number {
  return reply === null ? 0 : lengthOf(reply.content ?? reply.choices ?? reply.output);
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + lengthOf(item), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce(
    (sum, [name, inner]) => (NOT_WRITTEN.has(name) ? sum : sum + lengthOf(inner)),
    0,
  );
}
