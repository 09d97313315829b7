import type { ReplyBody, UpstreamReply } from '../exchange.ts';
import type { ProgramUsage } from './events.ts';

interface Writer {
  pause(): void;
  resume(): void;
  abort(): void;
}

export interface ReplyHead {
  id: string;
  /** Seconds since the epoch. */
  created: number;
  model: string;
  stream: boolean;
  wantUsage: boolean;
}

/** The answer of a program as a chat completions service would send it: a stream of chunks or one object. */
export class ChatReply {
  readonly #head: ReplyHead;
  readonly #body: ReplyBody;
  readonly #writer: Writer;
  readonly #waiting: Buffer[] = [];
  #text = '';
  #begun = false;
  #flowing = false;
  #end: { error: Error | null } | null = null;

  constructor(head: ReplyHead, body: ReplyBody, writer: Writer) {
    this.#head = head;
    this.#body = body;
    this.#writer = writer;
    body.attach(
      () => this.#flow(),
      () => writer.abort(),
    );
  }

  /** What a caller gets who waits for the answer. */
  get reply(): UpstreamReply {
    const type = this.#head.stream ? 'text/event-stream; charset=utf-8' : 'application/json';
    return { status: 200, headers: { 'content-type': type }, body: this.#body };
  }

  text(text: string): void {
    if (!this.#head.stream) {
      this.#text += text;
      return;
    }
    const role = this.#begun ? {} : { role: 'assistant' };
    this.#begun = true;
    this.#event({ choices: [{ index: 0, delta: { ...role, content: text }, finish_reason: null }] });
  }

  done(usage: ProgramUsage, finish: string): void {
    const counts = {
      prompt_tokens: usage.prompt,
      completion_tokens: usage.completion,
      total_tokens: usage.prompt + usage.completion,
      prompt_tokens_details: { cached_tokens: usage.cached },
      completion_tokens_details: { reasoning_tokens: usage.reasoning },
    };
    if (this.#head.stream) {
      const role = this.#begun ? {} : { role: 'assistant', content: '' };
      this.#event({ choices: [{ index: 0, delta: role, finish_reason: finish }] });
      if (this.#head.wantUsage) this.#event({ choices: [], usage: counts });
      this.#write('data: [DONE]\n\n');
    } else {
      const message = { role: 'assistant', content: this.#text, refusal: null };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
      const { id, created, model } = this.#head;
      this.#write(JSON.stringify({ id, object: 'chat.completion', created, model, choices, usage: counts }));
    }
    this.#finish(null);
  }

  /** The answer ends here, and is not whole. */
  fail(error: Error, status: number): void {
    if (this.#head.stream) {
      const type = status === 429 ? 'rate_limit_error' : 'api_error';
      this.#write(`data: ${JSON.stringify({ error: { message: error.message, type, code: null } })}\n\n`);
    }
    this.#finish(this.#head.stream ? null : error);
  }

  /** The caller left: nobody reads what is still waiting. */
  cut(error: Error): void {
    this.#waiting.length = 0;
    this.#end = { error };
    this.#body.finish(error);
  }

  #event(chunk: object): void {
    const { id, created, model } = this.#head;
    this.#write(
      `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...chunk })}\n\n`,
    );
  }

  #write(text: string): void {
    this.#waiting.push(Buffer.from(text));
    if (this.#flowing) this.#flow();
    else this.#writer.pause();
  }

  /** Hands on what waits, until the reader wants a pause. */
  #flow(): void {
    this.#flowing = true;
    while (this.#waiting.length > 0) {
      const chunk = this.#waiting.shift() as Buffer;
      if (!this.#body.push(chunk)) {
        this.#flowing = false;
        break;
      }
    }
    if (this.#waiting.length > 0 || !this.#flowing) this.#writer.pause();
    else this.#writer.resume();
    if (this.#waiting.length === 0 && this.#end) this.#body.finish(this.#end.error);
  }

  #finish(error: Error | null): void {
    this.#end ??= { error };
    if (this.#waiting.length === 0) this.#body.finish(this.#end.error);
  }
}

/** A refusal in OpenAI's shape. */
export function refusalReply(
  body: ReplyBody,
  status: number,
  error: { message: string; type: string; code: string | null },
  retryAfterSeconds: number | null,
): UpstreamReply {
  const bytes = Buffer.from(JSON.stringify({ error: { ...error, param: null } }));
  let sent = false;
  body.attach(
    () => {
      if (sent) return;
      sent = true;
      body.push(bytes);
      body.finish(null);
    },
    () => body.finish(null),
  );
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body,
  };
}
