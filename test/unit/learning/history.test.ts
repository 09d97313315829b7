import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { appendHistory } from '../../../src/engine/learning/history.ts';
import type { Lesson } from '../../../src/engine/learning/lessons.ts';
import type { StoredProposal } from '../../../src/engine/learning/proposals.ts';

/** A record of the original: these fields, these types, nothing else. */
const record = z.strictObject({
  // What datetime.fromisoformat of Python 3.8 reads.
  timestamp: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3}(?:\d{3})?)?(?:[+-]\d\d:\d\d)?$/),
  num_failures_analyzed: z.number().int(),
  num_skills_generated: z.number().int(),
  skill_names: z.array(z.string()),
  skills: z.array(
    z.strictObject({
      name: z.string(),
      category: z.string(),
      description: z.string(),
      content: z.string(),
    }),
  ),
  failure_prompts: z.array(z.string()).max(6),
});

/** As the original and its users' scripts read: one JSON document a line, empty lines left out. */
const read = (file: string) =>
  readFileSync(file, 'utf8')
    .split(/[\n\u0085\u2028\u2029]/)
    .filter((line) => line.trim() !== '')
    .map((line) => record.parse(JSON.parse(line)));

const lesson = (user: string): Lesson => ({
  turnId: 't',
  seq: 1,
  signal: 'correction',
  user,
  answerBefore: null,
  answer: 'done',
  feedback: null,
  tools: [],
});
const proposal = (name: string, body: string): StoredProposal => ({
  id: name,
  kind: 'new',
  name,
  description: `Use when ${name}`,
  category: 'coding',
  triggers: [],
  body,
  reason: '',
  state: 'waiting',
  auto: false,
  findings: [],
  evidence: [],
  verdict: '',
  baseHash: null,
  createdAt: '',
  decidedAt: null,
});

let root: string;
let file: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'metaclaw-history-'));
  file = join(root, 'skills', 'evolution_history.jsonl');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('goes on after the lines of the original, one line a run, whatever stands in the texts', () => {
  const theirs = `{"timestamp": "2026-01-02T03:04:05.678901", "num_failures_analyzed": 1, "num_skills_generated": 0, "skill_names": [], "skills": [], "failure_prompts": ["caf\\u00e9"]}`;
  appendHistory(file, '2026-03-04T05:06:07.089Z', [lesson('first')], []);
  writeFileSync(file, theirs);
  const odd = 'Line one\nline two\r\n\u2028\u0085 "quoted" 中文 🦀\\';
  appendHistory(file, '2026-03-04T05:06:07.089Z', [lesson(odd)], [proposal('tie-knots', odd)]);
  appendFileSync(file, '\n');
  const many = Array.from({ length: 8 }, (_, n) => lesson(`${n}${'🦀'.repeat(400)}`));
  appendHistory(file, '2026-03-04T05:06:07.089Z', many, []);
  const lines = read(file);
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatchObject({
    timestamp: '2026-03-04T05:06:07.089+00:00',
    num_failures_analyzed: 1,
    num_skills_generated: 1,
    skill_names: ['tie-knots'],
    skills: [{ name: 'tie-knots', category: 'coding', content: odd }],
    failure_prompts: [odd],
  });
  expect(lines[2]?.num_failures_analyzed).toBe(8);
  expect(lines[2]?.failure_prompts).toEqual(Array.from({ length: 6 }, () => '🦀'.repeat(300)));
});
