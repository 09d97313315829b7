import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import type { ParsedChatCompletion } from 'openai/resources/chat/completions';
import {
  ASKED,
  type Ask,
  type AskOptions,
  type Door,
  type Heard,
  type Judge,
  TOOLS,
  teller,
} from './judge.ts';
import { PLACE } from './place.ts';

type Part = OpenAI.ChatCompletionContentPart;

const ENDS: Readonly<Record<string, Heard['end']>> = {
  stop: 'stop',
  tool_calls: 'tools',
  length: 'limit',
  content_filter: 'refusal',
};

/** OpenAI's SDK on chat completions. */
export function chatJudge({ base, key = 'any' }: Door): Judge {
  const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 });
  return {
    name: 'openai chat',
    dialect: 'openai',
    errors: OpenAI,
    tells: [
      'chunk',
      'content.delta',
      'content.done',
      'tool_calls.function.arguments.delta',
      'tool_calls.function.arguments.done',
      'message',
      'finalContent',
      'finalMessage',
      'finalChatCompletion',
      'totalUsage',
      'end',
    ],
    async whole(ask, options) {
      const body = { ...params(ask), ...toolsOf(ask) };
      const answer = ask.structured
        ? await openai.chat.completions.parse(body, options)
        : await openai.chat.completions.create(body, options);
      return heard(answer as ParsedChatCompletion<unknown>, answer._request_id);
    },
    async stream(ask, options: AskOptions = {}) {
      const body = { ...params(ask), ...toolsOf(ask), stream_options: { include_usage: true } };
      const stream = openai.chat.completions.stream(body, options);
      const { told, hear } = teller();
      for (const name of this.tells) stream.on(name as 'end', () => hear(name));
      // The helper adds up the fields that it knows; of any other it keeps the last delta only.
      let thinking = '';
      stream.on('chunk', ({ choices: [choice] }) => {
        thinking += (choice?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '';
      });
      const answer = await stream.finalChatCompletion();
      await stream.done();
      return { heard: { ...heard(answer as ParsedChatCompletion<unknown>, undefined), thinking }, told };
    },
    async loop(ask, run) {
      const tools = TOOLS.map(({ name, description, parameters }) => ({
        type: 'function' as const,
        function: {
          name,
          description,
          parameters,
          parse: JSON.parse as (text: string) => object,
          function: (input: object) => run(name, input),
        },
      }));
      const runner = openai.chat.completions.runTools({ ...params(ask), tools });
      return (await runner.finalContent()) ?? '';
    },
  };
}

function params(ask: Ask) {
  const parts: Part[] = [{ type: 'text', text: ask.text ?? 'weather?' }];
  if (ask.image !== undefined)
    parts.push({ type: 'image_url', image_url: { url: `data:image/png;base64,${ask.image}` } });
  if (ask.pdf !== undefined)
    parts.push({
      type: 'file',
      file: { filename: 'report.pdf', file_data: `data:application/pdf;base64,${ask.pdf}` },
    });
  return {
    model: ASKED,
    messages: [
      ...(ask.system === undefined ? [] : [{ role: 'system' as const, content: ask.system }]),
      { role: 'user' as const, content: parts },
    ],
    ...(ask.limit === undefined ? {} : { max_completion_tokens: ask.limit }),
    ...(ask.structured ? { response_format: zodResponseFormat(PLACE, 'place') } : {}),
    ...(ask.thinks ? { reasoning_effort: 'high' as const, max_completion_tokens: 20_000 } : {}),
  };
}

function toolsOf(ask: Ask): { tools?: OpenAI.ChatCompletionFunctionTool[] } {
  return ask.tools ? { tools: TOOLS.map((tool) => ({ type: 'function', function: tool })) } : {};
}

function heard(answer: ParsedChatCompletion<unknown>, requestId: Heard['requestId']): Heard {
  const [choice] = answer.choices;
  const message = choice?.message as (typeof answer.choices)[0]['message'] & { reasoning_content?: string };
  return {
    text: message.content ?? '',
    thinking: message.reasoning_content ?? '',
    refusal: message.refusal ?? '',
    calls: (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) as unknown }]
        : [],
    ),
    end: message.refusal ? 'refusal' : (ENDS[choice?.finish_reason ?? ''] ?? 'stop'),
    usage: {
      input: answer.usage?.prompt_tokens ?? 0,
      cacheRead: answer.usage?.prompt_tokens_details?.cached_tokens ?? 0,
      output: answer.usage?.completion_tokens ?? 0,
    },
    model: answer.model,
    parsed: message.parsed ?? null,
    requestId,
  };
}
