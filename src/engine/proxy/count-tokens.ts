import type { Config } from '../../shared/config.ts';
import { AppError } from '../../shared/errors.ts';
import type { SessionInjection } from '../inject/index.ts';
import type { UpstreamReply } from '../upstream/index.ts';
import { answerError } from './answer.ts';
import { readRequestBody } from './body.ts';
import type { Facts } from './facts.ts';
import type { ModelRequest, TurnDeps } from './flight.ts';
import { clientHeaders } from './headers.ts';
import { prepareRequest, promptTokens } from './prepare.ts';
import { skim } from './skim.ts';
import { readUpstreamError } from './translate/errors.ts';
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
    const reply = await deps.upstream
      .send(route, { path, method: 'POST', headers, body: prepared.body })
      .catch((error: unknown) => {
        if (error instanceof AppError) return null;
        throw error;
      });
    if (reply && !CANNOT_COUNT.has(reply.status)) return relayCount(call, reply, ours);
    reply?.body.abort();
  }
  sendCount(call, promptTokens(body) + ours);
}

async function relayCount(call: ModelRequest, reply: UpstreamReply, ours: number): Promise<void> {
  const text = (await reply.body.bytes()).toString('utf8');
  if (reply.status >= 300) {
    const headers = clientHeaders(reply.headers, 'new-bytes');
    answerError(
      call.response,
      'anthropic',
      reply.status,
      readUpstreamError(reply.status, text),
      call.requestId,
      headers,
    );
    return;
  }
  const counted = JSON.parse(text) as { input_tokens: number };
  sendCount(call, counted.input_tokens + ours, counted);
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
