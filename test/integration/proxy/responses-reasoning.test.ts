import { afterEach, describe, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { post, rawRequest } from '../../support/raw.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of three dialects, read as their clients read them
type Json = Record<string, any>;

interface Client {
  path: string;
  body(): Json;
  /** Takes the answer in; false when there is no call left to answer. */
  take(answer: Json): boolean;
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const TURNS = 60;
const TOOL = { type: 'object', properties: { n: { type: 'number' } } };

/** Calls a tool again and again, each time for a reason of its own; speaks whichever wire it is asked on. */
function loop(upstream: ScriptedUpstream): void {
  let n = 0;
  upstream.script(() => {
    const turn = n;
    n += 1;
    if (turn === TURNS) return { reasoning: 'enough', text: 'All done.' };
    return {
      parts: [
        { type: 'reasoning', text: `because ${turn}`, signature: `sealed-${turn}` },
        { type: 'tool', id: `call_abcdef_${turn}`, name: 'run', arguments: `{"n":${turn}}` },
      ],
    };
  });
}

/** Keeps the items but no reasoning, as clients do that know only messages and calls. */
function itemClient(): Client {
  const input: Json[] = [{ role: 'user', content: 'Go.' }];
  return {
    path: '/v1/responses',
    body: () => ({
      model: 'm',
      store: false,
      include: ['reasoning.encrypted_content'],
      input,
      tools: [{ type: 'function', name: 'run', parameters: TOOL }],
    }),
    take(answer) {
      const call = answer.output.find((item: Json) => item.type === 'function_call');
      if (!call) return false;
      input.push(call, { type: 'function_call_output', call_id: call.call_id, output: 'ok' });
      return true;
    },
  };
}

/** Keeps nothing but the last id. */
function idClient(): Client {
  let previous: string | undefined;
  let input: unknown = 'Go.';
  return {
    path: '/v1/responses',
    body: () => ({
      model: 'm',
      input,
      ...(previous === undefined ? {} : { previous_response_id: previous }),
      tools: [{ type: 'function', name: 'run', parameters: TOOL }],
    }),
    take(answer) {
      previous = answer.id;
      const call = answer.output.find((item: Json) => item.type === 'function_call');
      if (!call) return false;
      input = [{ type: 'function_call_output', call_id: call.call_id, output: 'ok' }];
      return true;
    },
  };
}

function chatClient(): Client {
  const messages: Json[] = [{ role: 'user', content: 'Go.' }];
  return {
    path: '/v1/chat/completions',
    body: () => ({
      model: 'm',
      messages,
      tools: [{ type: 'function', function: { name: 'run', parameters: TOOL } }],
    }),
    take(answer) {
      const { message } = answer.choices[0];
      if (!message.tool_calls) return false;
      const [call] = message.tool_calls;
      messages.push(
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: call.id, content: 'ok' },
      );
      return true;
    },
  };
}

function messagesClient(): Client {
  const messages: Json[] = [{ role: 'user', content: 'Go.' }];
  return {
    path: '/v1/messages',
    body: () => ({ model: 'm', max_tokens: 9000, messages, tools: [{ name: 'run', input_schema: TOOL }] }),
    take(answer) {
      const use = answer.content.find((block: Json) => block.type === 'tool_use');
      if (!use) return false;
      messages.push(
        { role: 'assistant', content: [use] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'ok' }] },
      );
      return true;
    },
  };
}

async function run(engine: TestEngine, client: Client): Promise<number> {
  for (let turns = 0; ; turns += 1) {
    if (turns === TURNS / 2) await engine.restart();
    const port = Number(new URL(engine.openai).port);
    const headers = { 'anthropic-version': '2023-06-01' };
    const sent = client.path === '/v1/messages' ? headers : {};
    const answer = await rawRequest(port, post(client.path, JSON.stringify(client.body()), sent));
    expect(answer.status, answer.body).toBe(200);
    if (!client.take(JSON.parse(answer.body) as Json)) return turns;
  }
}

describe('a tool loop against an upstream that refuses missing reasoning, restarted in the middle', () => {
  async function start(llm: Json): Promise<{ engine: TestEngine; upstream: ScriptedUpstream }> {
    const upstream = await startUpstream({ strict: { demandReasoning: true } });
    closers.push(() => upstream.close());
    loop(upstream);
    const engine = await startEngine({
      llm: { api_base: upstream.url, api_key: 'k', ...llm },
      memory: { enabled: false },
    });
    closers.push(() => engine.close());
    return { engine, upstream };
  }

  it.each([
    ['that keeps only items', itemClient],
    ['that keeps only the last response’s id', idClient],
  ])('a Responses client %s: a chat upstream gets every reason back', async (_, client) => {
    const { engine, upstream } = await start({ provider: 'deepseek', model_id: 'deepseek-chat' });
    expect(await run(engine, client())).toBe(TURNS);
    const reasons = upstream.last.json.messages
      .filter((message: Json) => message.role === 'assistant')
      .map((message: Json) => message.reasoning_content);
    expect(reasons).toEqual(Array.from({ length: TURNS }, (_n, n) => `because ${n}`));
  });

  it.each([
    ['a chat client', chatClient],
    ['an Anthropic client', messagesClient],
    ['a Responses client that keeps only items', itemClient],
  ])('%s: a Responses upstream gets every sealed item back', async (_, client) => {
    const { engine, upstream } = await start({
      provider: 'custom',
      wire: 'responses',
      model_id: 'gpt-5-mini',
    });
    expect(await run(engine, client())).toBe(TURNS);
    const sealed = upstream.last.json.input
      .filter((item: Json) => item.type === 'reasoning')
      .map((item: Json) => item.encrypted_content);
    expect(sealed).toEqual(Array.from({ length: TURNS }, (_n, n) => `sealed-${n}`));
    expect(upstream.last.json.include).toEqual(['reasoning.encrypted_content']);
  });
});
