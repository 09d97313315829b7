import type { Config } from '../../shared/config.ts';
import type { Usage } from '../../shared/model.ts';
import { LIST_PRICES, type Price } from './prices.ts';

/** Which model served a call, and where. */
export interface Served {
  /** Provider id of the config, e.g. `ollama`. */
  upstream: string;
  /** Its host, with a port where it is not the usual one; null for calls recorded before hosts were. */
  host: string | null;
  model: string;
}

/** Model servers that people run themselves. */
const SELF_RUN: ReadonlySet<string> = new Set(['ollama', 'lmstudio', 'llamacpp', 'vllm']);
const FREE: Price = { input: 0, cachedInput: 0, cacheWrite: 0, cacheHour: 0, output: 0 };
/** The one provider whose answers tell the price paid, in dollars. */
const TELLS_COST = 'openrouter.ai';

/**
 * What a million tokens cost: `usage.prices` first, then nothing for a model server of one's own, then the provider's
 * list as it was on `day` (YYYY-MM-DD). Null when it is not known.
 * @param prompt tokens of the call's prompt, for lists that ask more for long ones
 */
export function priceOf(
  served: Served,
  prompt: number,
  day: string,
  own: Config['usage']['prices'],
): Price | null {
  const set = ownPrice(served.model, own);
  if (set) return set;
  if (isSelfRun(served)) return FREE;
  const model = bareModel(served.model);
  const listed = LIST_PRICES.filter(
    (price) => price.host === served.host && price.model === model && price.since <= day,
  ).at(-1);
  if (!listed) return null;
  const { longPrompts } = listed;
  return longPrompts !== null && prompt > longPrompts.tokens ? longPrompts.price : listed;
}

/** Dollars for these tokens. */
export function costAt(price: Price, usage: Omit<Usage, 'estimated'>): number {
  const hour = usage.cacheHourTokens ?? 0;
  return (
    (usage.inputTokens * price.input +
      usage.cacheReadTokens * price.cachedInput +
      (usage.cacheWriteTokens - hour) * price.cacheWrite +
      hour * price.cacheHour +
      usage.outputTokens * price.output) /
    1_000_000
  );
}

/** Whether a cost that stands in an answer of this host is in dollars. */
export function tellsCost(host: string | null): boolean {
  return host === TELLS_COST;
}

/** The exact name, else the longest beginning with a `*` behind it. */
function ownPrice(model: string, own: Config['usage']['prices']): Price | null {
  const fits = Object.keys(own)
    .filter((name) => name === model || (name.endsWith('*') && model.startsWith(name.slice(0, -1))))
    .sort((a, b) => Number(b === model) - Number(a === model) || b.length - a.length);
  const found = fits[0] === undefined ? undefined : own[fits[0]];
  if (!found) return null;
  const { input, output, cached_input, cache_write } = found;
  const cacheWrite = cache_write ?? input;
  return { input, output, cachedInput: cached_input ?? input, cacheWrite, cacheHour: cacheWrite };
}

/** A server on this computer or in its network. Ollama passes models with `cloud` in their tag on to a service. */
function isSelfRun({ upstream, host, model }: Served): boolean {
  return SELF_RUN.has(upstream) && host !== null && isNear(host) && !/[:-]cloud$/.test(model);
}

function isNear(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return (
    /^(?:localhost|\[::1\]|host\.docker\.internal)$/.test(name) ||
    /^(?:127|10)\.\d+\.\d+\.\d+$/.test(name) ||
    /^192\.168\.\d+\.\d+$/.test(name) ||
    /^172\.(?:1[6-9]|2\d|3[01])\.\d+\.\d+$/.test(name) ||
    /^[\w-]+(?:\.local|\.lan)?$/.test(name)
  );
}

/** `gpt-5.2-2025-12-11` and `gpt-5.2-latest` are sold as `gpt-5.2`. */
function bareModel(model: string): string {
  return model.replace(/^models\//, '').replace(/-(?:20\d{6}|20\d\d-\d\d-\d\d|latest)$/, '');
}
