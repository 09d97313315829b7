import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../src/engine/platform/tokens.ts';
import { overlapsOf } from '../../../src/engine/skills/overlap.ts';
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

  it('says nothing twice, and gives each trigger to one skill (both would be injected)', () => {
    const overlaps = overlapsOf(
      bank.map(({ skill }) => skill),
      0.3,
    );
    expect(overlaps.map(({ name, message }) => `${name}: ${message}`)).toEqual([]);
  });
});

it('tells a claimed phrase and a text in other words for one, whatever stands around it', () => {
  const skill = (name: string, body: string, triggers: string[] = []) => ({
    name,
    description: `Use when ${name} happens`,
    triggers,
    body,
  });
  const body =
    'Measure before changing anything. Profile the slow request, attack the largest bar, keep a budget.';
  const overlaps = overlapsOf([
    skill('first', body, ['slow page']),
    skill('second', `${body} Then write it down.`, ['Slow page']),
    skill('third', 'Brew oolong with patience and warm the cup.'),
  ]);
  expect(overlaps.map(({ name, other, message }) => `${name}/${other}: ${message}`)).toEqual([
    'second/first: The trigger "Slow page" is claimed also by first.',
    expect.stringMatching(/^first\/second: It says nearly the same as second: \d+ % of the words\.$/),
  ]);
});

it('takes two texts of a few words for alike only when they are', () => {
  const skill = (name: string, body: string) => ({ name, description: 'Use it', triggers: [], body });
  const overlaps = overlapsOf([
    skill('one', 'Warm the cup, brew oolong.'),
    skill(
      'two',
      'Warm the cup before anything else is poured, and never hurry a guest who is still reading.',
    ),
    skill('three', 'Warm the cup, brew oolong.'),
  ]);
  expect(overlaps.map(({ name, other }) => `${name}/${other}`)).toEqual(['one/three']);
});
