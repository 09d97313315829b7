import { describe, expect, it } from 'vitest';
import {
  chunk,
  context,
  createAnthropicStream,
  DONE,
  delta,
  jsonEvents,
  message,
  opening,
  outline,
  parseSse,
  toAnthropic,
} from './support.ts';

describe('createAnthropicStream: usage and stop reasons', () => {
  it('S23: cached tokens are not counted twice', () => {
    const counts = {
      prompt_tokens: 1000,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 900 },
    };
    const out = toAnthropic([delta({ content: 'x' }, 'stop'), chunk({ choices: [], usage: counts }), DONE]);
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
      expect(jsonEvents(toAnthropic([delta({ content: 'x' }), last, DONE])).at(-2)?.usage).toMatchObject({
        input_tokens: 9,
        output_tokens: 3,
      });
    }
  });

  it('without any usage the end still carries numbers, which the SDK needs', () => {
    const out = toAnthropic([delta({ content: 'x'.repeat(40) }, 'stop'), DONE], { estimatedInputTokens: 77 });
    expect(jsonEvents(out).at(-2)?.usage).toEqual({ input_tokens: 77, output_tokens: 10 });
  });

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['eos', 'end_turn'],
    ['tool_calls', 'end_turn'],
  ])('S25: finish %s without tools ends as %s', (finish, stop) => {
    expect(outline(toAnthropic([delta({ content: 'x' }, finish), DONE])).at(-2)).toBe(`end ${stop}`);
  });

  it.each([['stop'], ['tool_calls'], ['function_call']])(
    'S25: finish %s after a tool call ends as tool_use',
    (finish) => {
      expect(outline(toAnthropic([opening(0, 'a', 'f', '{}'), delta({}, finish), DONE])).at(-2)).toBe(
        'end tool_use',
      );
    },
  );

  it('S25: the old function_call form', () => {
    const out = toAnthropic([
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
      jsonEvents(toAnthropic([delta({ content: 'x' }), last(stop), DONE], { stopSequences: ['X'] })).at(-2)
        ?.delta;
    expect(end('X')).toEqual({ stop_reason: 'stop_sequence', stop_sequence: 'X' });
    expect(end('Y')).toEqual({ stop_reason: 'end_turn', stop_sequence: null });
    expect(end(null)).toEqual({ stop_reason: 'end_turn', stop_sequence: null });
  });

  it('S29: a refusal is shown and named', () => {
    const out = toAnthropic([delta({ refusal: 'no' }), delta({}, 'stop'), DONE]);
    expect(outline(out)).toEqual(message(['start 0 text', 'delta 0 text_delta no', 'stop 0', 'end refusal']));
  });
});

describe('createAnthropicStream: ends and failures', () => {
  it.each([['[DONE]'], ['[DONE] '], [' [DONE]']])('S33: %j ends once, later bytes are ignored', (done) => {
    const out = toAnthropic([delta({ content: 'x' }, 'stop'), chunk(done), delta({ content: 'late' }), DONE]);
    expect(out.match(/message_stop/g)).toHaveLength(2); // event name and type
    expect(out).not.toContain('late');
  });

  it('S33: a missing [DONE] after a finish reason is a normal end', () => {
    expect(outline(toAnthropic([delta({ content: 'x' }, 'stop')])).at(-1)).toBe('message_stop');
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
    const out = toAnthropic([
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
    expect(jsonEvents(toAnthropic([delta({ content: 'x' }), last])).at(-1)).toEqual({
      type: 'error',
      error: { type: 'api_error', message: 'provider died' },
    });
  });

  it.each([[[DONE]], [[]], [[chunk('{"choices":[{"del')]]])('nothing readable is an error: %j', (events) => {
    expect(outline(toAnthropic(events))).toEqual(['error']);
  });

  it('a tool call without a name is an error, not an invented call', () => {
    expect(outline(toAnthropic([opening(0, 'a', '', '{}'), DONE])).at(-1)).toBe('error');
  });
});
