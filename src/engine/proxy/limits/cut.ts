/** One message as far as cutting depends on it. */
export interface CutMessage {
  /** `keep`: instructions, never cut. `open`: the user's words. `answer`: the model's. `follow`: belongs to what stands before it. */
  part: 'keep' | 'open' | 'answer' | 'follow';
  tokens: number;
}

interface Step {
  messages: number[];
  tokens: number;
}
interface Exchange {
  /** The user's words; empty at the front of a history that begins with an answer. */
  opening: Step;
  /** Answers, each with the tool results that follow it. */
  steps: Step[];
}

/** The cut moves in jumps of this share of the limit, so that the provider's prompt cache holds for some turns. */
const JUMP = 0.1;

/**
 * Which messages have to go so that the rest fits, by position. The oldest exchanges go first and whole; then, in the
 * exchange that is going on, the oldest calls with their results. Instructions, the user's newest words and the
 * newest step always stay, so the result may still be over the limit.
 */
export function chooseCut(messages: readonly CutMessage[], fixedTokens: number, limit: number): number[] {
  const total = fixedTokens + messages.reduce((sum, message) => sum + message.tokens, 0);
  const need = total - limit;
  if (need <= 0) return [];
  const jump = Math.max(1, Math.floor(limit * JUMP));
  const wanted = Math.ceil(need / jump) * jump;
  const exchanges = exchangesOf(messages);
  const current = exchanges.pop();
  const gone: number[] = [];
  let freed = 0;
  const take = (step: Step): void => {
    gone.push(...step.messages);
    freed += step.tokens;
  };
  for (const { opening, steps } of exchanges) {
    const size = [opening, ...steps].reduce((sum, step) => sum + step.tokens, 0);
    if (freed >= need && freed + size > wanted) return gone;
    for (const step of [opening, ...steps]) take(step);
  }
  for (const step of current?.steps.slice(0, -1) ?? []) {
    if (freed >= need && freed + step.tokens > wanted) break;
    take(step);
  }
  return gone;
}

function exchangesOf(messages: readonly CutMessage[]): Exchange[] {
  const exchanges: Exchange[] = [];
  let before: CutMessage['part'] = 'open';
  for (const [index, { part, tokens }] of messages.entries()) {
    if (part === 'keep') continue;
    let exchange = exchanges.at(-1);
    if (!exchange || part === 'open') {
      exchange = { opening: { messages: [], tokens: 0 }, steps: [] };
      exchanges.push(exchange);
    }
    // On the Responses wire one answer is several items, and parallel calls stand before all of their results.
    if (part === 'answer' && before !== 'answer') exchange.steps.push({ messages: [], tokens: 0 });
    const step = exchange.steps.at(-1) ?? exchange.opening;
    step.messages.push(index);
    step.tokens += tokens;
    before = part;
  }
  return exchanges;
}
