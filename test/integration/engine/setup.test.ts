import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

/** Provider changes by the wizard and `metaclaw setup`. */
describe('choosing a provider', () => {
  let upstream: ScriptedUpstream;
  let lab: TestEngine;
  beforeEach(async () => {
    upstream = await startUpstream({ models: ['m-1'] });
  });
  afterEach(async () => {
    await lab.close();
    await upstream.close();
  });

  const mine = () => ({ provider: 'custom', baseUrl: `${upstream.url}/v1`, model: 'm-1' });
  const hasKey = async () => (await lab.engine.call('config.get', { path: 'llm.api_key' })).isSet;
  const heard = () => JSON.stringify(upstream.requests.map(({ headers }) => headers));

  it('shows the key of one provider to no other, and has it again when that one is chosen again', async () => {
    lab = await startEngine({ llm: { provider: 'openai', model_id: 'gpt-5.2', api_key: 'sk-of-openai' } });
    expect((await lab.engine.call('setup.testProvider', mine())).ok).toBe(true);
    await lab.engine.call('setup.saveProvider', mine());
    const client = new OpenAI({ baseURL: lab.openai, apiKey: 'any', maxRetries: 0 });
    await client.chat.completions.create({ model: 'm-1', messages: [{ role: 'user', content: 'hi' }] });
    expect(upstream.chats.length).toBeGreaterThan(0);
    expect(heard()).not.toContain('sk-of-openai');
    expect(await hasKey()).toBe(false);
    await lab.engine.call('setup.saveProvider', { provider: 'openai', baseUrl: '', model: 'gpt-5.2' });
    expect(await hasKey()).toBe(true);
  });

  it('takes a custom provider for another one at another host', async () => {
    lab = await startEngine({
      llm: {
        provider: 'custom',
        api_base: 'http://elsewhere.example/v1',
        model_id: 'm',
        api_key: 'sk-elsewhere',
      },
    });
    await lab.engine.call('setup.saveProvider', { provider: 'openai', baseUrl: '', model: 'gpt-5.2' });
    await lab.engine.call('setup.testProvider', mine());
    expect(heard()).not.toContain('sk-elsewhere');
    await lab.engine.call('setup.saveProvider', mine());
    expect(await hasKey()).toBe(false);
    await lab.engine.call('setup.saveProvider', { ...mine(), baseUrl: 'http://elsewhere.example/v1' });
    expect(await hasKey()).toBe(true);
  });

  it('uses a key that was stored before any provider was chosen', async () => {
    await upstream.close();
    upstream = await startUpstream({ models: ['m-1'], apiKey: 'sk-early' });
    lab = await startEngine({ llm: { api_key: 'sk-early' } });
    expect((await lab.engine.call('setup.testProvider', mine())).ok).toBe(true);
    await lab.engine.call('setup.saveProvider', mine());
    expect(await hasKey()).toBe(true);
  });

  it('refuses an address that is none: every agent would get an error', async () => {
    lab = await startEngine({});
    const save = lab.engine.call('setup.saveProvider', { ...mine(), baseUrl: 'not a url' });
    await expect(save).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect((await lab.engine.call('config.get', { path: 'llm.model_id' })).isSet).toBe(false);
  });
});
