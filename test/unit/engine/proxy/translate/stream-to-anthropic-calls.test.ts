import { describe, expect, it } from 'vitest';
import type { JsonObject, WireEvent } from '../../../../../src/engine/proxy/translate/types.ts';
import {
  args,
  DONE,
  delta,
  jsonEvents,
  message,
  opening,
  outline,
  toAnthropic,
  toolPiece,
} from './support.ts';

describe('createAnthropicStream: calls', () => {
  const two = message([
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
        toAnthropic([
          opening(0, 'a', 'f', '{"x":1}'),
          opening(1, 'b', 'g', '{"y":2}'),
          delta({}, 'tool_calls'),
          DONE,
        ]),
      ),
    ).toEqual(two);
  });

  it('S03: interleaved arguments', () => {
    const out = toAnthropic([
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
      message([
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
    const out = outline(toAnthropic([...events, delta({}, 'tool_calls'), DONE]));
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
    const out = jsonEvents(toAnthropic([...events, delta({}, 'tool_calls'), DONE]));
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
    const ids = outline(toAnthropic([...events, DONE])).filter((line) => line.startsWith('start'));
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
        toAnthropic([opening(0, 'a', 'f'), args(0, value), delta({}, 'tool_calls'), DONE]),
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
    const out = toAnthropic([
      delta({ content: 'a' }),
      opening(0, 'i', 'f', '{}'),
      delta({ content: 'b' }),
      delta({}, 'stop'),
      DONE,
    ]);
    expect(outline(out)).toEqual(
      message([
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

  it('T15: the client sees its own tool name', () => {
    const out = toAnthropic([opening(0, 'a', 'short', '{}'), DONE], {
      toolNames: new Map([['short', 'the.long/name']]),
    });
    expect(outline(out)).toContain('start 0 tool_use the.long/name a');
  });
});
