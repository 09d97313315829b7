import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../src/engine/platform/tokens.ts';
import { termsOf } from '../../../src/engine/platform/words.ts';
import { parseSkill } from '../../../src/engine/skills/skill-file.ts';
import { SKILL_CATEGORIES } from '../../../src/shared/model.ts';

const BANK = join(import.meta.dirname, '../../../skills-bank');
const bank = readdirSync(BANK).map((folder) => {
  const text = readFileSync(join(BANK, folder, 'SKILL.md'), 'utf8');
  const { skill, problem } = parseSkill(text);
  if (!skill) throw new Error(`${folder}: ${problem}`);
  return { folder, text, skill };
});

describe('the built-in bank', () => {
  it('covers every category (a category nobody wrote for would stay empty unnoticed)', () => {
    expect(bank.length).toBeGreaterThanOrEqual(48);
    expect(new Set(bank.map(({ skill }) => skill.category))).toEqual(new Set(SKILL_CATEGORIES));
  });

  it.each(bank)('$folder keeps to the format that other agents read', ({ folder, skill, text }) => {
    expect(skill.name).toBe(folder);
    expect(skill.description).toMatch(/^Use (when|before|for) /);
    expect(skill.description.length).toBeLessThanOrEqual(200);
    expect(estimateTokens(skill.body)).toBeLessThan(250);
    expect(skill.body).toContain('**Anti-pattern:**');
    expect(skill.body.match(/^\d\. /gm)?.length ?? 0).toBeGreaterThanOrEqual(4);
    expect(text.endsWith('\n')).toBe(true);
    expect(text).not.toMatch(/[ \t]+$/m);
  });

  it.each(bank)('$folder can be found in five languages', ({ skill }) => {
    const triggers = skill.triggers;
    expect(triggers.length).toBeGreaterThanOrEqual(8);
    expect(new Set(triggers).size).toBe(triggers.length);
    expect(triggers.filter((phrase) => /^[a-z0-9 .'-]+$/i.test(phrase)).length).toBeGreaterThanOrEqual(4);
    expect(triggers.some((phrase) => /\p{Script=Han}/u.test(phrase))).toBe(true);
  });

  it('says nothing twice (two skills for one situation would both be injected)', () => {
    const words = bank.map(
      ({ skill }) => new Set(termsOf(`${skill.description} ${skill.body}`).map(({ term }) => term)),
    );
    for (const [a, first] of words.entries())
      for (const [b, second] of words.entries()) {
        if (a >= b) continue;
        const shared = [...first].filter((term) => second.has(term)).length;
        const share = shared / Math.min(first.size, second.size);
        expect(share, `${bank[a]?.folder} and ${bank[b]?.folder}`).toBeLessThan(0.3);
      }
  });

  it('gives each trigger phrase to one skill', () => {
    const all = bank.flatMap(({ skill }) => skill.triggers);
    expect(all.filter((phrase, at) => all.indexOf(phrase) !== at)).toEqual([]);
  });
});
