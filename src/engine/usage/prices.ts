/** US dollars for a million tokens. */
export interface Price {
  input: number;
  cachedInput: number;
  cacheWrite: number;
  /** For writes that are kept for an hour. */
  cacheHour: number;
  output: number;
}

export interface ListPrice extends Price {
  /** Host of the provider whose list it is: others may sell the same model at their own price. */
  host: string;
  /** Model id without a date at its end. */
  model: string;
  /** First day (UTC) on which it holds; empty for always. */
  since: string;
  /** What prompts longer than `tokens` cost as a whole; null when that is not known here. */
  longPrompts: { tokens: number; price: Price | null } | null;
}

type RowPrice = Omit<Price, 'cacheHour'>;
type Row = [
  model: string,
  input: number,
  cachedInput: number,
  cacheWrite: number,
  output: number,
  rest?: { since?: string; longPrompts?: { tokens: number; price: RowPrice | null } },
];

/** Anthropic, platform.claude.com/docs/en/about-claude/pricing: hour-long writes to the cache cost twice the input. */
const ANTHROPIC: readonly Row[] = [
  ['claude-fable-5-1', 10, 0.25, 12.5, 50],
  ['claude-fable-5', 10, 1, 12.5, 50],
  ['claude-opus-5-5', 4, 0.2, 5, 20],
  ['claude-opus-5', 5, 0.5, 6.25, 25],
  ['claude-opus-4-8', 5, 0.5, 6.25, 25],
  ['claude-opus-4-7', 5, 0.5, 6.25, 25],
  ['claude-opus-4-6', 5, 0.5, 6.25, 25],
  ['claude-opus-4-5', 5, 0.5, 6.25, 25],
  ['claude-opus-4-1', 15, 1.5, 18.75, 75],
  ['claude-opus-4', 15, 1.5, 18.75, 75],
  ['claude-opus-4-0', 15, 1.5, 18.75, 75],
  ['claude-sonnet-5-5', 2, 0.2, 2.5, 10],
  ['claude-sonnet-5-5', 2, 0.1, 2.5, 10, { since: '2026-10-07' }],
  ['claude-sonnet-5', 2, 0.2, 2.5, 10],
  ['claude-sonnet-4-6', 3, 0.3, 3.75, 15],
  ['claude-sonnet-4-5', 3, 0.3, 3.75, 15, { longPrompts: { tokens: 200_000, price: null } }],
  ['claude-sonnet-4', 3, 0.3, 3.75, 15, { longPrompts: { tokens: 200_000, price: null } }],
  ['claude-sonnet-4-0', 3, 0.3, 3.75, 15, { longPrompts: { tokens: 200_000, price: null } }],
  ['claude-3-7-sonnet', 3, 0.3, 3.75, 15],
  [
    'claude-haiku-5-5',
    0.1,
    0.01,
    0.125,
    0.5,
    {
      longPrompts: {
        tokens: 100_000,
        price: { input: 0.5, cachedInput: 0.05, cacheWrite: 0.625, output: 2.5 },
      },
    },
  ],
  ['claude-haiku-4-5', 1, 0.1, 1.25, 5],
  ['claude-3-5-haiku', 0.8, 0.08, 1, 4],
  ['claude-3-haiku', 0.25, 0.03, 0.3, 1.25],
];

/** OpenAI, developers.openai.com/api/docs/pricing, standard tier: writing to the cache is free. */
const OPENAI: readonly Row[] = [
  ['gpt-5.2', 1.75, 0.175, 1.75, 14],
  ['gpt-5.2-chat', 1.75, 0.175, 1.75, 14],
  ['gpt-5.1', 1.25, 0.125, 1.25, 10],
  ['gpt-5.1-chat', 1.25, 0.125, 1.25, 10],
  ['gpt-5', 1.25, 0.125, 1.25, 10],
  ['gpt-5-mini', 0.25, 0.025, 0.25, 2],
  ['gpt-5-nano', 0.05, 0.005, 0.05, 0.4],
  ['gpt-4.1', 2, 0.5, 2, 8],
  ['gpt-4.1-mini', 0.4, 0.1, 0.4, 1.6],
  ['gpt-4.1-nano', 0.1, 0.025, 0.1, 0.4],
  ['gpt-4o', 2.5, 1.25, 2.5, 10],
  ['gpt-4o-mini', 0.15, 0.075, 0.15, 0.6],
  ['o3', 2, 0.5, 2, 8],
  ['o4-mini', 1.1, 0.275, 1.1, 4.4],
];

const GEMINI_3_PRO = {
  longPrompts: { tokens: 200_000, price: { input: 4, cachedInput: 0.4, cacheWrite: 4, output: 18 } },
};
/** Google, ai.google.dev/gemini-api/docs/pricing, paid tier; its own caching is free to write. */
const GEMINI: readonly Row[] = [
  ['gemini-3.1-pro-preview', 2, 0.2, 2, 12, GEMINI_3_PRO],
  ['gemini-3-pro-preview', 2, 0.2, 2, 12, GEMINI_3_PRO],
  ['gemini-3-pro', 2, 0.2, 2, 12, GEMINI_3_PRO],
  [
    'gemini-2.5-pro',
    1.25,
    0.125,
    1.25,
    10,
    {
      longPrompts: { tokens: 200_000, price: { input: 2.5, cachedInput: 0.25, cacheWrite: 2.5, output: 15 } },
    },
  ],
  ['gemini-2.5-flash', 0.3, 0.03, 0.3, 2.5],
  ['gemini-2.5-flash-lite', 0.1, 0.01, 0.1, 0.4],
];

/**
 * Public list prices, checked in November 2026. Only what a provider's own list says: models with prices by the hour
 * of the day, negotiated ones and those that nobody could check are left out, and their cost is unknown.
 */
export const LIST_PRICES: readonly ListPrice[] = [
  ...listOf('api.anthropic.com', ANTHROPIC, ({ input }) => 2 * input),
  ...listOf('api.openai.com', OPENAI, ({ cacheWrite }) => cacheWrite),
  ...listOf('generativelanguage.googleapis.com', GEMINI, ({ cacheWrite }) => cacheWrite),
];

/** Lengths of prompts, in tokens, above which some model has another price; ascending. */
export const PRICE_STEPS: readonly number[] = [
  ...new Set(LIST_PRICES.flatMap(({ longPrompts }) => (longPrompts === null ? [] : [longPrompts.tokens]))),
].sort((a, b) => a - b);

function listOf(host: string, rows: readonly Row[], hour: (price: RowPrice) => number): ListPrice[] {
  const whole = (price: RowPrice): Price => ({ ...price, cacheHour: hour(price) });
  return rows.map(([model, input, cachedInput, cacheWrite, output, { since = '', longPrompts } = {}]) => ({
    host,
    model,
    since,
    longPrompts: longPrompts
      ? { tokens: longPrompts.tokens, price: longPrompts.price && whole(longPrompts.price) }
      : null,
    ...whole({ input, cachedInput, cacheWrite, output }),
  }));
}
