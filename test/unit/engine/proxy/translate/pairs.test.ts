import { describe, expect, it } from 'vitest';
import {
  createTranslator,
  translateReply,
  translateRequest,
} from '../../../../../src/engine/proxy/translate/pairs.ts';
import type { JsonObject, TranslateOptions } from '../../../../../src/engine/proxy/translate/types.ts';
import type { Dialect } from '../../../../../src/shared/model.ts';
import { assembled, eventsOf, heardIn, type Said, wholeOf } from './answers.ts';
import { options, run } from './support.ts';

const PAIRS: [Dialect, Dialect][] = [
  ['openai', 'anthropic'],
  ['openai', 'responses'],
  ['anthropic', 'openai'],
  ['anthropic', 'responses'],
  ['responses', 'openai'],
  ['responses', 'anthropic'],
];

const tool = { name: 'exec', parameters: { type: 'object', properties: {} } };
const ASKED: Record<Dialect, JsonObject> = {
  openai: {
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ type: 'function', function: tool }],
    stream_options: { include_usage: true },
  },
  anthropic: {
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ name: 'exec', input_schema: tool.parameters }],
  },
  responses: { input: 'hi', tools: [{ type: 'function', ...tool }] },
};

/** An upstream says it, and the client is told, in a stream and whole. */
function tell(client: Dialect, upstream: Dialect, said: Said, change: Partial<TranslateOptions> = {}) {
  const asked = { model: 'asked', stream: true, ...ASKED[client] };
  const { context } = translateRequest(client, upstream, asked, options(change));
  const events = eventsOf(upstream, said);
  const sent = run(createTranslator(upstream, client, context), events);
  const streamed = assembled(client, sent);
  const whole = translateReply(upstream, client, wholeOf(upstream, events), context);
  return {
    sent,
    complete: streamed.complete,
    usage: streamed.usage,
    stream: heardIn(client, streamed.reply ?? {}),
    whole: heardIn(client, whole),
    names: [streamed.reply?.model, whole.model],
    raw: whole,
  };
}

const CALLS = [
  { id: 'call_1', name: 'exec', arguments: '{"command":"ls \\"}\\""}' },
  { id: 'call_2', name: 'exec', arguments: '{}' },
];
const ENDS = {
  openai: { stop: 'stop', calls: 'tool_calls', cut: 'length', refusal: 'content_filter' },
  anthropic: { stop: 'end_turn', calls: 'tool_use', cut: 'max_tokens', refusal: 'refusal' },
  responses: { stop: 'completed', calls: 'completed', cut: 'incomplete', refusal: 'completed' },
};

describe.each(PAIRS)('%s client, %s upstream', (client, upstream) => {
  it('reasoning, text, parallel calls, their order and their end, streamed as whole', () => {
    const { stream, whole, complete, names } = tell(client, upstream, {
      thinking: 'hm',
      text: 'Look:',
      calls: CALLS,
    });
    expect(stream).toEqual({
      thinking: 'hm',
      text: 'Look:',
      refusal: '',
      calls: CALLS.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) })),
      end: ENDS[client].calls,
    });
    expect(whole).toEqual(stream);
    expect(complete).toBe(true);
    expect(names).toEqual(['asked', 'asked']);
  });

  it('S23, S24: the counts of the last total, cached tokens counted once', () => {
    expect(tell(client, upstream, { text: 'x' }).usage).toEqual({
      inputTokens: 40,
      cacheReadTokens: 60,
      cacheWriteTokens: 0,
      outputTokens: 20,
      estimated: false,
    });
  });

  it('an answer that was cut short is told as cut', () => {
    const { stream, whole } = tell(client, upstream, { text: 'hal', cut: true });
    expect([stream.end, whole.end]).toEqual([ENDS[client].cut, ENDS[client].cut]);
  });

  it('S29: a refusal in words reaches the person and is told as one', () => {
    const { stream, whole } = tell(client, upstream, { refusal: 'I will not.' });
    for (const heard of [stream, whole]) expect(heard.text + heard.refusal).toBe('I will not.');
    if (client !== 'openai' || upstream === 'anthropic') expect(stream.end).toBe(ENDS[client].refusal);
    expect(whole.end).toBe(stream.end);
  });

  it('S49: text that looks like a tool call stays text', () => {
    const text = '<tool_call>{"name":"exec","arguments":{}}</tool_call>';
    const { stream, whole } = tell(client, upstream, { text });
    expect(stream).toMatchObject({ text, calls: [], end: ENDS[client].stop });
    expect(whole).toEqual(stream);
  });

  it('S42, S43: a stream that breaks off anywhere never looks complete', () => {
    const asked = { model: 'asked', stream: true, ...ASKED[client] };
    const { context } = translateRequest(client, upstream, asked, options());
    const events = eventsOf(upstream, { text: 'half', calls: CALLS });
    // The last events are the end itself; a finish reason alone is one, too (S33).
    const ends = upstream === 'responses' ? 1 : 3;
    for (let length = 0; length <= events.length - ends; length += 1) {
      const stream = createTranslator(upstream, client, context);
      const sent = run(stream, events.slice(0, length));
      expect(stream.state).toBe('failed');
      expect(assembled(client, sent)).toMatchObject({ complete: false, error: { message: /closed/ } });
    }
  });

  it('S16: reasoning is not shown where that is switched off', () => {
    const { stream, whole } = tell(client, upstream, { thinking: 'hm', text: 'x' }, { showReasoning: false });
    // The switch is for chat clients and for what comes to others through their dialect.
    const shown = upstream === 'openai' ? 'hm' : '';
    expect([stream.thinking, whole.thinking]).toEqual([shown, shown]);
  });
});

it('T42: a chat client that wanted logprobs of an Anthropic upstream reads null', () => {
  const { raw, sent } = tell('openai', 'anthropic', { text: 'x' });
  expect(raw.choices).toMatchObject([{ logprobs: null }]);
  expect(sent).not.toMatch(/"logprobs":[^n]/);
});
