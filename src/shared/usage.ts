import { formatMoney, formatNumber } from './format.ts';
import type { Translate } from './i18n/index.ts';

/** What calls took and what they cost, as engine, screens and CLI tell it. Money is in US dollars. */

/** How much our own background calls may use in one local day. */
export interface DailyCap {
  unit: 'tokens' | 'usd';
  amount: number;
}

/** The cap and where the day stands. `unpriced`: money is capped, and what a model costs is not known. */
export type CapState = {
  cap: DailyCap;
  /** In the cap's unit: what our own calls used today. */
  spent: number;
  /** When the next day begins, ISO. */
  until: string;
} & ({ state: 'open' | 'reached' } | { state: 'unpriced'; model: string });

/** What a call was made for: an agent's turn, one of its side requests, or a purpose of our own. */
export type CallPurpose = 'chat' | 'side' | OwnPurpose;

/** Why MetaClaw called a model itself. */
export type OwnPurpose = 'evolver' | 'extractor' | 'embeddings' | 'provider-test';

/** Sums over calls. */
export interface UsageSums {
  calls: number;
  /** Calls that the provider refused or never got: they used nothing. */
  refused: number;
  /** Calls whose tokens nobody counted, e.g. because they broke off before a word came. */
  uncounted: number;
  /** Calls whose tokens are our estimate. */
  estimated: number;
  /** Prompt tokens outside the provider's cache. */
  inputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  /** Prompt tokens that were there because of us; part of the prompt. */
  addedTokens: number;
  /** Cost of the calls whose price is known. */
  costUsd: number;
  /** Calls whose cost is not known. */
  unpriced: number;
}

/** One line of a summary. */
export interface UsageRow {
  /** The day, model, purpose or agent. */
  key: string;
  /** For models: the provider that served it. */
  upstream: string | null;
  relayed: UsageSums;
  own: UsageSums;
}

export type UsageDimension = 'day' | 'model' | 'purpose' | 'agent';

export interface UsageSummary {
  /** Local days, both included. */
  from: string;
  to: string;
  /** Days in order, all of them; else by what was used most. */
  rows: UsageRow[];
  total: Omit<UsageRow, 'key' | 'upstream'>;
  cap: CapState | null;
}

export const NO_USAGE: Readonly<UsageSums> = {
  calls: 0,
  refused: 0,
  uncounted: 0,
  estimated: 0,
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  addedTokens: 0,
  costUsd: 0,
  unpriced: 0,
};

export function addUsage(a: UsageSums, b: UsageSums): UsageSums {
  const sum = { ...a };
  for (const name of Object.keys(NO_USAGE) as (keyof UsageSums)[]) sum[name] = a[name] + b[name];
  return sum;
}

/** All tokens of the prompts. */
export function promptTokens(sums: UsageSums): number {
  return sums.inputTokens + sums.cacheReadTokens + sums.cacheWriteTokens;
}

/** Share of the prompts that came out of the provider's cache; null without prompts. */
export function cacheShare(sums: UsageSums): number | null {
  const prompt = promptTokens(sums);
  return prompt === 0 ? null : sums.cacheReadTokens / prompt;
}

/** What is known of a cost: all of it, a part of it (`at-least`), or nothing. */
export function knownCost({ calls, refused, unpriced }: UsageSums): 'all' | 'at-least' | 'nothing' {
  if (unpriced === 0) return 'all';
  return unpriced < calls - refused ? 'at-least' : 'nothing';
}

/** `200000`, `200k`, `1.5M tokens`: tokens. `$2`, `2 usd`, `0.50 $`: money. */
const TOKENS = /^(\d+(?:\.\d+)?)\s*([km]?)(?:\s*tok(?:en)?s?)?$/i;
const MONEY = /^(?:\$\s*(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s*(?:\$|usd|dollars?))$/i;
const FACTOR: Readonly<Record<string, number>> = { k: 1000, m: 1_000_000 };

/** Reads a cap as people write it; null when it is none. */
export function parseCap(text: string): DailyCap | null {
  const words = text.trim().replace(/(?<=\d)[_,](?=\d{3})/g, '');
  const money = MONEY.exec(words);
  if (money) return { unit: 'usd', amount: Number(money[1] ?? money[2]) };
  const tokens = TOKENS.exec(words);
  if (!tokens) return null;
  const factor = FACTOR[(tokens[2] ?? '').toLowerCase()] ?? 1;
  return { unit: 'tokens', amount: Math.round(Number(tokens[1]) * factor) };
}

/** A cap as the config file keeps it: a number of tokens, or `$2`. */
export function spellCap({ unit, amount }: DailyCap): number | string {
  return unit === 'usd' ? `$${amount}` : amount;
}

/** `$2.00` or `200,000 tokens`. */
export function formatCap({ unit, amount }: DailyCap, t: Translate): string {
  if (unit === 'usd') return formatMoney(amount, t.locale);
  return t('usage.tokens', { count: Math.round(amount) });
}

/** Where the day stands, in one sentence. */
export function describeCap(state: CapState, t: Translate): string {
  const { cap, spent } = state;
  const words = formatCap(cap, t);
  if (state.state === 'unpriced') return t('usage.capUnpriced', { model: state.model });
  if (state.state === 'reached') return t('usage.capReached', { cap: words });
  const used = cap.unit === 'usd' ? formatMoney(spent, t.locale) : formatNumber(spent, t.locale);
  return t('usage.capOpen', { spent: used, cap: words });
}

/** `$1.84`, `≥ $1.84` when a part of it is not known, a word when nothing is. */
export function formatCost(sums: UsageSums, t: Translate): string {
  const known = knownCost(sums);
  if (known === 'nothing') return t('usage.unknown');
  const money = formatMoney(sums.costUsd, t.locale);
  return known === 'all' ? money : `≥ ${money}`;
}
