import Anthropic from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

describe('words beside tool results', () => {
  let upstream: ScriptedUpstream;
  let lab: TestEngine;

  beforeEach(async () => {
    upstream = await startUpstream();
    lab = await startEngine({
      mode: 'skills_only',
      llm: { provider: 'custom', wire: 'anthropic', api_base: upstream.url, model_id: 'm', api_key: 'k' },
    });
  });
  afterEach(async () => {
    await lab.close();
    await upstream.close();
  });

  const ask = async (messages: Anthropic.MessageParam[]) => {
    const client = new Anthropic({ baseURL: lab.anthropic, apiKey: 'any', maxRetries: 0 });
    const tools = [{ name: 'depth', input_schema: { type: 'object' as const } }];
    await client.messages.create({ model: 'm', max_tokens: 500, system: 'You steer.', tools, messages });
    return upstream.last.json.messages as Anthropic.MessageParam[];
  };
  const call = (id: string): Anthropic.MessageParam => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id, name: 'depth', input: {} }],
  });
  const result = (id: string, ...words: string[]): Anthropic.MessageParam => ({
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: id, content: '12 m' },
      ...words.map((text) => ({ type: 'text' as const, text })),
    ],
  });

  // Claude Code puts what the user types while a tool runs into the message with the tool's result (J01, J03).
  it('are looked at, and what fits them stands between the two, from then on', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Good morning' }, call('t1')];
    messages.push(result('t1', 'Then draft an email to the harbour master.'));
    const first = await ask(messages);
    const blocks = first[2]?.content as { type: string; text?: string }[];
    expect(blocks.map(({ type }) => type)).toEqual(['tool_result', 'text', 'text']);
    expect(blocks[1]?.text).toContain('## email-with-one-ask');
    messages.push(call('t2'), result('t2'));
    expect((await ask(messages)).slice(0, 3)).toEqual(first);
  });

  it('results alone ask for nothing: the words before them were looked at in their own turn', async () => {
    const first = await ask([
      { role: 'user', content: 'Draft an email to the harbour master.' },
      call('t1'),
      result('t1'),
    ]);
    expect(JSON.stringify(first)).not.toContain('metaclaw');
  });
});
