import { z } from 'zod';
import { type ProgramFailure, statusOfWords } from './failure.ts';

/** Tokens of one answer; the prompt's include those that came from a cache. */
export interface ProgramUsage {
  prompt: number;
  cached: number;
  completion: number;
  reasoning: number;
}

/** What a line of a program's output means. */
export type ProgramEvent =
  /** The vendor took the request. */
  | { kind: 'begun' }
  | { kind: 'text'; text: string }
  /** The program's own word that the answer is whole. */
  | { kind: 'done'; usage: ProgramUsage; finish: 'stop' | 'length' | 'content_filter' }
  | { kind: 'failed'; failure: ProgramFailure };

/** Reads the JSON lines of one run, in order. */
export interface EventReader {
  read(line: unknown): ProgramEvent[];
}

const count = z.number().nonnegative().catch(0);

const claudeUsage = z
  .looseObject({
    input_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
    output_tokens: count,
    output_tokens_details: z.looseObject({ thinking_tokens: count }).catch({ thinking_tokens: 0 }),
  })
  .catch({
    input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 0,
    output_tokens_details: { thinking_tokens: 0 },
  });

const claudeLine = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('stream_event'),
    parent_tool_use_id: z.string().nullish(),
    event: z.looseObject({
      type: z.string(),
      delta: z
        .looseObject({
          type: z.string().optional(),
          text: z.string().optional(),
          stop_reason: z.string().nullish(),
        })
        .optional(),
    }),
  }),
  z.looseObject({
    type: z.literal('assistant'),
    parent_tool_use_id: z.string().nullish(),
    is_api_error_message: z.boolean().optional(),
    error: z.string().optional(),
    message: z.looseObject({
      content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
      stop_reason: z.string().nullish(),
    }),
  }),
  z.looseObject({
    type: z.literal('rate_limit_event'),
    rate_limit_info: z.looseObject({ status: z.string(), resetsAt: z.number().optional() }),
  }),
  z.looseObject({
    type: z.literal('result'),
    subtype: z.string().optional(),
    is_error: z.boolean().optional(),
    result: z.string().optional(),
    errors: z.array(z.string()).optional(),
    api_error_status: z.number().nullish(),
    stop_reason: z.string().nullish(),
    usage: claudeUsage,
  }),
]);

/** `claude -p --output-format stream-json --include-partial-messages`, seen with 2.1.332. */
export class ClaudeReader implements EventReader {
  #open = false;
  #wrote = false;
  #resetsAt: number | null = null;

  read(line: unknown): ProgramEvent[] {
    const parsed = claudeLine.safeParse(line);
    if (!parsed.success) return [];
    const { data } = parsed;
    if (data.type === 'stream_event') return data.parent_tool_use_id ? [] : this.#stream(data.event);
    if (data.type === 'rate_limit_event') {
      if (data.rate_limit_info.status === 'rejected') this.#resetsAt = data.rate_limit_info.resetsAt ?? null;
      return [];
    }
    if (data.type === 'result') return this.#result(data);
    // A version without partial messages tells the text here alone.
    const isOurs = !data.parent_tool_use_id && !data.is_api_error_message && data.error === undefined;
    if (!isOurs || this.#wrote) return [];
    return this.#text(
      data.message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    );
  }

  #stream(event: { type: string; delta?: { type?: string; text?: string } | undefined }): ProgramEvent[] {
    if (event.type === 'message_start') {
      // The program asks again after a broken stream, and would say everything a second time.
      if (this.#open && this.#wrote)
        return [{ kind: 'failed', failure: { status: 502, message: 'the answer broke off and began anew' } }];
      this.#open = true;
      return [{ kind: 'begun' }];
    }
    if (event.type === 'message_stop') this.#open = false;
    return event.delta?.type === 'text_delta' ? this.#text(event.delta.text ?? '') : [];
  }

  #text(text: string): ProgramEvent[] {
    if (text === '') return [];
    this.#wrote = true;
    return [{ kind: 'text', text }];
  }

  #result(result: Extract<z.output<typeof claudeLine>, { type: 'result' }>): ProgramEvent[] {
    const { usage } = result;
    if (result.is_error === true || (result.subtype ?? 'success') !== 'success') {
      const message = result.result || result.errors?.join(' ') || `it ended with ${result.subtype}`;
      const status = result.api_error_status ?? statusOfWords(message);
      return [{ kind: 'failed', failure: { status, message, resetsAt: this.#resetsAt } }];
    }
    const { stop_reason } = result;
    return [
      ...(this.#wrote ? [] : this.#text(result.result ?? '')),
      {
        kind: 'done',
        finish:
          stop_reason === 'max_tokens' ? 'length' : stop_reason === 'refusal' ? 'content_filter' : 'stop',
        usage: {
          prompt: usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens,
          cached: usage.cache_read_input_tokens,
          completion: usage.output_tokens,
          reasoning: usage.output_tokens_details.thinking_tokens,
        },
      },
    ];
  }
}

const codexUsage = z
  .looseObject({
    input_tokens: count,
    cached_input_tokens: count,
    output_tokens: count,
    reasoning_output_tokens: count,
  })
  .catch({ input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, reasoning_output_tokens: 0 });

const codexLine = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('item.completed'),
    item: z.looseObject({ type: z.string(), text: z.string().optional() }),
  }),
  z.looseObject({ type: z.literal('turn.completed'), usage: codexUsage }),
  z.looseObject({ type: z.literal('turn.failed'), error: z.looseObject({ message: z.string() }) }),
]);

/** `codex exec --json`, seen with 0.171.0; it tells whole messages only. */
export class CodexReader implements EventReader {
  #wrote = false;

  read(line: unknown): ProgramEvent[] {
    const parsed = codexLine.safeParse(line);
    if (!parsed.success) return [];
    const { data } = parsed;
    if (data.type === 'turn.failed') {
      const { message } = data.error;
      return [{ kind: 'failed', failure: { status: statusOfWords(message), message } }];
    }
    if (data.type === 'turn.completed') {
      const { usage } = data;
      return [
        {
          kind: 'done',
          finish: 'stop',
          usage: {
            prompt: usage.input_tokens,
            cached: usage.cached_input_tokens,
            completion: usage.output_tokens,
            reasoning: usage.reasoning_output_tokens,
          },
        },
      ];
    }
    if (data.item.type === 'reasoning') return [{ kind: 'begun' }];
    if (data.item.type !== 'agent_message' || !data.item.text) return [];
    const text = this.#wrote ? `\n\n${data.item.text}` : data.item.text;
    this.#wrote = true;
    return [{ kind: 'text', text }];
  }
}

const geminiStats = z
  .looseObject({ input_tokens: count, output_tokens: count, cached: count })
  .catch({ input_tokens: 0, output_tokens: 0, cached: 0 });

const geminiLine = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('message'), role: z.string(), content: z.string() }),
  z.looseObject({
    type: z.literal('result'),
    status: z.string(),
    error: z.looseObject({ message: z.string() }).optional(),
    stats: geminiStats,
  }),
]);

/** `gemini --output-format stream-json`, seen with 0.61.0. */
export class GeminiReader implements EventReader {
  read(line: unknown): ProgramEvent[] {
    const parsed = geminiLine.safeParse(line);
    if (!parsed.success) return [];
    const { data } = parsed;
    if (data.type === 'message')
      return data.role === 'assistant' && data.content !== '' ? [{ kind: 'text', text: data.content }] : [];
    if (data.status !== 'success') {
      const message = data.error?.message ?? `it ended with ${data.status}`;
      return [{ kind: 'failed', failure: { status: statusOfWords(message), message } }];
    }
    const { stats } = data;
    return [
      {
        kind: 'done',
        finish: 'stop',
        usage: {
          prompt: stats.input_tokens,
          cached: stats.cached,
          completion: stats.output_tokens,
          reasoning: 0,
        },
      },
    ];
  }
}
