import { createParser } from 'eventsource-parser';
import { createTranslator } from '../../../../../src/engine/proxy/translate/pairs.ts';
import type {
  JsonObject,
  StreamTranslator,
  TranslateOptions,
  TranslationContext,
  WireEvent,
} from '../../../../../src/engine/proxy/translate/types.ts';
import type { AppError } from '../../../../../src/shared/errors.ts';

export function options(change: Partial<TranslateOptions> = {}): TranslateOptions {
  return {
    model: 'up-model',
    replyId: 'turn-1',
    createdAt: 1_700_000_000,
    maxTokensField: 'max_tokens',
    developerRole: false,
    textOnly: false,
    reasoning: 'drop',
    defaultMaxTokens: 4096,
    wantUsage: true,
    ...change,
  };
}

export function context(change: Partial<TranslationContext> = {}): TranslationContext {
  return {
    replyId: 'turn-1',
    createdAt: 1_700_000_000,
    requestedModel: 'asked-model',
    stream: true,
    includeUsage: false,
    toolNames: new Map(),
    stopSequences: [],
    showReasoning: true,
    thinkTags: true,
    estimatedInputTokens: 0,
    legacyFunctions: false,
    ...change,
  };
}

/** Chat chunks → Anthropic events. */
export function createAnthropicStream(of: TranslationContext): StreamTranslator {
  return createTranslator('openai', 'anthropic', of);
}

/** Anthropic events → chat chunks. */
export function createOpenaiStream(of: TranslationContext): StreamTranslator {
  return createTranslator('anthropic', 'openai', of);
}

export function parseSse(text: string): WireEvent[] {
  const events: WireEvent[] = [];
  const parser = createParser({ onEvent: (event) => events.push({ event: event.event, data: event.data }) });
  parser.feed(text);
  return events;
}

export function jsonEvents(text: string): JsonObject[] {
  return parseSse(text)
    .filter((event) => event.data !== '[DONE]')
    .map((event) => JSON.parse(event.data) as JsonObject);
}

/** Feeds OpenAI chunks (objects) or raw data lines. */
export function chunk(value: JsonObject | string): WireEvent {
  return { data: typeof value === 'string' ? value : JSON.stringify(value) };
}

export function delta(value: JsonObject, finish: string | null = null): WireEvent {
  return chunk({ id: 'chatcmpl-1', choices: [{ index: 0, delta: value, finish_reason: finish }] });
}

export function event(value: JsonObject & { type: string }): WireEvent {
  return { event: value.type, data: JSON.stringify(value) };
}

export function run(translator: StreamTranslator, events: readonly WireEvent[]): string {
  return events.map((item) => translator.push(item)).join('') + translator.end();
}

/** Type and the telling part of each Anthropic event, short enough to compare by eye. */
export function outline(text: string): string[] {
  return jsonEvents(text).map((item) => {
    const block = item.content_block as JsonObject | undefined;
    const piece = item.delta as JsonObject | undefined;
    switch (item.type) {
      case 'content_block_start':
        return `start ${item.index} ${block?.type}${block?.name === undefined ? '' : ` ${block.name} ${block.id}`}`;
      case 'content_block_delta':
        return `delta ${item.index} ${piece?.type} ${piece?.text ?? piece?.thinking ?? piece?.partial_json ?? piece?.signature}`;
      case 'content_block_stop':
        return `stop ${item.index}`;
      case 'message_delta':
        return `end ${piece?.stop_reason}`;
      default:
        return String(item.type);
    }
  });
}

/** The AppError that `act` throws; fails the test when it throws nothing or something else. */
export function failure(act: () => unknown): AppError {
  try {
    act();
  } catch (error) {
    if (error instanceof Error && error.name === 'AppError') return error as AppError;
    throw error;
  }
  throw new Error('nothing was thrown');
}

export const DONE = chunk('[DONE]');

/** What an Anthropic client is told of chat chunks. */
export function toAnthropic(events: readonly WireEvent[], change: Partial<TranslationContext> = {}): string {
  return run(createAnthropicStream(context(change)), events);
}

export function toolPiece(index: number | undefined, piece: JsonObject): WireEvent {
  return delta({ tool_calls: [{ ...(index === undefined ? {} : { index }), ...piece }] });
}

/** The first piece of a call. */
export function opening(index: number | undefined, id: string, name: string, args = ''): WireEvent {
  return toolPiece(index, { id, type: 'function', function: { name, arguments: args } });
}

export function args(index: number | undefined, text: string): WireEvent {
  return toolPiece(index, { function: { arguments: text } });
}

/** An outline with the events that every message has. */
export function message(list: readonly string[]): string[] {
  return ['message_start', ...list, 'message_stop'];
}
