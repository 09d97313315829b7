import { afterEach, describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/shared/model.ts';
import { claudeCode } from './support/clients/claude-code.ts';
import { codex } from './support/clients/codex.ts';
import { type ClientKind, PROXY_KEY } from './support/clients/kind.ts';
import { openclaw } from './support/clients/openclaw.ts';
import { opencode } from './support/clients/opencode.ts';
import { MODEL, startLab } from './support/lab.ts';
import { ANSWERS, OUTPUT, scriptedModel, TASK, toolResults } from './support/model.ts';

/** Each client once, over a provider of another dialect than its own: what is translated is what breaks first. */
const SAMPLE: readonly [ClientKind, Dialect][] = [
  [claudeCode, 'openai'],
  [codex, 'anthropic'],
  [opencode, 'responses'],
  [openclaw('openai-completions'), 'anthropic'],
];

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe('one task with a tool call through MetaClaw', () => {
  for (const [kind, wire] of SAMPLE) {
    const missing = kind.missing();
    const title = `${kind.name} over a provider that speaks ${wire}`;
    it.skipIf(missing !== null)(missing === null ? title : `${title} (skipped: ${missing})`, async () => {
      const lab = await startLab(wire);
      closers.push(lab.close);
      lab.upstream.script(scriptedModel(kind));
      const client = await kind.install(`${lab.tap.url}/a/${kind.agent}`, MODEL);
      closers.push(client.remove);

      const { text, ended } = await client.say(TASK);
      if (ended.code !== 0) throw new Error(`${JSON.stringify(ended, null, 1)}\n${await lab.log()}`);
      expect(text).toContain(ANSWERS.task);
      expect(lab.upstream.chats.some((request) => toolResults(request).join().includes(OUTPUT))).toBe(true);
      expect(lab.tap.requests.filter(({ status }) => status !== 200)).toEqual([]);

      const mains = (await lab.turns()).filter((turn) => turn.kind === 'main');
      expect(mains.length).toBeGreaterThanOrEqual(2);
      expect(new Set(mains.map(({ sessionId }) => sessionId)).size).toBe(1);
      expect(new Set(mains.map(({ agent }) => agent))).toEqual(new Set([kind.agent]));
      for (const request of lab.upstream.chats)
        expect(`${request.rawHeaders} ${request.rawBody}`).not.toContain(PROXY_KEY);
      process.stdout.write(`${title}: ${(ended.ms / 1000).toFixed(1)} s\n`);
    });
  }
});
