import type { Clock } from '../ports.ts';
import type { Route } from './route.ts';

/** Why another provider is asked instead, and for how long the first is left alone. */
export interface Outage {
  reason: 'limit' | 'key' | 'payment' | 'model' | 'down';
  /** 0: the next request asks it again. */
  restMs: number;
}

const REST_MS = { key: 60_000, payment: 300_000, model: 60_000, down: 20_000 } as const;

/**
 * Reads a refusal: null when the request itself was at fault, so that no other provider would take it either. Goes by
 * status and the error's code, never by words that may quote a conversation.
 */
export function outageOf(
  route: Pick<Route, 'passthrough'>,
  reply: { status: number; headers: Readonly<Record<string, string | string[]>> },
  errorText: string,
  nowMs: number,
): Outage | null {
  const { status } = reply;
  const wait = retryAfterMs(reply.headers['retry-after'], nowMs);
  const { code, message } = errorOf(errorText);
  if (
    status === 402 ||
    code === 'insufficient_quota' ||
    code === 'billing_error' ||
    OUT_OF_CREDIT.test(message)
  )
    return { reason: 'payment', restMs: wait ?? REST_MS.payment };
  if (status === 401 || status === 403)
    // The caller's own credentials are the caller's matter; ours must not be spent in their place.
    return route.passthrough ? null : { reason: 'key', restMs: REST_MS.key };
  if (status === 404) return { reason: 'model', restMs: REST_MS.model };
  if (status === 429) return { reason: 'limit', restMs: wait ?? 0 };
  if (status === 408 || status >= 500) return { reason: 'down', restMs: wait ?? REST_MS.down };
  return null;
}

/** No answer came at all. */
export const UNREACHABLE: Outage = { reason: 'down', restMs: REST_MS.down };

/** Anthropic says it with a 400 and no code of its own. */
const OUT_OF_CREDIT = /^your credit balance is too low/i;

function errorOf(text: string): { code: string; message: string } {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; type?: unknown; message?: unknown } };
    const { code, type, message } = error ?? {};
    return { code: String(code || type || ''), message: String(message ?? '') };
  } catch {
    return { code: '', message: '' };
  }
}

/** `Retry-After` in seconds or as a date; null when there is none. */
function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | null {
  const value = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!value) return null;
  const ms = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

interface Rest {
  name: string;
  until: number;
  reason: Outage['reason'];
}

/** Providers that are left alone for a while; a new key or model is a new start. */
export class Rests {
  readonly #clock: Clock;
  readonly #rests = new Map<string, Rest>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(route: Route, { reason, restMs }: Outage): void {
    if (restMs > 0)
      this.#rests.set(keyOf(route), { name: route.name, reason, until: this.#clock.now() + restMs });
  }

  end(route: Route): void {
    this.#rests.delete(keyOf(route));
  }

  isResting(route: Route): boolean {
    const rest = this.#rests.get(keyOf(route));
    return rest !== undefined && rest.until > this.#clock.now();
  }

  list(): Rest[] {
    const now = this.#clock.now();
    return [...this.#rests.values()].filter((rest) => rest.until > now);
  }
}

function keyOf({ baseUrl, model, apiKey }: Route): string {
  return `${baseUrl}\n${model}\n${apiKey}`;
}
