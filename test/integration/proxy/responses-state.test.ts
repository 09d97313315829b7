import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addToSystem, type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { startUpstream } from '../../support/upstream.ts';

function client(lab: ProxyLab, headers: Record<string, string> = {}): OpenAI {
  return new OpenAI({ baseURL: `${lab.url}/v1`, apiKey: 'any', maxRetries: 0, defaultHeaders: headers });
}

function sentText(lab: ProxyLab): string {
  return JSON.stringify(lab.upstream.last.json);
}

const WEATHER = { type: 'function' as const, name: 'weather', strict: false, parameters: { type: 'object' } };

describe.each(['openai', 'anthropic'] as const)('responses continued by id over an %s upstream', (wire) => {
  let lab: ProxyLab;
  let openai: OpenAI;
  beforeAll(async () => {
    lab = await startProxyLab({ wire });
    openai = client(lab);
  });
  afterEach(() => {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  });
  afterAll(() => lab.close());

  it('sends the whole conversation that previous_response_id stands for, over three turns, as one session', async () => {
    lab.upstream.reply('You are Ada.', { tools: [{ id: 'c1', name: 'weather', arguments: '{}' }] }, 'Sunny.');
    const first = await openai.responses.create({ model: 'm', input: 'My name is Ada.' });
    const stream = openai.responses.stream({
      model: 'm',
      previous_response_id: first.id,
      input: [{ role: 'user', content: 'Weather?' }],
      tools: [WEATHER],
    });
    const second = await stream.finalResponse();
    expect(second.previous_response_id).toBe(first.id);
    const third = await openai.responses
      .create({
        model: 'm',
        previous_response_id: second.id,
        input: [{ type: 'function_call_output', call_id: 'c1', output: 'sun' }],
        tools: [WEATHER],
      })
      .withResponse();
    expect(third.data.output_text).toBe('Sunny.');
    const text = sentText(lab);
    const order = ['My name is Ada.', 'You are Ada.', 'Weather?', 'weather', 'sun'].map((word) =>
      text.indexOf(word),
    );
    expect(order.every((at) => at >= 0)).toBe(true);
    expect([...order].sort((a, b) => a - b)).toEqual(order);
    const sessions = lab.sessions.list({ limit: 10 }).turns.map((turn) => turn.sessionId);
    expect(new Set(sessions).size).toBe(1);
  });

  it('branches: two answers to one response each have their own history', async () => {
    lab.upstream.reply('Root.', 'Left.', 'Right.', 'Left again.');
    const root = await openai.responses.create({ model: 'm', input: 'root question' });
    const left = await openai.responses.create({
      model: 'm',
      previous_response_id: root.id,
      input: 'left question',
    });
    await openai.responses.create({ model: 'm', previous_response_id: root.id, input: 'right question' });
    expect(sentText(lab)).not.toContain('left question');
    await openai.responses.create({ model: 'm', previous_response_id: left.id, input: 'more' });
    expect(sentText(lab)).toContain('left question');
    expect(sentText(lab)).not.toContain('right question');
  });

  it('answers 404 in OpenAI’s shape for a response that nobody knows, before anything goes upstream', async () => {
    const error = await openai.responses
      .create({ model: 'm', previous_response_id: 'resp_nobody', input: 'x' })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ param: 'previous_response_id' });
    expect(lab.upstream.requests).toHaveLength(0);
  });

  it('gives a kept response back, whole, as a stream and as its input, and deletes it', async () => {
    lab.upstream.reply('Kept.', 'Kept too.');
    const first = await openai.responses.create({ model: 'm', input: 'one' });
    const second = await openai.responses.create({
      model: 'm',
      previous_response_id: first.id,
      input: 'two',
    });
    const found = await openai.responses.retrieve(second.id);
    expect(found.output_text).toBe('Kept too.');
    const events = await openai.responses.retrieve(second.id, { stream: true });
    const types: string[] = [];
    for await (const event of events) types.push(event.type);
    expect(types.at(-1)).toBe('response.completed');
    const items: unknown[] = [];
    for await (const item of openai.responses.inputItems.list(second.id, { order: 'asc', limit: 1 }))
      items.push(item);
    expect(JSON.stringify(items)).toMatch(/one.*Kept\..*two/);
    await openai.responses.delete(second.id);
    await expect(openai.responses.retrieve(second.id)).rejects.toThrow(OpenAI.NotFoundError);
    await expect(openai.responses.retrieve('resp_nobody')).rejects.toThrow(OpenAI.NotFoundError);
  });

  it('puts the item in that a reference names', async () => {
    lab.upstream.reply('The answer is 42.', 'Yes.');
    const first = await openai.responses.create({ model: 'm', input: 'q' });
    const id = first.output[0]?.id ?? '';
    await openai.responses.create({
      model: 'm',
      input: [
        { role: 'user', content: 'q' },
        { type: 'item_reference', id },
        { role: 'user', content: 'sure?' },
      ],
    });
    expect(sentText(lab)).toContain('The answer is 42.');
    const lost = openai.responses.create({ model: 'm', input: [{ type: 'item_reference', id: 'msg_lost' }] });
    await expect(lost).rejects.toThrow(/msg_lost/);
  });

  it('keeps nothing of a request that says store: false', async () => {
    lab.upstream.reply('Gone.');
    const first = await openai.responses.create({ model: 'm', input: 'q', store: false });
    await expect(openai.responses.retrieve(first.id)).rejects.toThrow(OpenAI.NotFoundError);
  });

  it('counts input tokens and refuses what only OpenAI can do', async () => {
    const count = await openai.responses.inputTokens.count({ model: 'm', input: 'four words of text' });
    expect(count.input_tokens).toBeGreaterThan(3);
    await expect(openai.responses.create({ model: 'm', input: 'x', background: true })).rejects.toThrow(
      /background/,
    );
    await expect(openai.responses.create({ model: 'm', input: 'x', conversation: 'conv_1' })).rejects.toThrow(
      /conversation/i,
    );
    expect(lab.upstream.chats).toHaveLength(0);
  });
});

describe('what is kept, and where', () => {
  it('continues a private conversation from memory and leaves nothing on disk', async () => {
    const lab = await startProxyLab();
    try {
      const openai = client(lab, { 'x-metaclaw-private': 'on' });
      lab.upstream.reply('Secret answer.', 'Still here.');
      const first = await openai.responses.create({ model: 'm', input: 'secret question' });
      await openai.responses.create({ model: 'm', previous_response_id: first.id, input: 'go on' });
      expect(sentText(lab)).toContain('secret question');
      expect(lab.database.get<{ n: number }>('SELECT count(*) AS n FROM responses')?.n).toBe(0);
    } finally {
      await lab.close();
    }
  });

  it('leaves ids that a Responses provider made to that provider, and keeps their session', async () => {
    const lab = await startProxyLab({ wire: 'responses' });
    try {
      lab.upstream.reply(
        { text: 'One.', extra: { id: 'resp_theirs' } },
        { text: 'Two.', extra: { id: 'resp_theirs_2' } },
      );
      const openai = client(lab);
      const first = await openai.responses.create({ model: 'served', input: 'q' }).withResponse();
      const second = await openai.responses
        .create({ model: 'served', previous_response_id: first.data.id, input: 'go on' })
        .withResponse();
      expect(lab.upstream.last.json).toEqual({
        model: 'served',
        previous_response_id: 'resp_theirs',
        input: 'go on',
      });
      expect(second.response.headers.get('x-metaclaw-session')).toBe(
        first.response.headers.get('x-metaclaw-session'),
      );
      await openai.responses.retrieve('resp_theirs_2');
      expect(lab.upstream.last).toMatchObject({ method: 'GET', path: '/v1/responses/resp_theirs_2' });
    } finally {
      await lab.close();
    }
  });

  it('lets another provider answer when a Responses provider is down, but nobody else go on from its responses', async () => {
    const second = await startUpstream();
    const lab = await startProxyLab({ wire: 'responses' });
    Object.assign(lab.config.llm, {
      fallbacks: [
        { provider: 'custom', wire: 'openai', api_base: second.url, api_key: 'k', model_id: 'other' },
      ],
    });
    try {
      const openai = client(lab);
      const down = { status: 401, body: { error: { message: 'no', type: 'x', param: null, code: null } } };
      lab.upstream.reply({ text: 'Theirs.', extra: { id: 'resp_theirs' } });
      await openai.responses.create({ model: 'served', input: 'first' });
      lab.upstream.script(() => down);
      const bound = openai.responses.create({
        model: 'm',
        previous_response_id: 'resp_theirs',
        input: 'go on',
      });
      await expect(bound).rejects.toThrow(OpenAI.APIError);
      expect(second.chats).toHaveLength(0);
      second.reply('Ours.', 'Ours again.');
      const free = await openai.responses.create({ model: 'm', input: 'fresh question' });
      expect(free.output_text).toBe('Ours.');
      await openai.responses.create({ model: 'm', previous_response_id: free.id, input: 'go on' });
      expect(JSON.stringify(second.last.json.messages)).toMatch(/fresh question.*Ours\..*go on/);
    } finally {
      await lab.close();
      await second.close();
    }
  });

  it('passes a request and its answer on byte for byte, apart from what it adds', async () => {
    const lab = await startProxyLab({
      wire: 'responses',
      compose: (turn) => addToSystem(turn, 'NOTE', [{ index: 0, text: 'CONTEXT\n\n' }]),
    });
    try {
      const raw =
        '{ "model":"served","new_field" : [1.0,2e3],"instructions":"Be \\u0041.","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]}';
      lab.upstream.reply({ text: 'ok', extra: { unheard: { of: 1 } } });
      const answer = await fetch(`${lab.url}/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: raw,
      });
      const sent = lab.upstream.last.rawBody.toString('utf8');
      expect(sent).toBe(
        raw.replace('\\u0041."', '\\u0041.\\n\\nNOTE"').replace('"text":"hi"', '"text":"CONTEXT\\n\\nhi"'),
      );
      const told = (await answer.json()) as Record<string, unknown>;
      expect(told.unheard).toEqual({ of: 1 });
      // The provider repeats the instructions; the client gets its own back.
      expect(told.instructions).toBe('Be A.');
    } finally {
      await lab.close();
    }
  });
});
