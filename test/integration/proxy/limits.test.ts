import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ProxyLab, type ProxyLabOptions, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest } from '../../support/raw.ts';

type Json = Record<string, unknown>;

let lab: ProxyLab;
afterEach(async () => {
  expect(lab.errors).toEqual([]);
  await lab.close();
});

async function start(config: Json, options: ProxyLabOptions = {}): Promise<void> {
  lab = await startProxyLab({ ...options, config: { ...options.config, ...config } });
}

/** About 100 tokens, recognisable. */
const words = (mark: string) => `${mark} ${'alpha beta gamma delta '.repeat(25)}`;

function openaiHistory(exchanges: number): Json[] {
  const messages: Json[] = [{ role: 'system', content: words('SYSTEM') }];
  for (let n = 0; n < exchanges; n += 1)
    messages.push(
      { role: 'user', content: words(`question-${n}`) },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: `c${n}`, type: 'function', function: { name: 'f', arguments: `{"n":${n}}` } }],
      },
      { role: 'tool', tool_call_id: `c${n}`, content: words(`result-${n}`) },
      { role: 'assistant', content: words(`answer-${n}`) },
    );
  messages.push({ role: 'user', content: 'the newest question' });
  return messages;
}

function anthropicHistory(exchanges: number): Json[] {
  const messages: Json[] = [];
  for (let n = 0; n < exchanges; n += 1)
    messages.push(
      { role: 'user', content: words(`question-${n}`) },
      { role: 'assistant', content: [{ type: 'tool_use', id: `c${n}`, name: 'f', input: { n } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `c${n}`, content: words(`result-${n}`) }],
      },
      { role: 'assistant', content: [{ type: 'text', text: words(`answer-${n}`) }] },
    );
  messages.push({ role: 'user', content: 'the newest question' });
  return messages;
}

async function send(messages: Json[], extra: Json = {}, headers: Record<string, string> = {}) {
  const anthropic = 'max_tokens' in extra && 'system' in extra;
  const answer = await rawRequest(
    lab.port,
    post(
      anthropic ? '/v1/messages' : '/v1/chat/completions',
      JSON.stringify({ model: 'm', messages, ...extra }),
      {
        'anthropic-version': '2023-06-01',
        ...headers,
      },
    ),
  );
  // The scripted upstream refuses orphaned calls and results, and Anthropic's also a history that begins otherwise.
  expect(answer.status, answer.body).toBe(200);
  return answer;
}

const sent = () => lab.upstream.last.rawBody.toString();
const record = () => lab.sessions.list({ limit: 1 }).turns[0]?.injection;

describe('max_context_tokens', () => {
  it.each(['auto', 0])('%s: a long history goes out whole, byte for byte', async (limit) => {
    await start({ max_context_tokens: limit }, { model: 'm' });
    const messages = openaiHistory(100);
    const answer = await send(messages);
    expect(answer.headers['x-metaclaw-truncated']).toBeUndefined();
    expect(sent()).toBe(JSON.stringify({ model: 'm', messages }));
  });

  it('a history that fits is not touched, though its bytes look large', async () => {
    await start({ max_context_tokens: 3000 }, { model: 'm' });
    const messages = openaiHistory(8);
    const answer = await send(messages);
    expect(answer.headers['x-metaclaw-truncated']).toBeUndefined();
    expect(sent()).toBe(JSON.stringify({ model: 'm', messages }));
  });

  it('keeps the system part and the newest, whole exchanges in order; says so in header and record', async () => {
    await start({ max_context_tokens: 2000 }, { model: 'm' });
    const answer = await send(openaiHistory(30));
    const { messages } = lab.upstream.last.json as { messages: Json[] };
    expect(messages[0]).toEqual(openaiHistory(0)[0]);
    expect(messages.at(-1)).toEqual({ role: 'user', content: 'the newest question' });
    expect(messages[1]?.role).toBe('user');
    const tail = openaiHistory(30).slice(-(messages.length - 1));
    expect(messages.slice(1)).toEqual(tail);
    // About 325 tokens an exchange: it must use what it is given, and no more.
    expect(messages.length).toBeGreaterThanOrEqual(2 + 4 * 4);
    expect(messages.length).toBeLessThanOrEqual(2 + 4 * 6);
    const gone = 122 - messages.length;
    expect(answer.headers['x-metaclaw-truncated']).toMatch(new RegExp(`^messages=${gone}, tokens=\\d+$`));
    expect(record()?.cut?.messages).toBe(gone);
    expect(record()?.cut?.tokens).toBeGreaterThan(7000);
  });

  it.each(['openai', 'anthropic'] as const)(
    'an Anthropic client on %s: nothing is orphaned',
    async (wire) => {
      await start({ max_context_tokens: 2000 }, { wire });
      const answer = await send(anthropicHistory(30), { max_tokens: 100, system: words('SYSTEM') });
      expect(answer.headers['x-metaclaw-truncated']).toBeDefined();
      expect(sent()).toContain('SYSTEM');
      expect(sent()).toContain('the newest question');
      expect(sent()).toContain('result-29');
      expect(sent()).not.toContain('result-20 ');
      expect(sent()).not.toContain('question-20 ');
    },
  );

  it('a tool loop longer than the limit loses its oldest steps, never the question that it answers', async () => {
    await start({ max_context_tokens: 1500 }, { wire: 'anthropic' });
    const messages: Json[] = [{ role: 'user', content: 'the question of the loop' }];
    for (let n = 0; n < 40; n += 1)
      messages.push(
        { role: 'assistant', content: [{ type: 'tool_use', id: `c${n}`, name: 'f', input: { n } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: `c${n}`, content: words(`result-${n}`) }],
        },
      );
    await send(messages, { max_tokens: 100, system: 'S' });
    const kept = lab.upstream.last.json.messages as Json[];
    expect(kept[0]).toEqual(messages[0]);
    expect(kept.slice(1)).toEqual(messages.slice(-(kept.length - 1)));
    expect(kept.length).toBeGreaterThan(10);
    expect(kept.length).toBeLessThan(32);
  });

  it('a Responses client: parallel calls and their results go or stay together', async () => {
    await start({ max_context_tokens: 1500 });
    const input: Json[] = [{ role: 'user', content: 'the question of the loop' }];
    for (let n = 0; n < 20; n += 1)
      input.push(
        { type: 'function_call', call_id: `a${n}`, name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: `b${n}`, name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: `a${n}`, output: words(`result-a${n}`) },
        { type: 'function_call_output', call_id: `b${n}`, output: words(`result-b${n}`) },
      );
    const answer = await rawRequest(
      lab.port,
      post('/v1/responses', JSON.stringify({ model: 'm', instructions: words('SYSTEM'), input })),
    );
    expect(answer.status, answer.body).toBe(200);
    expect(answer.headers['x-metaclaw-truncated']).toBeDefined();
    expect(sent()).toContain('the question of the loop');
    expect(sent()).toContain('result-b19');
    expect(sent()).not.toContain('result-a2 ');
  });

  it('what cannot be cut stays: a huge newest message goes out', async () => {
    await start({ max_context_tokens: 100 });
    await send([...openaiHistory(2).slice(0, -1), { role: 'user', content: words('HUGE').repeat(10) }]);
    const { messages } = lab.upstream.last.json as { messages: Json[] };
    expect(messages.map((message) => message.role)).toEqual(['system', 'user']);
  });

  it('injected text counts, stands at its place, and none of it is lost with what is cut', async () => {
    await start({ max_context_tokens: 2000 }, { inject: 'ADDED' });
    const messages = openaiHistory(30).slice(1);
    await send(messages);
    const got = lab.upstream.last.json.messages as Json[];
    expect(got[0]).toEqual({ role: 'system', content: 'ADDED' });
    expect(got.slice(1)).toEqual(messages.slice(-(got.length - 1)));
  });

  it('cuts at the same place for some turns, so that the provider’s cache holds', async () => {
    await start({ max_context_tokens: 4000 });
    const firsts: unknown[] = [];
    const messages = openaiHistory(40);
    for (let n = 0; n < 8; n += 1) {
      messages.push({ role: 'assistant', content: 'ok' }, { role: 'user', content: `more ${n}` });
      await send(messages);
      firsts.push((lab.upstream.last.json.messages as Json[])[1]?.content);
    }
    expect(new Set(firsts).size).toBeLessThanOrEqual(2);
  });

  it('bypass cuts nothing; a private turn is cut like any other', async () => {
    await start({ max_context_tokens: 1000 });
    const answer = await send(openaiHistory(20), {}, { 'x-metaclaw-private': 'on' });
    expect(answer.headers['x-metaclaw-truncated']).toBeDefined();
    lab.config.bypass = true;
    expect((await send(openaiHistory(20))).headers['x-metaclaw-truncated']).toBeUndefined();
  });

  it('a word without end takes no time', async () => {
    await start({ max_context_tokens: 1000 });
    const begin = performance.now();
    await send([
      { role: 'user', content: `${'ab'.repeat(100_000)} end` },
      { role: 'assistant', content: `${'字'.repeat(20_000)} end` },
      { role: 'user', content: 'go on' },
    ]);
    expect(performance.now() - begin).toBeLessThan(4000);
    expect(lab.upstream.last.json.messages).toEqual([{ role: 'user', content: 'go on' }]);
  });
});

describe('context_window', () => {
  it('leaves room for the answer; max_context_tokens: 0 still means never', async () => {
    await start({ context_window: 4000 });
    await send(openaiHistory(30), { max_tokens: 1500 });
    const narrow = (lab.upstream.last.json.messages as Json[]).length;
    await send(openaiHistory(30), { max_tokens: 100 });
    const wide = (lab.upstream.last.json.messages as Json[]).length;
    expect(narrow).toBeLessThan(wide);
    expect(wide).toBeLessThan(122);
    lab.config.max_context_tokens = 0;
    await send(openaiHistory(30));
    expect(lab.upstream.last.json.messages).toHaveLength(122);
  });
});

describe('clients that take their time', () => {
  /** Writes a piece every 40 ms and gives what came back when the connection ends. */
  function drip(port: number, pieces: string[]): Promise<string> {
    return new Promise((resolve) => {
      let got = '';
      const socket = connect(port, '127.0.0.1');
      const timer = setInterval(() => {
        const piece = pieces.shift() ?? 'x';
        if (socket.writable) socket.write(piece);
      }, 40);
      socket.on('data', (bytes) => {
        got += bytes.toString();
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        clearInterval(timer);
        resolve(got);
      });
    });
  }

  it.each([
    ['headers', ['POST /v1/chat/completions HTTP/1.1\r\n', 'host: 127.0.0.1\r\n']],
    [
      'a body',
      [
        'POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n{',
      ],
    ],
  ])('%s without end: the connection is given up', async (_, pieces) => {
    await start({}, { deps: { patience: { headersMs: 200, requestMs: 400 } } });
    const begin = performance.now();
    expect(await drip(lab.port, pieces)).toMatch(/^(HTTP\/1\.1 408 |$)/);
    expect(performance.now() - begin).toBeLessThan(3000);
    expect(lab.upstream.chats).toHaveLength(0);
  });

  it('an answer that takes longer than all that is not cut', async () => {
    await start({}, { deps: { patience: { headersMs: 200, requestMs: 300 } } });
    lab.upstream.reply({ text: 'slow', wire: { headersDelayMs: 900 } });
    const answer = await send([{ role: 'user', content: 'hi' }]);
    expect(answer.body).toContain('slow');
  });
});
