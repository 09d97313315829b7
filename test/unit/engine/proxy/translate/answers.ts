import { createAssembler } from '../../../../../src/engine/proxy/translate/assemble.ts';
import type { JsonObject, WireEvent } from '../../../../../src/engine/proxy/translate/types.ts';
import type { Dialect } from '../../../../../src/shared/model.ts';
import { chunk, event, parseSse } from './support.ts';

/** One answer, as each wire tells it in a stream. */
export interface Said {
  thinking?: string;
  text?: string;
  refusal?: string;
  calls?: readonly { id: string; name: string; arguments: string }[];
  cut?: boolean;
}

/** Prompt 100 of which 60 came from a cache, answer 20 of which 7 were reasoning. */
const USAGE = {
  openai: {
    prompt_tokens: 100,
    completion_tokens: 20,
    prompt_tokens_details: { cached_tokens: 60 },
    completion_tokens_details: { reasoning_tokens: 7 },
  },
  anthropic: {
    input_tokens: 40,
    cache_read_input_tokens: 60,
    output_tokens: 20,
    output_tokens_details: { thinking_tokens: 7 },
  },
  responses: {
    input_tokens: 100,
    output_tokens: 20,
    input_tokens_details: { cached_tokens: 60 },
    output_tokens_details: { reasoning_tokens: 7 },
  },
};

/** The events of an upstream that says this. */
export function eventsOf(upstream: Dialect, said: Said): WireEvent[] {
  if (upstream === 'openai') return chatEvents(said);
  return upstream === 'anthropic' ? anthropicEvents(said) : responsesEvents(said);
}

function chatEvents({ thinking, text, refusal, calls = [], cut }: Said): WireEvent[] {
  const piece = (delta: JsonObject, finish: string | null = null) =>
    chunk({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] });
  const half = (args: string) => Math.ceil(args.length / 2);
  const part = (index: number, text: string) =>
    piece({ tool_calls: [{ index, function: { arguments: text } }] });
  return [
    piece({ role: 'assistant', content: '' }),
    ...(thinking ? [piece({ reasoning_content: thinking })] : []),
    ...(text ? [...text].map((content) => piece({ content })) : []),
    ...(refusal ? [piece({ refusal })] : []),
    // Interleaved, as servers with parallel calls send them.
    ...calls.map(({ id, name }, index) =>
      piece({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ),
    ...calls.map((call, index) => part(index, call.arguments.slice(0, half(call.arguments)))),
    ...calls.map((call, index) => part(index, call.arguments.slice(half(call.arguments)))),
    piece({}, cut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'),
    chunk({ choices: [], usage: USAGE.openai }),
    chunk('[DONE]'),
  ];
}

function anthropicEvents({ thinking, text, refusal, calls = [], cut }: Said): WireEvent[] {
  const blocks: [JsonObject, JsonObject[]][] = [];
  if (thinking) blocks.push([{ type: 'thinking', thinking: '' }, [{ type: 'thinking_delta', thinking }]]);
  if (text)
    blocks.push([{ type: 'text', text: '' }, [...text].map((one) => ({ type: 'text_delta', text: one }))]);
  for (const { id, name, arguments: partial_json } of calls)
    blocks.push([{ type: 'tool_use', id, name, input: {} }, [{ type: 'input_json_delta', partial_json }]]);
  const reason = refusal ? 'refusal' : cut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn';
  const details = refusal ? { stop_details: { explanation: refusal } } : {};
  return [
    event({
      type: 'message_start',
      message: { id: 'msg_x', usage: { ...USAGE.anthropic, output_tokens: 1 } },
    }),
    event({ type: 'ping' }),
    ...blocks.flatMap(([content_block, deltas], index) => [
      event({ type: 'content_block_start', index, content_block }),
      ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
      event({ type: 'content_block_stop', index }),
    ]),
    event({ type: 'message_delta', delta: { stop_reason: reason, ...details }, usage: { output_tokens: 9 } }),
    event({ type: 'message_delta', delta: {}, usage: { output_tokens: 20 } }),
    event({ type: 'message_stop' }),
  ];
}

function responsesEvents({ thinking, text, refusal, calls = [], cut }: Said): WireEvent[] {
  const items: { item: JsonObject; pieces: (JsonObject & { type: string })[] }[] = [];
  if (thinking)
    items.push({
      item: { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: thinking }] },
      pieces: [{ type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: thinking }],
    });
  if (text || refusal) {
    const content = text ? { type: 'output_text', text } : { type: 'refusal', refusal };
    const type = text ? 'response.output_text.delta' : 'response.refusal.delta';
    items.push({
      item: { type: 'message', id: 'm', role: 'assistant', content: [content] },
      pieces: [...(text ?? refusal ?? '')].map((delta) => ({ type, content_index: 0, delta })),
    });
  }
  for (const { id, name, arguments: args } of calls)
    items.push({
      item: { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: args },
      pieces: [{ type: 'response.function_call_arguments.delta', delta: args }],
    });
  const status = cut ? 'incomplete' : 'completed';
  const response = {
    id: 'resp_x',
    object: 'response',
    status,
    ...(cut ? { incomplete_details: { reason: 'max_output_tokens' } } : {}),
    output: items.map(({ item }) => item),
    usage: USAGE.responses,
  };
  return [
    event({ type: 'response.created', response: { id: 'resp_x', status: 'in_progress', output: [] } }),
    ...items.flatMap(({ item, pieces }, output_index) => [
      event({
        type: 'response.output_item.added',
        output_index,
        item: {
          ...item,
          ...(item.type === 'function_call' ? { arguments: '' } : { content: [], summary: [] }),
        },
      }),
      ...pieces.map((piece) => event({ ...piece, output_index })),
      event({ type: 'response.output_item.done', output_index, item }),
    ]),
    event({ type: `response.${status}`, response }),
  ];
}

/** The whole reply of an upstream that streamed these events. */
export function wholeOf(upstream: Dialect, events: readonly WireEvent[]): JsonObject {
  const assembler = createAssembler(upstream);
  for (const one of events) assembler.push(one);
  const { reply } = assembler.result();
  if (reply === null) throw new Error('nothing could be read');
  return upstream === 'openai' ? { id: 'x', ...reply } : reply;
}

/** What a client reads out of a reply in its dialect. */
export interface Heard {
  thinking: string;
  text: string;
  refusal: string;
  calls: { id: unknown; name: unknown; arguments: unknown }[];
  end: unknown;
}

export function heardIn(client: Dialect, reply: JsonObject): Heard {
  const list = (value: unknown) => (Array.isArray(value) ? (value as JsonObject[]) : []);
  const join = (items: JsonObject[], type: string, field: string) =>
    items.map((item) => (item.type === type ? String(item[field] ?? '') : '')).join('');
  if (client === 'anthropic') {
    const blocks = list(reply.content);
    const uses = blocks.filter(({ type }) => type === 'tool_use');
    return {
      thinking: join(blocks, 'thinking', 'thinking'),
      text: join(blocks, 'text', 'text'),
      refusal: '',
      calls: uses.map(({ id, name, input }) => ({ id, name, arguments: input })),
      end: reply.stop_reason,
    };
  }
  if (client === 'responses') {
    const items = list(reply.output);
    const parts = items.flatMap((item) => (item.type === 'message' ? list(item.content) : []));
    const summaries = items.flatMap((item) => list(item.summary));
    const calls = items.filter(({ type }) => type === 'function_call');
    return {
      thinking: join(summaries, 'summary_text', 'text'),
      text: join(parts, 'output_text', 'text'),
      refusal: join(parts, 'refusal', 'refusal'),
      calls: calls.map(({ call_id: id, name, arguments: args }) => ({
        id,
        name,
        arguments: JSON.parse(String(args)),
      })),
      end: reply.status,
    };
  }
  const choice = list(reply.choices)[0] as { message: JsonObject; finish_reason: string };
  const { message } = choice;
  return {
    thinking: String(message.reasoning_content ?? ''),
    text: String(message.content ?? ''),
    refusal: String(message.refusal ?? ''),
    calls: list(message.tool_calls).map(({ id, function: fn }) => {
      const { name, arguments: args } = fn as JsonObject;
      return { id, name, arguments: JSON.parse(String(args)) };
    }),
    end: choice.finish_reason,
  };
}

/** What a client makes of the SSE text that it is sent. */
export function assembled(client: Dialect, text: string) {
  const assembler = createAssembler(client);
  for (const one of parseSse(text)) assembler.push(one);
  return assembler.result();
}
