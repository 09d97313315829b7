import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { runDemo } from '../../../src/engine/demo/index.ts';
import { createEngine } from '../../../src/engine/index.ts';
import { systemClock } from '../../../src/engine/platform/clock.ts';
import type { DemoEvent } from '../../../src/shared/contract.ts';

it('learns a skill offline and carries it in the next conversation, leaving nothing behind', async () => {
  const events: DemoEvent[] = [];
  const folders = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('metaclaw-demo-'));
  const before = await folders();
  await runDemo({
    createEngine,
    skillsBank: resolve('skills-bank'),
    version: '0.0.0-test',
    clock: systemClock(),
    onEvent: (event) => events.push(event),
  });
  expect(events.map((event) => event.step)).toEqual([
    'start',
    'first-turn',
    'first-turn',
    'learn',
    'accept',
    'second-turn',
    'done',
  ]);
  expect(events.find((event) => event.step === 'second-turn')?.text).toContain('check-lockfile-drift-first');
  expect(await folders()).toEqual(before);
}, 30_000);
