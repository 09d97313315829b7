import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LearnerLab, SKILL, TAUGHT } from '../../support/learner.ts';

const FLAGGED = {
  ...SKILL,
  name: 'fast-push',
  description: 'Use when pushing to git.',
  body: `Use git push --force when the remote refuses it. Then tell the team that history moved on.`,
};

let lab: LearnerLab;
beforeEach(() => {
  lab = new LearnerLab();
});
afterEach(() => lab.close());

describe('from a session to a skill', () => {
  it('safe: a clean new skill goes live by itself, marked, with evidence, and is found at once', async () => {
    const { learner, book } = await lab.open();
    await lab.learn(learner);
    expect(learner.list()).toMatchObject([
      {
        state: 'accepted',
        auto: true,
        findings: [],
        evidence: [{ sessionId: 's1', turnId: 't2', excerpt: TAUGHT[1]?.userText }],
      },
    ]);
    expect(book.retrieve('Draft the changelog entry for version 3').map(({ id }) => id)).toEqual([
      SKILL.name,
    ]);
    const { content, source } = book.get(SKILL.name);
    expect(source).toBe('learned');
    expect(content).toContain('source: learned');
    expect(content).toContain('session: s1');
  });

  it('ask: waits until it is accepted, then lives; undo brings both back', async () => {
    lab.use({ auto_accept: 'ask' });
    const { learner, book, undo } = await lab.open();
    await lab.learn(learner);
    const [proposal] = learner.list('waiting');
    expect(learner.status().waiting).toBe(1);
    expect(book.list().skills).toEqual([]);
    const accepted = learner.accept(proposal?.id ?? '');
    expect(accepted.skill).toBe(SKILL.name);
    expect(book.get(SKILL.name).content).toContain('triggers: changelog entry; release notes');
    undo.apply(accepted.undo.token);
    expect(book.list().skills).toEqual([]);
    expect(learner.list('waiting')).toMatchObject([{ id: proposal?.id, auto: false }]);
  });

  it('an edited acceptance writes the edited text under the edited name', async () => {
    lab.use({ auto_accept: 'ask' });
    const { learner, book, undo } = await lab.open();
    await lab.learn(learner);
    const id = learner.list()[0]?.id ?? '';
    const edit = {
      name: 'changelog',
      description: 'Use for changelogs: all',
      category: 'general',
      body: 'Mine.',
    };
    const accepted = learner.accept(id, { edit });
    expect(book.get('changelog')).toMatchObject({ description: 'Use for changelogs: all' });
    undo.apply(accepted.undo.token);
    expect(learner.get(id)).toMatchObject({ state: 'waiting', name: SKILL.name, body: SKILL.body });
  });

  it.each(['safe', 'always'] as const)(
    '%s: what the scan flags waits, and needs an explicit word (R111)',
    async (mode) => {
      lab.use({ auto_accept: mode });
      lab.answer = async () => JSON.stringify([FLAGGED]);
      const { learner, book } = await lab.open();
      await lab.learn(learner);
      const [proposal] = learner.list('waiting');
      expect(proposal).toMatchObject({ auto: false, findings: [{ rule: 'checks-off' }] });
      expect(() => learner.accept(proposal?.id ?? '')).toThrow(
        expect.objectContaining({ code: 'FORBIDDEN' }),
      );
      expect(book.list().skills).toEqual([]);
      learner.accept(proposal?.id ?? '', { despiteFindings: true });
      expect(book.list().skills).toHaveLength(1);
    },
  );

  it('a folder in the way (not a skill) leaves the proposal waiting', async () => {
    mkdirSync(join(lab.root, 'skills', SKILL.name), { recursive: true });
    const { learner } = await lab.open();
    await lab.learn(learner);
    expect(learner.list()).toMatchObject([{ state: 'waiting', auto: false }]);
    expect(() => learner.accept(learner.list()[0]?.id ?? '')).toThrow(
      expect.objectContaining({ code: 'CONFLICT' }),
    );
  });

  it('a refused lesson is not proposed again, nor is one whose skill was taken back or deleted', async () => {
    lab.use({ auto_accept: 'ask' });
    const { learner, book, undo } = await lab.open();
    await lab.learn(learner);
    const rejected = learner.reject(learner.list()[0]?.id ?? '', 'too narrow');
    lab.turns.s2 = TAUGHT.map((turn) => ({ ...turn, sessionId: 's2' }));
    lab.answer = async () => JSON.stringify([{ ...SKILL, name: 'under-another-name' }]);
    await lab.learn(learner, 's2');
    expect(learner.list()).toHaveLength(1);
    undo.apply(rejected.undo.token);
    expect(learner.list('waiting')).toHaveLength(1);
    learner.accept(learner.list()[0]?.id ?? '');
    learner.reject(learner.list()[0]?.id ?? '');
    expect(learner.list()[0]?.state).toBe('undone');
    expect(book.list().skills).toEqual([]);
    lab.turns.s3 = TAUGHT;
    await lab.learn(learner, 's3');
    expect(learner.list()).toHaveLength(1);
  });

  it('the undo of what went live by itself is a refusal; it survives a restart', async () => {
    const first = await lab.open();
    await lab.learn(first.learner);
    const row = first.database.get<{ token: string }>(
      "SELECT token FROM undo WHERE kind = 'proposal.accept'",
    );
    await first.learner.stop();
    await first.book.stop();
    const second = await lab.open();
    second.undo.apply(row?.token ?? '');
    expect(second.learner.list()).toMatchObject([{ state: 'undone' }]);
    expect(second.book.list().skills).toEqual([]);
  });

  it('writes the history as the original did', async () => {
    const { learner } = await lab.open();
    await lab.learn(learner);
    const lines = readFileSync(join(lab.root, 'evolution_history.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        timestamp: expect.stringMatching(/^20/),
        num_failures_analyzed: 2,
        num_skills_generated: 1,
        skill_names: [SKILL.name],
        skills: [
          { name: SKILL.name, category: SKILL.category, description: SKILL.description, content: SKILL.body },
        ],
        failure_prompts: [expect.any(String), expect.any(String)],
      },
    ]);
  });
});
