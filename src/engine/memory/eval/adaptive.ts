import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Config } from '../../../shared/config.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Adaptive, Adoption, RecallSettings } from '../../../shared/memory-eval.ts';
import type { Bus } from '../../bus.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Clock } from '../../ports.ts';
import type { Database } from '../../store/database.ts';
import { readSetting, writeSetting } from '../../store/settings.ts';
import { replayAll } from './evaluate.ts';
import type { OwnCase } from './labels.ts';
import { type CaseResult, compare, FEWEST_CASES, scoreOf } from './measure.ts';
import type { Replay } from './replay.ts';
import { alternativesTo, differenceOf, isOverBudget, isSame, settingsOf } from './settings.ts';

export interface AdaptiveDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  bus: Bus;
  config: () => Config;
  /** Looks at the store as it is now: its cases, and a way to replay them. */
  withCases: <T>(use: (cases: OwnCase[], replay: Replay) => Promise<T>) => Promise<T>;
  hasVectors: () => boolean;
}

const FIRST_LOOK_MS = 10 * 60_000;
const LOOK_EVERY_MS = 6 * 60 * 60_000;
/** So many more cases than at the last look are worth another one: looking again and again finds chance in the end. */
const MORE_CASES = 10;
/** Fewer cases that need a memory would let "nothing at all" look best. */
const FEWEST_WANTING = 10;
const LAST_LOOK = 'memory.adaptive.look';

const settingsSchema = z.object({
  mode: z.enum(['keyword', 'hybrid', 'embedding']),
  units: z.number(),
  tokens: z.number(),
  relevance: z.number(),
});
const lookSchema = z.object({ at: z.string(), what: z.string(), cases: z.number() }).nullable();

interface AdoptionRow {
  id: number;
  at: string;
  base: string;
  before: string;
  after: string;
  why: string;
  undone_at: string | null;
}

/**
 * Settings of recall that adapt to the user. Half of the user's own cases chooses other settings; they are taken up
 * when they do better on the other half, which had no part in the choice, beyond what chance does, and miss nothing
 * more. The config's limits are never exceeded, and its file stays as it is.
 */
export class AdaptiveSettings {
  readonly #deps: AdaptiveDeps;
  #inForce: { base: RecallSettings; settings: RecallSettings } | null;
  #cancel: (() => void) | null = null;
  #abort: AbortController | null = null;
  #running: Promise<unknown> = Promise.resolve();

  constructor(deps: AdaptiveDeps) {
    this.#deps = deps;
    this.#inForce = this.#newest();
  }

  /** Looks at the user's cases soon, then now and then, until `stop`. */
  start(): void {
    this.#abort = new AbortController();
    this.#plan(FIRST_LOOK_MS);
  }

  async stop(): Promise<void> {
    this.#cancel?.();
    this.#abort?.abort();
    await this.#running;
  }

  /** What counts now: adopted settings as long as the config is as it was when they were adopted, else the config's. */
  settings(): RecallSettings {
    const config = this.#deps.config();
    const own = settingsOf(config);
    const adopted = this.#inForce;
    return config.memory.adaptive && adopted !== null && isSame(adopted.base, own) ? adopted.settings : own;
  }

  state(): Adaptive {
    const own = settingsOf(this.#deps.config());
    const rows = this.#deps.database.all<AdoptionRow>('SELECT * FROM memory_adoptions ORDER BY id DESC');
    const standing = rows.find(({ undone_at: undoneAt }) => undoneAt === null);
    const look = readSetting(this.#deps.database, LAST_LOOK, lookSchema, null);
    return {
      enabled: this.#deps.config().memory.adaptive,
      settings: this.settings(),
      adoptions: rows.map(
        (row): Adoption => ({
          id: row.id,
          at: row.at,
          from: parse(row.before),
          to: parse(row.after),
          why: row.why,
          state:
            row.undone_at !== null
              ? 'undone'
              : row !== standing
                ? 'replaced'
                : isSame(parse(row.base), own) && this.#deps.config().memory.adaptive
                  ? 'in force'
                  : 'held',
        }),
      ),
      lastLook: look === null ? null : { at: look.at, what: look.what },
    };
  }

  /** Takes an adoption back; these settings are not taken up again by themselves. NOT_FOUND when there is none. */
  undo(id: number): void {
    const { database, bus } = this.#deps;
    const changed = database.run(
      'UPDATE memory_adoptions SET undone_at = ? WHERE id = ? AND undone_at IS NULL',
      this.#now(),
      id,
    );
    if (changed === 0)
      throw new AppError('NOT_FOUND', `There is no adoption ${id} to take back.`, {
        hint: 'metaclaw memory adaptive lists them.',
        field: 'id',
      });
    this.#inForce = this.#newest();
    bus.emit('invalidate', 'memory');
  }

  /** Looks at the user's cases now. Returns what came of it, in words. */
  async look(signal?: AbortSignal): Promise<string> {
    const { what, cases } = await this.#deps.withCases(async (cases, replay) => ({
      what: await this.#decide(cases, replay, signal),
      cases: cases.length,
    }));
    writeSetting(this.#deps.database, LAST_LOOK, { at: this.#now(), what, cases });
    this.#deps.log.info({ cases }, `memory settings: ${what}`);
    this.#deps.bus.emit('invalidate', 'memory');
    return what;
  }

  async #decide(cases: readonly OwnCase[], replay: Replay, signal?: AbortSignal): Promise<string> {
    const [choosing, holding] = halves(cases);
    const wanting = holding.filter(({ want }) => want.length > 0).length;
    if (choosing.length < FEWEST_CASES || holding.length < FEWEST_CASES || wanting < FEWEST_WANTING)
      return `Too few cases to change anything: ${cases.length}. At least ${2 * FEWEST_CASES} in different conversations are needed, half of them with a memory that helped.`;
    const config = this.#deps.config();
    const present = this.settings();
    const undone = this.#undone();
    const others = alternativesTo(present, this.#deps.hasVectors()).filter(
      (other) => !isOverBudget(other, config) && !undone.some((one) => isSame(one, other)),
    );
    const before = await replayAll(replay, choosing, present, signal);
    let best: { settings: RecallSettings; score: number } | null = null;
    for (const settings of others) {
      const results = await replayAll(replay, choosing, settings, signal);
      const score = meanScore(results);
      const isBetter = score > (best?.score ?? meanScore(before));
      if (isBetter) best = { settings, score };
    }
    if (best === null) return `The present settings do best on ${cases.length} cases.`;
    const held = await replayAll(replay, holding, present, signal);
    const tried = await replayAll(replay, holding, best.settings, signal);
    const { better, worse, verdict } = compare(held, tried);
    const difference = differenceOf(present, best.settings);
    const numbers = `on ${holding.length} cases that had no part in the choice, ${better} go better and ${worse} worse; found ${found(tried)} of ${needed(tried)} needed (before ${found(held)}), wrong ${wrong(tried)} (before ${wrong(held)})`;
    if (verdict !== 'better')
      return `Not taken up, since chance may have done it: ${difference}; ${numbers}.`;
    if (found(tried) < found(held))
      return `Not taken up, since more would be missed: ${difference}; ${numbers}.`;
    if (!config.memory.adaptive)
      return `Not taken up, since memory.adaptive is off: ${difference}; ${numbers}.`;
    this.#adopt(present, best.settings, `${difference}; ${numbers}.`);
    return `Taken up: ${difference}; ${numbers}.`;
  }

  #adopt(from: RecallSettings, to: RecallSettings, why: string): void {
    const { database, config } = this.#deps;
    database.run(
      'INSERT INTO memory_adoptions (at, base, before, after, why) VALUES (?, ?, ?, ?, ?)',
      this.#now(),
      JSON.stringify(settingsOf(config())),
      JSON.stringify(from),
      JSON.stringify(to),
      why,
    );
    this.#inForce = this.#newest();
  }

  #newest(): { base: RecallSettings; settings: RecallSettings } | null {
    const row = this.#deps.database.get<AdoptionRow>(
      'SELECT * FROM memory_adoptions WHERE undone_at IS NULL ORDER BY id DESC LIMIT 1',
    );
    return row && { base: parse(row.base), settings: parse(row.after) };
  }

  #undone(): RecallSettings[] {
    return this.#deps.database
      .all<AdoptionRow>('SELECT * FROM memory_adoptions WHERE undone_at IS NOT NULL')
      .map(({ after }) => parse(after));
  }

  #plan(ms: number): void {
    this.#cancel = this.#deps.clock.after(ms, () => {
      this.#running = this.#lookIfDue().finally(() => {
        if (!this.#abort?.signal.aborted) this.#plan(LOOK_EVERY_MS);
      });
    });
  }

  /** Never rejects: it runs in a timer. */
  async #lookIfDue(): Promise<void> {
    const { config, database, log, withCases } = this.#deps;
    const { adaptive, enabled } = config().memory;
    if (!adaptive || !enabled) return;
    try {
      const last = readSetting(database, LAST_LOOK, lookSchema, null);
      const cases = await withCases(async (all) => all.length);
      if (last === null || cases >= last.cases + MORE_CASES) await this.look(this.#abort?.signal);
    } catch (error) {
      if (!this.#abort?.signal.aborted)
        log.warn({ err: error }, 'the settings of memory could not be looked at');
    }
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}

/** Two halves by conversation: what was said in one is never on both sides. */
function halves(cases: readonly OwnCase[]): [OwnCase[], OwnCase[]] {
  const isFirst = ({ sessionId }: OwnCase) =>
    ((createHash('sha256').update(sessionId).digest()[0] as number) & 1) === 0;
  return [cases.filter(isFirst), cases.filter((one) => !isFirst(one))];
}

function meanScore(results: readonly CaseResult[]): number {
  return results.reduce((sum, result) => sum + scoreOf(result), 0) / Math.max(1, results.length);
}

function found(results: readonly CaseResult[]): number {
  return results.reduce((sum, result) => sum + result.found, 0);
}

function needed(results: readonly CaseResult[]): number {
  return results.reduce((sum, result) => sum + result.needed, 0);
}

function wrong(results: readonly CaseResult[]): number {
  return results.filter(({ isWrong }) => isWrong).length;
}

function parse(json: string): RecallSettings {
  return settingsSchema.parse(JSON.parse(json));
}
