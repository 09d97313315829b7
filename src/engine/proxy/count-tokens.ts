import { z } from 'zod';
import type { Config } from '../../shared/config.ts';
import { AppError } from '../../shared/errors.ts';
import type { SessionInjection } from '../inject/index.ts';
import type { Route, UpstreamReply } from '../upstream/index.ts';
import { answerError } from './answer.ts';
import { readRequestBody } from './body.ts';
import { collect, decoded } from './decode.ts';
import type { Facts } from './facts.ts';
import type { ModelRequest, TurnDeps } from './flight.ts';
import { clientHeaders, one } from './headers.ts';
import { prepareRequest, promptTokens } from './prepare.ts';
import { skim } from './skim.ts';
import { readUpstreamError } from './translate/errors.ts';
import { parseJson } from './translate/json.ts';
import { isOffRecord, readFacts } from './turn.ts';

/** Statuses with which servers of the Anthropic wire say that they cannot count. */
const CANNOT_COUNT = new Set([404, 405, 501]);

/**
 * Tokens of a request (H13): the provider counts when it speaks the Anthropic wire, else it is estimated here. The
 * number includes what the session carries because of us. Nothing is retrieved, recorded or learned.
 */
export async function countTokens(deps: TurnDeps, call: ModelRequest): Promise<void> {
  const config = deps.config();
  const body = skim(await readRequestBody(call.request, config.proxy.max_body_mb * 1024 * 1024));
  const facts = readFacts(call, body);
  const ours = carriedTokens(deps, config, facts);
  const route = deps.upstream.resolve(facts.model, facts.agent);
  if (route.wire === 'anthropic') {
    const prepared = prepareRequest({
      skim: body,
      facts,
      route,
      headers: call.request.headers,
      query: call.path.query,
      plan: null,
      recall: null,
      cut: null,
      replyId: call.requestId,
      nowMs: deps.clock.now(),
    });
    const path = prepared.path.replace('/messages', '/messages/count_tokens');
    const { headers } = prepared;
    const abort = new AbortController();
    call.response.once('close', () => abort.abort());
    const request = { path, method: 'POST', headers, body: prepared.body, signal: abort.signal };
    const told = await tellOf(await deps.upstream.send(route, request).catch(noAnswer));
    if (told?.count) return sendCount(call, told.count.input_tokens + ours, told.count);
    if (told?.refusal) return refuse(call, route, told.refusal);
  }
  if (facts.messageCount === 0)
    throw new AppError('BAD_INPUT', 'messages: at least one message is required', { field: 'messages' });
  sendCount(call, promptTokens(body) + ours);
}

interface Refusal {
  reply: UpstreamReply;
  text: string;
}

/** What a provider said: a count, or that the request is wrong; null: it cannot count, and we have to. */
async function tellOf(
  reply: UpstreamReply | null,
): Promise<{ count?: { input_tokens: number }; refusal?: Refusal } | null> {
  if (!reply) return null;
  const flow = decoded(reply.body, one(reply.headers['content-encoding']));
  const text = flow ? await collect(flow).then(String, () => '') : '';
  if (!flow) reply.body.abort();
  if (reply.status >= 300) return CANNOT_COUNT.has(reply.status) ? null : { refusal: { reply, text } };
  const count = countSchema.safeParse(parseJson(text));
  return count.success ? { count: count.data } : null;
}

const countSchema = z.looseObject({ input_tokens: z.number() });

function refuse(call: ModelRequest, route: Route, { reply, text }: Refusal): void {
  const { status } = reply;
  const error = readUpstreamError(status, text);
  const words = route.apiKey === '' ? error.message : error.message.replaceAll(route.apiKey, '***');
  const isKey = (status === 401 || status === 403) && !route.passthrough;
  const message = isKey
    ? `The provider ${route.name} refused its configured key (${status}): ${words}`
    : words;
  const headers = clientHeaders(reply.headers, 'new-bytes');
  answerError(call.response, 'anthropic', status, { ...error, message }, call.requestId, headers);
}

/** A provider that cannot be reached is told of by the turn; a count can be had without it. */
function noAnswer(error: unknown): null {
  if (error instanceof AppError) return null;
  throw error;
}

function sendCount(call: ModelRequest, tokens: number, rest: object = {}): void {
  const body = Buffer.from(JSON.stringify({ ...rest, input_tokens: tokens }));
  call.response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-request-id': call.requestId,
  });
  call.response.end(body);
}

function carriedTokens(deps: TurnDeps, config: Config, facts: Facts): number {
  if (isOffRecord(config, facts)) return 0;
  try {
    const turn = deps.sessions.open(facts);
    deps.sessions.abandon(turn);
    return tokensOf(turn.injection);
  } catch (error) {
    deps.log.warn({ err: error }, 'the session of a count could not be looked up');
    return 0;
  }
}

function tokensOf(injection: SessionInjection): number {
  const texts = [injection.system?.text ?? '', ...injection.messages.map((block) => block.text)];
  return texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
}
