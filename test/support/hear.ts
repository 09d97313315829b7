import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

export interface Heard {
  text: string;
  calls: string[];
  stop: string | null;
  starts: number;
  ends: number;
}

/** What a strict client hears: the official SDKs. */
export async function hear(url: string, client: 'openai' | 'anthropic' | 'responses'): Promise<Heard> {
  if (client === 'responses') return hearResponses(url);
  if (client === 'openai') {
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'k', maxRetries: 0 });
    const stream = await openai.chat.completions.create({
      model: 'served',
      stream: true,
      messages: [{ role: 'user', content: 'x' }],
    });
    const heard: Heard = { text: '', calls: [], stop: null, starts: 0, ends: 0 };
    for await (const chunk of stream) {
      const choice = chunk.choices[0];
      if (!choice) continue;
      if (choice.delta.role) heard.starts += 1;
      heard.text += choice.delta.content ?? '';
      for (const call of choice.delta.tool_calls ?? [])
        heard.calls[call.index] = (heard.calls[call.index] ?? '') + (call.function?.arguments ?? '');
      if (choice.finish_reason) {
        heard.stop = choice.finish_reason;
        heard.ends += 1;
      }
    }
    return heard;
  }
  const anthropic = new Anthropic({ baseURL: url, apiKey: 'k', maxRetries: 0 });
  const stream = await anthropic.messages.create({
    model: 'served',
    stream: true,
    max_tokens: 9000,
    messages: [{ role: 'user', content: 'x' }],
  });
  const heard: Heard = { text: '', calls: [], stop: null, starts: 0, ends: 0 };
  const blocks = new Map<number, number>();
  for await (const event of stream) {
    if (event.type === 'message_start') heard.starts += 1;
    if (event.type === 'content_block_start' && event.content_block.type === 'tool_use')
      blocks.set(event.index, heard.calls.push('') - 1);
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
      heard.text += event.delta.text;
    if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta') {
      const call = blocks.get(event.index) ?? -1;
      heard.calls[call] = (heard.calls[call] ?? '') + event.delta.partial_json;
    }
    if (event.type === 'message_delta') heard.stop = event.delta.stop_reason;
    if (event.type === 'message_stop') heard.ends += 1;
  }
  return heard;
}

/** Iterates the events, and has the SDK's own accumulator check that they fit together. */
async function hearResponses(url: string): Promise<Heard> {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'k', maxRetries: 0 });
  const stream = openai.responses.stream({ model: 'served', input: 'x' });
  const heard: Heard = { text: '', calls: [], stop: null, starts: 0, ends: 0 };
  const calls = new Map<number, number>();
  for await (const event of stream) {
    if (event.type === 'response.created') heard.starts += 1;
    if (event.type === 'response.output_text.delta') heard.text += event.delta;
    if (event.type === 'response.output_item.added' && event.item.type === 'function_call')
      calls.set(event.output_index, heard.calls.push('') - 1);
    if (event.type === 'response.function_call_arguments.delta') {
      const call = calls.get(event.output_index) ?? -1;
      heard.calls[call] = (heard.calls[call] ?? '') + event.delta;
    }
    if (event.type === 'response.completed') heard.ends += 1;
  }
  heard.stop = (await stream.finalResponse()).status ?? null;
  return heard;
}
