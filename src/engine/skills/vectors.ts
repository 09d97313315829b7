import type { Config } from '../../shared/config.ts';
import { similarity, vectorKey } from '../platform/vectors.ts';
import type { Clock, Embedder } from '../ports.ts';
import type { SkillFile } from './skill-file.ts';

export interface SkillVectorsDeps {
  embedder: Embedder;
  clock: Clock;
  config: () => Config;
}

/** How near a skill is to a question: 0 is nothing, 1 enough to enter alone. */
export interface Nearness {
  similarity: number;
  share: number;
}

const PAGE = 200;
/** So long skills are gathered before their vectors are looked for. */
const GATHER_MS = 20;
/** Beyond so many skills, the first numbers of their vectors choose whom to compare in full. */
const MOST_EXACT = 500;
const COARSE = 128;
const FINALISTS = 200;
/** Fewer vectors tell nothing of how near unrelated texts are to each other. */
const FEWEST = 8;
const SAMPLE = 40;
/** Spreads below this are chance. */
const LEAST_SPREAD = 0.02;
/** No model that tells texts apart has related ones farther from each other. */
const LEAST_NEAR = 0.15;

/** How similar skills are to each other, which differs from model to model. */
interface Background {
  mean: number;
  spread: number;
}

/** Vectors of the skills that may be found. Whoever has none yet is found by words alone. */
export class SkillVectors {
  readonly #deps: SkillVectorsDeps;
  readonly #texts = new Map<string, { text: string; key: string }>();
  readonly #vectors = new Map<string, Float32Array>();
  readonly #names = new Map<string, Set<string>>();
  readonly #unknown = new Set<string>();
  #background: Background | null = null;
  /** First numbers of all vectors in a row, for the choice; null: to be made anew. */
  #coarse: { names: string[]; values: Float32Array } | null = null;
  #gathering: (() => void) | null = null;
  #disposers: (() => void)[] = [];

  constructor(deps: SkillVectorsDeps) {
    this.#deps = deps;
  }

  /** Whether skills are compared by vectors now. */
  get areWanted(): boolean {
    const { embedder, config } = this.#deps;
    const { enabled, retrieval_mode: mode } = config().skills;
    return embedder.id !== null && enabled && mode !== 'template';
  }

  start(): void {
    const { embedder } = this.#deps;
    this.#disposers.push(
      embedder.onStored((keys) => this.#stored(keys)),
      embedder.serve((after) => this.#page(after)),
    );
  }

  stop(): void {
    this.#gathering?.();
    for (const dispose of this.#disposers.splice(0)) dispose();
  }

  add(name: string, skill: Pick<SkillFile, 'description' | 'triggers'>): void {
    const text = [`${name.replace(/-/g, ' ')}: ${skill.description}`, skill.triggers.join(', ')].join('\n');
    const key = vectorKey(text);
    if (this.#texts.get(name)?.key === key) return;
    this.remove(name);
    this.#texts.set(name, { text, key });
    const names = this.#names.get(key) ?? new Set();
    this.#names.set(key, names.add(name));
    this.#lookFor(name);
  }

  remove(name: string): void {
    const known = this.#texts.get(name);
    if (!known) return;
    this.#texts.delete(name);
    this.#names.get(known.key)?.delete(name);
    if (this.#names.get(known.key)?.size === 0) this.#names.delete(known.key);
    this.#unknown.delete(name);
    if (this.#vectors.delete(name)) this.#changed();
  }

  has(name: string): boolean {
    return this.#vectors.has(name);
  }

  /**
   * Skills that are near a question, by name; a few milliseconds for thousands of them. What is near differs from model
   * to model: a skill must stand out among the others, and be about as near as skills are to each other, which small
   * talk never is.
   */
  near(question: Float32Array): Map<string, Nearness> {
    const all = this.#similarities(question);
    const near = new Map<string, Nearness>();
    if (all.length === 0) return near;
    const ofQuestion = spreadOf(all.map(([, value]) => value));
    const ofSkills = this.#backgroundOf();
    for (const [name, value] of all) {
      const share =
        all.length < FEWEST || ofSkills === null
          ? between(value, 0.35, 0.6)
          : Math.min(
              between(
                value,
                ofQuestion.middle + 0.5 * ofQuestion.spread,
                ofQuestion.middle + 2 * ofQuestion.spread,
              ),
              between(
                value,
                Math.max(LEAST_NEAR, ofSkills.mean - 0.75 * ofSkills.spread),
                Math.max(2 * LEAST_NEAR, ofSkills.mean + 0.4 * ofSkills.spread),
              ),
            );
      if (share > 0) near.set(name, { similarity: value, share });
    }
    return near;
  }

  #similarities(question: Float32Array): [name: string, similarity: number][] {
    const exact = (names: Iterable<string>) => {
      const all: [string, number][] = [];
      for (const name of names) {
        const vector = this.#vectors.get(name);
        const value = vector ? similarity(question, vector) : null;
        if (value !== null) all.push([name, value]);
      }
      return all;
    };
    if (this.#vectors.size <= MOST_EXACT) return exact(this.#vectors.keys());
    const { names, values } = this.#coarseRows();
    const sums = new Float32Array(names.length);
    for (let row = 0; row < sums.length; row += 1) {
      let sum = 0;
      for (let at = 0; at < COARSE; at += 1) sum += (question[at] ?? 0) * (values[row * COARSE + at] ?? 0);
      sums[row] = sum;
    }
    const least = Float32Array.from(sums).sort()[Math.max(0, sums.length - FINALISTS)] ?? 0;
    // Some from everywhere, so that the usual distance is known too.
    const step = Math.ceil(sums.length / FINALISTS);
    return exact(names.filter((_, row) => (sums[row] ?? 0) >= least || row % step === 0));
  }

  #coarseRows(): { names: string[]; values: Float32Array } {
    if (this.#coarse !== null) return this.#coarse;
    const values = new Float32Array(this.#vectors.size * COARSE);
    let row = 0;
    for (const vector of this.#vectors.values()) {
      values.set(vector.subarray(0, COARSE), row * COARSE);
      row += 1;
    }
    this.#coarse = { names: [...this.#vectors.keys()], values };
    return this.#coarse;
  }

  #changed(): void {
    this.#background = null;
    this.#coarse = null;
  }

  #backgroundOf(): Background | null {
    if (this.#background !== null || this.#vectors.size < FEWEST) return this.#background;
    const step = Math.max(1, Math.floor(this.#vectors.size / SAMPLE));
    const sample = [...this.#vectors.values()].filter((_, at) => at % step === 0).slice(0, SAMPLE);
    const values = sample.flatMap((one, at) =>
      sample.slice(at + 1).flatMap((other) => similarity(one, other) ?? []),
    );
    const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length);
    this.#background = { mean, spread: Math.max(LEAST_SPREAD, Math.sqrt(variance)) };
    return this.#background;
  }

  #lookFor(name: string): void {
    this.#unknown.add(name);
    if (!this.areWanted) return;
    this.#gathering ??= this.#deps.clock.after(GATHER_MS, () => this.#gather());
  }

  #gather(): void {
    this.#gathering = null;
    const { embedder } = this.#deps;
    const names = [...this.#unknown].slice(0, PAGE);
    for (const name of names) this.#unknown.delete(name);
    const texts = names.flatMap((name) => this.#texts.get(name) ?? []);
    const found = embedder.stored(texts.map(({ key }) => key));
    for (const [key, vector] of found) this.#know(key, vector);
    embedder.want(texts.filter(({ key }) => !found.has(key)).map(({ text }) => text));
    if (this.#unknown.size > 0) this.#gathering = this.#deps.clock.after(0, () => this.#gather());
  }

  #know(key: string, vector: Float32Array): void {
    for (const name of this.#names.get(key) ?? []) this.#vectors.set(name, vector);
    this.#changed();
  }

  #stored(keys: readonly string[]): void {
    if (keys.length === 0) {
      this.#vectors.clear();
      this.#changed();
      for (const name of this.#texts.keys()) this.#lookFor(name);
      return;
    }
    const ours = keys.filter((key) => this.#names.has(key));
    if (ours.length === 0) return;
    for (const [key, vector] of this.#deps.embedder.stored(ours)) this.#know(key, vector);
  }

  #page(after: number): { texts: string[]; next: number | null } {
    if (!this.areWanted) return { texts: [], next: null };
    const all = [...this.#texts.values()].slice(after, after + PAGE);
    return {
      texts: all.map(({ text }) => text),
      next: after + PAGE < this.#texts.size ? after + PAGE : null,
    };
  }
}

/** Where a value stands between nothing and enough; more than enough counts a little more. */
function between(value: number, nothing: number, enough: number): number {
  return Math.max(0, Math.min(1.5, (value - nothing) / Math.max(1e-6, enough - nothing)));
}

/** Middle and spread of most values; the few that stand out do not count. */
function spreadOf(values: readonly number[]): { middle: number; spread: number } {
  const middle = median(values);
  const spread = 1.4826 * median(values.map((value) => Math.abs(value - middle)));
  return { middle, spread: Math.max(LEAST_SPREAD, spread) };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
