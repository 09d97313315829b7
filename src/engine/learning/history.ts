import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Lesson } from './lessons.ts';
import type { StoredProposal } from './proposals.ts';

const MOST_PROMPTS = 6;
const PROMPT_CHARS = 300;
const LINE_END = 10;

/**
 * Appends one run of the evolver to `evolution_history.jsonl`, where the original has it and in its line format, so
 * that its users and their scripts can go on reading the file. Everything in it has passed the redactor.
 */
export function appendHistory(
  file: string,
  at: string,
  lessons: readonly Lesson[],
  proposals: readonly StoredProposal[],
): void {
  const line = {
    // Python before 3.11 reads no Z.
    timestamp: at.replace(/Z$/, '+00:00'),
    num_failures_analyzed: lessons.length,
    num_skills_generated: proposals.length,
    skill_names: proposals.map(({ name }) => name),
    skills: proposals.map(({ name, category, description, body }) => ({
      name,
      category,
      description,
      content: body,
    })),
    failure_prompts: lessons.slice(0, MOST_PROMPTS).map(({ user }) => lastOf(user)),
  };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Many readers split at these as well.
  const json = JSON.stringify(line).replace(
    /[\u0085\u2028\u2029]/g,
    (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  appendFileSync(file, `${endsInLine(file) ? '' : '\n'}${json}\n`, { mode: 0o600 });
}

/** Cuts by characters, so that no half of one stands at the start. */
function lastOf(text: string): string {
  return [...text].slice(-PROMPT_CHARS).join('');
}

/** False where a crash, or somebody's editor, left a line without its end. */
function endsInLine(file: string): boolean {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch {
    return true;
  }
  try {
    const { size } = fstatSync(handle);
    const last = Buffer.alloc(1);
    return size === 0 || (readSync(handle, last, 0, 1, size - 1) === 1 && last[0] === LINE_END);
  } finally {
    closeSync(handle);
  }
}
