import type { Dialect } from '../../shared/model.ts';
import { createAssembler } from './translate/assemble.ts';
import { errorEvent } from './translate/errors.ts';
import { ResponsesAssembler } from './translate/responses/assemble.ts';
import type { AssembledReply, WireError, WireEvent } from './translate/types.ts';

/** What an event says beside its words; what is beyond counts. */
const FRAME = 384;
/** No event of words alone is longer. */
const USUAL_EVENT = 1024;
/** Characters of an answer that are kept for the record: whatever is larger is nothing that anybody learns from. */
const MOST_KEPT = 16 * 1024 * 1024;

/** The answer of a stream as the record will know it. One without end must not fill the memory of its reader. */
export class KeptAnswer {
  readonly #dialect: Dialect;
  readonly #assembler;
  #size = 0;
  #ended = false;
  #failed = false;
  #told = false;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#assembler = createAssembler(dialect);
  }

  /** The stream's last event was seen. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The provider told an error, and clients of its dialect see that it is one. */
  get told(): boolean {
    return this.#told;
  }

  /** The provider told an error. */
  get failed(): boolean {
    return this.#failed;
  }

  push(event: WireEvent): void {
    this.#size += Math.max(0, event.data.length - FRAME);
    if (isLastEvent(this.#dialect, event)) this.#ended = true;
    else if (isErrorEvent(event)) this.#failed = true;
    this.#told ||= isNativeError(this.#dialect, event);
    if (!this.#isTooLarge || isLittle(event)) this.#assembler.push(event);
  }

  result(): AssembledReply {
    const known = this.#assembler.result();
    if (!this.#isTooLarge) return known;
    return { ...known, reply: null, complete: known.error === null && (known.complete || this.#ended) };
  }

  /** The events that tell a client of a stream that broke here; a response that has begun is told to have failed. */
  failure(error: WireError): string {
    const assembler = this.#assembler;
    return assembler instanceof ResponsesAssembler
      ? assembler.failure(error)
      : errorEvent(this.#dialect, error);
  }

  get #isTooLarge(): boolean {
    return this.#size > MOST_KEPT;
  }
}

/** Ends, counts and errors are; of words that come in pieces of some size no more is kept. */
function isLittle({ data }: WireEvent): boolean {
  if (data.length <= FRAME) return true;
  const isWords = /"(?:delta|choices)":/.test(data) && !/"(?:usage":\s*\{|finish_reason":\s*")/.test(data);
  return data.length <= USUAL_EVENT && !isWords;
}

function isLastEvent(dialect: Dialect, event: WireEvent): boolean {
  if (dialect === 'openai') return event.data.trim() === '[DONE]';
  if (dialect === 'responses') return /^response\.(?:completed|incomplete)$/.test(typeOf(event));
  return (
    event.event === 'message_stop' || (event.event === undefined && event.data.includes('"message_stop"'))
  );
}

function isErrorEvent(event: WireEvent): boolean {
  return (
    /^(?:error|response\.failed)$/.test(typeOf(event)) ||
    /^\s*\{\s*"error"\s*:\s*[{"]/.test(event.data) ||
    isVendorsError(event)
  );
}

/** An error of MiniMax, which no client knows as one. */
function isVendorsError({ data }: WireEvent): boolean {
  return (
    /"base_resp"\s*:\s*\{\s*"status_code"\s*:\s*[1-9]/.test(data) &&
    /"choices"\s*:\s*(?:null|\[\s*\])/.test(data)
  );
}

/** Anthropic's clients go by the event's name, OpenAI's by the object too. */
function isNativeError(dialect: Dialect, event: WireEvent): boolean {
  if (event.event === 'error' || dialect === 'anthropic') return event.event === 'error';
  return isErrorEvent(event) && !isVendorsError(event);
}

function typeOf(event: WireEvent): string {
  return event.event ?? /^\s*\{\s*"type"\s*:\s*"([^"]*)"/.exec(event.data)?.[1] ?? '';
}
