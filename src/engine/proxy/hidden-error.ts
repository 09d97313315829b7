import type { BodySink } from '../upstream/index.ts';
import { collect } from './decode.ts';
import { one } from './headers.ts';
import { PeekedFlow } from './peek.ts';
import type { Flow, FlowReply } from './stream.ts';
import { readErrorObject } from './translate/errors.ts';
import { asObject, isObject, parseJson } from './translate/json.ts';

/** An answer, or the refusal that one with a good status really is. */
interface Seen {
  reply: FlowReply;
  /** Its bytes; null when it is none. */
  refusal: Buffer | null;
}

/**
 * Gateways (OpenRouter, some of Azure's) say with a 200 that the provider behind them failed, and MiniMax that it did
 * itself: the body is an error and nothing else. Such an answer is read whole and gets the status that it names, or 502; of every other one only the
 * first bytes are looked at.
 */
export async function seen(reply: FlowReply): Promise<Seen> {
  const encoding = one(reply.headers['content-encoding']) ?? 'identity';
  if (encoding !== 'identity' || !/\bjson\b/i.test(one(reply.headers['content-type']) ?? ''))
    return { reply, refusal: null };
  const body = new PeekedFlow(reply.body);
  const first = await body.first();
  if (!first || !looksLikeError(first)) return { reply: { ...reply, body }, refusal: null };
  const bytes = await collect(body);
  const whole = { ...reply, body: new WholeFlow(bytes) };
  const status = statusOf(parseJson(bytes.toString('utf8')));
  return status === null ? { reply: whole, refusal: null } : { reply: { ...whole, status }, refusal: bytes };
}

/** A body that is here already. */
class WholeFlow implements Flow {
  readonly #bytes: Buffer;
  #end: () => void = () => {};

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  pipe(sink: BodySink): void {
    this.#end = () => sink.end();
    if (sink.data(this.#bytes)) sink.end();
  }

  resume(): void {
    this.#end();
  }

  abort(): void {
    this.#end = () => {};
  }
}

function looksLikeError(first: Buffer): boolean {
  return BEGINS_AS_ERROR.test(first.toString('utf8', 0, 200)) || first.includes('"base_resp"');
}

const BEGINS_AS_ERROR = /^\uFEFF?\s*\{\s*"error"\s*:\s*[{"]/;

/** The status that an error inside a good answer stands for; null for what is an answer after all. */
function statusOf(body: unknown): number | null {
  if (!isObject(body) || ['choices', 'content', 'output'].some((name) => Array.isArray(body[name])))
    return null;
  if (body.error === undefined) return readErrorObject(body)?.status ?? null;
  const { code, status } = asObject(body.error);
  const told = [code, status, body.status].map(Number).find((value) => value >= 400 && value < 600);
  return told ?? 502;
}
