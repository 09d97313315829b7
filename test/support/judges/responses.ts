import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { ParsedResponse, ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses';
import { ASKED, type Ask, type Door, type Heard, type Judge, TOOLS, teller } from './judge.ts';
import { PLACE } from './place.ts';

/** OpenAI's SDK on the Responses API. It has no tool runner: the loop goes on by `previous_response_id`. */
export function responsesJudge({ base, key = 'any' }: Door): Judge {
  const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 });
  return {
    name: 'openai responses',
    dialect: 'responses',
    errors: OpenAI,
    tells: [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.completed',
    ],
    async whole(ask, options) {
      const answer = await openai.responses.parse(params(ask), options);
      return heard(answer as ParsedResponse<unknown>, answer._request_id);
    },
    async stream(ask, options) {
      const stream = openai.responses.stream({ ...params(ask), stream: true }, options);
      const { told, hear } = teller();
      for await (const { type } of stream) hear(type);
      return { heard: heard((await stream.finalResponse()) as ParsedResponse<unknown>, undefined), told };
    },
    async loop(ask, run) {
      let answer = await openai.responses.create(params({ ...ask, tools: true }));
      for (;;) {
        const calls = answer.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
        if (calls.length === 0) return answer.output_text;
        answer = await openai.responses.create({
          ...params({ tools: true }),
          previous_response_id: answer.id,
          input: calls.map(({ call_id, name, arguments: args }) => ({
            type: 'function_call_output',
            call_id,
            output: run(name, JSON.parse(args)),
          })),
        });
      }
    },
  };
}

function params(ask: Ask): ResponseCreateParamsNonStreaming {
  const content: OpenAI.Responses.ResponseInputContent[] = [
    { type: 'input_text', text: ask.text ?? 'weather?' },
  ];
  if (ask.image !== undefined)
    content.push({ type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${ask.image}` });
  if (ask.pdf !== undefined)
    content.push({
      type: 'input_file',
      filename: 'report.pdf',
      file_data: `data:application/pdf;base64,${ask.pdf}`,
    });
  return {
    model: ASKED,
    input: [{ role: 'user', content }],
    ...(ask.system === undefined ? {} : { instructions: ask.system }),
    ...(ask.tools ? { tools: TOOLS.map((tool) => ({ type: 'function', strict: false, ...tool })) } : {}),
    ...(ask.limit === undefined ? {} : { max_output_tokens: ask.limit }),
    ...(ask.structured ? { text: { format: zodTextFormat(PLACE, 'place') } } : {}),
    ...(ask.thinks ? { reasoning: { effort: 'high' }, max_output_tokens: 20_000 } : {}),
  };
}

function heard(answer: ParsedResponse<unknown>, requestId: Heard['requestId']): Heard {
  const contents = answer.output.flatMap((item) => (item.type === 'message' ? item.content : []));
  const refusal = contents.map((part) => (part.type === 'refusal' ? part.refusal : '')).join('');
  const calls = answer.output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) as unknown }]
      : [],
  );
  const why = answer.incomplete_details?.reason;
  const isRefused = refusal !== '' || why === 'content_filter';
  return {
    text: answer.output_text,
    thinking: answer.output
      .flatMap((item) => (item.type === 'reasoning' ? item.summary.map(({ text }) => text) : []))
      .join(''),
    refusal,
    calls,
    end: why === 'max_output_tokens' ? 'limit' : isRefused ? 'refusal' : calls.length > 0 ? 'tools' : 'stop',
    usage: {
      input: answer.usage?.input_tokens ?? 0,
      cacheRead: answer.usage?.input_tokens_details.cached_tokens ?? 0,
      output: answer.usage?.output_tokens ?? 0,
    },
    model: answer.model,
    parsed: answer.output_parsed,
    requestId,
  };
}
