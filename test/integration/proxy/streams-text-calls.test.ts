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
