import { AppError, messageOf } from '../../shared/errors.ts';
import type { BodySink, UpstreamReply } from '../upstream/index.ts';
import { collect } from './decode.ts';
import type { TurnDeps } from './flight.ts';
import { one } from './headers.ts';
import type { Reached } from './reach.ts';
import type { Flow, FlowReply } from './stream.ts';
import { assembleEvents, joinPaused } from './translate/assemble.ts';
import { errorEvent, readUpstreamError } from './translate/errors.ts';
import { asArray, asObject, isObject, parseJson } from './translate/json.ts';
import type { JsonObject } from './translate/types.ts';

/** So often is a paused turn taken up again. */
const MOST_CONTINUATIONS = 3;
const PAUSE = 'pause_turn';
/** Bytes of a stream that are kept for the case that it pauses; a longer one is not gone on with. */
const MOST_KEPT = 32 * 1024 * 1024;

/**
 * Anthropic may pause a long turn of its own tools (`pause_turn`) and expects to be sent the answer so far to go on.
 * Clients of the other dialects know no such thing, so the turn is continued for them, three times at most: what
 * they get is one answer. A stream of events goes out as it comes, one provider's answer after the other; a whole
 * answer is joined. One that stays paused ends as such, and its translation makes an error of it.
 */
export function unpaused(deps: TurnDeps, reached: Reached, signal: AbortSignal): FlowReply {
  const { route, prepared, reply } = reached;
  const encoding = one(reply.headers['content-encoding']) ?? 'identity';
  if (prepared.context === null || route.wire !== 'anthropic' || encoding !== 'identity') return reply;
  const { path, headers } = prepared;
  const ask = (body: Buffer) => deps.upstream.send(route, { path, method: 'POST', headers, body, signal });
  return { ...reply, body: new UnpausedFlow(reply, prepared.body, ask) };
}

class UnpausedFlow implements Flow {
  readonly #isWhole: boolean;
  readonly #sent: Buffer;
  readonly #ask: (body: Buffer) => Promise<UpstreamReply>;
  #current: Flow;
  #aborted = false;
  #chunks: Buffer[] = [];
  #size = 0;
  /** The answers so far, each of them paused. */
  #paused: JsonObject[] = [];

  constructor(reply: FlowReply, sent: Buffer, ask: (body: Buffer) => Promise<UpstreamReply>) {
    this.#isWhole = /\bjson\b/i.test(one(reply.headers['content-type']) ?? '');
    this.#current = reply.body;
    this.#sent = sent;
    this.#ask = ask;
  }

  resume(): void {
    this.#current.resume();
  }

  abort(): void {
    this.#aborted = true;
    this.#current.abort();
  }

  pipe(sink: BodySink): void {
    this.#current.pipe({
      data: (chunk) => {
        this.#size += chunk.length;
        if (this.#isWhole || this.#size <= MOST_KEPT) this.#chunks.push(chunk);
        else this.#chunks = [];
        return this.#isWhole || sink.data(chunk);
      },
      end: () => {
        this.#ended(sink).catch((error: unknown) => this.#fail(sink, error));
      },
      fail: (error) => sink.fail(error),
    });
  }

  async #ended(sink: BodySink): Promise<void> {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#size = 0;
    const answer = this.#read(bytes);
    const isPaused = answer?.stop_reason === PAUSE;
    if (answer === null || !isPaused || this.#paused.length === MOST_CONTINUATIONS) {
      if (this.#isWhole) {
        const joined = answer && this.#paused.length > 0 ? joinPaused([...this.#paused, answer]) : null;
        sink.data(joined === null ? bytes : Buffer.from(JSON.stringify(joined)));
      }
      sink.end();
      return;
    }
    this.#paused.push(answer);
    const reply = await this.#ask(this.#request());
    if (reply.status >= 300) throw await refusal(reply);
    this.#current = reply.body;
    if (this.#aborted) reply.body.abort();
    this.pipe(sink);
  }

  /** Told in-band where an answer has begun, since that answer's own end would hide the reason. */
  #fail(sink: BodySink, error: unknown): void {
    if (this.#isWhole) {
      sink.fail(asError(error));
      return;
    }
    sink.data(
      Buffer.from(`\n\n${errorEvent('anthropic', { type: 'api_error', message: messageOf(error) })}`),
    );
    sink.end();
  }

  /** Null for what holds no pause, without a closer look. */
  #read(bytes: Buffer): JsonObject | null {
    if (this.#paused.length === 0 && !bytes.includes(PAUSE)) return null;
    const text = bytes.toString('utf8');
    const answer = this.#isWhole ? parseJson(text) : assembleEvents('anthropic', text);
    return isObject(answer) ? answer : null;
  }

  /** The client's request with the answer so far as its last message. */
  #request(): Buffer {
    const request = asObject(parseJson(this.#sent.toString('utf8')));
    const content = asArray(joinPaused(this.#paused).content).filter(
      (block) => !isObject(block) || block.type !== 'text' || block.text !== '',
    );
    const messages = [...asArray(request.messages), { role: 'assistant', content }];
    return Buffer.from(JSON.stringify({ ...request, messages }));
  }
}

async function refusal(reply: UpstreamReply): Promise<AppError> {
  const body = await collect(reply.body).catch(() => Buffer.alloc(0));
  const { message } = readUpstreamError(reply.status, body.toString('utf8'));
  return new AppError(
    'UPSTREAM_REFUSED',
    `The provider paused its turn and did not go on with it (${reply.status}): ${message}`,
  );
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}
