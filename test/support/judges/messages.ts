import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import type { MessageStreamEvents } from '@anthropic-ai/sdk/lib/MessageStream';
import type { ParsedMessage } from '@anthropic-ai/sdk/lib/parser';
import { ASKED, type Ask, type Door, type Heard, type Judge, TOOLS, teller } from './judge.ts';
import { PLACE } from './place.ts';

const ENDS: Readonly<Record<string, Heard['end']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tools',
  max_tokens: 'limit',
  refusal: 'refusal',
};

/** Anthropic's SDK on messages. */
export function messagesJudge({ base, key = 'any' }: Door): Judge {
  const anthropic = new Anthropic({ baseURL: base, apiKey: key, maxRetries: 0 });
  return {
    name: 'anthropic messages',
    dialect: 'anthropic',
    errors: Anthropic,
    tells: [
      'streamEvent',
      'thinking',
      'signature',
      'contentBlock',
      'text',
      'inputJson',
      'message',
      'finalMessage',
      'end',
    ],
    async whole(ask, options) {
      const answer = ask.structured
        ? await anthropic.messages.parse(params(ask), options)
        : await anthropic.messages.create(params(ask), options);
      return heard(answer as ParsedMessage<unknown>, answer._request_id);
    },
    async stream(ask, options) {
      const stream = anthropic.messages.stream(params(ask), options);
      const { told, hear } = teller();
      for (const name of this.tells) stream.on(name as keyof MessageStreamEvents, () => hear(name));
      const answer = await stream.finalMessage();
      await stream.done();
      return { heard: heard(answer as ParsedMessage<unknown>, stream.request_id), told };
    },
    async loop(ask, run) {
      const tools = TOOLS.map(({ name, description, parameters }) =>
        betaTool({ name, description, inputSchema: parameters, run: (input) => run(name, input) }),
      );
      const { output_config: _, ...body } = params(ask);
      const last = await anthropic.beta.messages.toolRunner({ ...body, tools });
      return last.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    },
  };
}

function params(ask: Ask) {
  const content: Anthropic.ContentBlockParam[] = [{ type: 'text', text: ask.text ?? 'weather?' }];
  if (ask.image !== undefined)
    content.push({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: ask.image } });
  if (ask.pdf !== undefined)
    content.push({
      type: 'document',
      title: 'report.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: ask.pdf },
    });
  const tools = TOOLS.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }));
  return {
    model: ASKED,
    max_tokens: ask.thinks ? 20_000 : (ask.limit ?? 1000),
    messages: [{ role: 'user' as const, content }],
    ...(ask.system === undefined ? {} : { system: ask.system }),
    ...(ask.tools ? { tools } : {}),
    ...(ask.structured ? { output_config: { format: zodOutputFormat(PLACE) } } : {}),
    ...(ask.thinks ? { thinking: { type: 'enabled' as const, budget_tokens: 16_384 } } : {}),
  };
}

function heard(answer: ParsedMessage<unknown>, requestId: Heard['requestId']): Heard {
  const { content, usage } = answer;
  const isRefused = answer.stop_reason === 'refusal';
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const cacheRead = usage.cache_read_input_tokens ?? 0;
  return {
    text: isRefused ? '' : text,
    thinking: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    refusal: isRefused ? text : '',
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    end: ENDS[answer.stop_reason ?? ''] ?? 'stop',
    usage: {
      input: usage.input_tokens + cacheRead + (usage.cache_creation_input_tokens ?? 0),
      cacheRead,
      output: usage.output_tokens,
    },
    model: answer.model,
    parsed: answer.parsed_output ?? null,
    requestId,
  };
}
