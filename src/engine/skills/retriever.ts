import type { Config } from '../../shared/config.ts';
import { type Hit, type NearByMeaning, type Ranking, THRESHOLD } from './ranking.ts';
import type { SkillFile } from './skill-file.ts';
import { routeCategory } from './template.ts';
import type { SkillVectors } from './vectors.ts';

const MISTAKES_IN_TEMPLATE_MODE = 5;
/** So many built-in skills may stand before one of the user's own that still enters. */
const MOST_BUILT_IN = 20;

/** What words count in the mode `embedding` for a skill that has a vector. */
const WORDS_BESIDE_VECTORS = 0.5;

export interface RetrieverDeps {
  config: () => Config;
  ranking: Ranking;
  vectors: Pick<SkillVectors, 'near' | 'has'>;
  /** Skills that may be found. */
  enabled: () => Iterable<SkillFile>;
  isBuiltIn: (name: string) => boolean;
}

/** Narrows a search to some skills; null: to none in particular. */
type Allows = ((name: string) => boolean) | null;

/** Finds the skills that fit a text, in the mode that the user chose. */
export class Retriever {
  readonly #deps: RetrieverDeps;

  constructor(deps: RetrieverDeps) {
    this.#deps = deps;
  }

  /** Best first, at most `limit`; nothing when none is certain enough. `vector`: of the text; null without one. */
  find(text: string, limit: number, allows: Allows, vector: Float32Array | null): Hit[] {
    const { config, ranking } = this.#deps;
    if (config().skills.retrieval_mode !== 'template')
      return this.#ownFirst(ranking.search(text, limit + MOST_BUILT_IN, allows, this.#near(vector))).slice(
        0,
        limit,
      );
    const category = routeCategory(text);
    return category === null
      ? ranking.search(text, limit, allows)
      : this.#byTemplate(text, category, limit, allows);
  }

  /** All for which anything speaks, best first. */
  weigh(text: string, limit: number, vector: Float32Array | null): Hit[] {
    return this.#deps.ranking.weigh(text, limit, this.#near(vector));
  }

  #near(vector: Float32Array | null): NearByMeaning | null {
    const mode = this.#deps.config().skills.retrieval_mode;
    if (vector === null || mode === 'template') return null;
    return {
      skills: this.#deps.vectors.near(vector),
      hasVector: (name) => this.#deps.vectors.has(name),
      wordShare: mode === 'embedding' ? WORDS_BESIDE_VECTORS : 1,
    };
  }

  /** Where the budget is short, what the user wrote or accepted goes before what came with MetaClaw. */
  #ownFirst(hits: readonly Hit[]): Hit[] {
    const { isBuiltIn } = this.#deps;
    return [...hits.filter(({ id }) => !isBuiltIn(id)), ...hits.filter(({ id }) => isBuiltIn(id))];
  }

  #byTemplate(text: string, category: string, limit: number, allows: Allows): Hit[] {
    const { config, ranking, enabled } = this.#deps;
    const { top_k, task_specific_top_k } = config().skills;
    const skills = [...enabled()];
    const ranked = new Map(ranking.weigh(text, skills.length).map((hit) => [hit.id, hit]));
    const members = (of: string, most: number): Hit[] =>
      skills
        .filter((skill) => skill.category === of && allows?.(skill.name) !== false)
        .map(({ name }) => ranked.get(name) ?? { id: name, score: 0, reason: `category: ${of}` })
        .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
        .slice(0, most);
    return [
      ...members('general', top_k).filter(({ score }) => score >= THRESHOLD),
      ...members(category, task_specific_top_k),
      ...members('common_mistakes', MISTAKES_IN_TEMPLATE_MODE).filter(({ score }) => score >= THRESHOLD),
    ]
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }
}
