import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hear } from '../../support/hear.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import type { ReplyWire } from '../../support/upstream-reply.ts';

const labs = {} as Record<'openai' | 'anthropic' | 'responses', ProxyLab>;
beforeAll(async () => {
  for (const wire of ['openai', 'anthropic', 'responses'] as const)
    labs[wire] = await startProxyLab({ wire });
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
      fc.asyncProperty(scenario, async ({ text, calls, ...rest }) => {
        const tools = calls.map((args, index) => ({
          id: `call_${index}`,
          name: `tool_${index}`,
          arguments: args,
        }));
        labs[wire].upstream.reset();
        labs[wire].upstream.reply({ text, tools, ...rest });
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
