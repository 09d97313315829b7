import type { Config } from '../../../shared/config.ts';
import { AppError } from '../../../shared/errors.ts';
import type { EvalSources, MemoryEval } from '../../../shared/memory-eval.ts';
import type { Embedder } from '../../ports.ts';
import type { Database } from '../../store/database.ts';
import { readable, ScopeTable, scopesOf } from '../scope.ts';
import { type AdaptiveDeps, AdaptiveSettings } from './adaptive.ts';
import { type CaseFile, type LabelledCase, readCaseFile } from './case-file.ts';
import { evaluate, limitsOf } from './evaluate.ts';
import { type OwnCase, ownCases } from './labels.ts';
import { Replay, type ReplayCase } from './replay.ts';
import { alternativesTo, withSettings } from './settings.ts';
import { hearSessions, type TrialStore } from './trial.ts';

interface TuningDeps extends Omit<AdaptiveDeps, 'withCases' | 'hasVectors'> {
  embedder: Embedder;
  usesVectors: (config: Config) => boolean;
  /** An empty store in memory that reads by rules; the caller stops it. */
  openTrial: () => TrialStore & { stop: () => Promise<void> };
}

const QUESTION_MS = 5000;

/** How well memories are found, and the settings that follow from it. */
export class Tuning {
  readonly #deps: TuningDeps;
  readonly adaptive: AdaptiveSettings;

  constructor(deps: TuningDeps) {
    this.#deps = deps;
    this.adaptive = new AdaptiveSettings({
      ...deps,
      withCases: (use) => this.#onSnapshot((database) => use(ownCases(database), this.#replayOf(database))),
      hasVectors: () => this.#hasVectors(),
    });
  }

  /** The config with the settings that count now. */
  config(): Config {
    return withSettings(this.#deps.config(), this.adaptive.settings());
  }

  /** Replays the user's own cases, or those of a file, with the present settings and with others. Writes nothing. */
  async evaluate(path: string | null): Promise<MemoryEval> {
    const file = path === null ? null : readCaseFile(path);
    if (file !== null && file.sessions.length > 0) return this.#onTrial(file);
    return this.#onSnapshot((database) => {
      const notes: string[] = [];
      const cases = file === null ? ownCases(database) : this.#fileCases(file, database, notes);
      return this.#report(database, cases, notes, file === null ? null : cases.length);
    });
  }

  async #onTrial(file: CaseFile): Promise<MemoryEval> {
    const trial = this.#deps.openTrial();
    try {
      const rows = await hearSessions(file.sessions, trial);
      const idsOf = (names: readonly string[]) => names.flatMap((name) => rows.get(name) ?? []);
      const cases = file.cases.map((one) => ({
        ...this.#common(one),
        want: one.want.map(idsOf),
        not: idsOf(one.not),
      }));
      return await this.#report(trial.database, cases, [], cases.length);
    } finally {
      await trial.stop();
    }
  }

  async #report(
    database: Database,
    cases: readonly (ReplayCase & Partial<Pick<OwnCase, 'why'>>)[],
    notes: readonly string[],
    fromFile: number | null,
  ): Promise<MemoryEval> {
    const present = this.adaptive.settings();
    const sources: EvalSources = { good: 0, bad: 0, forgotten: 0, missed: 0, file: fromFile ?? 0 };
    for (const { why } of cases) if (why !== undefined) sources[why] += 1;
    const others = alternativesTo(present, this.#hasVectors());
    return {
      cases: cases.length,
      sources,
      rows: await evaluate(this.#replayOf(database), cases, present, others, this.#deps.config()),
      notes: [
        ...notes,
        ...limitsOf(cases),
        ...(fromFile === null && cases.length > 0
          ? [
              'What a turn carried decides what these cases know: a memory that never entered is missed in few of them.',
            ]
          : []),
      ],
    };
  }

  /** Cases of a file on the user's own store; what names no memory is left out and told. */
  #fileCases(file: CaseFile, database: Database, notes: string[]): ReplayCase[] {
    const scopes = new ScopeTable(database);
    return file.cases.flatMap((one) => {
      const common = this.#common(one);
      const scopeIds = JSON.stringify(common.scopes.flatMap((scope) => scopes.idOf(scope) ?? []));
      const named = (name: string) => idsOf(database, scopeIds, name);
      const want = one.want.map((group) => group.flatMap(named));
      const unknown = one.want.filter((_, at) => want[at]?.length === 0).flat();
      if (unknown.length > 0) {
        notes.push(
          `Left out, since nothing is remembered that is or says ${JSON.stringify(unknown[0])}: ${one.ask}`,
        );
        return [];
      }
      return [{ ...common, want, not: one.not.flatMap(named) }];
    });
  }

  #common({ ask, scope, nothing, at }: LabelledCase): Omit<ReplayCase, 'want' | 'not'> {
    const { config, clock } = this.#deps;
    const isNamed = scope.user !== '' || scope.workspace !== '';
    return {
      ask,
      scopes: isNamed ? readable(scope) : scopesOf({ headers: {}, fields: {}, agent: '' }, config()).read,
      sessionId: null,
      atMs: at === null ? clock.now() : Date.parse(at),
      nothing,
    };
  }

  async #onSnapshot<T>(use: (database: Database) => Promise<T>): Promise<T> {
    const snapshot = this.#deps.database.snapshot();
    if (snapshot === null)
      throw new AppError('STORE_UNREADABLE', 'The store is in memory only, so there is nothing to replay.', {
        hint: 'Run metaclaw doctor: the database cannot be used.',
      });
    try {
      return await use(snapshot);
    } finally {
      snapshot.close();
    }
  }

  #replayOf(database: Database): Replay {
    const { config, embedder } = this.#deps;
    const vectorOf = async (text: string) =>
      this.#hasVectors() ? await embedder.query(text, QUESTION_MS) : null;
    return new Replay({ database, config: config(), vectorOf });
  }

  #hasVectors(): boolean {
    return this.#deps.embedder.id !== null && this.#deps.usesVectors(this.#deps.config());
  }
}

/** Ids of the memories and sayings that a name means: an id, its beginning, or words. */
function idsOf(database: Database, scopeIds: string, name: string): string[] {
  if (/^t\d+$/.test(name)) return [name];
  const byId = /^[0-9a-f-]{8,36}$/i.test(name)
    ? database.all<{ id: string }>(
        'SELECT uuid AS id FROM memory_units WHERE uuid >= ? AND uuid < ?',
        name.toLowerCase(),
        `${name.toLowerCase()}~`,
      )
    : [];
  if (byId.length > 0) return byId.map(({ id }) => id);
  return database
    .all<{ id: string }>(
      `SELECT uuid AS id FROM memory_units
       WHERE scope IN (SELECT value FROM json_each(?1)) AND status = 'active' AND instr(lower(content), lower(?2)) > 0
       UNION ALL SELECT 't' || id FROM memory_turns
       WHERE scope IN (SELECT value FROM json_each(?1)) AND forgotten_at IS NULL AND instr(lower(text), lower(?2)) > 0`,
      scopeIds,
      name,
    )
    .map(({ id }) => id);
}
