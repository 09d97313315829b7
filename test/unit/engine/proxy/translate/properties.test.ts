import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAssembler } from '../../../../../src/engine/proxy/translate/assemble.ts';
import { openaiToAnthropic } from '../../../../../src/engine/proxy/translate/request-to-anthropic.ts';
import { anthropicToOpenai } from '../../../../../src/engine/proxy/translate/request-to-openai.ts';
import type { JsonObject, StreamTranslator } from '../../../../../src/engine/proxy/translate/types.ts';
import { AppError } from '../../../../../src/shared/errors.ts';
import type { Dialect } from '../../../../../src/shared/model.ts';
import { isReadAlikeEverywhere } from '../../../../support/json.ts';
import { context, createAnthropicStream, createOpenaiStream, options } from './support.ts';

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map((text) => `w${text}w`);
/** Values that look like structure to a reader that does not follow strings and escapes. */
const tricky = fc.constantFrom('}', '"}', '\\', '\\"}', '{"a":"', '[DONE]');
const input = fc
  .dictionary(fc.string({ maxLength: 4 }), fc.oneof(tricky, fc.jsonValue({ maxDepth: 2 })), {
    maxKeys: 3,
    noNullPrototype: true,
  })
  .filter(isReadAlikeEverywhere);
const toolName = fc.oneof(fc.constantFrom('exec', 'read_file'), fc.string({ minLength: 1, maxLength: 150 }));

interface Turn {
  user: string;
  text: string;
  calls: { name: string; input: JsonObject; result: string; failed: boolean }[];
}

const turn: fc.Arbitrary<Turn> = fc.record({
  user: words,
  text: words,
  calls: fc.array(fc.record({ name: toolName, input, result: words, failed: fc.boolean() }), {
    maxLength: 3,
  }),
});

/** JSON as it is after a journey over the wire: no `-0`, no prototypes. */
function wire<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function anthropicConversation(turns: readonly Turn[]): JsonObject[] {
  return turns.flatMap((item, at) => {
    const uses = item.calls.map((call, n) => ({
      type: 'tool_use',
      id: `c${at}_${n}`,
      name: call.name,
      input: call.input,
    }));
    const results = item.calls.map((call, n) => ({
      type: 'tool_result',
      tool_use_id: `c${at}_${n}`,
      content: call.result,
      ...(call.failed ? { is_error: true } : {}),
    }));
    return [
      { role: 'user', content: [{ type: 'text', text: item.user }] },
      { role: 'assistant', content: [{ type: 'text', text: item.text }, ...uses] },
      ...(results.length === 0
        ? []
        : [
            { role: 'user', content: results },
            { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
          ]),
    ];
  });
}

function openaiConversation(turns: readonly Turn[]): JsonObject[] {
  return turns.flatMap((item, at) => {
    const calls = item.calls.map((call, n) => ({
      id: `c${at}_${n}`,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.input) },
    }));
    return [
      { role: 'user', content: item.user },
      { role: 'assistant', content: item.text, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
      ...item.calls.map((call, n) => ({
        role: 'tool',
        tool_call_id: `c${at}_${n}`,
        content: call.failed ? `[tool error] ${call.result}` : call.result,
      })),
      ...(calls.length === 0 ? [] : [{ role: 'assistant', content: 'done' }]),
    ];
  });
}

describe('conversations survive the way there and back', () => {
  it('A→O→A keeps texts, calls, results, errors and their order', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
        const messages = wire(anthropicConversation(turns));
        const there = anthropicToOpenai({ max_tokens: 8, messages }, options());
        const back = openaiToAnthropic(wire(there.body), options());
        const names = new Map(
          [...back.context.toolNames].map(([short, name]) => [
            short,
            there.context.toolNames.get(name) ?? name,
          ]),
        );
        const restored = restoreNames(
          back.body.messages,
          (name) => names.get(name) ?? there.context.toolNames.get(name) ?? name,
        );
        expect(restored).toEqual(messages);
        expect([...there.dropped, ...back.dropped]).toEqual([]);
      }),
    );
  });

  it('O→A→O keeps texts, calls, results, errors and their order', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
        const messages = wire(openaiConversation(turns));
        const there = openaiToAnthropic({ messages }, options());
        const back = anthropicToOpenai(wire(there.body), options());
        const original = (name: string): string => {
          const middle = back.context.toolNames.get(name) ?? name;
          return there.context.toolNames.get(middle) ?? middle;
        };
        const list = back.body.messages as { tool_calls?: { function: { name: string } }[] }[];
        for (const call of list.flatMap((message) => message.tool_calls ?? []))
          call.function.name = original(call.function.name);
        expect(list).toEqual(messages);
        expect([...there.dropped, ...back.dropped]).toEqual([]);
      }),
    );
  });

  it('any malformed body is an AppError with a field, never a TypeError', () => {
    const messages = fc.array(
      fc.record(
        {
          role: fc.constantFrom('user', 'assistant', 'tool', 'system', 'x'),
          content: fc.oneof(
            fc.anything(),
            fc.array(
              fc.record({
                type: fc.constantFrom(
                  'text',
                  'image',
                  'image_url',
                  'tool_use',
                  'tool_result',
                  'document',
                  'file',
                  'thinking',
                ),
                source: fc.anything(),
                content: fc.anything(),
                text: fc.anything(),
                file: fc.anything(),
              }),
            ),
          ),
          tool_calls: fc.anything(),
          tool_call_id: fc.anything(),
        },
        { requiredKeys: ['role'] },
      ),
    );
    const body = fc.oneof(
      fc.anything(),
      fc.record(
        {
          max_tokens: fc.constant(5),
          messages,
          tools: fc.anything(),
          tool_choice: fc.anything(),
          system: fc.anything(),
          thinking: fc.anything(),
          response_format: fc.anything(),
        },
        { requiredKeys: ['max_tokens', 'messages'] },
      ),
    );
    fc.assert(
      fc.property(body, (value) => {
        for (const translate of [anthropicToOpenai, openaiToAnthropic]) {
          try {
            translate(value, options());
          } catch (error) {
            expect(error).toBeInstanceOf(AppError);
            expect((error as AppError).field).toBeTruthy();
          }
        }
      }),
    );
  });
});

function restoreNames(messages: unknown, name: (wire: string) => string): unknown {
  return (messages as { content: JsonObject[] }[]).map((message) => ({
    ...message,
    content: message.content.map((block) =>
      block.type === 'tool_use' ? { ...block, name: name(String(block.name)) } : block,
    ),
  }));
}

/** What a stream says, in an order that both dialects can tell: reasoning, text, calls. */
interface Answer {
  reasoning: string[];
  text: string[];
  calls: { id: string; name: string; pieces: string[] }[];
  finish: 'stop' | 'length' | 'tool_calls';
}

const answer: fc.Arbitrary<Answer> = fc
  .record({
    reasoning: fc.array(words, { maxLength: 2 }),
    text: fc.array(words, { maxLength: 3 }),
    inputs: fc.array(fc.tuple(input, fc.array(fc.nat(40), { maxLength: 3 })), { maxLength: 3 }),
    cut: fc.boolean(),
  })
  .map(({ reasoning, text, inputs, cut }) => ({
    reasoning,
    text,
    calls: inputs.map(([value, cuts], n) => ({
      id: `call_${n}`,
      name: `tool_${n}`,
      pieces: pieces(JSON.stringify(value), cuts),
    })),
    finish: cut ? 'length' : inputs.length > 0 ? 'tool_calls' : 'stop',
  }));

function pieces(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((at) => at % (text.length + 1)).sort((a, b) => a - b), text.length];
  return places.slice(1).map((to, n) => text.slice(places[n], to));
}

function openaiStream(item: Answer, interleaved: boolean): string {
  const deltas: JsonObject[] = [
    { role: 'assistant', content: '' },
    ...item.reasoning.map((text) => ({ reasoning_content: text })),
    ...item.text.map((text) => ({ content: text })),
  ];
  const opened = item.calls.map((call, index) => ({
    tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
  }));
  const args = item.calls.map((call, index) =>
    call.pieces.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  );
  if (interleaved) {
    deltas.push(...opened);
    for (let round = 0; args.some((list) => round < list.length); round += 1) {
      for (const list of args) if (list[round] !== undefined) deltas.push(list[round] as JsonObject);
    }
  } else for (const [index, list] of args.entries()) deltas.push(opened[index] as JsonObject, ...list);
  const chunks = deltas.map((delta) => ({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] }));
  const last = { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: item.finish }] };
  const usage = { id: 'c', choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } };
  return (
    [...chunks, last, usage].map((value) => `data: ${JSON.stringify(value)}\n\n`).join('') +
    'data: [DONE]\n\n'
  );
}

const STOPS = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const;

function anthropicStream(item: Answer): string {
  const blocks: { start: JsonObject; deltas: JsonObject[] }[] = [];
  if (item.reasoning.length > 0) {
    blocks.push({
      start: { type: 'thinking', thinking: '' },
      deltas: item.reasoning.map((thinking) => ({ type: 'thinking_delta', thinking })),
    });
  }
  if (item.text.length > 0)
    blocks.push({
      start: { type: 'text', text: '' },
      deltas: item.text.map((text) => ({ type: 'text_delta', text })),
    });
  for (const call of item.calls) {
    const deltas = call.pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    blocks.push({ start: { type: 'tool_use', id: call.id, name: call.name, input: {} }, deltas });
  }
  const events: JsonObject[] = [
    { type: 'message_start', message: { id: 'm', usage: { input_tokens: 5, output_tokens: 1 } } },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'ping' },
    { type: 'message_delta', delta: { stop_reason: STOPS[item.finish] }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ];
  return events.map((value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`).join('');
}

/** Cuts the bytes anywhere, decodes and parses them as the proxy does, and translates. */
function relay(
  source: string,
  cuts: readonly number[],
  lineEnd: string,
  translator: StreamTranslator,
): string {
  const bytes = new TextEncoder().encode(source.replaceAll('\n', lineEnd));
  const decoder = new TextDecoder();
  let out = '';
  const parser = createParser({
    onEvent: (event) => {
      out += translator.push({ event: event.event, data: event.data });
    },
  });
  const places = [0, ...cuts.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (let n = 1; n < places.length; n += 1)
    parser.feed(decoder.decode(bytes.subarray(places[n - 1], places[n]), { stream: true }));
  return out + translator.end();
}

function assembled(dialect: Dialect, text: string) {
  const assembler = createAssembler(dialect);
  createParser({ onEvent: (event) => assembler.push({ event: event.event, data: event.data }) }).feed(text);
  return assembler.result();
}

const cuts = fc.array(fc.nat(5000), { maxLength: 30 });
const lineEnd = fc.constantFrom('\n', '\r\n');

describe('streams survive any cut', () => {
  it('S37, S34, S03: O→A gives the same text, tool JSON, stop reason, one start, one end', () => {
    fc.assert(
      fc.property(answer, cuts, lineEnd, fc.boolean(), (item, places, end, interleaved) => {
        const out = relay(openaiStream(item, interleaved), places, end, createAnthropicStream(context()));
        const { reply, text, complete } = assembled('anthropic', out);
        const content = reply?.content as JsonObject[];
        expect(text).toBe(item.text.join(''));
        expect(
          content
            .filter((block) => block.type === 'thinking')
            .map((block) => block.thinking)
            .join(''),
        ).toBe(item.reasoning.join(''));
        const calls = content
          .filter((block) => block.type === 'tool_use')
          .map((block) => [block.id, block.name, block.input]);
        expect(calls).toEqual(
          item.calls.map((call) => [call.id, call.name, JSON.parse(call.pieces.join(''))]),
        );
        expect(partials(out)).toEqual(item.calls.map((call) => call.pieces.join('')));
        expect(reply?.stop_reason).toBe(STOPS[item.finish]);
        expect(complete).toBe(true);
        expect(out.match(/^event: message_start$/gm)).toHaveLength(1);
        expect(out.match(/^event: message_stop$/gm)).toHaveLength(1);
        expect(wellNested(out)).toBe(true);
      }),
    );
  });

  it('S37, S34: A→O gives the same text, tool JSON, finish reason, one role chunk, one [DONE]', () => {
    fc.assert(
      fc.property(answer, cuts, lineEnd, (item, places, end) => {
        const out = relay(
          anthropicStream(item),
          places,
          end,
          createOpenaiStream(context({ includeUsage: true })),
        );
        const { reply, text, complete, usage } = assembled('openai', out);
        const [choice] = (reply?.choices ?? []) as JsonObject[];
        const message = choice?.message as JsonObject;
        expect(text).toBe(item.text.join(''));
        expect(message.reasoning_content ?? '').toBe(item.reasoning.join(''));
        const calls = ((message.tool_calls as JsonObject[] | undefined) ?? []).map((call) => [
          call.id,
          call.function,
        ]);
        expect(calls).toEqual(
          item.calls.map((call) => [call.id, { name: call.name, arguments: call.pieces.join('') }]),
        );
        expect(choice?.finish_reason).toBe(item.finish);
        expect(usage).toMatchObject({ inputTokens: 5, outputTokens: 7 });
        expect(complete).toBe(true);
        expect(out.match(/"role":"assistant"/g)).toHaveLength(1);
        expect(out.match(/^data: \[DONE\]$/gm)).toHaveLength(1);
      }),
    );
  });

  it('S42, S43: a stream cut before its end never ends cleanly', () => {
    fc.assert(
      fc.property(answer, fc.nat(), (item, place) => {
        const sources: [string, RegExp, StreamTranslator][] = [
          [openaiStream(item, false), /"finish_reason":"/, createAnthropicStream(context())],
          [anthropicStream(item), /"stop_reason":"/, createOpenaiStream(context())],
        ];
        for (const [source, endMark, translator] of sources) {
          const cut = source.slice(0, place % (source.search(endMark) + 1));
          const out = relay(cut, [], '\n', translator);
          expect(out).not.toMatch(/^event: message_stop$|^data: \[DONE\]$|"finish_reason":"/m);
          expect(out.match(/^data: \{("type":"error",)?"error":\{/gm)).toHaveLength(1);
        }
      }),
    );
  });
});

/** The argument text of each tool block, exactly as the client would join it. */
function partials(out: string): string[] {
  const byBlock = new Map<unknown, string>();
  for (const line of out.split('\n')) {
    if (!line.startsWith('data: ')) continue;
    const data = JSON.parse(line.slice(6)) as JsonObject;
    if ((data.content_block as JsonObject | undefined)?.type === 'tool_use') byBlock.set(data.index, '');
    const piece = (data.delta as JsonObject | undefined)?.partial_json;
    if (typeof piece === 'string') byBlock.set(data.index, (byBlock.get(data.index) ?? '') + piece);
  }
  return [...byBlock.values()];
}

/** Blocks open one after the other with indices from 0, and deltas belong to the open one. */
function wellNested(out: string): boolean {
  let open: unknown = null;
  let next = 0;
  for (const line of out.split('\n')) {
    if (!line.startsWith('data: ')) continue;
    const data = JSON.parse(line.slice(6)) as JsonObject;
    if (data.type === 'content_block_start') {
      if (open !== null || data.index !== next) return false;
      open = data.index;
      next += 1;
    } else if (data.type === 'content_block_delta' && data.index !== open) return false;
    else if (data.type === 'content_block_stop') {
      if (data.index !== open) return false;
      open = null;
    }
  }
  return open === null;
}
