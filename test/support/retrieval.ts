import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ranking } from '../../src/engine/skills/ranking.ts';
import { parseSkill, type SkillFile } from '../../src/engine/skills/skill-file.ts';

const ROOT = process.cwd();

/** `skills`: all must be found. `fine`: may be found as well. None: the prompt has no right skill. */
export interface RetrievalCase {
  lang: string;
  text: string;
  skills: string[];
  fine: string[];
}

/** A labelled set of `test/fixtures`. */
export function readCases(name: string): RetrievalCase[] {
  return JSON.parse(readFileSync(join(ROOT, 'test/fixtures', name), 'utf8')) as RetrievalCase[];
}

/** The built-in skills, in path order. */
export function readBank(): SkillFile[] {
  const bank = join(ROOT, 'skills-bank');
  return readdirSync(bank)
    .sort()
    .map((folder) => {
      const { skill, problem } = parseSkill(readFileSync(join(bank, folder, 'SKILL.md'), 'utf8'));
      if (!skill) throw new Error(`${folder}: ${problem}`);
      return skill;
    });
}

export function bankRanking(): Ranking {
  const ranking = new Ranking();
  for (const skill of readBank()) ranking.add(skill.name, skill);
  return ranking;
}

export interface Measured {
  /** Share of prompts with a right skill that got all of theirs. */
  recall: number;
  /** Share of what such prompts got that was right or fine. */
  precision: number;
  /** Share of prompts without a right skill that got any. */
  falseRate: number;
  /** Skills per prompt without a right one. */
  perIdle: number;
  missed: string[];
  wrong: string[];
}

/** What a way of finding skills gives on a labelled set. */
export function measure(cases: readonly RetrievalCase[], find: (text: string) => string[]): Measured {
  const found = cases.map((entry) => ({ ...entry, hits: find(entry.text) }));
  const asked = found.filter(({ skills }) => skills.length > 0);
  const idle = found.filter(({ skills }) => skills.length === 0);
  const missed = asked.filter(({ skills, hits }) => !skills.every((name) => hits.includes(name)));
  const wrong = idle.filter(({ hits }) => hits.length > 0);
  const injected = asked.flatMap(({ hits }) => hits).length;
  const right = asked.flatMap(({ hits, skills, fine }) =>
    hits.filter((id) => skills.includes(id) || fine.includes(id)),
  ).length;
  return {
    recall: 1 - missed.length / Math.max(1, asked.length),
    precision: right / Math.max(1, injected),
    falseRate: wrong.length / Math.max(1, idle.length),
    perIdle: idle.flatMap(({ hits }) => hits).length / Math.max(1, idle.length),
    missed: missed.map(({ lang, text }) => `${lang}: ${text}`),
    wrong: wrong.map(({ lang, text, hits }) => `${lang}: ${text} → ${hits.join(', ')}`),
  };
}
