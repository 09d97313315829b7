import { argumentsObject, ObjectProgress } from './arguments.ts';
import type { CallParts } from './call-index.ts';
import { isObject, parseJson } from './json.ts';
import { anthropicEvent } from './sse.ts';

/** A tool call on its way; `CallIndex` fills the parts, the queue remembers what the client has seen. */
export class CallBlock implements CallParts {
  readonly kind = 'tool';
  id = '';
  name = '';
  arguments = '';
  readonly progress = new ObjectProgress();
  /** Arguments that the client does not have yet; kept apart, since cutting the growing whole copies it each time. */
  pending = '';
  closed = false;
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

export interface CallNaming {
  /** The client's name for a tool. */
  name(call: CallBlock): string;
  /** The call's id; made up when the upstream gave none. `order` counts calls from 0. */
  id(call: CallBlock, order: number): string;
}

/**
 * Puts pieces of text, thinking and tool calls into Anthropic's content blocks, of which only one may be open at a
 * time. The first unfinished block streams; later ones wait until it is complete (S03), so nothing changes its order.
 */
export class BlockQueue {
  readonly #naming: CallNaming;
  readonly #waiting: Block[] = [];
  #open: Block | null = null;
  #index = 0;
  #calls = 0;

  constructor(naming: CallNaming) {
    this.#naming = naming;
  }

  /** Tool calls that the client has been told of. */
  get calls(): number {
    return this.#calls;
  }

  text(kind: 'text' | 'thinking', text: string): void {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.kind === kind) last.pending += text;
    else this.#waiting.push({ kind, pending: text });
  }

  call(call: CallBlock, added: string): void {
    if (call.closed) return;
    if (!this.#waiting.includes(call)) this.#waiting.push(call);
    call.progress.feed(added);
    call.pending += added;
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
    // Until the first brace it is not sure that the arguments are an object; `null` and the like wait for the end.
    if (block.kind === 'tool' && (block.id === '' || block.name === '' || !block.progress.isObject))
      return '';
    if (block.pending === '') return '';
    return this.#start(block) + this.#pour(block);
  }

  #close(block: Block): string {
    let out = '';
    if (block.kind === 'tool') {
      block.closed = true;
      if (this.#open !== block) {
        block.pending = wholeArguments(block.arguments);
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
    const id = this.#naming.id(block, this.#calls);
    this.#calls += 1;
    return { type: 'tool_use', id, name: this.#naming.name(block), input: {} };
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

function isComplete(block: Block): boolean {
  return block.kind !== 'tool' || (block.progress.complete && block.name !== '');
}

/** Arguments of a call that never looked like an object: as they came if they parse to one, else made into one. */
function wholeArguments(text: string): string {
  if (isObject(parseJson(text))) return text;
  const value = argumentsObject(text);
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}
