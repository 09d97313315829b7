import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addToSystem, type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { post, rawRequest, slowClient } from '../../support/raw.ts';

interface Captured {
  requests: { url: string; headers: [string, string][]; body: Record<string, unknown> }[];
}

function captured(name: string) {
  const file = join(import.meta.dirname, `../../fixtures/clients/${name}.json`);
  return (JSON.parse(readFileSync(file, 'utf8')) as Captured).requests
    .filter((request) => /\/(chat\/completions|messages)(\?|$)/.test(request.url))
    .map((request) => {
      const skip = /^(host|connection|content-length|transfer-encoding|accept-encoding)$/i;
      const headers = Object.fromEntries(
        request.headers
          .filter(([name]) => !skip.test(name))
          .map(([name, value]) => [name.toLowerCase(), value.replace(/[^\x20-\x7e]/g, '?')]),
      );
      return { url: request.url, headers, body: JSON.stringify(request.body) };
    });
}

const labs = {} as Record<'openai' | 'anthropic', ProxyLab>;
/** What the next turns get; set by tests. */
const add = { system: null as string | null, message: null as string | null };

beforeAll(async () => {
  for (const wire of ['openai', 'anthropic'] as const)
    labs[wire] = await startProxyLab({
      wire,
      model: 'fake-model',
      compose: (turn) =>
        addToSystem(
          turn,
          add.system,
          add.message === null ? [] : [{ index: turn.facts.userIndex, text: add.message }],
        ),
    });
});
afterEach(() => {
  for (const lab of Object.values(labs)) {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  }
  Object.assign(add, { system: null, message: null });
});
afterAll(async () => {
  for (const lab of Object.values(labs)) await lab.close();
});

const CLIENTS = [
  'chat-default',
  'chat-session',
  'chat-reasoning',
  'plug-openai-completions',
  'gatewayA',
  'weixin-llm',
  'opencode',
  'anthropic-default',
  'anthropic-session',
  'plug-anthropic-messages',
  'claude',
  'claude_token',
];

describe('requests captured from real clients', () => {
  it.each(CLIENTS)(
    '%s: with nothing to add, the provider gets the very same bytes and headers',
    async (name) => {
      for (const { url, headers, body } of captured(name)) {
        const lab = labs[url.includes('/messages') ? 'anthropic' : 'openai'];
        const answer = await rawRequest(lab.port, post(`/a/test${url}`, body, headers));
        expect(answer.status, answer.body).toBe(200);
        expect(answer.body).toMatch(/\[DONE\]|message_stop/);
        const { last } = lab.upstream;
        expect(last.rawBody.toString()).toBe(body);
        expect(`${last.path}${last.query ? `?${last.query}` : ''}`).toBe(url);
        for (const kept of [
          'user-agent',
          'anthropic-beta',
          'anthropic-version',
          'traceparent',
          'x-app',
          'x-stainless-lang',
        ])
          expect(last.headers[kept], kept).toBe(headers[kept]);
        expect(JSON.stringify(last.headers)).not.toContain('sk-local-test');
      }
    },
  );

  it.each(CLIENTS)(
    '%s: the other dialect’s provider accepts the translation, tool loop included',
    async (name) => {
      for (const { url, headers, body } of captured(name)) {
        const lab = labs[url.includes('/messages') ? 'openai' : 'anthropic'];
        add.system = 'ADDED SYSTEM';
        add.message = 'ADDED WORDS\n\n';
        lab.upstream.reply({
          text: 'Hello',
          tools: [{ id: 'call_1', name: 'exec', arguments: '{"command":"ls"}' }],
        });
        const answer = await rawRequest(lab.port, post(`/a/test${url}`, body, headers));
        expect(answer.status, answer.body).toBe(200);
        expect(answer.body).toContain(
          url.includes('/messages') ? '"stop_reason":"tool_use"' : '"finish_reason":"tool_calls"',
        );
        expect(lab.upstream.last.json.model).toBe('fake-model');
      }
    },
  );

  it.each(CLIENTS)('%s: what is added is a splice, every other byte stays (P17)', async (name) => {
    for (const { url, headers, body } of captured(name)) {
      const lab = labs[url.includes('/messages') ? 'anthropic' : 'openai'];
      add.system = 'ADDED "SYSTEM"';
      add.message = 'ADDED WORDS\n\n';
      const answer = await rawRequest(lab.port, post(`/a/test${url}`, body, headers));
      expect(answer.status, answer.body).toBe(200);
      const sent = lab.upstream.last.rawBody.toString();
      if (answer.headers['x-metaclaw-injected'] === undefined) {
        expect(sent).toBe(body);
        continue;
      }
      const without = sent
        .replace(/,?\{"type":"text","text":"ADDED [^}]*\},?/g, (found) =>
          found.startsWith(',') && found.endsWith(',') ? ',' : '',
        )
        .replace('\\n\\nADDED \\"SYSTEM\\"', '')
        .replace('ADDED WORDS\\n\\n', '');
      expect(without).toBe(body);
      const words = JSON.parse(sent).messages.findLast((message: { role: string; content: unknown }) =>
        JSON.stringify(message.content ?? '').includes('ADDED WORDS'),
      );
      expect(words.role).toBe('user');
      expect(JSON.stringify(words.content)).toMatch(
        /Run echo|Second message|hello from wechat|turn (on|after)/,
      );
    }
  });
});

const BODY = {
  model: 'fake-model',
  messages: [
    { role: 'system', content: 'S' },
    { role: 'user', content: 'hello there' },
  ],
};

function chat(lab: ProxyLab, headers: Record<string, string> = {}, body: object = BODY) {
  return rawRequest(lab.port, post('/v1/chat/completions', JSON.stringify(body), headers));
}

describe('what stays here', () => {
  it('the original’s identity fields and our headers never reach the provider', async () => {
    const body = {
      session_id: 's-1',
      turn_type: 'main',
      ...BODY,
      session_done: false,
      memory_scope: 'm',
      user_id: 'u',
      workspace_id: 'w',
      user: 'kept',
    };
    const answer = await chat(
      labs.openai,
      { 'x-metaclaw-agent': 'tester', 'x-session-id': 's-1', 'x-turn-type': 'main', cookie: 'a=b' },
      body,
    );
    expect(answer.headers['x-metaclaw-session']).toBe('s-1');
    expect(labs.openai.upstream.last.rawBody.toString()).toBe(JSON.stringify({ ...BODY, user: 'kept' }));
    expect(labs.openai.upstream.last.rawHeaders.join(' ').toLowerCase()).not.toMatch(
      /metaclaw|x-session-id|x-turn-type|cookie/,
    );
  });

  it.each([
    ['x-metaclaw-private', 'on'],
    ['x-metaclaw-private', 'True'],
    ['x-metaclaw-learn', 'off'],
  ])('%s: %s adds nothing and leaves no trace (L06)', async (name, value) => {
    add.system = 'ADDED';
    const before = labs.openai.sessions.list({ limit: 500 }).turns.length;
    const answer = await chat(labs.openai, { [name]: value });
    expect(answer.status).toBe(200);
    expect(answer.headers['x-metaclaw-turn']).toBeUndefined();
    expect(labs.openai.upstream.last.rawBody.toString()).toBe(JSON.stringify(BODY));
    expect(labs.openai.sessions.list({ limit: 500 }).turns).toHaveLength(before);
  });

  it('bypass is a plain pass-through that still knows the provider', async () => {
    const lab = await startProxyLab({ wire: 'anthropic', inject: 'ADDED' });
    lab.config.bypass = true;
    const answer = await chat(lab);
    expect(JSON.parse(answer.body).choices[0].message.content).toContain('scripted upstream');
    expect(lab.upstream.last.rawBody.toString()).not.toContain('ADDED');
    expect(lab.sessions.list({ limit: 5 }).turns).toEqual([]);
    await lab.close();
  });

  it('the caller’s own credentials go on only in passthrough mode', async () => {
    const lab = await startProxyLab({ upstream: { apiKey: 'sk-mine' } });
    lab.config.llm.auth_method = 'passthrough';
    expect((await chat(lab, { authorization: 'Bearer sk-mine' })).status).toBe(200);
    lab.config.llm.auth_method = 'api_key';
    expect((await chat(lab, { authorization: 'Bearer sk-mine' })).status).toBe(401);
    await lab.close();
  });
});

describe('what is added', () => {
  it('names itself in the headers', async () => {
    add.system = 'ADDED';
    const answer = await chat(labs.openai, { 'x-metaclaw-session': 'named' });
    expect(answer.headers).toMatchObject({
      'x-metaclaw-session': 'named',
      'x-metaclaw-upstream': 'custom',
      'x-metaclaw-model': 'fake-model',
      'x-metaclaw-injected': 'test-skill',
      'x-metaclaw-injected-tokens': '9',
    });
    const turn = labs.openai.sessions.get(answer.headers['x-metaclaw-turn'] ?? '');
    expect(turn).toMatchObject({ status: 'answered', userText: 'hello there', sessionId: 'named' });
    expect(turn.sentBody).toContain('ADDED');
    expect(turn.requestBody).not.toContain('ADDED');
  });

  it('J05: side calls get nothing', async () => {
    add.system = 'ADDED';
    await chat(labs.openai, { 'x-session-id': 'side', 'x-turn-type': 'side' });
    expect(labs.openai.upstream.last.rawBody.toString()).toBe(JSON.stringify(BODY));
  });

  it('never delays a turn past its deadline, nor breaks one', async () => {
    for (const compose of [
      () => new Promise<never>(() => {}),
      () => Promise.reject(new Error('retrieval broke')),
      () => {
        throw new Error('retrieval broke at once');
      },
    ]) {
      const lab = await startProxyLab({ compose, deps: { deadlineMs: 20 } });
      const answer = await chat(lab);
      expect(answer.status).toBe(200);
      const turn = lab.sessions.get(answer.headers['x-metaclaw-turn'] ?? '');
      expect(['deadline', 'error']).toContain(turn.injection.skipped);
      await lab.close();
    }
  });

  it('S45: a client that leaves while its turn is prepared costs no call to the provider', async () => {
    let prepared = () => {};
    const ready = new Promise<void>((resolve) => {
      prepared = resolve;
    });
    const lab = await startProxyLab({
      deps: { deadlineMs: 5000 },
      compose: async (turn) => {
        client.destroy();
        await new Promise((resolve) => setTimeout(resolve, 100));
        setImmediate(prepared);
        return addToSystem(turn, null);
      },
    });
    const client = slowClient(lab.port, post('/v1/chat/completions', JSON.stringify(BODY)));
    await ready;
    expect(lab.upstream.requests).toHaveLength(0);
    expect(lab.sessions.list({ limit: 5 }).turns).toEqual([]);
    expect(lab.errors).toEqual([]);
    await lab.close();
  });

  it('a turn that cannot be made ready is given up: its session stays free and keeps its count', async () => {
    let breaks = true;
    const lab = await startProxyLab({
      compose: (turn) => {
        // Broken with the addition and without.
        if (breaks)
          Object.defineProperty(turn.facts, 'model', {
            get: () => {
              throw new TypeError('a fault of ours');
            },
          });
        return addToSystem(turn, 'ADDED');
      },
    });
    const done = { 'x-metaclaw-session': 'given-up', 'x-session-done': 'true' };
    expect((await chat(lab, done)).status).toBe(500);
    breaks = false;
    expect((await chat(lab, { 'x-metaclaw-session': 'given-up' })).status).toBe(200);
    expect(lab.sessions.list({ limit: 5 }).turns.map(({ seq }) => seq)).toEqual([1]);
    expect(lab.errors.splice(0)).toHaveLength(2);
    await lab.close();
  });

  it('a session log that fails takes nothing from the answer', async () => {
    const broken = () => {
      throw new Error('disk full');
    };
    const lab = await startProxyLab({
      deps: { sessions: { open: broken, recordRequest: broken, recordReply: broken, abandon: broken } },
    });
    expect((await chat(lab)).status).toBe(200);
    expect((await chat(lab, {}, { ...BODY, stream: true })).body).toContain('[DONE]');
    expect(lab.errors.length).toBeGreaterThan(0);
    await lab.close();
  });

  it('J01, J02: the same conversation reaches the provider as a growing prefix', async () => {
    const lab = await startProxyLab({ inject: 'STABLE' });
    const history: { role: string; content: string }[] = [{ role: 'system', content: 'You are helpful.' }];
    let before = '';
    for (const words of ['first question', 'second question', 'third question']) {
      history.push({ role: 'user', content: words });
      const answer = await chat(
        lab,
        { 'x-metaclaw-session': 'prefix' },
        { model: 'served', messages: history },
      );
      const sent = lab.upstream.last.rawBody.toString();
      const prompt = sent.slice(0, sent.lastIndexOf(']'));
      expect(prompt.startsWith(before)).toBe(true);
      before = prompt;
      history.push({ role: 'assistant', content: JSON.parse(answer.body).choices[0].message.content });
    }
    await lab.close();
  });
});

describe('which model answers', () => {
  it('unknown names are served, known ones pass, an agent may have its own', async () => {
    const other = labs.anthropic.upstream;
    const lab = await startProxyLab({
      config: {
        llm: {
          provider: 'custom',
          api_base: labs.openai.upstream.url,
          api_key: 'sk-up',
          model_id: 'served',
          models: ['extra'],
        },
        agents: {
          special: { llm: { model_id: 'special-model' } },
          apart: {
            llm: { api_base: other.url, api_key: 'sk-up', model_id: 'apart-model', wire: 'anthropic' },
          },
        },
        proxy: { port: 0 },
      },
    });
    const asked = async (path: string, model: string) => {
      const answer = await rawRequest(
        lab.port,
        post(`${path}/v1/chat/completions`, JSON.stringify({ ...BODY, model })),
      );
      expect(JSON.parse(answer.body).model).toBe(model);
      return answer.headers['x-metaclaw-model'];
    };
    expect(await asked('', 'whatever')).toBe('served');
    expect(await asked('', 'extra')).toBe('extra');
    expect(await asked('', 'claude-extra')).toBe('extra');
    expect(await asked('/a/special', 'whatever')).toBe('special-model');
    expect(await asked('/a/apart', 'whatever')).toBe('apart-model');
    expect(other.last.kind).toBe('anthropic');
    await lab.close();
  });
});
