import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createEngine } from '../../../src/engine/index.ts';
import { systemClock } from '../../../src/engine/platform/clock.ts';
import { FileSecretStore } from '../../../src/engine/platform/secrets.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'metaclaw-brief-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it('a command without a host sees the whole library, however slow the disk', async () => {
  for (let n = 0; n < 120; n += 1) {
    const name = `skill-${n}`;
    mkdirSync(join(home, 'skills', name), { recursive: true });
    writeFileSync(
      join(home, 'skills', name, 'SKILL.md'),
      `---\nname: ${name}\ndescription: Use when round ${n} begins\n---\n\nDo it.\n`,
    );
  }
  let now = Date.now();
  const engine = await createEngine({
    host: 'daemon',
    version: '0.0.0-test',
    home,
    configFile: join(home, 'config.yaml'),
    skillsBank: resolve('skills-bank'),
    env: {},
    // Each look at the clock takes longer than the start may be held up.
    clock: {
      ...systemClock(),
      now: () => {
        now += 1000;
        return now;
      },
    },
    secrets: new FileSecretStore(join(home, 'secrets.json')),
    overrides: {},
    logToStderr: false,
    brief: true,
  });
  try {
    await engine.start();
    const { skills, problems } = await engine.call('skills.list', {});
    expect(problems).toEqual([]);
    expect(skills.filter(({ name }) => name.startsWith('skill-'))).toHaveLength(120);
  } finally {
    await engine.stop();
  }
});
