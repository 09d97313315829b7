import type { Hit, Ranking } from './ranking.ts';
import type { SkillFile } from './skill-file.ts';

export interface TryOnDeps {
  ranking: Ranking;
  /** The skills that a text gets as things are. */
  now: (text: string) => readonly Hit[];
  /** As `now`, with the tried skill among those that may be found. */
  tried: (text: string) => readonly Hit[];
  /** The skill of that name that can be found now; null when there is none, or it is off. */
  live: (name: string) => SkillFile | null;
}

/** How a text would do as a skill for what a user asked; `before`: whether the skill as it is now gets there. */
export interface Fit {
  entered: boolean;
  before: boolean;
  score: number;
  reason: string;
}

/**
 * Tries a text as a skill: puts it into the index in place of the live skill of its name, asks, and puts things back.
 * Synchronous, so that no turn can see it in between.
 */
export function tryOn<T extends object>(
  skill: SkillFile,
  asked: readonly { turn: T; words: string }[],
  deps: TryOnDeps,
): (T & Fit)[] {
  const { ranking, now, tried, live } = deps;
  const { name } = skill;
  const entersNow = asked.map(({ words }) => now(words).some(({ id }) => id === name));
  const standing = live(name);
  try {
    ranking.add(name, skill);
    return asked.map(({ turn, words }, n) => {
      const hit = tried(words).find(({ id }) => id === name);
      const weighed = hit ?? ranking.weigh(words, ranking.size).find(({ id }) => id === name);
      return {
        ...turn,
        entered: hit !== undefined,
        before: entersNow[n] === true,
        score: weighed?.score ?? 0,
        reason: weighed?.reason ?? '',
      };
    });
  } finally {
    if (standing) ranking.add(name, standing);
    else ranking.remove(name);
  }
}
