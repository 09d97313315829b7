import { describe, expect, it } from 'vitest';
import type {
  JsonObject,
  TranslationContext,
  WireEvent,
} from '../../../../../src/engine/proxy/translate/types.ts';
import { context, createOpenaiStream, event, jsonEvents, run } from './support.ts';

const start = event({
  type: 'message_start',
  message: {
    id: 'msg_1',
    model: 'up',
    content: [],
    usage: { input_tokens: 7, cache_read_input_tokens: 2, output_tokens: 1 },
  },
});
const stop = event({ type: 'message_stop' });

function block(index: number, content_block: JsonObject, deltas: JsonObject[]): WireEvent[] {
  return [
    event({ type: 'content_block_start', index, content_block }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ];
}

function text(index: number, ...pieces: string[]): WireEvent[] {
  return block(
    index,
    { type: 'text', text: '' },
    pieces.map((piece) => ({ type: 'text_delta', text: piece })),
  );
}

function tool(index: number, id: string, ...pieces: string[]): WireEvent[] {
  const deltas = pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
  return block(index, { type: 'tool_use', id, name: 'f', input: {} }, deltas);
}

function ending(stop_reason: string | null, output_tokens = 9, more: JsonObject = {}): WireEvent {
  return event({
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null, ...more },
    usage: { output_tokens },
  });
}

function translate(events: readonly WireEvent[], change: Partial<TranslationContext> = {}): string {
  return run(createOpenaiStream(context(change)), events);
}

function lastFinish(out: string): unknown {
  const choices = jsonEvents(out).at(-1)?.choices as JsonObject[] | undefined;
  return choices?.[0]?.finish_reason;
}

function deltas(out: string): unknown[] {
  return jsonEvents(out).map((item) => (item.choices as JsonObject[])[0]?.delta);
}

describe('createOpenaiStream', () => {
  it('S14: role chunk, content, finish, [DONE]; the frame never changes', () => {
    const out = translate([start, ...text(0, 'Hel', 'lo'), ending('end_turn'), stop]);
    expect(deltas(out)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Hel' },
      { content: 'lo' },
      {},
    ]);
    const finishes = jsonEvents(out).map((item) => (item.choices as JsonObject[])[0]?.finish_reason);
    expect(finishes).toEqual([null, null, null, 'stop']);
    for (const item of jsonEvents(out)) {
      expect(item).toMatchObject({
        id: 'chatcmpl-msg_1',
        created: 1_700_000_000,
        model: 'asked-model',
        object: 'chat.completion.chunk',
      });
    }
    expect(out.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(out.match(/\[DONE\]/g)).toHaveLength(1);
  });

  it('S15: indices count tools, later pieces carry arguments only', () => {
    const out = translate([
      start,
      ...text(0, 'a'),
      ...tool(1, 'x', '{"a"', ':1}'),
      ...tool(2, 'y', '{}'),
      ending('tool_use'),
      stop,
    ]);
    expect(deltas(out).slice(2, -1)).toEqual([
      { tool_calls: [{ index: 0, id: 'x', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
      { tool_calls: [{ index: 1, id: 'y', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
    ]);
    expect(lastFinish(out)).toBe('tool_calls');
  });

  it('S07: a call without argument pieces gives {}, or what came with its start', () => {
    expect(deltas(translate([start, ...tool(0, 'x'), ending('tool_use'), stop]))[2]).toEqual({
      tool_calls: [{ index: 0, function: { arguments: '{}' } }],
    });
    const whole = block(0, { type: 'tool_use', id: 'x', name: 'f', input: { a: 1 } }, []);
    expect(deltas(translate([start, ...whole, ending('tool_use'), stop]))[2]).toEqual({
      tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }],
    });
  });

  it('S16: thinking is reasoning_content, its signature is nowhere, and it can be switched off', () => {
    const thinking = block(0, { type: 'thinking', thinking: '' }, [
      { type: 'thinking_delta', thinking: 'r' },
      { type: 'signature_delta', signature: 'SIG' },
    ]);
    const events = [start, ...thinking, ...text(1, 'a'), ending('end_turn'), stop];
    expect(deltas(translate(events)).slice(1, 3)).toEqual([{ reasoning_content: 'r' }, { content: 'a' }]);
    expect(translate(events)).not.toContain('SIG');
    expect(translate(events, { showReasoning: false })).not.toContain('"r"');
  });

  it('S17: a ping is a comment, never data', () => {
    const stream = createOpenaiStream(context());
    expect(stream.push(event({ type: 'ping' }))).toBe('');
    stream.push(start);
    expect(stream.push(event({ type: 'ping' }))).toMatch(/^:[^\n]*\n\n$/);
  });

  it('S19, S23, S24: one usage chunk with the last totals, only when asked for', () => {
    const events = [start, ...text(0, 'a'), ending('end_turn', 5), ending('end_turn', 9), stop];
    const out = jsonEvents(translate(events, { includeUsage: true }));
    expect(out.at(-1)).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 9,
        total_tokens: 18,
        prompt_tokens_details: { cached_tokens: 2 },
      },
    });
    expect(out.filter((item) => item.usage !== null)).toHaveLength(1);
    // S20
    expect(translate(events)).not.toContain('usage');
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['new_word', 'stop'],
  ])('S26: %s ends as %s', (reason, finish) => {
    expect(lastFinish(translate([start, ...text(0, 'a'), ending(reason), stop]))).toBe(finish);
  });

  it('pause_turn is an error, never a silent end', () => {
    const out = translate([start, ...text(0, 'a'), ending('pause_turn'), stop]);
    expect(jsonEvents(out).at(-1)).toHaveProperty('error');
    expect(out).not.toContain('[DONE]');
  });

  it('a refusal with its explanation', () => {
    const out = translate([
      start,
      ending('refusal', 1, { stop_details: { type: 'refusal', explanation: 'no' } }),
      stop,
    ]);
    expect(deltas(out)).toEqual([{ role: 'assistant', content: '' }, { refusal: 'no' }, {}]);
  });

  it('S33: a missing message_stop after a stop reason is a normal end', () => {
    expect(translate([start, ...text(0, 'a'), ending('end_turn')]).endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('S43: a cut stream or an error gives no [DONE] and no finish reason', () => {
    const busy = event({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } });
    const out = translate([start, ...text(0, 'a'), busy, stop]);
    expect(jsonEvents(out).at(-1)).toEqual({
      error: { message: 'busy', type: 'overloaded_error', code: null },
    });
    const cut = translate([start, ...text(0, 'a')]);
    expect(jsonEvents(cut).at(-1)).toHaveProperty('error');
    for (const text of [out, cut]) {
      expect(text).not.toContain('[DONE]');
      expect(text).not.toMatch(/"finish_reason":"/);
    }
  });

  it('the old functions form gets function_call pieces', () => {
    const out = translate([start, ...tool(0, 'x', '{}'), ending('tool_use'), stop], {
      legacyFunctions: true,
    });
    expect(deltas(out).slice(1)).toEqual([
      { function_call: { name: 'f', arguments: '' } },
      { function_call: { arguments: '{}' } },
      {},
    ]);
    expect(lastFinish(out)).toBe('function_call');
  });

  it('T15: the client sees its own tool name', () => {
    expect(translate([start, ...tool(0, 'x')], { toolNames: new Map([['f', 'a.b']]) })).toContain(
      '"name":"a.b"',
    );
  });

  it('unknown events and blocks are not invented text', () => {
    const odd = [
      event({ type: 'vendor_event', x: 1 }),
      ...block(0, { type: 'server_tool_use', id: 'q', name: 'web', input: {} }, [
        { type: 'input_json_delta', partial_json: '{}' },
      ]),
    ];
    expect(deltas(translate([start, ...odd, ...text(1, 'a'), ending('end_turn'), stop]))).toEqual([
      { role: 'assistant', content: '' },
      { content: 'a' },
      {},
    ]);
  });
});
