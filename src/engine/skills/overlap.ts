import { termsOf } from '../platform/words.ts';
import type { SkillFile } from './skill-file.ts';

type Skill = Pick<SkillFile, 'name' | 'description' | 'triggers' | 'body'>;

/** Two skills that get in each other's way: both would be injected, or one at random. */
export interface Overlap {
  name: string;
  other: string;
  /** What they share, in words for the user. */
  message: string;
}

/** From this share of the shorter one's words on, two skills say the same. */
const TOO_ALIKE = 0.5;
/** A text of fewer words has half of them in common with many. */
const FEWEST_WORDS = 8;
/** Words of more skills than this tell none apart, and comparing by them would cost too much. */
const MOST_HAVING = 50;

/**
 * Trigger phrases that two skills claim, and skills that say nearly the same. `tooAlike`: share of the words of the
 * shorter one, 0 to 1. Costs about the number of words, not of pairs.
 */
export function overlapsOf(skills: readonly Skill[], tooAlike = TOO_ALIKE): Overlap[] {
  return [...sharedPhrases(skills), ...alike(skills, tooAlike)];
}

function sharedPhrases(skills: readonly Skill[]): Overlap[] {
  const owners = new Map<string, string>();
  return skills.flatMap(({ name, triggers }) =>
    triggers.flatMap((phrase) => {
      const key = phrase.normalize('NFKC').toLowerCase();
      const owner = owners.get(key);
      owners.set(key, owner ?? name);
      if (owner === undefined) return [];
      const both = owner === name ? 'twice' : `also by ${owner}`;
      return [{ name, other: owner, message: `The trigger "${phrase}" is claimed ${both}.` }];
    }),
  );
}

function alike(skills: readonly Skill[], tooAlike: number): Overlap[] {
  const words = skills.map(
    ({ description, body }) => new Set(termsOf(`${description} ${body}`).map(({ term }) => term)),
  );
  const having = new Map<string, number[]>();
  for (const [at, terms] of words.entries())
    for (const term of terms) {
      const list = having.get(term);
      if (list) list.push(at);
      else having.set(term, [at]);
    }
  const shared = new Map<string, number>();
  for (const list of having.values()) {
    if (list.length > MOST_HAVING) continue;
    for (const [n, first] of list.entries())
      for (const second of list.slice(n + 1)) {
        const pair = `${first} ${second}`;
        shared.set(pair, (shared.get(pair) ?? 0) + 1);
      }
  }
  return [...shared].flatMap(([pair, count]) => {
    const [first = 0, second = 0] = pair.split(' ').map(Number);
    const share = count / Math.max(FEWEST_WORDS, Math.min(words[first]?.size ?? 0, words[second]?.size ?? 0));
    const [name, other] = [skills[first]?.name, skills[second]?.name];
    if (share < tooAlike || name === undefined || other === undefined) return [];
    return [
      {
        name,
        other,
        message: `It says nearly the same as ${other}: ${Math.round(share * 100)} % of the words.`,
      },
    ];
  });
}
