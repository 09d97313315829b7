import { describe, expect, it } from 'vitest';
import type {
  JsonObject,
  TranslationContext,
  WireEvent,
} from '../../../../../src/engine/proxy/translate/types.ts';
import {
  chunk,
  context,
  createAnthropicStream,
  delta,
  jsonEvents,
  outline,
  parseSse,
  run,
} from './support.ts';

const DONE = chunk('[DONE]');
const usage = chunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } });

function translate(events: readonly WireEvent[], change: Partial<TranslationContext> = {}): string {
  return run(createAnthropicStream(context(change)), events);
}

function toolPiece(index: number | undefined, piece: JsonObject): WireEvent {
  return delta({ tool_calls: [{ ...(index === undefined ? {} : { index }), ...piece }] });
}

function opening(index: number | undefined, id: string, name: string, args = ''): WireEvent {
  return toolPiece(index, { id, type: 'function', function: { name, arguments: args } });
}

function args(index: number | undefined, text: string): WireEvent {
  return toolPiece(index, { function: { arguments: text } });
}

const text = (list: string[]): string[] => ['message_start', ...list, 'message_stop'];

describe('createAnthropicStream: shape', () => {
  it('S01: a text answer', () => {
    const out = translate([
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      delta({}, 'stop'),
      usage,
      DONE,
    ]);
    expect(outline(out)).toEqual(
      text(['start 0 text', 'delta 0 text_delta Hel', 'delta 0 text_delta lo', 'stop 0', 'end end_turn']),
    );
    expect(out).not.toContain('[DONE]');
    for (const event of parseSse(out)) expect(event.event).toBe((JSON.parse(event.data) as JsonObject).type);
    const events = jsonEvents(out);
    expect(events[0]).toMatchObject({
      message: {
        id: 'msg_chatcmpl-1',
        type: 'message',
        role: 'assistant',
        model: 'asked-model',
        content: [],
        stop_reason: null,
      },
    });
    expect(events.at(-2)).toEqual({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: 5, output_tokens: 2 },
    });
  });

  it('S01: each piece is told at once, not at the end', () => {
    const stream = createAnthropicStream(context());
    expect(outline(stream.push(delta({ role: 'assistant', content: '' })))).toEqual(['message_start']);
    expect(outline(stream.push(delta({ content: 'a' })))).toEqual(['start 0 text', 'delta 0 text_delta a']);
    expect(outline(stream.push(delta({ content: 'b' })))).toEqual(['delta 0 text_delta b']);
  });

  const two = text([
    'start 0 tool_use f a',
    'delta 0 input_json_delta {"x":1}',
    'stop 0',
    'start 1 tool_use g b',
    'delta 1 input_json_delta {"y":2}',
    'stop 1',
    'end tool_use',
  ]);

  it('S02, S06: two whole calls', () => {
    expect(
      outline(
        translate([
          opening(0, 'a', 'f', '{"x":1}'),
          opening(1, 'b', 'g', '{"y":2}'),
          delta({}, 'tool_calls'),
          DONE,
        ]),
      ),
    ).toEqual(two);
  });

  it('S03: interleaved arguments', () => {
    const out = translate([
      opening(0, 'a', 'f'),
      opening(1, 'b', 'g'),
      args(0, '{"x"'),
      args(1, '{"y"'),
      args(0, ':1}'),
      args(1, ':2}'),
      delta({}, 'tool_calls'),
      DONE,
    ]);
    expect(outline(out)).toEqual(
      text([
        'start 0 tool_use f a',
        'delta 0 input_json_delta {"x"',
        'delta 0 input_json_delta :1}',
        'stop 0',
        'start 1 tool_use g b',
        'delta 1 input_json_delta {"y"',
        'delta 1 input_json_delta :2}',
        'stop 1',
        'end tool_use',
      ]),
    );
  });

  it('S03: quotes and braces inside an argument do not look like its end', () => {
    const halves = ['{"x":"\\"}', '{"}'];
    const events = [
      opening(0, 'a', 'f'),
      opening(1, 'b', 'g', '{}'),
      args(0, halves[0] ?? ''),
      args(1, ' '),
      args(0, halves[1] ?? ''),
    ];
    const out = outline(translate([...events, delta({}, 'tool_calls'), DONE]));
    expect(out.filter((line) => line.startsWith('delta 0'))).toEqual(
      halves.map((half) => `delta 0 input_json_delta ${half}`),
    );
  });

  it.each<[string, WireEvent[]]>([
    [
      'no index, whole calls',
      [opening(undefined, 'a', 'f', '{"x":1}'), opening(undefined, 'b', 'g', '{"y":2}')],
    ],
    [
      'no index, pieces',
      [
        opening(undefined, 'a', 'f', '{"x":1'),
        args(undefined, '}'),
        opening(undefined, 'b', 'g'),
        args(undefined, '{"y":2}'),
      ],
    ],
    ['index 0 for both', [opening(0, 'a', 'f', '{"x":1}'), opening(0, 'b', 'g', '{"y":2}')]],
    [
      'one chunk',
      [
        delta({
          tool_calls: [
            { index: 0, id: 'a', function: { name: 'f', arguments: '{"x":1}' } },
            { index: 1, id: 'b', function: { name: 'g', arguments: '{"y":2}' } },
          ],
        }),
      ],
    ],
    [
      'id and name late',
      [
        args(0, '{"x"'),
        toolPiece(0, { function: { name: 'f' } }),
        toolPiece(0, { id: 'a' }),
        args(0, ':1}'),
        opening(1, 'b', 'g', '{"y":2}'),
      ],
    ],
    [
      'id and name repeated',
      [opening(0, 'a', 'f', '{"x"'), opening(0, 'a', 'f', ':1}'), opening(1, 'b', 'g', '{"y":2}')],
    ],
    [
      'arguments as an object',
      [
        toolPiece(0, { id: 'a', function: { name: 'f', arguments: { x: 1 } } }),
        opening(1, 'b', 'g', '{"y":2}'),
      ],
    ],
    [
      'a new id in every piece',
      [
        opening(0, 'a', 'f', '{"x"'),
        toolPiece(0, { id: 'z', function: { arguments: ':1}' } }),
        opening(1, 'b', 'g', '{"y":2}'),
      ],
    ],
    [
      'white space after the arguments',
      [opening(0, 'a', 'f', '{"x":1}'), opening(1, 'b', 'g', '{"y":2}'), args(0, ' \n')],
    ],
  ])('tool calls of servers that bend the format: %s', (_name, events) => {
    const out = jsonEvents(translate([...events, delta({}, 'tool_calls'), DONE]));
    const calls = out
      .filter((item) => item.type === 'content_block_start')
      .map((item) => {
        const json = out
          .filter((piece) => piece.type === 'content_block_delta' && piece.index === item.index)
          .map((piece) => (piece.delta as JsonObject).partial_json)
          .join('');
        const block = item.content_block as JsonObject;
        return [item.index, block.id, block.name, json.trim()];
      });
    expect(calls).toEqual([
      [0, 'a', 'f', '{"x":1}'],
      [1, 'b', 'g', '{"y":2}'],
    ]);
  });

  it('calls without ids, and with the same id twice, get ids of their own', () => {
    const events = [
      toolPiece(0, { function: { name: 'f', arguments: '{}' } }),
      opening(1, 'c', 'g', '{}'),
      opening(2, 'c', 'h', '{}'),
    ];
    const ids = outline(translate([...events, DONE])).filter((line) => line.startsWith('start'));
    expect(ids).toEqual([
      'start 0 tool_use f call_turn-1_0',
      'start 1 tool_use g c',
      'start 2 tool_use h call_turn-1_2',
    ]);
  });

  it.each([[''], ['null'], ['{}'], ['""']])(
    'S07: a call without arguments (%j) accumulates to {}',
    (value) => {
      const out = jsonEvents(
        translate([opening(0, 'a', 'f'), args(0, value), delta({}, 'tool_calls'), DONE]),
      );
      const start = out.find((item) => item.type === 'content_block_start');
      expect(start).toMatchObject({ content_block: { input: {} } });
      expect(start?.content_block).not.toHaveProperty('input.raw_arguments');
      const json = out
        .map((item) => (item.type === 'content_block_delta' ? (item.delta as JsonObject).partial_json : ''))
        .join('');
      expect(['', '{}']).toContain(json);
    },
  );

  it('S08: text, tool, text', () => {
    const out = translate([
      delta({ content: 'a' }),
      opening(0, 'i', 'f', '{}'),
      delta({ content: 'b' }),
      delta({}, 'stop'),
      DONE,
    ]);
    expect(outline(out)).toEqual(
      text([
        'start 0 text',
        'delta 0 text_delta a',
        'stop 0',
        'start 1 tool_use f i',
        'delta 1 input_json_delta {}',
        'stop 1',
        'start 2 text',
        'delta 2 text_delta b',
        'stop 2',
        'end tool_use',
      ]),
    );
  });

  it.each([['reasoning_content'], ['reasoning'], ['reasoning_text']])(
    'S09, S10: %s becomes a thinking block',
    (field) => {
      const out = translate([
        delta({ [field]: 'r' }),
        delta({ [field]: 's', content: null }),
        delta({ content: 'Hi' }),
        delta({}, 'stop'),
        DONE,
      ]);
      expect(outline(out)).toEqual(
        text([
          'start 0 thinking',
          'delta 0 thinking_delta r',
          'delta 0 thinking_delta s',
          'delta 0 signature_delta ',
          'stop 0',
          'start 1 text',
          'delta 1 text_delta Hi',
          'stop 1',
          'end end_turn',
        ]),
      );
      expect(jsonEvents(out)[1]?.content_block).toEqual({ type: 'thinking', thinking: '', signature: '' });
    },
  );

  it('S10: two spellings of the same reasoning are told once', () => {
    const out = translate([
      delta({ reasoning: 'r', reasoning_content: 'r', reasoning_details: [{ text: 'r' }] }),
      delta({ content: 'x' }, 'stop'),
      DONE,
    ]);
    expect(out.match(/thinking_delta/g)).toHaveLength(1);
  });

  it('S10: a field and tags that say the same are told once', () => {
    const pieces = [
      { reasoning_content: 'why', content: '<thi' },
      { content: 'nk>why</th' },
      { content: 'ink>Hi' },
    ];
    const out = translate([...pieces.map((piece) => delta(piece)), delta({}, 'stop'), DONE]);
    expect(outline(out).filter((line) => line.startsWith('delta'))).toEqual([
      'delta 0 thinking_delta why',
      'delta 0 signature_delta ',
      'delta 1 text_delta Hi',
    ]);
  });

  it('S12: tags split over chunks become thinking', () => {
    const out = translate(
      [...'<think>r</think>\nHi'].map((char) => delta({ content: char })).concat(delta({}, 'stop'), DONE),
    );
    const joined = (kind: string) =>
      jsonEvents(out)
        .map((item) => (item.delta as JsonObject | undefined)?.[kind] ?? '')
        .join('');
    expect([joined('thinking'), joined('text')]).toEqual(['r', 'Hi']);
  });

  it('S12: tags stay text where the reader is switched off', () => {
    expect(translate([delta({ content: '<think>r</think>' }, 'stop')], { thinkTags: false })).toContain(
      '<think>r</think>',
    );
  });

  it('Mistral: thinking inside content parts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'r' }] },
      { type: 'text', text: 'Hi' },
    ];
    const lines = outline(translate([delta({ content }, 'stop'), DONE])).filter((line) =>
      line.startsWith('delta'),
    );
    expect(lines).toEqual(['delta 0 thinking_delta r', 'delta 0 signature_delta ', 'delta 1 text_delta Hi']);
  });

  it('T15: the client sees its own tool name', () => {
    const out = translate([opening(0, 'a', 'short', '{}'), DONE], {
      toolNames: new Map([['short', 'the.long/name']]),
    });
    expect(outline(out)).toContain('start 0 tool_use the.long/name a');
  });

  it('only the first of several choices is told', () => {
    const both = chunk({
      choices: [
        { index: 1, delta: { content: 'B' } },
        { index: 0, delta: { content: 'A' } },
      ],
    });
    expect(outline(translate([both, delta({}, 'stop'), DONE]))).toContain('delta 0 text_delta A');
    expect(translate([both, delta({}, 'stop'), DONE])).not.toContain('"B"');
  });

  it('null deltas, empty data, comments of gateways and a whole message in one chunk', () => {
    const odd = [
      chunk({ choices: [{ index: 0, delta: null }] }),
      chunk(''),
      chunk('keep-alive'),
      chunk({ choices: null, error: null }),
    ];
    const whole = chunk({
      choices: [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    });
    expect(outline(translate([...odd, whole, DONE]))).toEqual(
      text(['start 0 text', 'delta 0 text_delta Hi', 'stop 0', 'end end_turn']),
    );
  });
});

describe('createAnthropicStream: usage and stop reasons', () => {
  it('S23: cached tokens are not counted twice', () => {
    const counts = {
      prompt_tokens: 1000,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 900 },
    };
    const out = translate([delta({ content: 'x' }, 'stop'), chunk({ choices: [], usage: counts }), DONE]);
    expect(jsonEvents(out).at(-2)?.usage).toEqual({
      input_tokens: 100,
      cache_read_input_tokens: 900,
      output_tokens: 1,
    });
  });

  it('usage is found in the places where Kimi, Groq and DeepSeek put it, also without a choice', () => {
    const counts = { prompt_tokens: 9, completion_tokens: 3 };
    for (const last of [
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: counts }] }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { usage: counts } }),
      chunk({
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        usage: { ...counts, prompt_cache_hit_tokens: 0 },
      }),
    ]) {
      expect(jsonEvents(translate([delta({ content: 'x' }), last, DONE])).at(-2)?.usage).toMatchObject({
        input_tokens: 9,
        output_tokens: 3,
      });
    }
  });

  it('without any usage the end still carries numbers, which the SDK needs', () => {
    const out = translate([delta({ content: 'x'.repeat(40) }, 'stop'), DONE], { estimatedInputTokens: 77 });
    expect(jsonEvents(out).at(-2)?.usage).toEqual({ input_tokens: 77, output_tokens: 10 });
  });

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['eos', 'end_turn'],
    ['tool_calls', 'end_turn'],
  ])('S25: finish %s without tools ends as %s', (finish, stop) => {
    expect(outline(translate([delta({ content: 'x' }, finish), DONE])).at(-2)).toBe(`end ${stop}`);
  });

  it.each([['stop'], ['tool_calls'], ['function_call']])(
    'S25: finish %s after a tool call ends as tool_use',
    (finish) => {
      expect(outline(translate([opening(0, 'a', 'f', '{}'), delta({}, finish), DONE])).at(-2)).toBe(
        'end tool_use',
      );
    },
  );

  it('S25: the old function_call form', () => {
    const out = translate([
      delta({ function_call: { name: 'f', arguments: '{"x"' } }),
      delta({ function_call: { arguments: ':1}' } }, 'function_call'),
      DONE,
    ]);
    expect(outline(out).slice(1, 4)).toEqual([
      'start 0 tool_use f call_turn-1_0',
      'delta 0 input_json_delta {"x":1}',
      'stop 0',
    ]);
  });

  it('S28: stop_sequence only when the upstream names one of the request', () => {
    const last = (stop: unknown) =>
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: stop }] });
    const end = (stop: unknown) =>
      jsonEvents(translate([delta({ content: 'x' }), last(stop), DONE], { stopSequences: ['X'] })).at(-2)
        ?.delta;
    expect(end('X')).toEqual({ stop_reason: 'stop_sequence', stop_sequence: 'X' });
    expect(end('Y')).toEqual({ stop_reason: 'end_turn', stop_sequence: null });
    expect(end(null)).toEqual({ stop_reason: 'end_turn', stop_sequence: null });
  });

  it('S29: a refusal is shown and named', () => {
    const out = translate([delta({ refusal: 'no' }), delta({}, 'stop'), DONE]);
    expect(outline(out)).toEqual(text(['start 0 text', 'delta 0 text_delta no', 'stop 0', 'end refusal']));
  });
});

describe('createAnthropicStream: ends and failures', () => {
  it.each([['[DONE]'], ['[DONE] '], [' [DONE]']])('S33: %j ends once, later bytes are ignored', (done) => {
    const out = translate([delta({ content: 'x' }, 'stop'), chunk(done), delta({ content: 'late' }), DONE]);
    expect(out.match(/message_stop/g)).toHaveLength(2); // event name and type
    expect(out).not.toContain('late');
  });

  it('S33: a missing [DONE] after a finish reason is a normal end', () => {
    expect(outline(translate([delta({ content: 'x' }, 'stop')])).at(-1)).toBe('message_stop');
  });

  it('S42: a cut stream is an error, never a clean end', () => {
    const stream = createAnthropicStream(context());
    const out = stream.push(delta({ content: 'x' })) + stream.end();
    expect(outline(out)).toEqual(['message_start', 'start 0 text', 'delta 0 text_delta x', 'error']);
    expect([stream.state, stream.end(), stream.push(DONE), stream.fail({ message: 'again' })]).toEqual([
      'failed',
      '',
      '',
      '',
    ]);
    expect(parseSse(out).at(-1)?.event).toBe('error');
  });

  it('S42: an error in the stream keeps its kind', () => {
    const out = translate([
      delta({ content: 'x' }),
      chunk({ error: { type: 'overloaded_error', message: 'busy' } }),
    ]);
    expect(jsonEvents(out).at(-1)).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'busy' },
    });
    expect(out).not.toContain('message_stop');
  });

  it('an error as the first event leaves nothing else, so an HTTP error is still possible', () => {
    const stream = createAnthropicStream(context());
    expect(outline(stream.push(chunk({ error: { message: 'slow down', code: 429 } })))).toEqual(['error']);
    expect(stream.error).toMatchObject({ message: 'slow down', type: 'rate_limit_error', status: 429 });
  });

  it('OpenRouter: finish_reason error', () => {
    const last = chunk({
      choices: [
        { index: 0, delta: {}, finish_reason: 'error', error: { message: 'provider died', code: 502 } },
      ],
    });
    expect(jsonEvents(translate([delta({ content: 'x' }), last])).at(-1)).toEqual({
      type: 'error',
      error: { type: 'api_error', message: 'provider died' },
    });
  });

  it.each([[[DONE]], [[]], [[chunk('{"choices":[{"del')]]])('nothing readable is an error: %j', (events) => {
    expect(outline(translate(events))).toEqual(['error']);
  });

  it('a tool call without a name is an error, not an invented call', () => {
    expect(outline(translate([opening(0, 'a', '', '{}'), DONE])).at(-1)).toBe('error');
  });
});
