import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterEach, expect, it } from 'vitest';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let lab: TestEngine;
afterEach(async () => {
  await lab.close();
  await upstream.close();
});

const ask = async () => {
  const client = new OpenAI({ baseURL: lab.openai, apiKey: 'any', maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'The nightly report is slow. What now?' }];
  const answer = await client.chat.completions.create({ model: 'm', messages });
  return answer.choices[0]?.message.content;
};

async function start(): Promise<void> {
  upstream = await startUpstream();
  upstream.script(() => 'Fine.');
  lab = await startEngine({
    llm: { provider: 'custom', api_base: upstream.url, api_key: 'sk-test', model_id: 'm' },
  });
}

it('starts and answers on a store whose tables are gone, and says that something is wrong', async () => {
  await start();
  await lab.engine.stop();
  const { database } = openDatabase(join(lab.home, 'state.db'));
  database.run('DROP TABLE proposals');
  database.run('DROP TABLE skill_uses');
  database.close();
  await lab.restart();
  expect(await ask()).toBe('Fine.');
  expect(lab.engine.snapshot().warnings.join(' ')).toContain('The database fails');
});

it('starts and answers on a database that is no database, and keeps the damaged file', async () => {
  await start();
  await lab.engine.stop();
  writeFileSync(join(lab.home, 'state.db'), 'this is not SQLite, whatever its name says'.repeat(100));
  await lab.restart();
  expect(await ask()).toBe('Fine.');
  expect(lab.engine.snapshot().warnings.join(' ')).toContain('set aside');
  expect((await lab.engine.call('turns.list', {})).turns).toHaveLength(1);
});
