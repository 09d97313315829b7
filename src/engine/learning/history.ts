import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Lesson } from './lessons.ts';
import type { StoredProposal } from './proposals.ts';

/**
 * Appends one run of the evolver to `evolution_history.jsonl`, in the line format of the original, so that its
 * users can go on reading the file. Everything in it has passed the redactor.
 */
export function appendHistory(
  file: string,
  at: string,
  lessons: readonly Lesson[],
  proposals: readonly StoredProposal[],
): void {
  const line = {
    timestamp: at,
    num_failures_analyzed: lessons.length,
    num_skills_generated: proposals.length,
    skill_names: proposals.map(({ name }) => name),
    skills: proposals.map(({ name, category, description, body }) => ({
      name,
      category,
      description,
      content: body,
    })),
    failure_prompts: lessons.slice(0, 6).map(({ user }) => user.slice(-300)),
  };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
}
