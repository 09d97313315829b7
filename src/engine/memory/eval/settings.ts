import { type Config, DEFAULT_CONFIG } from '../../../shared/config.ts';
import type { RecallSettings } from '../../../shared/memory-eval.ts';
import { ENOUGH } from '../search/relevance.ts';

/** Settings of memories as the config has them. */
export function settingsOf({ memory }: Config): RecallSettings {
  return {
    mode: memory.retrieval_mode,
    units: memory.max_injected_units,
    tokens: memory.max_injected_tokens,
    relevance: ENOUGH,
  };
}

export const DEFAULT_SETTINGS = settingsOf(DEFAULT_CONFIG);

/** The config with other settings of memories. */
export function withSettings(config: Config, { mode, units, tokens }: RecallSettings): Config {
  const memory = {
    ...config.memory,
    retrieval_mode: mode,
    max_injected_units: units,
    max_injected_tokens: tokens,
  };
  return { ...config, memory };
}

const RELEVANCES = [0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7];
const UNITS = [2, 4, 6, 8, 12];
const TOKEN_SHARES = [0.25, 0.5, 1, 1.5];

/** Other settings to compare with, each different in one thing. Without vectors all modes search by words. */
export function alternativesTo(present: RecallSettings, hasVectors: boolean): RecallSettings[] {
  const modes = hasVectors ? (['keyword', 'hybrid', 'embedding'] as const) : [];
  return [
    ...RELEVANCES.map((relevance) => ({ ...present, relevance })),
    ...UNITS.map((units) => ({ ...present, units })),
    ...TOKEN_SHARES.map((share) => ({ ...present, tokens: Math.round(present.tokens * share) })),
    ...modes.map((mode) => ({ ...present, mode })),
  ].filter((other) => !isSame(other, present));
}

export function isSame(one: RecallSettings, other: RecallSettings): boolean {
  return (
    one.mode === other.mode &&
    one.units === other.units &&
    one.tokens === other.tokens &&
    one.relevance === other.relevance
  );
}

/** Whether settings may take more than the config allows. */
export function isOverBudget({ units, tokens }: RecallSettings, config: Config): boolean {
  return units > config.memory.max_injected_units || tokens > config.memory.max_injected_tokens;
}

/** What differs, in words, e.g. `relevance 0.5 → 0.4`. */
export function differenceOf(from: RecallSettings, to: RecallSettings): string {
  const names = ['mode', 'units', 'tokens', 'relevance'] as const;
  return names
    .filter((name) => from[name] !== to[name])
    .map((name) => `${name} ${from[name]} → ${to[name]}`)
    .join(', ');
}
