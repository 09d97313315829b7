import type { Config } from '../../shared/config.ts';
import { dayOf, shiftDay, startOfDay } from '../../shared/days.ts';
import { AppError } from '../../shared/errors.ts';
import { createTranslator } from '../../shared/i18n/index.ts';
import {
  addUsage,
  type CallPurpose,
  type CapState,
  type DailyCap,
  describeCap,
  NO_USAGE,
  parseCap,
  type UsageDimension,
  type UsageRow,
  type UsageSummary,
  type UsageSums,
} from '../../shared/usage.ts';
import type { Logger } from '../platform/logger.ts';
import type { CallMeter, Clock, OwnCall } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { PRICE_STEPS } from './prices.ts';
import { costAt, priceOf, type Served, tellsCost } from './pricing.ts';

export interface UsageLedgerDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  config: () => Pick<Config, 'usage'>;
  /** The model that background calls go to next; null without a provider. */
  backgroundModel: () => Served | null;
  /** Called after each call of ours. */
  onRecorded: () => void;
}

/** Longest stretch of a summary, in days. */
const MOST_DAYS = 400;
/** A turn that began before midnight may end so long after it. */
const SETTLED_MS = 24 * 3600 * 1000;

/** Calls that differ in nothing that their price depends on. */
interface Group extends UsageSums {
  own: 0 | 1;
  purpose: CallPurpose;
  agent: string | null;
  upstream: string;
  host: string | null;
  model: string;
  /** How many of PRICE_STEPS their prompts exceed. */
  step: number;
  /** Whether their answers told a cost; `told` is its sum. */
  tells: 0 | 1;
  told: number;
  /** Of `cacheWriteTokens`, those that the provider keeps for an hour. */
  cacheHourTokens: number;
}

const PROMPT = 'ifnull(input_tokens, 0) + ifnull(cache_read_tokens, 0) + ifnull(cache_write_tokens, 0)';
const STEP = PRICE_STEPS.map((tokens) => `(${PROMPT} > ${tokens})`).join(' + ');
const sum = (column: string) => `ifnull(sum(${column}), 0)`;
const GROUPS = `
  SELECT own, purpose, agent, upstream, host, model, ${STEP} AS step, reported_cost IS NOT NULL AS tells,
    count(*) AS calls, sum(refused) AS refused, sum(input_tokens IS NULL AND NOT refused) AS uncounted,
    ${sum('estimated')} AS estimated, ${sum('input_tokens')} AS inputTokens,
    ${sum('cache_read_tokens')} AS cacheReadTokens, ${sum('cache_write_tokens')} AS cacheWriteTokens,
    ${sum('cache_hour_tokens')} AS cacheHourTokens, ${sum('output_tokens')} AS outputTokens,
    sum(added_tokens) AS addedTokens, ${sum('reported_cost')} AS told, 0 AS costUsd, 0 AS unpriced
  FROM calls`;
const IN_DAY = 'at >= ? AND at < ?';
/** How many rows a day has; cheaper than its groups. */
const ROWS_OF_DAY = `SELECT (SELECT count(*) FROM turns WHERE started_at >= ? AND started_at < ?)
  + (SELECT count(*) FROM own_calls WHERE ${IN_DAY}) AS n`;
const GROUPED = 'GROUP BY own, purpose, agent, upstream, host, model, step, tells';

/**
 * The one ledger of every call, relayed or our own, and the daily cap on the latter.
 *
 * Rows hold what was counted, never money: relayed calls are the recorded turns, own ones have a table, and the cost
 * is worked out at reading from dated prices. So no two records of a call can differ, and a price that the user sets
 * later holds for all calls. Turns that are not recorded (private, bypass) leave no number either.
 */
export class UsageLedger implements CallMeter {
  readonly #deps: UsageLedgerDeps;
  /** Days that are over, by their bounds. */
  readonly #days = new Map<string, { calls: number; groups: readonly Group[] }>();

  constructor(deps: UsageLedgerDeps) {
    this.#deps = deps;
  }

  record(call: OwnCall): void {
    const { database, clock, log, onRecorded } = this.#deps;
    try {
      database.run(
        'INSERT INTO own_calls (at, purpose, session_id, upstream, host, model, http_status, usage) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        new Date(clock.now()).toISOString(),
        call.purpose,
        call.sessionId,
        call.upstream,
        call.host,
        call.model,
        call.httpStatus,
        call.usage === null ? null : JSON.stringify(call.usage),
      );
      onRecorded();
    } catch (error) {
      log.error({ err: error, purpose: call.purpose }, 'a call of ours could not be entered in the ledger');
    }
  }

  /** A person asked for the provider test, so the cap does not stop it; what it uses counts. */
  admit(call: Pick<OwnCall, 'purpose' | 'upstream' | 'host' | 'model'>): void {
    const state = call.purpose === 'provider-test' ? null : this.#state(call);
    if (state === null || state.state === 'open') return;
    throw new AppError('CANCELLED', describeCap(state, createTranslator('en')), { field: 'usage.daily_cap' });
  }

  /** The cap and where today stands; null without a cap. */
  cap(): CapState | null {
    return this.#state(this.#deps.backgroundModel());
  }

  /** Until when background calls must wait, in milliseconds; null when they need not. */
  heldUntil(): number | null {
    const state = this.cap();
    return state === null || state.state === 'open' ? null : Date.parse(state.until);
  }

  /** What one turn cost, in dollars; null when that is not known. */
  costOfTurn(id: string): number | null {
    const { database } = this.#deps;
    const at = database.get<{ at: string }>('SELECT started_at AS at FROM turns WHERE id = ?', id)?.at;
    const group = database.get<Group>(`${GROUPS} WHERE own = 0 AND turn_id = ? ${GROUPED}`, id);
    if (at === undefined || group === null) return null;
    const { costUsd, unpriced } = this.#priced(group, at.slice(0, 10));
    return unpriced > 0 ? null : costUsd;
  }

  /**
   * Sums of local days, both ends included; the last seven by default. Rejects with BAD_INPUT for a stretch that is
   * none. Between days it lets the proxy go on.
   */
  async summary(input: {
    from?: string | undefined;
    to?: string | undefined;
    by: UsageDimension;
  }): Promise<UsageSummary> {
    const to = input.to ?? dayOf(this.#deps.clock.now());
    const from = input.from ?? shiftDay(to, -6);
    const days = daysOf(from, to);
    const rows = new Map<string, UsageRow>();
    const total = { relayed: { ...NO_USAGE }, own: { ...NO_USAGE } };
    const rowOf = (key: string, upstream: string | null) => {
      const id = JSON.stringify([key, upstream]);
      const row = rows.get(id) ?? { key, upstream, relayed: { ...NO_USAGE }, own: { ...NO_USAGE } };
      rows.set(id, row);
      return row;
    };
    for (const day of days) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (input.by === 'day') rowOf(day, null);
      for (const group of this.#groups(day)) {
        const side = group.own === 1 ? 'own' : 'relayed';
        const [key, upstream] = keyOf(group, input.by, day);
        const row = rowOf(key, upstream);
        row[side] = addUsage(row[side], group);
        total[side] = addUsage(total[side], group);
      }
    }
    const list = [...rows.values()];
    if (input.by !== 'day') list.sort((a, b) => tokensOf(b) - tokensOf(a));
    return { from, to, rows: list, total, cap: this.cap() };
  }

  #state(next: Served | null): CapState | null {
    const cap = capOf(this.#deps.config());
    if (cap === null) return null;
    const today = dayOf(this.#deps.clock.now());
    const own = this.#priceAll(this.#read(today, 'AND own = 1'), today);
    const sum = own.reduce<UsageSums>(addUsage, NO_USAGE);
    const spent =
      cap.unit === 'usd'
        ? sum.costUsd
        : sum.inputTokens + sum.cacheReadTokens + sum.cacheWriteTokens + sum.outputTokens;
    const until = new Date(startOfDay(shiftDay(today, 1))).toISOString();
    const state = { cap, spent, until };
    if (spent >= cap.amount) return { ...state, state: 'reached' };
    const model = cap.unit === 'usd' ? this.#unpricedModel(own, next, today) : null;
    return model === null ? { ...state, state: 'open' } : { ...state, state: 'unpriced', model };
  }

  /** Under a cap in money nothing may be spent that cannot be counted, and nothing may have been today. */
  #unpricedModel(own: readonly Group[], next: Served | null, day: string): string | null {
    const used = own.find((group) => group.unpriced > 0 && group.purpose !== 'provider-test');
    if (used) return used.model;
    if (next === null || tellsCost(next.host)) return null;
    return priceOf(next, 0, day, this.#deps.config().usage.prices) === null ? next.model : null;
  }

  /** A local day's calls. */
  #groups(day: string): Group[] {
    const { database, clock } = this.#deps;
    const bounds = boundsOf(day);
    // Screens ask for months again and again, and a day that is well over changes no more, but by turns taken out.
    const isOver = Date.parse(bounds[1]) < clock.now() - SETTLED_MS;
    if (!isOver) return this.#priceAll(this.#read(day), day);
    const n = database.get<{ n: number }>(ROWS_OF_DAY, ...bounds, ...bounds)?.n ?? 0;
    const key = bounds.join();
    let kept = this.#days.get(key);
    if (kept?.calls !== n) {
      kept = { calls: n, groups: n === 0 ? [] : this.#read(day) };
      if (this.#days.size > MOST_DAYS) this.#days.clear();
      this.#days.set(key, kept);
    }
    return this.#priceAll(kept.groups, day);
  }

  #read(day: string, also = ''): Group[] {
    return this.#deps.database.all<Group>(`${GROUPS} WHERE ${IN_DAY} ${also} ${GROUPED}`, ...boundsOf(day));
  }

  #priceAll(groups: readonly Group[], day: string): Group[] {
    return groups.map((group) => ({ ...group, ...this.#priced(group, day) }));
  }

  #priced(group: Group, day: string): Pick<UsageSums, 'costUsd' | 'unpriced'> {
    const counted = group.calls - group.refused - group.uncounted;
    if (group.tells === 1 && tellsCost(group.host)) return { costUsd: group.told, unpriced: 0 };
    const prompt = group.step === 0 ? 0 : (PRICE_STEPS[group.step - 1] ?? 0) + 1;
    const price = priceOf(group, prompt, day, this.#deps.config().usage.prices);
    if (price === null) return { costUsd: 0, unpriced: counted + group.uncounted };
    const free = price.input === 0 && price.output === 0;
    return { costUsd: costAt(price, group), unpriced: free ? 0 : group.uncounted };
  }
}

function capOf({ usage }: Pick<Config, 'usage'>): DailyCap | null {
  const { daily_cap: cap } = usage;
  return cap === undefined ? null : parseCap(String(cap));
}

/** When a local day begins and ends, ISO. */
function boundsOf(day: string): [string, string] {
  return [new Date(startOfDay(day)).toISOString(), new Date(startOfDay(shiftDay(day, 1))).toISOString()];
}

function daysOf(from: string, to: string): string[] {
  const days: string[] = [];
  for (let day = from; day <= to; day = shiftDay(day, 1)) {
    days.push(day);
    if (days.length > MOST_DAYS)
      throw new AppError('BAD_INPUT', `A summary covers at most ${MOST_DAYS} days.`, { field: 'from' });
  }
  if (days.length === 0)
    throw new AppError('BAD_INPUT', `${from} comes after ${to}.`, { hint: 'Swap them.', field: 'from' });
  return days;
}

function keyOf(group: Group, by: UsageDimension, day: string): [key: string, upstream: string | null] {
  switch (by) {
    case 'day':
      return [day, null];
    case 'model':
      return [group.model, group.upstream];
    case 'purpose':
      return [group.purpose, null];
    case 'agent':
      return [group.agent ?? 'metaclaw', null];
  }
}

function tokensOf({ relayed, own }: UsageRow): number {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = addUsage(relayed, own);
  return inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens;
}
