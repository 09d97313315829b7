import type { LabelledCase } from '../../src/engine/memory/eval/case-file.ts';
import type { CaseResult } from '../../src/engine/memory/eval/measure.ts';
import { Replay, type ReplayCase } from '../../src/engine/memory/eval/replay.ts';
import { hearSessions } from '../../src/engine/memory/eval/trial.ts';
import { readable } from '../../src/engine/memory/scope.ts';
import type { RecallSettings } from '../../src/shared/memory-eval.ts';
import { MemoryLab } from './memory.ts';
import type { World } from './memory-cases.ts';

/** A labelled conversation that was heard and read by rules, turn by turn, each at its time. */
export class RememberedWorld {
  readonly lab = new MemoryLab();
  readonly world: World;
  /** Rows of memory_turns by the exchange's name. */
  #rows: ReadonlyMap<string, string[]> = new Map();
  readonly #nameOf = new Map<string, string>();

  private constructor(world: World) {
    this.world = world;
    const { config } = this.lab;
    this.lab.config = { ...config, memory: { ...config.memory, extractor: 'rules' } };
  }

  static async of(world: World): Promise<RememberedWorld> {
    const remembered = new RememberedWorld(world);
    await remembered.#hear();
    return remembered;
  }

  async close(): Promise<void> {
    await this.lab.close();
  }

  replay(): Replay {
    const { database, config } = this.lab;
    return new Replay({ database, config, vectorOf: async () => null });
  }

  /** A case by the ids that the store gave. */
  caseOf({ ask, scope, want, not, nothing, at }: LabelledCase): ReplayCase {
    const rows = (names: readonly string[]) => names.flatMap((name) => this.#rows.get(name) ?? []);
    return {
      ask,
      scopes: readable(scope),
      sessionId: null,
      atMs: Date.parse(at ?? ''),
      want: want.map(rows),
      not: rows(not),
      nothing,
    };
  }

  /** Names of the exchanges that a memory comes from; `-` for everyday ones. */
  namesOf(id: string): string[] {
    const rows = id.startsWith('t')
      ? [id]
      : this.lab.database
          .all<{ turn: number }>(
            'SELECT s.turn FROM memory_units u JOIN memory_sources s ON s.unit = u.id WHERE u.uuid = ?',
            id,
          )
          .map(({ turn }) => `t${turn}`);
    return rows.map((row) => this.#nameOf.get(row) || '-');
  }

  async #hear(): Promise<void> {
    const { clock, database, book } = this.lab;
    this.#rows = await hearSessions(this.world.sessions, {
      database,
      conversations: book.conversations,
      setTime: (ms) => clock.sleep(ms - clock.now()),
    });
    for (const [name, rows] of this.#rows) for (const row of rows) this.#nameOf.set(row, name);
  }
}

/** A case with what became of it. */
export interface Tried {
  case: LabelledCase;
  language: string;
  result: CaseResult;
  /** What entered, by the exchanges that it comes from, with its score and words. */
  entered: { names: string[]; score: number; body: string }[];
}

export async function tryAll(worlds: readonly World[], settings: RecallSettings): Promise<Tried[]> {
  const tried: Tried[] = [];
  for (const world of worlds) {
    const remembered = await RememberedWorld.of(world);
    const replay = remembered.replay();
    for (const one of world.cases) {
      const asked = remembered.caseOf(one);
      const entering = await replay.enters(asked, settings);
      const entered = entering.map(({ id, score, body }) => ({
        names: remembered.namesOf(id),
        score,
        body,
      }));
      tried.push({
        case: one,
        language: world.language,
        result: replay.judge(asked, entering),
        entered,
      });
    }
    await remembered.close();
  }
  return tried;
}
