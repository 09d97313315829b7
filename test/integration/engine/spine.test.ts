import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { errorReply, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const SKILL = {
  name: 'measure-before-tuning',
  description: 'When something is slow, measure where the time goes before changing any code.',
  content: '1. Reproduce the slowness.\n2. Profile it.\n3. Change the largest part only.\n4. Measure again.',
  category: 'coding',
  triggers: ['is slow', 'performance problem', 'too slow'],
};
const ASK = 'The nightly report is slow. Which code should I change first?';
const CORRECTION =
  'No. Measure where the time goes before changing any code; always profile first, and measure again afterwards.';

describe('the main job', () => {
  let upstream: ScriptedUpstream;
  let lab: TestEngine;

  beforeEach(async () => {
    upstream = await startUpstream({ models: ['big-model', 'evolver'] });
    upstream.script((request) =>
      request.json.model === 'evolver' ? JSON.stringify([SKILL]) : 'Let us look at the code.',
    );
    lab = await startEngine({
      mode: 'skills_only',
      llm: { provider: 'custom', api_base: upstream.url, api_key: 'sk-test', model_id: 'big-model' },
      rl: { evolver_model: 'evolver' },
      skills: { auto_accept: 'ask' },
    });
  });
  afterEach(async () => {
    await lab.close();
    await upstream.close();
  });

  const talk = (session: string, texts: string[], headers: Record<string, string> = {}) => {
    const client = new OpenAI({ baseURL: lab.openai, apiKey: 'any', maxRetries: 0 });
    return client.chat.completions
      .create(
        {
          model: 'big-model',
          messages: [
            { role: 'system', content: 'You are an engineer.' },
            ...texts.map((content, index) => ({
              role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
              content,
            })),
          ],
        },
        { headers: { 'x-metaclaw-session': session, ...headers } },
      )
      .withResponse();
  };
  const chats = () => upstream.chats.filter((request) => request.json.model === 'big-model');
  const until = async <T>(probe: () => Promise<T | null | undefined | false>): Promise<T> => {
    for (let n = 0; n < 200; n += 1) {
      const found = await probe();
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error('it did not happen within 5 s');
  };
  const teach = async () => {
    await talk('s1', [ASK]);
    await talk('s1', [ASK, 'Let us look at the code.', CORRECTION], { 'x-session-done': 'true' });
  };

  it('learns a skill from a session and carries it in the next one', async () => {
    await teach();
    const proposal = await until(async () => (await lab.engine.call('proposals.list', {}))[0]);
    expect(proposal).toMatchObject({ name: SKILL.name, state: 'waiting' });
    expect(proposal.evidence.map(({ sessionId }) => sessionId)).toContain('s1');
    const { skill } = await lab.engine.call('proposals.accept', { id: proposal.id });
    expect(skill).toBe(SKILL.name);

    const { response } = await talk('s2', ['My import is slow; where do I start before changing code?']);
    expect(response.headers.get('x-metaclaw-injected')).toContain(SKILL.name);
    expect(chats().at(-1)?.json.messages[0].content).toContain('Profile it.');
    const listed = (await lab.engine.call('skills.list', {})).skills.find(({ name }) => name === SKILL.name);
    expect(listed).toMatchObject({ source: 'learned', uses: 1 });
  });

  it('takes an accepted skill back, file and all', async () => {
    await teach();
    const proposal = await until(async () => (await lab.engine.call('proposals.list', {}))[0]);
    const { undo } = await lab.engine.call('proposals.accept', { id: proposal.id });
    await lab.restart();
    await lab.engine.call('undo.apply', { token: undo.token });
    const { skills } = await lab.engine.call('skills.list', {});
    expect(skills.map(({ name }) => name)).not.toContain(SKILL.name);
    expect((await lab.engine.call('proposals.get', { id: proposal.id })).state).toBe('waiting');
  });

  it('keeps the prompt prefix byte for byte through topics and a restart (P16, J01)', async () => {
    const history = ['The test is flaky in CI, it fails now and then. How do I hunt it?'];
    await talk('s3', history);
    history.push('Let us look at the code.', 'Now write a short email to the team with one clear ask.');
    await talk('s3', history);
    await lab.restart();
    history.push('Done.', 'And review this diff for me before I merge it.');
    await talk('s3', history);
    const bodies = chats().map((request) => request.json.messages as { role: string; content: string }[]);
    const [first, second, third] = bodies;
    expect(first?.[0]?.content).toContain('metaclaw_skills');
    expect(second?.slice(0, first?.length)).toEqual(first);
    expect(third?.slice(0, second?.length)).toEqual(second);
    expect(third?.at(-1)?.content).toMatch(/review this diff/);
  });

  // OpenClaw and Claude Code send the newest message as a list of blocks and the same one as a string a turn later.
  it.each(['openai', 'anthropic'] as const)(
    'adds the same words in the same division however an %s client spells a message',
    async (dialect) => {
      const text = (content: string) => [{ type: 'text', text: content }];
      const ask = 'Now write a short email to the team with one clear ask.';
      const turn = (messages: object[]) =>
        fetch(dialect === 'openai' ? `${lab.openai}/chat/completions` : `${lab.anthropic}/v1/messages`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'big-model', max_tokens: 900, messages }),
        });
      const messages = [{ role: 'user', content: text('The test is flaky in CI.') }];
      await turn(messages);
      const second = [
        { role: 'user', content: 'The test is flaky in CI.' },
        { role: 'assistant', content: 'Hm.' },
      ];
      await turn([...second, { role: 'user', content: text(ask) }]);
      await turn([
        ...second,
        { role: 'user', content: ask },
        { role: 'assistant', content: 'Ok.' },
        ...messages,
      ]);
      const words = chats().map(({ json }) => {
        const sent = (json.messages as { role: string; content: string | object[] }[]).find(({ content }) =>
          JSON.stringify(content).includes(ask),
        );
        return typeof sent?.content === 'string' ? text(sent.content) : sent?.content;
      });
      expect(JSON.stringify(words[1])).toContain('metaclaw_context');
      expect(words[2]).toEqual(words[1]);
    },
  );

  it('adds nothing to small talk (J07)', async () => {
    const { response } = await talk('s4', ['hi']);
    expect(response.headers.get('x-metaclaw-injected-tokens') ?? '0').toBe('0');
    expect(JSON.stringify(chats()[0]?.json.messages)).not.toContain('metaclaw');
  });

  it('loses no lesson when the evolver is down: the job waits and is done after a restart', async () => {
    upstream.script((request) =>
      request.json.model === 'evolver' ? errorReply(500, false, 'server_error', 'down') : 'Hm.',
    );
    await teach();
    await until(async () => lab.engine.snapshot().learning.lastError);
    expect(await lab.engine.call('proposals.list', {})).toEqual([]);
    expect(lab.engine.snapshot().learning.queued).toBe(1);
    const { response } = await talk('s5', ['hi']);
    expect(response.status).toBe(200);
    upstream.script(() => JSON.stringify([SKILL]));
    await lab.engine.call('config.set', { path: 'rl.evolver_model', value: 'evolver-2' });
    await until(async () => (await lab.engine.call('proposals.list', {}))[0]);
  });

  it('records a turn with what came in, what went upstream and what came back, and the Anthropic wire too', async () => {
    const client = new Anthropic({ baseURL: lab.anthropic, apiKey: 'any', maxRetries: 0 });
    const message = await client.messages
      .stream(
        {
          model: 'big-model',
          max_tokens: 200,
          system: 'You are an engineer.',
          messages: [{ role: 'user', content: ASK }],
        },
        { headers: { 'x-metaclaw-agent': 'claude-code' } },
      )
      .finalMessage();
    expect(message.content).toEqual([{ type: 'text', text: 'Let us look at the code.' }]);
    const { turns } = await lab.engine.call('turns.list', {});
    expect(turns[0]).toMatchObject({
      agent: 'claude-code',
      status: 'answered',
      dialect: 'anthropic',
      userText: ASK,
    });
    const turn = await lab.engine.call('turns.get', { id: turns[0]?.id ?? '' });
    expect(JSON.parse(turn.requestBody ?? '{}').messages[0].content).toBe(ASK);
    expect(JSON.parse(turn.sentBody ?? '{}').messages[0].role).toBe('system');
    expect(turn.replyText).toBe('Let us look at the code.');
    expect(turn.usage?.outputTokens).toBeGreaterThan(0);
  });

  it('refuses in the client’s shape without a provider, and works as soon as one is saved', async () => {
    await lab.engine.call('config.unset', { path: 'llm.api_base' });
    await expect(talk('s6', ['hi'])).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('provider'),
    });
    await lab.engine.call('setup.saveProvider', {
      provider: 'custom',
      baseUrl: upstream.url,
      model: 'big-model',
      apiKey: 'sk-test',
    });
    expect((await talk('s6', ['hi'])).response.status).toBe(200);
    expect((await lab.engine.call('config.get', { path: 'llm.api_key' })).value).not.toContain('sk-test');
  });

  it('becomes a plain pass-through in bypass: nothing added, nothing recorded', async () => {
    await lab.engine.call('proxy.bypass', { on: true });
    const before = (await lab.engine.call('turns.list', {})).turns.length;
    await talk('s7', [ASK]);
    expect(JSON.stringify(chats()[0]?.json)).not.toContain('metaclaw');
    expect((await lab.engine.call('turns.list', {})).turns).toHaveLength(before);
  });

  it('adds and keeps nothing in private mode, for every agent, also after a restart (L06)', async () => {
    await lab.engine.call('config.set', { path: 'private', value: true });
    await lab.restart();
    expect(lab.engine.snapshot().privateMode).toBe(true);
    await talk('s8', [ASK], { 'x-session-done': 'true' });
    expect(JSON.stringify(chats()[0]?.json)).not.toContain('metaclaw');
    expect((await lab.engine.call('turns.list', {})).turns).toEqual([]);
    expect(lab.engine.snapshot().learning.queued).toBe(0);
  });
});
