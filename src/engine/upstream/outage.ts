import type { Clock } from '../ports.ts';
import { NOT_INSTALLED } from './cli-login/failure.ts';
import type { Route } from './route.ts';

/** Why another provider is asked instead, and for how long the first is left alone. */
export interface Outage {
  reason: 'limit' | 'key' | 'payment' | 'model' | 'program' | 'down';
  /** 0: the next request asks it again. */
  restMs: number;
}

const REST_MS = { key: 60_000, payment: 300_000, model: 60_000, down: 20_000 } as const;

/**
 * Reads a refusal: null when the request itself was at fault, so that no other provider would take it either. Goes by
 * status and the error's code, never by words that may quote a conversation; the few sentences that are read for want
 * of a code are whole ones.
 */
export function outageOf(
  route: Pick<Route, 'passthrough'>,
  reply: { status: number; headers: Readonly<Record<string, string | string[]>> },
  errorText: string,
  nowMs: number,
): Outage | null {
  const { status } = reply;
  if (status < 400) return null;
  const wait = retryAfterMs(reply.headers, nowMs);
  const { codes, message, flagged } = errorOf(errorText);
  // What one provider will not answer on principle is not carried to the next.
  if (flagged || codes.some((code) => ON_PRINCIPLE.has(code)) || status === 451) return null;
  if (status === 402 || codes.some((code) => UNPAID.has(code)) || OUT_OF_CREDIT.test(message))
    return { reason: 'payment', restMs: wait ?? REST_MS.payment };
  if (status === 401 || status === 403)
    // The caller's own credentials are the caller's matter; ours must not be spent in their place.
    return route.passthrough ? null : { reason: 'key', restMs: REST_MS.key };
  if (codes.includes(NOT_INSTALLED)) return { reason: 'program', restMs: REST_MS.model };
  if (status === 404 || codes.some((code) => NO_MODEL.has(code)) || MODEL_UNKNOWN.test(message))
    return { reason: 'model', restMs: REST_MS.model };
  // Neither says how long; a provider is not parked for one busy moment (H05, H06).
  if (status === 429) return { reason: 'limit', restMs: wait ?? 0 };
  if (status === OVERLOADED) return { reason: 'down', restMs: wait ?? 0 };
  if (status === 408 || status >= 500) return { reason: 'down', restMs: wait ?? REST_MS.down };
  return null;
}

const OVERLOADED = 529;

/** No answer came at all. */
export const UNREACHABLE: Outage = { reason: 'down', restMs: REST_MS.down };

/** Anthropic says it with a 400 and no code of its own. */
const OUT_OF_CREDIT = /^your credit balance is too low/i;
/** Whole sentences of DeepSeek, Ollama and OpenRouter, which have no code for it. */
const MODEL_UNKNOWN =
  /^(?:model not exist|model ["'][^"'\s]{1,100}["'] not found(?:, try pulling it first)?|\S{1,100} is not a valid model id)\.?$/i;
const UNPAID = new Set([
  'insufficient_quota',
  'billing_error',
  'billing_hard_limit_reached',
  'insufficient_balance',
]);
const NO_MODEL = new Set(['model_not_found', 'invalid_model', 'model_not_available', 'DeploymentNotFound']);
const ON_PRINCIPLE = new Set([
  'content_policy_violation',
  'content_filter',
  'moderation_blocked',
  'data_inspection_failed',
]);

interface ErrorFields {
  codes: string[];
  message: string;
  /** OpenRouter's moderation. */
  flagged: boolean;
}

function errorOf(text: string): ErrorFields {
  const root = record(parsed(text));
  const error = typeof root.error === 'object' ? record(root.error) : root;
  const { code, type, message, metadata } = error;
  return {
    codes: [code, type].filter((value) => typeof value === 'string'),
    message: String((typeof root.error === 'string' ? root.error : message) ?? '').trim(),
    flagged: record(metadata).flagged_input !== undefined,
  };
}

/** Google wraps its error in a list. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value[0] : value;
  } catch {
    return null;
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** How long a provider asks to be left alone: `Retry-After` in seconds or as a date; null when it does not say. */
export function retryAfterMs(
  headers: Readonly<Record<string, string | string[]>>,
  nowMs: number,
): number | null {
  const [value = ''] = [headers['retry-after'] ?? []].flat();
  const [precise = ''] = [headers['retry-after-ms'] ?? []].flat();
  const text = value.trim();
  const ms = /^\d+(?:\.\d+)?$/.test(precise.trim())
    ? Number(precise)
    : /^\d+(?:\.\d+)?$/.test(text)
      ? Number(text) * 1000
      : Date.parse(text) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), LONGEST_REST_MS) : null;
}

/** A provider that names a longer time has its clock wrong. */
const LONGEST_REST_MS = 7 * 24 * 3600_000;

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
