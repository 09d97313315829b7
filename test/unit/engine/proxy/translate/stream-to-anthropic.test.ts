import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/engine/proxy/translate/types.ts';
import {
  chunk,
  context,
  createAnthropicStream,
  DONE,
  delta,
  jsonEvents,
  message,
  outline,
  parseSse,
  toAnthropic,
} from './support.ts';

const usage = chunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } });

describe('createAnthropicStream: text and reasoning', () => {
  it('S01: a text answer', () => {
    const out = toAnthropic([
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      delta({}, 'stop'),
      usage,
      DONE,
    ]);
    expect(outline(out)).toEqual(
      message(['start 0 text', 'delta 0 text_delta Hel', 'delta 0 text_delta lo', 'stop 0', 'end end_turn']),
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

  it.each([['reasoning_content'], ['reasoning'], ['reasoning_text']])(
    'S09, S10: %s becomes a thinking block',
    (field) => {
      const out = toAnthropic([
        delta({ [field]: 'r' }),
        delta({ [field]: 's', content: null }),
        delta({ content: 'Hi' }),
        delta({}, 'stop'),
        DONE,
      ]);
      expect(outline(out)).toEqual(
        message([
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
    const out = toAnthropic([
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
    const out = toAnthropic([...pieces.map((piece) => delta(piece)), delta({}, 'stop'), DONE]);
    expect(outline(out).filter((line) => line.startsWith('delta'))).toEqual([
      'delta 0 thinking_delta why',
      'delta 0 signature_delta ',
      'delta 1 text_delta Hi',
    ]);
  });

  it('S12: tags split over chunks become thinking', () => {
    const out = toAnthropic(
      [...'<think>r</think>\nHi'].map((char) => delta({ content: char })).concat(delta({}, 'stop'), DONE),
    );
    const joined = (kind: string) =>
      jsonEvents(out)
        .map((item) => (item.delta as JsonObject | undefined)?.[kind] ?? '')
        .join('');
    expect([joined('thinking'), joined('text')]).toEqual(['r', 'Hi']);
  });

  it('S12: tags stay text where the reader is switched off', () => {
    expect(toAnthropic([delta({ content: '<think>r</think>' }, 'stop')], { thinkTags: false })).toContain(
      '<think>r</think>',
    );
  });

  it('Mistral: thinking inside content parts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'r' }] },
      { type: 'text', text: 'Hi' },
    ];
    const lines = outline(toAnthropic([delta({ content }, 'stop'), DONE])).filter((line) =>
      line.startsWith('delta'),
    );
    expect(lines).toEqual(['delta 0 thinking_delta r', 'delta 0 signature_delta ', 'delta 1 text_delta Hi']);
  });

  it('only the first of several choices is told', () => {
    const both = chunk({
      choices: [
        { index: 1, delta: { content: 'B' } },
        { index: 0, delta: { content: 'A' } },
      ],
    });
    expect(outline(toAnthropic([both, delta({}, 'stop'), DONE]))).toContain('delta 0 text_delta A');
    expect(toAnthropic([both, delta({}, 'stop'), DONE])).not.toContain('"B"');
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
    expect(outline(toAnthropic([...odd, whole, DONE]))).toEqual(
      message(['start 0 text', 'delta 0 text_delta Hi', 'stop 0', 'end end_turn']),
    );
  });
});
