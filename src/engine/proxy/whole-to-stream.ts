import type { Dialect } from '../../shared/model.ts';
import { asArray, asObject, asText, isObject } from './translate/json.ts';
import { responsesStreamOfWhole } from './translate/responses/whole-to-stream.ts';
import { anthropicEvent, OPENAI_DONE, openaiEvent } from './translate/sse.ts';
import type { JsonObject } from './translate/types.ts';

/** Event stream of an answer that came whole although a stream was asked for; reply and stream in the same dialect. */
export function streamOfWhole(dialect: Dialect, reply: JsonObject, includeUsage: boolean): string {
  if (dialect === 'responses') return responsesStreamOfWhole(reply);
  return dialect === 'anthropic' ? anthropicStream(reply) : openaiStream(reply, includeUsage);
}

function openaiStream(reply: JsonObject, includeUsage: boolean): string {
  const { choices, usage, object: _, ...head } = reply;
  const base = { ...head, object: 'chat.completion.chunk' };
  let out = '';
  for (const choice of asArray(choices).filter(isObject)) {
    const { tool_calls, ...message } = asObject(choice.message);
    const calls = asArray(tool_calls).map((call, index) => ({ index, ...asObject(call) }));
    const delta = { role: 'assistant', ...message, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    const index = choice.index ?? 0;
    out += openaiEvent({ ...base, choices: [{ index, delta, finish_reason: null }] });
    out += openaiEvent({
      ...base,
      choices: [{ index, delta: {}, finish_reason: choice.finish_reason ?? 'stop' }],
    });
  }
  if (includeUsage && usage !== undefined) out += openaiEvent({ ...base, choices: [], usage });
  return out + OPENAI_DONE;
}

function anthropicStream(reply: JsonObject): string {
  const usage = asObject(reply.usage);
  const start = {
    ...reply,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 0 },
  };
  let out = anthropicEvent({ type: 'message_start', message: start });
  for (const [index, block] of asArray(reply.content).filter(isObject).entries()) {
    const { empty, deltas } = blockParts(block);
    out += anthropicEvent({ type: 'content_block_start', index, content_block: empty });
    for (const delta of deltas) out += anthropicEvent({ type: 'content_block_delta', index, delta });
    out += anthropicEvent({ type: 'content_block_stop', index });
  }
  out += anthropicEvent({
    type: 'message_delta',
    delta: { stop_reason: reply.stop_reason ?? 'end_turn', stop_sequence: reply.stop_sequence ?? null },
    usage: { output_tokens: usage.output_tokens ?? 0 },
  });
  return out + anthropicEvent({ type: 'message_stop' });
}

function blockParts(block: JsonObject): { empty: JsonObject; deltas: JsonObject[] } {
  if (block.type === 'text')
    return { empty: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: asText(block.text) }] };
  if (block.type === 'thinking')
    return {
      empty: { ...block, thinking: '', signature: '' },
      deltas: [
        { type: 'thinking_delta', thinking: asText(block.thinking) },
        { type: 'signature_delta', signature: asText(block.signature) },
      ],
    };
  if (block.type === 'tool_use')
    return {
      empty: { ...block, input: {} },
      deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input ?? {}) }],
    };
  return { empty: block, deltas: [] };
}
