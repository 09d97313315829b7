import type { OutgoingHttpHeaders } from 'node:http';
import type { Config } from '../../shared/config.ts';
import { AppError } from '../../shared/errors.ts';
import { type InjectionPlan, skipInjection } from '../inject/index.ts';
import type { OpenTurn, SentRequest } from '../sessions/index.ts';
import type { Route } from '../upstream/index.ts';
import { readRequestBody } from './body.ts';
import { unpaused } from './continue-turn.ts';
import { EarlyHead } from './early-head.ts';
import { Facts } from './facts.ts';
import type { ModelRequest, TurnDeps, TurnInFlight } from './flight.ts';
import { headerText, one } from './headers.ts';
import { type Cut, cutToLimit, promptLimit } from './limits/index.ts';
import { type PreparedRequest, type PrepareInput, prepareRequest, promptTokens } from './prepare.ts';
import { echoOf, previousId, refersToProvider, responseKeeper, withHistory } from './previous-response.ts';
import { type Reached, reach } from './reach.ts';
import type { Scope } from './reasoning/memory.ts';
import { TurnRecord } from './record.ts';
import { refuseCall, relayReply, relayUpstreamError } from './reply.ts';
import { decodeValue, member, type Skim, skim } from './skim.ts';
import { asObject } from './translate/json.ts';
import type { JsonObject } from './translate/types.ts';

const MIB = 1024 * 1024;
const DEFAULT_WINDOW = 200_000;
/** Room for an answer whose limit the client left open. */
const DEFAULT_ANSWER = 4096;

/**
 * The pipeline of one model request, top to bottom. What MetaClaw adds fails open, the provider's call fails honest:
 * whatever happens before the first byte, the client gets an answer or an error in its own shape. Throws AppError for
 * requests that never reach a provider.
 */
export async function answerTurn(deps: TurnDeps, call: ModelRequest): Promise<void> {
  const config = deps.config();
  const raw = await readRequestBody(call.request, config.proxy.max_body_mb * MIB);
  const asked = skim(raw);
  const named = readFacts(call, asked);
  call.started(named.agent);
  const resolved = deps.upstream.resolve(named.model, named.agent, call.dialect);
  const routes = routesOf(deps, resolved, named, asked);
  const route = routes[0] ?? resolved;
  const { body, facts } = resume(deps, call, asked, named, route);

  const turn = isOffRecord(config, facts) ? null : openTurn(deps, facts);
  const record = new TurnRecord({ turns: deps.sessions, log: deps.log, clock: deps.clock }, turn);
  const plan = turn && (await planInjection(deps, turn, facts, body));
  const cut = await planCut(deps, facts, body, plan);
  const scope = {
    session: turn?.sessionId ?? `unrecorded ${facts.agent}`,
    persist: keepsBodies(config, turn),
  };
  const state = {
    facts,
    skim: body,
    route,
    plan,
    turn,
    record,
    scope,
    cut,
    echo: call.dialect === 'responses' ? echoOf(asked) : null,
  };
  const { prepared, used } = madeReady(record, () => prepare(deps, call, state));

  if (call.response.destroyed) {
    record.abandon();
    return;
  }
  const abort = new AbortController();
  call.response.on('close', () => {
    if (!call.response.writableFinished) abort.abort();
  });
  const again = (other: Route) =>
    prepareRequest({
      ...requestOf(deps, call, { ...state, route: other }),
      plan: used === plan ? plan : null,
    });
  const sending = reach(deps, { routes, first: prepared, prepare: again, signal: abort.signal });
  if (turn && used) {
    const sent: SentRequest = {
      upstream: route.name,
      host: route.host,
      model: route.model,
      requestBody: raw,
      sentBody: prepared.body === asked.source ? raw : prepared.body,
      report: cut ? { ...used.report, cut: sizeOf(cut) } : used.report,
      injection: used.injection,
    };
    const cutTokens = cut ? sizeOf(cut).tokens : 0;
    record.sent(sent, Math.max(0, promptTokens(body) + used.report.tokens - cutTokens));
  }

  const headers = ourHeaders(call, turn, used, route, prepared);
  if (cut) headers['x-metaclaw-truncated'] = `messages=${cut.messages.length}, tokens=${cut.tokens}`;
  const keep = responseKeeper({
    store: deps.responses,
    body: asked,
    facts,
    sessionId: turn?.sessionId ?? null,
    persist: keepsBodies(config, turn),
  });
  const early = facts.stream ? earlyHead(deps, call, headers) : null;
  const flight: TurnInFlight = { call, facts, skim: body, route, prepared, record, early, headers, keep };
  let reached: Reached;
  try {
    reached = await sending;
  } catch (error) {
    return refuseCall(deps, flight, error, abort.signal.aborted);
  }
  if (abort.signal.aborted && reached.refusal !== null) return refuseCall(deps, flight, null, true);
  if (reached.prepared !== prepared) reroute(flight, reached);
  record.answered((reply) => deps.reasoning.keep(scope, reached.route.wire, reply));
  if (reached.refusal === null) await relayReply(deps, flight, unpaused(deps, reached, abort.signal));
  else relayUpstreamError(deps, flight, reached.reply, reached.refusal);
}

function earlyHead(deps: TurnDeps, call: ModelRequest, headers: OutgoingHttpHeaders): EarlyHead {
  const { clock, heartbeatMs } = deps;
  return new EarlyHead({ response: call.response, dialect: call.dialect, clock, heartbeatMs, headers });
}

/** A request of the Responses API may go on from an earlier response, whose conversation then belongs to it. */
function resume(
  deps: TurnDeps,
  call: ModelRequest,
  asked: Skim,
  named: Facts,
  route: Route,
): { body: Skim; facts: Facts } {
  if (call.dialect !== 'responses') return { body: asked, facts: named };
  const body = withHistory(asked, route, deps.responses);
  const id = previousId(asked);
  const continues = id === null ? null : deps.responses.sessionOf(id);
  return { body, facts: body === asked && continues === null ? named : readFacts(call, body, continues) };
}

/** Who is asked, in order. A response that goes on at the provider that keeps it can go on nowhere else. */
function routesOf(deps: TurnDeps, resolved: Route, facts: Facts, asked: Skim): Route[] {
  const bound = resolved.wire === 'responses' && refersToProvider(asked, deps.responses);
  const { agent } = facts;
  return bound ? [resolved] : deps.upstream.chain(resolved, agent, isPrivate(deps.config(), facts));
}

/** The answer comes from another provider, or to another form of the request, than the first try. */
function reroute(flight: TurnInFlight, { route, prepared }: Reached): void {
  flight.route = route;
  flight.prepared = prepared;
  const { name: upstream, host, model } = route;
  flight.record.rerouted({ upstream, host, model, sentBody: prepared.body });
  Object.assign(flight.headers, wayHeaders(route, prepared));
  if (prepared.dropped.length === 0) delete flight.headers['x-metaclaw-dropped'];
}

/** What the proxy knows of a request; the path names the agent, else its headers do. */
export function readFacts(
  call: Pick<ModelRequest, 'request' | 'dialect' | 'path' | 'clientAddress'>,
  body: Skim,
  continues: string | null = null,
): Facts {
  const { headers } = call.request;
  const flat: Record<string, string | undefined> = {};
  for (const name in headers) flat[name] = one(headers[name]);
  const named = flat['x-metaclaw-agent'] ?? flat['x-mc-agent'];
  return new Facts({
    dialect: call.dialect,
    skim: body,
    headers: flat,
    agent: call.path.agent ?? (named && /^[\w.-]{1,64}$/.test(named) ? named : null),
    clientAddress: call.clientAddress,
    continues,
  });
}

/** Bypass, private mode, private agents and private requests leave no trace and get nothing added (case L06). */
export function isOffRecord(config: Config, facts: Facts): boolean {
  return config.bypass || isPrivate(config, facts) || says(facts.headers['x-metaclaw-learn'], OFF);
}

function isPrivate(config: Config, { headers, agent }: Facts): boolean {
  return config.private || says(headers['x-metaclaw-private'], ON) || config.agents[agent]?.private === true;
}

/** Whether what a turn says may reach the disk. */
function keepsBodies(config: Config, turn: OpenTurn | null): boolean {
  return turn !== null && config.record.bodies;
}

const ON = /^\s*(?:on|true|yes|1)\s*$/i;
const OFF = /^\s*(?:off|false|no|0)\s*$/i;

function says(header: string | undefined, what: RegExp): boolean {
  return header !== undefined && what.test(header);
}

function openTurn(deps: TurnDeps, facts: Facts): OpenTurn | null {
  try {
    return deps.sessions.open(facts);
  } catch (error) {
    deps.log.error({ err: error }, 'the turn could not be opened; it is relayed without a record');
    return null;
  }
}

async function planInjection(
  deps: TurnDeps,
  turn: OpenTurn,
  facts: Facts,
  body: Skim,
): Promise<InjectionPlan> {
  const skip = (why: Parameters<typeof skipInjection>[2]) => {
    try {
      return skipInjection(turn.injection, facts, why);
    } catch (error) {
      deps.log.warn({ err: error, turn: turn.id }, 'what the session carries could not be placed');
      return nothingAdded(turn);
    }
  };
  if (turn.kind === 'side') return skip('side-turn');
  if (continuesThread(body)) return skip('thread');
  const { headers } = facts;
  if (says(headers['x-metaclaw-skills'], OFF) && says(headers['x-metaclaw-memory'], OFF))
    return skip('header');
  try {
    const plan = deps.compose(turn, roomFor(deps.config(), facts, body));
    if (!(plan instanceof Promise)) return plan;
    return await within(deps, plan, () => skip('deadline'));
  } catch (error) {
    deps.log.warn({ err: error, turn: turn.id }, 'nothing was added to the turn: retrieval failed');
    return skip('error');
  }
}

/**
 * True for Anthropic's threads (beta `message-threads`, SDK 1.14): the service holds what came before and refuses a
 * turn whose system part is another than the one that the thread was created with.
 */
function continuesThread(body: Skim): boolean {
  const thread = member(body, 'thread');
  return thread?.value.kind === 'object' && asObject(decodeValue(body, thread.value)).type === 'continue';
}

/** A plan for when nothing can be added, not even what the session carries already. */
function nothingAdded({ injection }: OpenTurn): InjectionPlan {
  const report: InjectionPlan['report'] = { items: [], leftOut: [], tokens: 0, skipped: 'error' };
  return { system: null, messages: [], report, injection };
}

/** What is left of the model's window; where history is cut to a limit, a tenth of it can always be had. */
function roomFor(config: Config, facts: Facts, body: Skim): number {
  const limit = promptLimit(config, facts.maxTokens);
  if (limit !== null) return Math.max(limit - promptTokens(body), Math.floor(limit / 10));
  const window = config.context_window || DEFAULT_WINDOW;
  return Math.max(0, window - (facts.maxTokens ?? DEFAULT_ANSWER) - promptTokens(body));
}

/** What the user's limits take out of the history. A count that fails leaves the turn whole. */
async function planCut(
  deps: TurnDeps,
  facts: Facts,
  skim: Skim,
  plan: InjectionPlan | null,
): Promise<Cut | null> {
  const config = deps.config();
  const limit = config.bypass ? null : promptLimit(config, facts.maxTokens);
  if (limit === null) return null;
  try {
    const addedTokens = plan?.report.tokens ?? 0;
    return await cutToLimit(deps.counter, { skim, facts, limit, addedTokens });
  } catch (error) {
    deps.log.error({ err: error }, 'the turn could not be measured; nothing was cut');
    return null;
  }
}

function sizeOf(cut: Cut): { messages: number; tokens: number } {
  return { messages: cut.messages.length, tokens: cut.tokens };
}

/** The work's result, or the late one when the deadline comes first; what the work does afterwards is of no interest. */
function within<T>(deps: TurnDeps, work: Promise<T>, late: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = deps.clock.after(deps.deadlineMs, () => resolve(late()));
    work.then(resolve, reject).finally(cancel);
  });
}

/** All that a request upstream is made from. */
interface TurnState {
  facts: Facts;
  skim: Skim;
  route: Route;
  plan: InjectionPlan | null;
  turn: OpenTurn | null;
  record: TurnRecord;
  scope: Scope;
  cut: Cut | null;
  echo: JsonObject | null;
}

function requestOf(deps: TurnDeps, call: ModelRequest, turn: TurnState): Omit<PrepareInput, 'plan'> {
  return {
    skim: turn.skim,
    facts: turn.facts,
    route: turn.route,
    headers: call.request.headers,
    query: call.path.query,
    recall: turn.facts.hasAssistant ? deps.reasoning.recall(turn.scope, turn.route.wire) : null,
    cut: turn.cut,
    echo: turn.echo,
    replyId: turn.turn?.id ?? call.requestId,
    nowMs: deps.clock.now(),
  };
}

/** Whatever keeps a request from being made ready, its turn is given up. */
function madeReady<T>(record: TurnRecord, make: () => T): T {
  try {
    return make();
  } catch (error) {
    record.abandon();
    throw error;
  }
}

/** An injection that does not fit into the body after all is left out; the client's own request goes on. */
function prepare(
  deps: TurnDeps,
  call: ModelRequest,
  turn: TurnState,
): { prepared: PreparedRequest; used: InjectionPlan | null } {
  const input = requestOf(deps, call, turn);
  try {
    return { prepared: prepareRequest({ ...input, plan: turn.plan }), used: turn.plan };
  } catch (error) {
    if (error instanceof AppError || !turn.plan || !turn.turn) throw error;
    deps.log.error(
      { err: error, turn: turn.turn.id },
      'nothing was added to the turn: the body could not be changed',
    );
    return { prepared: prepareRequest({ ...input, plan: null }), used: nothingAdded(turn.turn) };
  }
}

function ourHeaders(
  call: ModelRequest,
  turn: OpenTurn | null,
  plan: InjectionPlan | null,
  route: Route,
  prepared: PreparedRequest,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'x-request-id': call.requestId,
    ...wayHeaders(route, prepared),
  };
  if (turn) {
    headers['x-metaclaw-session'] = headerText(turn.sessionId);
    headers['x-metaclaw-turn'] = turn.id;
  }
  const items = plan?.report.items ?? [];
  if (plan && items.length > 0) {
    headers['x-metaclaw-injected'] = headerText([...new Set(items.map((item) => item.id))].join(','));
    headers['x-metaclaw-injected-tokens'] = String(plan.report.tokens);
  }
  return headers;
}

function wayHeaders(route: Route, { dropped }: PreparedRequest): OutgoingHttpHeaders {
  return {
    'x-metaclaw-upstream': headerText(route.name),
    'x-metaclaw-model': headerText(route.model),
    ...(dropped.length > 0 ? { 'x-metaclaw-dropped': headerText(dropped.join(',')) } : {}),
  };
}
