import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, PAIRS, WIRES, type Wire } from '../../support/ask.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { rawRequest } from '../../support/raw.ts';

const labs = {} as Record<Wire, ProxyLab>;
beforeAll(async () => {
  for (const wire of WIRES) labs[wire] = await startProxyLab({ wire });
});
afterEach(() => {
  for (const lab of Object.values(labs)) lab.upstream.reset();
});
afterAll(async () => {
  for (const lab of Object.values(labs)) await lab.close();
});

const schema = { type: 'object', properties: {} };
const TOOLS = {
  openai: [{ type: 'function', function: { name: 'exec', parameters: schema } }],
  anthropic: [{ name: 'exec', input_schema: schema }],
  responses: [{ type: 'function', name: 'exec', parameters: schema }],
};

describe.each(PAIRS)('S49, %s client, %s upstream', (client, wire) => {
  it.each([
    ['<tool_call>{"name":"exec","arguments":{}}</tool_call>', true],
    ['I do it.\n<function=exec><parameter=a>1</parameter></function>', true],
    ['{"name": "exec", "arguments": {}}', true],
    ['<tool_call>{"name":"unknown","arguments":{}}</tool_call>', false],
    ['The name of the tool is exec; {"name": "exec"} is how it is called.', false],
  ])('%s stays text; a call of an offered tool is warned of', async (text, warned) => {
    const { upstream, port, provider } = labs[wire];
    for (const stream of [true, false]) {
      upstream.reply({ text, chunk: 0 });
      const { body } = await rawRequest(port, ask(client, stream, { tools: TOOLS[client] }));
      expect(body).toContain(JSON.stringify(text).slice(1, -1));
      expect(provider.trouble()?.message ?? '').toMatch(warned ? /wrote a call of exec as text/ : /^$/);
    }
    // Without tools it is only talk.
    upstream.reply({ text });
    await rawRequest(port, ask(client));
    expect(provider.trouble()).toBeNull();
  });
});

describe.each(WIRES)('S49 with llm.compat.text_tool_calls: repair, %s client', (client) => {
  const CALLS = {
    openai: /"name":"exec","arguments":"\{\\"a\\":\[1\]\}"/g,
    anthropic: /"type":"tool_use"[^\n]*"name":"exec"/g,
  };
  const call = '<tool_call>\n{"name":"exec","arguments":{"a":[1]}}\n</tool_call>';

  it.each([
    ['a call among words', `I look. ${call}`, 1],
    ['two calls', call + call, 2],
    ['a call that is not closed', call.slice(0, -12), 1],
    ['a call of a tool that nobody offered', call.replace('exec', 'unknown'), 0],
    ['a mark that is none', 'a < b <tool_cal', 0],
  ])('%s', async (_, text, count) => {
    const { upstream, port, config, provider, errors } = labs.openai;
    config.llm.compat.text_tool_calls = 'repair';
    try {
      for (const chunk of [1, 3, 0]) {
        upstream.reply({ text, chunk });
        const { body } = await rawRequest(port, ask(client, true, { tools: TOOLS[client] }));
        // A response repeats the tools of its request.
        if (client !== 'responses') {
          expect(body.match(CALLS[client])?.length ?? 0).toBe(count);
          expect(body.includes('exec')).toBe(count > 0);
        }
        expect(body).toMatch(
          count > 0
            ? {
                openai: /"finish_reason":"tool_calls"/,
                anthropic: /"stop_reason":"tool_use"/,
                responses: /function_call_arguments\.done/,
              }[client]
            : /unknown|tool_cal/,
        );
        expect(body).toMatch(
          {
            openai: /\[DONE\]\n\n$/,
            anthropic: /message_stop"\}\n\n$/,
            responses: /event: response\.completed\n.*\n\n$/,
          }[client],
        );
      }
      upstream.reply({ text });
      const whole = await rawRequest(port, ask(client, false, { tools: TOOLS[client] }));
      expect(whole.body.includes('<tool_call>')).toBe(count === 0 && text.includes('<tool_call>'));
      expect(whole.body.match(/exec/g)?.length ?? 0).toBeGreaterThanOrEqual(count);
      expect(provider.trouble()).toBeNull();
      expect(errors).toEqual([]);
    } finally {
      config.llm.compat.text_tool_calls = 'keep';
    }
  });
});
