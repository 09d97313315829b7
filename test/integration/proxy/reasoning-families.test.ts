import { afterEach, describe, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { type Habits, type LoopDialect, loopClient } from '../../support/loop-clients.ts';
import { type RawReply, type Reply, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of two dialects as a provider reads them
type Json = Record<string, any>;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const TURNS = 12;
const DIALECTS: LoopDialect[] = ['openai', 'anthropic', 'responses'];
const FORGETFUL: Habits = { forgets: true, mangles: true };

/** One vendor's way with reasoning: what its answers carry, and what it demands of the history. */
interface Family {
  name: string;
  llm: Json;
  answer(turn: number, calls: Call[], stream: boolean): Reply;
  /** What each of its earlier answers must have come back with; compared with `wanted`. */
  returned(body: Json): unknown[];
  wanted(turn: number): unknown;
}

interface Call {
  id: string;
  name: string;
  arguments: string;
}

/** Every third answer has two calls. */
function callsOf(turn: number): Call[] {
  return Array.from({ length: turn % 3 === 2 ? 2 : 1 }, (_, k) => ({
    id: `call_abcdef_${turn}_${k}`,
    name: 'run',
    arguments: `{"n": ${turn}, "k":${k}}`,
  }));
}

function chatAnswer(message: Json, stream: boolean): RawReply {
  const frame = {
    id: 'c',
    object: stream ? 'chat.completion.chunk' : 'chat.completion',
    created: 1,
    model: 'x',
  };
  const finish_reason = message.tool_calls ? 'tool_calls' : 'stop';
  if (!stream)
    return {
      status: 200,
      body: { ...frame, choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }] },
    };
  const { tool_calls = [], reasoning_details = [], ...rest } = message;
  const deltas = [
    { role: 'assistant', content: '' },
    ...reasoning_details.flatMap(inPieces),
    rest,
    ...tool_calls.map((call: Json, index: number) => ({ tool_calls: [{ index, ...call }] })),
  ];
  const chunks = deltas.map((delta) => ({ ...frame, choices: [{ index: 0, delta, finish_reason: null }] }));
  const events = [...chunks, { ...frame, choices: [{ index: 0, delta: {}, finish_reason }] }];
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`,
  };
}

/** A block of text comes in letters, its signature at last. */
function inPieces(detail: Json): Json[] {
  if (!detail.text) return [{ reasoning_details: [detail] }];
  const letters = [...detail.text].map((text) => ({ ...detail, text, signature: null }));
  return [...letters, { ...detail, text: '' }].map((piece) => ({ reasoning_details: [piece] }));
}

const toolCalls = (calls: Call[]) =>
  calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
const answers = (body: Json) => (body.messages as Json[]).filter((message) => message.role === 'assistant');
const details = (turn: number) => [
  { type: 'reasoning.text', text: `because ${turn}`, signature: `sig-${turn}`, format: 'x-v1', index: 0 },
  { type: 'reasoning.encrypted', data: `sealed-${turn}`, id: `r${turn}`, format: 'x-v1', index: 1 },
];
const signature = (turn: number) => ({ google: { thought_signature: `sig+/${turn}==` } });

const FAMILIES: Family[] = [
  {
    name: 'DeepSeek’s plain text',
    llm: { provider: 'deepseek', model_id: 'deepseek-chat' },
    answer: (turn, tools) => ({ reasoning: `because ${turn}`, tools }),
    returned: (body) => answers(body).map((message) => message.reasoning_content),
    wanted: (turn) => `because ${turn}`,
  },
  {
    name: 'Gemini’s signed calls',
    llm: { provider: 'gemini', model_id: 'gemini-3-pro' },
    answer: (turn, calls, stream) => {
      const tool_calls = toolCalls(calls).map((call, k) =>
        k === 0 ? { ...call, extra_content: signature(turn) } : call,
      );
      return chatAnswer({ content: null, tool_calls }, stream);
    },
    returned: (body) =>
      answers(body).map((message) => message.tool_calls.map((call: Json) => call.extra_content ?? null)),
    wanted: (turn) => callsOf(turn).map((_, k) => (k === 0 ? signature(turn) : null)),
  },
  {
    name: 'OpenRouter’s blocks',
    llm: { provider: 'openrouter', model_id: 'z/glm-5' },
    answer: (turn, calls, stream) =>
      chatAnswer({ content: null, tool_calls: toolCalls(calls), reasoning_details: details(turn) }, stream),
    returned: (body) => answers(body).map((message) => message.reasoning_details),
    wanted: details,
  },
  {
    name: 'Anthropic’s signed thinking',
    llm: { provider: 'custom', wire: 'anthropic', model_id: 'claude-sonnet-4-5' },
    answer: (turn, calls) => ({
      parts: [
        { type: 'reasoning', text: turn % 2 ? '' : `because ${turn}`, signature: `sig-${turn}` },
        ...calls.map((call) => ({ type: 'tool' as const, ...call })),
      ],
    }),
    returned: (body) =>
      answers(body).map((message) => message.content.filter((block: Json) => block.type === 'thinking')),
    wanted: (turn) => [
      { type: 'thinking', thinking: turn % 2 ? '' : `because ${turn}`, signature: `sig-${turn}` },
    ],
  },
];

function play(upstream: ScriptedUpstream, family: Family, turns: number, prefix = ''): void {
  let turn = 0;
  upstream.script(({ json }) => {
    const calls = callsOf(turn).map((call) => ({ ...call, id: prefix + call.id }));
    const stream = json.stream === true;
    turn += 1;
    return turn > turns ? 'All done.' : family.answer(turn - 1, calls, stream);
  });
}

async function engineFor(upstream: ScriptedUpstream, llm: Json): Promise<TestEngine> {
  const engine = await startEngine({
    llm: { api_base: upstream.url, api_key: 'k', ...llm },
    memory: { enabled: false },
  });
  closers.push(() => engine.close());
  return engine;
}

const origin = (engine: TestEngine) => new URL(engine.openai).origin;

describe('a loop of many turns: what a vendor wants back comes back, from clients that drop it', () => {
  const table = FAMILIES.flatMap((family) =>
    DIALECTS.map((dialect) => ({ name: `${family.name}, client of ${dialect}`, family, dialect })),
  );
  it.each(table)(
    '$name: whole and streamed, parallel calls, a restart in the middle',
    async ({ family, dialect }) => {
      const upstream = await startUpstream();
      closers.push(() => upstream.close());
      play(upstream, family, TURNS);
      const engine = await engineFor(upstream, family.llm);
      const client = loopClient(dialect, FORGETFUL);
      for (let turn = 0; turn <= TURNS; turn += 1) {
        const calls = await client.turn(origin(engine), turn % 2 === 1);
        expect(calls).toBe(turn === TURNS ? 0 : callsOf(turn).length);
        if (turn === TURNS / 2) await engine.restart();
      }
      const wanted = Array.from({ length: TURNS }, (_, turn) => family.wanted(turn));
      expect(family.returned(upstream.last.json)).toEqual(wanted);
    },
  );
});

describe('Gemini’s signatures', () => {
  const gemini = FAMILIES[1] as Family;

  it('a client that keeps them is passed on as it is', async () => {
    const upstream = await startUpstream();
    closers.push(() => upstream.close());
    play(upstream, gemini, 3);
    const engine = await engineFor(upstream, gemini.llm);
    const client = loopClient('openai', { forgets: false, mangles: false });
    for (let turn = 0; turn < 4; turn += 1) await client.turn(origin(engine), false);
    expect(gemini.returned(upstream.last.json)).toEqual([0, 1, 2].map((turn) => gemini.wanted(turn)));
    expect(JSON.stringify(upstream.last.json).match(/extra_content/g)).toHaveLength(3);
  });

  it.each(DIALECTS)(
    'calls of another vendor’s model carry Google’s word for it (client of %s)',
    async (dialect) => {
      const upstream = await startUpstream();
      closers.push(() => upstream.close());
      play(upstream, FAMILIES[0] as Family, 2);
      const engine = await engineFor(upstream, { provider: 'custom', model_id: 'deepseek-chat' });
      const client = loopClient(dialect, FORGETFUL);
      await client.turn(origin(engine), false);
      await engine.engine.call('config.set', { path: 'llm.provider', value: 'gemini' });
      await engine.engine.call('config.set', { path: 'llm.model_id', value: 'gemini-3-pro' });
      await client.turn(origin(engine), false);
      expect(gemini.returned(upstream.last.json)).toEqual([
        [{ google: { thought_signature: 'skip_thought_signature_validator' } }],
      ]);
      expect(JSON.stringify(upstream.last.json)).not.toContain('because 0');
    },
  );
});

describe('one conversation, several vendors', () => {
  it.each(DIALECTS)(
    'each gets what is its own and nothing of the others’ (client of %s)',
    async (dialect) => {
      const upstream = await startUpstream();
      closers.push(() => upstream.close());
      const engine = await engineFor(upstream, {});
      const client = loopClient(dialect, FORGETFUL);
      const set = async (llm: Json) => {
        for (const [path, value] of Object.entries({ wire: 'openai', ...llm }))
          await engine.engine.call('config.set', { path: `llm.${path}`, value });
      };
      for (let round = 0; round < 2; round += 1)
        for (const [index, family] of FAMILIES.entries()) {
          await set(family.llm);
          // Nothing of it may be refused, and a vendor's own earlier answers are whole again.
          play(upstream, family, 2, `r${round}_${index}_`);
          for (let turn = 0; turn < 3; turn += 1) {
            await client.turn(origin(engine), turn === 1);
            const { json } = upstream.last;
            if (family.name.startsWith('Anthropic'))
              expect(JSON.stringify(json)).not.toContain('reasoning_content');
            else expect(JSON.stringify(json)).not.toContain('"thinking"');
          }
          client.say(`Go on with ${round} ${index}.`);
        }
      expect(upstream.chats.length).toBe(24);
    },
  );
});

it('two sessions with the same ids keep their own reasons', async () => {
  const upstream = await startUpstream();
  closers.push(() => upstream.close());
  const family = FAMILIES[0] as Family;
  const engine = await engineFor(upstream, family.llm);
  const clients = ['one', 'two'].map((session) => ({ session, client: loopClient('openai', FORGETFUL) }));
  upstream.script(({ json, headers }) => {
    const turn = answers(json).length;
    return { reasoning: `${headers['user-agent']} ${turn}`, tools: callsOf(turn) };
  });
  for (let turn = 0; turn < 6; turn += 1)
    for (const { session, client } of clients)
      await client.turn(origin(engine), turn % 2 === 0, {
        'x-metaclaw-session': session,
        'user-agent': session,
      });
  for (const session of ['one', 'two']) {
    const last = upstream.chats.findLast(({ headers }) => headers['user-agent'] === session);
    expect(family.returned(last?.json)).toEqual([0, 1, 2, 3, 4].map((turn) => `${session} ${turn}`));
  }
});
