import { createParser } from 'eventsource-parser';
import type { Dialect, Usage } from '../../../shared/model.ts';
import { argumentsObject } from './arguments.ts';
import { CallIndex, type CallParts } from './call-index.ts';
import { isErrorChunk, readErrorObject } from './errors.ts';
import { asArray, asObject, asText, isObject, parseJson } from './json.ts';
import { ReasoningDetails } from './reasoning-details.ts';
import { ResponsesAssembler } from './responses/assemble.ts';
import { visibleText as visibleItem } from './responses/items.ts';
import { readResponsesUsage } from './responses/reply-to-chat.ts';
import { isDone } from './sse.ts';
import { splitThink } from './think-tags.ts';
import type { AssembledReply, Assembler, JsonObject, WireError, WireEvent } from './types.ts';
import { readAnthropicUsage, readOpenaiUsage, reasoningOf, splitContent, toUsage } from './vocabulary.ts';

export function createAssembler(dialect: Dialect): Assembler {
  if (dialect === 'responses') return new ResponsesAssembler();
  return dialect === 'openai' ? new OpenaiAssembler() : new AnthropicAssembler();
}

/** The whole answer of a finished stream, in its dialect; null when no event could be read. */
export function assembleEvents(dialect: Dialect, text: string): JsonObject | null {
  const assembler = createAssembler(dialect);
  const parser = createParser({ onEvent: (event) => assembler.push(event) });
  parser.feed(`${text}\n\n`);
  return assembler.result().reply;
}

/** Anthropic messages that are one turn, paused and gone on with, as one message; its counts are those of all. */
export function joinPaused(messages: readonly JsonObject[]): JsonObject {
  return messages.reduce((before, after) => ({
    ...after,
    id: before.id,
    content: [...asArray(before.content), ...asArray(after.content)],
    usage: addNumbers(asObject(before.usage), asObject(after.usage)),
  }));
}

function addNumbers(one: JsonObject, other: JsonObject): JsonObject {
  const sums = Object.entries(other).map(([key, value]) => {
    const before = one[key];
    if (isObject(value) && isObject(before)) return [key, addNumbers(before, value)];
    return [
      key,
      typeof value === 'number' && typeof before === 'number' ? before + value : (value ?? before),
    ];
  });
  return { ...one, ...Object.fromEntries(sums) };
}

/** Visible text and usage of a non-streaming reply; never throws. */
export function readReply(dialect: Dialect, reply: unknown): { text: string; usage: Usage | null } {
  const root = asObject(reply);
  if (dialect === 'anthropic') {
    const blocks = asArray(root.content).filter(isObject);
    const text = blocks.map((block) => (block.type === 'text' ? asText(block.text) : '')).join('');
    return { text, usage: toUsage(readAnthropicUsage(root.usage)) };
  }
  if (dialect === 'responses') {
    const text = asArray(root.output).filter(isObject).map(visibleItem).join('');
    return { text, usage: toUsage(readResponsesUsage(root.usage)) };
  }
  const choice = asObject(asArray(root.choices)[0]);
  const usage = toUsage(readOpenaiUsage(root.usage) ?? readOpenaiUsage(choice.usage));
  return { text: visibleText(asObject(choice.message)), usage };
}

function visibleText(message: JsonObject): string {
  const { text, reasoning } = splitContent(message.content);
  return splitThink(text, reasoningOf(message) || reasoning).text + asText(message.refusal);
}

interface OpenaiChoice {
  index: number;
  content: string;
  reasoning: string;
  details: ReasoningDetails;
  refusal: string;
  finish: string | null;
  calls: CallIndex;
  legacyCall: CallParts | null;
  logprobs: JsonObject[];
}

class OpenaiAssembler implements Assembler {
  readonly #choices = new Map<number, OpenaiChoice>();
  #frame: JsonObject | null = null;
  #rawUsage: unknown;
  #done = false;
  #error: WireError | null = null;

  push(event: WireEvent): void {
    if (isDone(event.data)) {
      this.#done = true;
      return;
    }
    const chunk = parseJson(event.data);
    if (this.#done || !isObject(chunk)) return;
    if (isErrorChunk(chunk) || event.event === 'error') {
      this.#error ??= readErrorObject(chunk);
      return;
    }
    const { choices, usage, ...frame } = chunk;
    this.#frame = { ...this.#frame, ...frame };
    if (isObject(usage)) this.#rawUsage = usage;
    for (const choice of asArray(choices).filter(isObject)) {
      if (isObject(choice.usage)) this.#rawUsage ??= choice.usage;
      this.#add(choice);
    }
  }

  #add(piece: JsonObject): void {
    const index = typeof piece.index === 'number' ? piece.index : 0;
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = {
        index,
        content: '',
        reasoning: '',
        details: new ReasoningDetails(),
        refusal: '',
        finish: null,
        calls: new CallIndex(),
        legacyCall: null,
        logprobs: [],
      };
      this.#choices.set(index, choice);
    }
    const delta = isObject(piece.delta) ? piece.delta : asObject(piece.message);
    const { text, reasoning } = splitContent(delta.content);
    choice.content += text;
    choice.reasoning += reasoningOf(delta) || reasoning;
    choice.details.add(delta.reasoning_details);
    choice.refusal += asText(delta.refusal);
    for (const call of asArray(delta.tool_calls).filter(isObject)) choice.calls.add(call);
    if (isObject(delta.function_call)) {
      choice.legacyCall ??= { id: '', name: '', arguments: '' };
      choice.legacyCall.name ||= asText(delta.function_call.name);
      choice.legacyCall.arguments += asText(delta.function_call.arguments);
    }
    choice.logprobs.push(...asArray(asObject(piece.logprobs).content).filter(isObject));
    if (asText(piece.finish_reason) !== '') choice.finish = asText(piece.finish_reason);
  }

  result(): AssembledReply {
    const choices = [...this.#choices.values()].sort((a, b) => a.index - b.index);
    const reply =
      this.#frame === null
        ? null
        : {
            ...this.#frame,
            object: 'chat.completion',
            choices: choices.map(openaiChoice),
            ...(this.#rawUsage === undefined ? {} : { usage: this.#rawUsage }),
          };
    const first = choices[0];
    const ended = choices.length > 0 && (this.#done || choices.every((choice) => choice.finish !== null));
    return {
      reply,
      text: first === undefined ? '' : splitThink(first.content, first.reasoning).text + first.refusal,
      usage: toUsage(readOpenaiUsage(this.#rawUsage)),
      complete: ended && this.#error === null && !choices.some((choice) => choice.finish === 'error'),
      error: this.#error,
    };
  }
}

function openaiChoice(choice: OpenaiChoice): JsonObject {
  const calls = choice.calls.calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
    ...(call.extra === undefined ? {} : { extra_content: call.extra }),
  }));
  const legacy = choice.legacyCall;
  const message = {
    role: 'assistant',
    content: choice.content === '' && (calls.length > 0 || legacy !== null) ? null : choice.content,
    refusal: choice.refusal === '' ? null : choice.refusal,
    ...(choice.reasoning === '' ? {} : { reasoning_content: choice.reasoning }),
    ...(choice.details.blocks.length === 0 ? {} : { reasoning_details: choice.details.blocks }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(legacy === null ? {} : { function_call: { name: legacy.name, arguments: legacy.arguments } }),
  };
  const logprobs = choice.logprobs.length === 0 ? null : { content: choice.logprobs };
  return { index: choice.index, message, logprobs, finish_reason: choice.finish };
}

interface AnthropicBlock {
  block: JsonObject;
  /** Tool arguments as they came. */
  json: string;
}

class AnthropicAssembler implements Assembler {
  readonly #blocks = new Map<unknown, AnthropicBlock>();
  #message: JsonObject | null = null;
  /** What came before the turn was paused. */
  #before: JsonObject | null = null;
  #rawUsage: JsonObject = {};
  #stopped = false;
  #error: WireError | null = null;

  push(event: WireEvent): void {
    const data = parseJson(event.data);
    if (!isObject(data)) return;
    switch (asText(data.type) || event.event) {
      case 'message_start':
        if (this.#message?.stop_reason === 'pause_turn') this.#goOn();
        this.#message = { ...asObject(data.message) };
        this.#count(this.#message.usage);
        break;
      case 'content_block_start':
        this.#blocks.set(data.index, { block: { ...asObject(data.content_block) }, json: '' });
        break;
      case 'content_block_delta':
        this.#delta(data.index, asObject(data.delta));
        break;
      case 'message_delta':
        this.#message = { ...this.#message, ...asObject(data.delta) };
        this.#count(data.usage);
        break;
      case 'message_stop':
        this.#stopped = true;
        break;
      default:
        if (data.type === 'error' || data.error)
          this.#error ??= readErrorObject(data) ?? { message: 'error' };
    }
  }

  #goOn(): void {
    this.#before = this.#whole();
    this.#blocks.clear();
    this.#rawUsage = {};
    this.#stopped = false;
  }

  #whole(): JsonObject {
    const content = [...this.#blocks.values()].map(({ block, json }) =>
      json === '' ? block : { ...block, input: argumentsObject(json) },
    );
    const message = {
      type: 'message',
      role: 'assistant',
      ...this.#message,
      content,
      usage: this.#rawUsage,
    };
    return this.#before === null ? message : joinPaused([this.#before, message]);
  }

  #count(usage: unknown): void {
    // Later totals leave out what they do not know; null must not hide an earlier number.
    for (const [key, value] of Object.entries(asObject(usage)))
      if (value !== null) this.#rawUsage[key] = value;
  }

  #delta(index: unknown, delta: JsonObject): void {
    const entry = this.#blocks.get(index) ?? { block: blockOf(delta), json: '' };
    this.#blocks.set(index, entry);
    const { block } = entry;
    switch (delta.type) {
      case 'text_delta':
        block.text = asText(block.text) + asText(delta.text);
        break;
      case 'thinking_delta':
        block.thinking = asText(block.thinking) + asText(delta.thinking);
        break;
      case 'signature_delta':
        block.signature = asText(block.signature) + asText(delta.signature);
        break;
      case 'input_json_delta':
        entry.json += asText(delta.partial_json);
        break;
      case 'citations_delta':
        block.citations = [...asArray(block.citations), delta.citation];
        break;
      default:
    }
  }

  result(): AssembledReply {
    const known = this.#message !== null || this.#blocks.size > 0;
    const reply = this.#whole();
    return {
      reply: known ? reply : null,
      ...readReply('anthropic', reply),
      complete: known && this.#error === null && (this.#stopped || asText(this.#message?.stop_reason) !== ''),
      error: this.#error,
    };
  }
}

/** The block that a delta without a start must belong to. */
function blockOf(delta: JsonObject): JsonObject {
  if (delta.type === 'thinking_delta' || delta.type === 'signature_delta')
    return { type: 'thinking', thinking: '', signature: '' };
  return { type: 'text', text: '' };
}
