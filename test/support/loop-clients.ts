import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

// biome-ignore lint/suspicious/noExplicitAny: bodies of three dialects, read as their clients read them
type Json = Record<string, any>;

/** How a client treats what it was told. */
export interface Habits {
  /** Keeps words and calls alone: no reasoning, no signatures. */
  forgets: boolean;
  /** Takes the punctuation out of call ids, as OpenClaw does, and writes arguments anew. */
  mangles: boolean;
}

/** An agent in a tool loop, on the official SDK of its dialect. */
export interface LoopClient {
  /** One request, whole or streamed; answers every call of the reply. Returns how many there were. */
  turn(origin: string, stream: boolean, headers?: Record<string, string>): Promise<number>;
  /** A new request of the user's, in the same conversation. */
  say(text: string): void;
}

export type LoopDialect = 'openai' | 'anthropic' | 'responses';

const SCHEMA = { type: 'object' as const, properties: { n: { type: 'number' } } };
const OPTIONS = { apiKey: 'k', maxRetries: 0 };

export function loopClient(dialect: LoopDialect, habits: Habits): LoopClient {
  if (dialect === 'openai') return chatClient(habits);
  return dialect === 'anthropic' ? messagesClient(habits) : itemsClient(habits);
}

function chatClient(habits: Habits): LoopClient {
  const messages: Json[] = [{ role: 'user', content: 'Go through the list.' }];
  return {
    say: (text) => void messages.push({ role: 'user', content: text }),
    async turn(origin, stream, headers = {}) {
      const sdk = new OpenAI({ ...OPTIONS, baseURL: `${origin}/v1`, defaultHeaders: headers });
      const body = {
        model: 'm',
        reasoning_effort: 'high' as const,
        max_completion_tokens: 20_000,
        messages: messages as OpenAI.ChatCompletionMessageParam[],
        tools: [{ type: 'function' as const, function: { name: 'run', parameters: SCHEMA } }],
      };
      const message: Json = stream
        ? await wholeChat(await sdk.chat.completions.create({ ...body, stream: true }))
        : ((await sdk.chat.completions.create(body)).choices[0]?.message ?? {});
      const calls: Json[] = message.tool_calls ?? [];
      const kept = calls.map((call) => ({
        ...(habits.forgets ? {} : call),
        id: idOf(call.id, habits),
        type: 'function',
        function: { name: call.function.name, arguments: argumentsOf(call.function.arguments, habits) },
      }));
      const { role: _, refusal: __, tool_calls: ___, content, ...rest } = message;
      messages.push({
        role: 'assistant',
        content: content ?? null,
        ...(habits.forgets ? {} : rest),
        ...(kept.length > 0 ? { tool_calls: kept } : {}),
      });
      for (const { id } of kept) messages.push({ role: 'tool', tool_call_id: id, content: 'ok' });
      return calls.length;
    },
  };
}

/** The SDK's own helper drops fields that it does not know. */
async function wholeChat(chunks: AsyncIterable<Json>): Promise<Json> {
  const message: Json = { content: null };
  for await (const chunk of chunks) {
    const { content, tool_calls = [], reasoning_content, reasoning_details } = chunk.choices[0]?.delta ?? {};
    if (content) message.content = (message.content ?? '') + content;
    if (reasoning_content) message.reasoning_content = (message.reasoning_content ?? '') + reasoning_content;
    if (reasoning_details)
      message.reasoning_details = [...(message.reasoning_details ?? []), ...reasoning_details];
    for (const { index, function: fn, ...call } of tool_calls) {
      message.tool_calls ??= [];
      const known = message.tool_calls[index];
      if (known) known.function.arguments += fn?.arguments ?? '';
      else
        message.tool_calls[index] = { ...call, function: { name: fn.name, arguments: fn.arguments ?? '' } };
    }
  }
  return message;
}

function messagesClient(habits: Habits): LoopClient {
  const messages: Json[] = [{ role: 'user', content: 'Go through the list.' }];
  return {
    say: (text) => void messages.push({ role: 'user', content: text }),
    async turn(origin, stream, headers = {}) {
      const sdk = new Anthropic({ ...OPTIONS, baseURL: origin, defaultHeaders: headers });
      const body = {
        model: 'm',
        max_tokens: 20_000,
        thinking: { type: 'enabled' as const, budget_tokens: 4000 },
        messages: messages as Anthropic.MessageParam[],
        tools: [{ name: 'run', input_schema: SCHEMA }],
      };
      const reply: Json = stream
        ? await sdk.messages.stream(body).finalMessage()
        : await sdk.messages.create({ ...body, stream: false });
      const blocks = (reply.content as Json[])
        .filter((block) => !habits.forgets || !/thinking/.test(block.type))
        .map((block) => (block.type === 'tool_use' ? { ...block, id: idOf(block.id, habits) } : block));
      const uses = blocks.filter((block) => block.type === 'tool_use');
      messages.push({ role: 'assistant', content: blocks });
      const results = uses.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }));
      if (results.length > 0) messages.push({ role: 'user', content: results });
      return uses.length;
    },
  };
}

function itemsClient(habits: Habits): LoopClient {
  const input: Json[] = [{ role: 'user', content: 'Go through the list.' }];
  return {
    say: (text) => void input.push({ role: 'user', content: text }),
    async turn(origin, stream, headers = {}) {
      const sdk = new OpenAI({ ...OPTIONS, baseURL: `${origin}/v1`, defaultHeaders: headers });
      const body = {
        model: 'm',
        store: false,
        max_output_tokens: 20_000,
        reasoning: { effort: 'high' as const },
        include: ['reasoning.encrypted_content' as const],
        input: input as OpenAI.Responses.ResponseInput,
        tools: [{ type: 'function' as const, name: 'run', parameters: SCHEMA, strict: false }],
      };
      const reply: Json = stream
        ? await sdk.responses.stream(body).finalResponse()
        : await sdk.responses.create({ ...body, stream: false });
      const calls: Json[] = [];
      for (const item of reply.output as Json[]) {
        if (item.type === 'reasoning' && !habits.forgets) input.push(item);
        if (item.type === 'message') input.push({ role: 'assistant', content: item.content });
        if (item.type !== 'function_call') continue;
        const id = idOf(item.call_id, habits);
        calls.push({ id });
        const call = { type: 'function_call', call_id: id, name: item.name };
        input.push({ ...call, arguments: argumentsOf(item.arguments, habits) });
      }
      for (const { id } of calls) input.push({ type: 'function_call_output', call_id: id, output: 'ok' });
      return calls.length;
    },
  };
}

function idOf(id: string, { mangles }: Habits): string {
  return mangles ? id.replace(/[^a-zA-Z0-9]/g, '') : id;
}

function argumentsOf(text: string, { mangles }: Habits): string {
  return mangles ? JSON.stringify(JSON.parse(text)) : text;
}
