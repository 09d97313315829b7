import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/shared/errors.ts';
import { LearnerLab, SKILL, TAUGHT, until } from '../../support/learner.ts';
import { makeTurn } from '../../support/turns.ts';

let lab: LearnerLab;
beforeEach(() => {
  lab = new LearnerLab();
});
afterEach(() => lab.close());

describe('trouble', () => {
  it('an outage of the model only delays: tried ever later, never given up, shown in status', async () => {
    lab.answer = async () => {
      throw new AppError('UPSTREAM_UNREACHABLE', 'connect ECONNREFUSED');
    };
    const { learner } = await lab.open();
    lab.end(learner);
    const delays: number[] = [];
    for (let n = 1; n <= 12; n += 1) {
      await until(() => lab.calls.length === n && learner.status().running === 0);
      expect(learner.status()).toMatchObject({ queued: 1, lastError: 'connect ECONNREFUSED' });
      const from = lab.clock.now();
      while (lab.calls.length === n) {
        lab.clock.advance(1000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      delays.push(Math.round((lab.clock.now() - from) / 1000));
    }
    expect(delays.slice(0, 3)).toEqual([15, 30, 60]);
    expect(delays.at(-1)).toBe(3600);
    lab.answer = async () => '[]';
    lab.clock.advance(3_600_000);
    await until(() => learner.status().queued === 0 && learner.status().running === 0);
    expect(learner.status().lastError).toBeNull();
  });

  it('waits for a provider, and goes on when one is set', async () => {
    let ready = false;
    const { learner } = await lab.open({
      chatModel: () => {
        if (!ready) throw new AppError('PROVIDER_NOT_SET', 'No provider is set.');
        return lab.model;
      },
    });
    lab.end(learner);
    await until(() => learner.status().lastError !== null);
    ready = true;
    learner.wake();
    await lab.idle(learner);
    expect(learner.list()).toHaveLength(1);
  });

  it('garbage is asked for again, then the job has failed, visibly', async () => {
    lab.answer = async () => 'I would rather talk about the weather.';
    const { learner } = await lab.open();
    lab.end(learner);
    for (let n = 1; n <= 3; n += 1) {
      await until(() => lab.calls.length === n && learner.status().running === 0);
      lab.clock.advance(120_000);
    }
    await lab.idle(learner);
    expect(lab.calls).toHaveLength(3);
    expect(learner.status()).toMatchObject({
      queued: 0,
      lastError: expect.stringContaining('without a list'),
    });
  });

  it('stop aborts the call at once; the job runs at the next start', async () => {
    let aborted = false;
    lab.answer = (_, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(signal.reason);
        });
      });
    const first = await lab.open();
    lab.end(first.learner);
    await until(() => lab.calls.length === 1);
    await first.learner.stop();
    expect(aborted).toBe(true);
    expect(first.learner.status()).toMatchObject({ queued: 1, running: 0 });
    lab.answer = async () => JSON.stringify([SKILL]);
    const second = await lab.open();
    await lab.idle(second.learner);
    expect(second.book.list().skills).toHaveLength(1);
  });

  it('a session that ends again while it is being read is read again', async () => {
    let release: (text: string) => void = () => {};
    lab.answer = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    const { learner } = await lab.open();
    lab.end(learner);
    await until(() => lab.calls.length === 1);
    lab.turns.s1 = [...TAUGHT, makeTurn({ id: 't3', seq: 3, userText: 'From now on lab.answer in French' })];
    lab.end(learner);
    release('[]');
    await until(() => lab.calls.length === 2);
    expect(lab.calls[1]?.user).toContain('answer in French');
    release('[]');
    await lab.idle(learner);
  });
});

describe('kill -9', () => {
  it('while the model thinks: the job runs again', async () => {
    lab.answer = () => new Promise(() => {});
    const first = await lab.open();
    lab.end(first.learner);
    await until(() => lab.calls.length === 1);
    await lab.abandon();
    lab.answer = async () => JSON.stringify([SKILL]);
    const second = await lab.open();
    await lab.idle(second.learner);
    expect(second.learner.list()).toHaveLength(1);
    expect(second.book.list().skills).toHaveLength(1);
  });

  it('between the proposal and its skill: the skill goes live at the next start', async () => {
    const first = await lab.open({
      library: (book) => ({
        ...book.forLearning,
        add: () => new Promise(() => {}),
      }),
    });
    await lab.learn(first.learner);
    first.database.run("UPDATE proposals SET state = 'waiting', auto = 1, decided_at = NULL");
    await first.learner.stop();
    await lab.abandon();
    const second = await lab.open();
    expect(second.learner.list()).toMatchObject([{ state: 'accepted', auto: true }]);
    expect(second.book.list().skills).toHaveLength(1);
  });

  it('between the skill’s file and its mark: the proposal is marked, the file is not written twice', async () => {
    lab.use({ auto_accept: 'ask' });
    const first = await lab.open({
      library: (book) => ({
        ...book.forLearning,
        add: (draft, by) => {
          book.add(draft, by);
          throw new Error('killed');
        },
      }),
    });
    await lab.learn(first.learner);
    const id = first.learner.list()[0]?.id ?? '';
    expect(() => first.learner.accept(id)).toThrow('killed');
    await first.learner.stop();
    await lab.abandon();
    const second = await lab.open();
    expect(second.learner.get(id).state).toBe('accepted');
    expect(second.book.list().skills.map(({ name }) => name)).toEqual([SKILL.name]);
    expect(second.book.list().problems).toEqual([]);
  });

  it('after the proposals were stored: nothing is proposed or paid for twice', async () => {
    lab.use({ auto_accept: 'ask' });
    const first = await lab.open();
    await lab.learn(first.learner);
    first.database.run("UPDATE jobs SET state = 'running'");
    await first.learner.stop();
    await lab.abandon();
    const second = await lab.open();
    await lab.idle(second.learner);
    expect(lab.calls).toHaveLength(1);
    expect(second.learner.list()).toHaveLength(1);
  });
});
