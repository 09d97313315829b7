import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, WIRES } from '../../support/ask.ts';
import { hear } from '../../support/hear.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { rawRequest } from '../../support/raw.ts';
import type { ReplyWire } from '../../support/upstream-reply.ts';

const labs = {} as Record<'openai' | 'anthropic' | 'responses', ProxyLab>;
beforeAll(async () => {
  for (const wire of WIRES) labs[wire] = await startProxyLab({ wire });
});
afterAll(async () => {
  for (const lab of Object.values(labs)) await lab.close();
});

/** With a call, and without. */
const STOPS = {
  openai: ['tool_calls', 'stop'],
  anthropic: ['tool_use', 'end_turn'],
  responses: ['completed', 'completed'],
} as const;

describe('any stream, cut anywhere, sounds the same (S02, S03, S18, S30, S31, S34, S37)', () => {
  const words = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.constantFrom('🌍🌎', 'data: x\n\nevent: y', '"\\', '\r\n\r\n'),
  );
  const call = fc.record({ x: fc.oneof(fc.integer(), words) }).map((input) => JSON.stringify(input));
  const scenario = fc.record({
    text: words.filter((text) => text.trim() !== '' && !text.includes('<')),
    // Never part of what is said.
    reasoning: fc.option(
      words.filter((text) => text !== ''),
      { nil: undefined },
    ),
    calls: fc.array(call, { maxLength: 3 }),
    chunk: fc.integer({ min: 1, max: 9 }),
    interleave: fc.boolean(),
    wire: fc.record({
      eol: fc.constantFrom<NonNullable<ReplyWire['eol']>>('\n', '\r\n', '\r', 'mixed'),
      cut: fc.oneof(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 6 }).map((at) => at.sort((a, b) => a - b)),
      ),
      comments: fc.boolean(),
      terse: fc.boolean(),
      bom: fc.boolean(),
    }),
  });

  it.each([
    ['openai', 'openai'],
    ['openai', 'anthropic'],
    ['anthropic', 'openai'],
    ['anthropic', 'anthropic'],
    ['responses', 'openai'],
    ['responses', 'anthropic'],
    ['responses', 'responses'],
    ['openai', 'responses'],
    ['anthropic', 'responses'],
  ] as const)('%s client, %s upstream', async (client, wire) => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ text, calls, reasoning, ...rest }) => {
        const tools = calls.map((args, index) => ({
          id: `call_${index}`,
          name: `tool_${index}`,
          arguments: args,
        }));
        labs[wire].upstream.reset();
        labs[wire].upstream.reply({
          text,
          tools,
          ...(reasoning === undefined ? {} : { reasoning }),
          ...rest,
        });
        const heard = await hear(labs[wire].url, client);
        const stops = STOPS[client];
        expect(heard).toEqual({
          text,
          calls,
          stop: calls.length > 0 ? stops[0] : stops[1],
          starts: 1,
          ends: 1,
        });
      }),
      { numRuns: 8 },
    );
  });
});

describe('in the same dialect, every byte is the provider’s own', () => {
  const line = fc.oneof(
    fc.constantFrom(
      '',
      ':',
      ': hm',
      'id: 1',
      'retry: 5',
      'odd',
      'data',
      'data:',
      'event: vendor',
      '\uFEFFdata: x',
    ),
    fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `data: ${text.replace(/[\r\n]/g, ' ')}`),
    fc
      .constantFrom(
        '{"model":"served","n":1.0}',
        '{ "message" : {"model": "served"} }',
        '{"response":{"model":"served"}}',
        '{"model"',
      )
      .map((json) => `data:${json}`),
  );
  const scenario = fc.record({
    lines: fc.array(line, { maxLength: 30 }),
    eol: fc.constantFrom('\n', '\r\n', '\r'),
    cuts: fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 8 }),
  });
  const ENDS = {
    openai: 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    anthropic:
      'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
    responses:
      'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r","output":[]}}\n\n',
  };

  it.each(
    WIRES.flatMap(
      (wire) =>
        [
          [wire, 'served'],
          [wire, 'größer'],
        ] as const,
    ),
  )('%s, asked for %s', async (wire, model) => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ lines, eol, cuts }) => {
        const text = `: begin${eol}${lines.join(eol)}${eol}${eol}${ENDS[wire].replaceAll('\n', eol)}`;
        const bytes = Buffer.from(text);
        labs[wire].upstream.reset();
        labs[wire].upstream.reply(async (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          let from = 0;
          for (const to of [...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b)) {
            if (to > from) response.write(bytes.subarray(from, to));
            from = to;
            await new Promise((resolve) => setImmediate(resolve));
          }
          response.end();
        });
        const { body } = await rawRequest(labs[wire].port, ask(wire, true, { model }));
        expect(unnamed(body)).toBe(unnamed(text));
        if (model === 'served') expect(body).toBe(text);
      }),
      { numRuns: 25 },
    );
  });

  /** With every model's name taken out. */
  function unnamed(text: string): string {
    return text.replace(/("model"\s*:\s*)"(?:served|größer)"/g, '$1');
  }
});
