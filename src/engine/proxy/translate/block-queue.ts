import { argumentsObject, ObjectProgress } from './arguments.ts';
import type { CallParts } from './call-index.ts';
import { isObject, parseJson } from './json.ts';
import { ReplyCallIds } from './reply-ids.ts';
import { anthropicEvent } from './sse.ts';
import type { TranslationContext } from './types.ts';

/** A tool call on its way: its reader fills the parts, the queue remembers what the client has seen. */
interface CallBlock {
  readonly kind: 'tool';
  readonly call: CallParts;
  readonly progress: ObjectProgress;
  /** Arguments that the client does not have yet; kept apart, since cutting the growing whole copies it each time. */
  pending: string;
  closed: boolean;
}

interface TextBlock {
  readonly kind: 'text';
  pending: string;
}

interface ThinkingBlock {
  readonly kind: 'thinking';
  pending: string;
}

type Block = TextBlock | ThinkingBlock | CallBlock;

/**
 * Puts pieces of text, thinking and tool calls into Anthropic's content blocks, of which only one may be open at a
 * time. The first unfinished block streams; later ones wait until it is complete (S03), so nothing changes its order.
 */
export class BlockQueue {
  readonly #context: TranslationContext;
  readonly #ids: ReplyCallIds;
  readonly #waiting: Block[] = [];
  readonly #calls = new Map<CallParts, CallBlock>();
  #open: Block | null = null;
  #index = 0;
  #told = 0;

  constructor(context: TranslationContext) {
    this.#context = context;
    this.#ids = new ReplyCallIds(context);
  }

  text(kind: 'text' | 'thinking', text: string): void {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.kind === kind) last.pending += text;
    else this.#waiting.push({ kind, pending: text });
  }

  call(call: CallParts, added: string): void {
    let block = this.#calls.get(call);
    if (block === undefined) {
      block = { kind: 'tool', call, progress: new ObjectProgress(), pending: '', closed: false };
      this.#calls.set(call, block);
      this.#waiting.push(block);
    }
    if (block.closed) return;
    block.progress.feed(added);
    block.pending += added;
  }

  /** Everything that can be told by now. */
  drain(): string {
    let out = '';
    for (let block = this.#waiting[0]; block !== undefined; block = this.#waiting[0]) {
      out += this.#tell(block);
      if (this.#waiting.length === 1 || !isComplete(block)) break;
      out += this.#close(block);
    }
    return out;
  }

  /** The answer is over: tells and closes all. */
  finish(): string {
    let out = '';
    for (let block = this.#waiting[0]; block !== undefined; block = this.#waiting[0])
      out += this.#tell(block) + this.#close(block);
    return out;
  }

  #tell(block: Block): string {
    if (block.kind === 'tool' && !canStart(block)) return '';
    if (block.pending === '') return '';
    return this.#start(block) + this.#pour(block);
  }

  #close(block: Block): string {
    let out = '';
    if (block.kind === 'tool') {
      block.closed = true;
      if (this.#open !== block) {
        block.pending = wholeArguments(block.call.arguments);
        out += this.#start(block) + this.#pour(block);
      }
    } else if (block.kind === 'thinking' && this.#open === block) {
      out += this.#delta({ type: 'signature_delta', signature: '' });
    }
    this.#waiting.shift();
    if (this.#open !== block) return out;
    out += anthropicEvent({ type: 'content_block_stop', index: this.#index });
    this.#open = null;
    this.#index += 1;
    return out;
  }

  #start(block: Block): string {
    if (this.#open === block) return '';
    this.#open = block;
    return anthropicEvent({
      type: 'content_block_start',
      index: this.#index,
      content_block: this.#opening(block),
    });
  }

  #opening(block: Block): { type: string } & Record<string, unknown> {
    if (block.kind === 'text') return { type: 'text', text: '' };
    if (block.kind === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
    const { id, name } = block.call;
    this.#told += 1;
    return {
      type: 'tool_use',
      id: this.#ids.take(id, this.#told - 1),
      name: this.#context.toolNames.get(name) ?? name,
      input: {},
    };
  }

  #pour(block: Block): string {
    const text = block.pending;
    block.pending = '';
    if (text === '') return '';
    if (block.kind === 'text') return this.#delta({ type: 'text_delta', text });
    if (block.kind === 'thinking') return this.#delta({ type: 'thinking_delta', thinking: text });
    return this.#delta({ type: 'input_json_delta', partial_json: text });
  }

  #delta(delta: { type: string } & Record<string, unknown>): string {
    return anthropicEvent({ type: 'content_block_delta', index: this.#index, delta });
  }
}

/** Until the first brace it is not sure that the arguments are an object; `null` and the like wait for the end. */
function canStart({ call, progress }: CallBlock): boolean {
  return call.id !== '' && call.name !== '' && progress.isObject;
}

function isComplete(block: Block): boolean {
  return block.kind !== 'tool' || (block.progress.complete && block.call.name !== '');
}

/** Arguments of a call that never looked like an object: as they came if they parse to one, else made into one. */
function wholeArguments(text: string): string {
  if (isObject(parseJson(text))) return text;
  const value = argumentsObject(text);
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}
