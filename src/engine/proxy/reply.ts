import type { OutgoingHttpHeaders } from 'node:http';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Dialect } from '../../shared/model.ts';
import { answerError, wireErrorOf } from './answer.ts';
import { collect, decoded } from './decode.ts';
import { STREAM_HEADERS } from './early-head.ts';
import type { TurnDeps, TurnInFlight } from './flight.ts';
import { clientHeaders, one } from './headers.ts';
import { NotEventsPump, type Told } from './not-events.ts';
import { looksLikeEvents, PeekedFlow } from './peek.ts';
import { asksUsage } from './prepare.ts';
import { type Pump, SamePump, TranslatingPump } from './pump.ts';
import { eventEditor, renameModel, restoreEcho } from './rename.ts';
import { RepairedFlow } from './repair-calls.ts';
import { type Flow, type FlowReply, relayStream } from './stream.ts';
import { callsInText, toolNames } from './text-calls.ts';
import { readReply } from './translate/assemble.ts';
import { clientStatus, errorEvent, readErrorObject, readUpstreamError } from './translate/errors.ts';
import { asArray, isObject, parseJson } from './translate/json.ts';
import { createTranslator, translateReply } from './translate/pairs.ts';
import type { JsonObject, WireError } from './translate/types.ts';
import { streamOfWhole } from './whole-to-stream.ts';

/** A provider's error is worth a warning on the screens unless the request itself was at fault. */
const REQUESTS_OWN_FAULT = new Set([400, 413, 422]);

/** Sends a provider's answer to the client, as a stream or whole, whichever the client asked for. */
export async function relayReply(deps: TurnDeps, flight: TurnInFlight, reply: FlowReply): Promise<void> {
  deps.upstream.note(null);
  const { facts } = flight;
  const encoding = one(reply.headers['content-encoding']);
  const plain = decoded(reply.body, encoding);
  if (!plain) {
    reply.body.abort();
    return failCall(deps, flight, 502, {
      message: `The provider compressed its answer with ${encoding}, which cannot be read here.`,
    });
  }
  let events = /^text\/event-stream\b/i.test(one(reply.headers['content-type']) ?? '');
  let flow: Flow = repairsCalls(deps, flight)
    ? new RepairedFlow(plain, events, toolNames(flight.skim))
    : plain;
  if (!events) {
    const peeked = new PeekedFlow(flow);
    events = looksLikeEvents(await peeked.first());
    flow = peeked;
  }
  if (events && facts.stream) return relayEvents(deps, flight, reply, flow);
  let bytes: Buffer;
  try {
    bytes = await collect(flow);
  } catch (error) {
    return refuseCall(deps, flight, error, flight.call.response.destroyed);
  }
  flight.record.firstByte();
  if (events) return answerAssembled(deps, flight, reply, bytes);
  return answerWhole(deps, flight, reply, bytes);
}

/** A provider's refusal: its status, its words, the client's shape. */
export function relayUpstreamError(
  deps: TurnDeps,
  flight: TurnInFlight,
  reply: FlowReply,
  bytes: Buffer,
): void {
  const { call, route, record } = flight;
  const text = bytes.toString('utf8');
  const { status } = reply;
  if (status < 400) {
    const target = one(reply.headers.location) ?? 'another address';
    const message = `The provider redirects to ${target}. Set llm.api_base to the address that answers itself.`;
    failCall(deps, flight, 502, { message });
    return;
  }
  const error = readUpstreamError(status, text);
  const keyRefused = (status === 401 || status === 403) && !route.passthrough && route.program === null;
  const words = route.apiKey === '' ? error.message : error.message.replaceAll(route.apiKey, '***');
  const message = keyRefused
    ? `The provider ${route.name} refused its configured key (${status}): ${words}`
    : words;
  if (!REQUESTS_OWN_FAULT.has(status)) deps.upstream.note({ status, message });
  record.firstByte();
  record.end({ status: 'failed', httpStatus: status, error: message, answer: null });
  const headers = { ...clientHeaders(reply.headers, 'new-bytes'), ...flight.headers };
  const native = route.wire === call.dialect && isNativeError(flight, text);
  const showsKey = route.apiKey !== '' && text.includes(route.apiKey);
  if (!native || keyRefused || showsKey || flight.early?.end())
    tellFailure(flight, status, { ...error, message }, headers);
  else send(flight, clientStatus(call.dialect, status), { ...headers, ...requestIds(flight, reply) }, bytes);
}

/** No answer came: the network, a timeout, or the client left. */
export function refuseCall(deps: TurnDeps, flight: TurnInFlight, error: unknown, clientLeft: boolean): void {
  const { record } = flight;
  if (clientLeft) {
    record.end({ status: 'aborted', httpStatus: null, error: null, answer: null });
    return;
  }
  const known = error instanceof AppError ? error : unreadable(error);
  const wire = wireErrorOf(known);
  if (!REQUESTS_OWN_FAULT.has(wire.status)) deps.upstream.note({ status: null, message: known.message });
  record.end({ status: 'failed', httpStatus: null, error: known.message, answer: null });
  tellFailure(flight, wire.status, wire, flight.headers);
}

function unreadable(error: unknown): AppError {
  return new AppError('UPSTREAM_UNREACHABLE', `The provider's answer broke off: ${messageOf(error)}`, {
    hint: 'Try again.',
    cause: error,
  });
}

function failCall(deps: TurnDeps, flight: TurnInFlight, status: number, error: WireError): void {
  const { record } = flight;
  deps.upstream.note({ status, message: error.message });
  record.end({ status: 'failed', httpStatus: status, error: error.message, answer: null });
  tellFailure(flight, status, error, flight.headers);
}

function relayEvents(deps: TurnDeps, flight: TurnInFlight, reply: FlowReply, body: Flow): Promise<void> {
  const { call, record } = flight;
  const isContinued = flight.early?.end() === true;
  const pump = new NotEventsPump(pumpOf(deps, flight, isContinued), (body) => toldAsEvents(flight, body));
  beginStream(flight, reply);
  const relayed = relayStream({
    body,
    response: call.response,
    pump,
    dialect: call.dialect,
    clock: deps.clock,
    heartbeatMs: deps.heartbeatMs,
    firstByte: () => record.firstByte(),
    ending: (outcome) => {
      const error = outcome.status === 'failed' ? outcome.error.message : null;
      if (error !== null) deps.upstream.note({ status: null, message: error });
      const answer = pump.result();
      record.end({ status: outcome.status, httpStatus: reply.status, error, answer });
      if (outcome.status !== 'answered') return;
      warnOfTextCalls(deps, flight, answer.text);
      if (!flight.prepared.context) keep(deps, flight, answer.reply);
    },
    explain: (error) => ({
      type: 'api_error',
      message: `The provider's stream broke off: ${messageOf(error)}`,
    }),
  });
  // A first event that is here already goes out in one packet with the head; else the head waits for nothing.
  if (!call.response.writableEnded) call.response.flushHeaders();
  return relayed;
}

function repairsCalls(deps: TurnDeps, { facts, route }: TurnInFlight): boolean {
  const { text_tool_calls: how } = deps.config().llm.compat;
  return how === 'repair' && route.wire === 'openai' && facts.hasTools;
}

/** A model whose calls stay text makes an agent that does nothing, and nobody else says why (S49). */
function warnOfTextCalls(deps: TurnDeps, { facts, skim, route }: TurnInFlight, text: string): void {
  const names = facts.hasTools ? callsInText(text, skim) : [];
  if (names.length === 0) return;
  const message = `The model ${route.model} wrote a call of ${names.join(', ')} as text, so nothing ran. Switch the tool parser of its server on, or choose another model.`;
  deps.log.warn({ upstream: route.name, model: route.model, tools: names }, message);
  deps.upstream.note({ status: null, message });
}

/** A response that cannot be kept can still be answered. */
function keep(deps: TurnDeps, flight: TurnInFlight, response: JsonObject | null): void {
  if (!flight.keep || !response) return;
  try {
    flight.keep(response, flight.prepared.context === null);
  } catch (error) {
    deps.log.error({ err: error }, 'the response could not be kept; it cannot be continued by its id');
  }
}

function pumpOf(deps: TurnDeps, flight: TurnInFlight, isContinued: boolean): Pump {
  const { facts, route, prepared } = flight;
  const { context } = prepared;
  if (context) {
    const translator = createTranslator(route.wire, facts.dialect, context, (response) =>
      keep(deps, flight, response),
    );
    return new TranslatingPump(route.wire, translator);
  }
  const { echo } = prepared;
  const { dialect } = facts;
  const model = keepsName(flight) ? null : facts.model;
  const edit = model === null && echo === null ? null : eventEditor({ dialect, model, echo });
  return new SamePump(dialect, { edit, isContinued });
}

/** A client that named no model hears the one that answered. */
function keepsName({ route, facts }: TurnInFlight): boolean {
  return facts.model === '' || route.model === facts.model;
}

/** What came instead of an event stream: an answer is told as a stream, all else as an error. */
function toldAsEvents(flight: TurnInFlight, body: Buffer): Told {
  const { facts, route } = flight;
  const text = body.toString('utf8');
  const json = parseJson(text);
  const known = isObject(json) ? json : null;
  const error = known && isAnswer(route.wire, known) ? null : readUpstreamError(502, text);
  const result = { reply: known, text: '', usage: null, complete: error === null, error };
  if (!known || error) return { out: errorEvent(facts.dialect, error ?? NO_ANSWER), result };
  try {
    const whole = inClientDialect(flight, known);
    const out = streamOfWhole(facts.dialect, whole, asksUsage(flight.skim));
    return { out, result: { ...result, ...readReply(route.wire, known) } };
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    const told = wireErrorOf(cause);
    return { out: errorEvent(facts.dialect, told), result: { ...result, complete: false, error: told } };
  }
}

const NO_ANSWER: WireError = { type: 'api_error', message: 'The provider sent no answer.' };

/** True for an answer of that wire, be it empty. */
function isAnswer(wire: Dialect, json: JsonObject): boolean {
  if (wire === 'openai') return asArray(json.choices).some(isObject);
  return Array.isArray(wire === 'anthropic' ? json.content : json.output);
}

function noAnswer({ route }: TurnInFlight, text: string): WireError {
  const said = text.trim().slice(0, 200);
  return {
    message: `The provider ${route.name} sent JSON that is no answer; check its address and llm.wire. It said: ${said}`,
  };
}

function answerWhole(deps: TurnDeps, flight: TurnInFlight, reply: FlowReply, bytes: Buffer): void {
  const { facts, route, prepared, record } = flight;
  const text = bytes.toString('utf8');
  const json = parseJson(text);
  if (!isObject(json)) {
    const words = readUpstreamError(502, text).message.slice(0, 200);
    const message =
      text.trim() === ''
        ? `The provider ${route.name} sent an empty answer (HTTP ${reply.status}).`
        : `The provider ${route.name} did not answer with JSON; check its address. It said: ${words}`;
    failCall(deps, flight, 502, { message });
    return;
  }
  // Some providers put an error into a 200; no client would see it there.
  if (!isAnswer(route.wire, json)) {
    const refused = readErrorObject(json) ?? noAnswer(flight, text);
    failCall(deps, flight, refused.status ?? 502, refused);
    return;
  }
  let whole: JsonObject | null = null;
  if (prepared.context || facts.stream) {
    try {
      whole = inClientDialect(flight, json);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      failCall(deps, flight, error.status, wireErrorOf(error));
      return;
    }
  }
  const answer = { reply: json, ...readReply(route.wire, json) };
  record.end({ status: 'answered', httpStatus: reply.status, error: null, answer });
  warnOfTextCalls(deps, flight, answer.text);
  keep(deps, flight, whole ?? json);
  if (whole) (facts.stream ? answerAsStream : answerJson)(flight, reply, whole);
  else {
    const named = keepsName(flight) ? text : renameModel(facts.dialect, text, JSON.stringify(facts.model));
    const told = restoreEcho(named, prepared.echo);
    const out = told === text ? bytes : Buffer.from(told);
    send(flight, reply.status, wholeHeaders(flight, reply), out);
  }
}

/** The provider streamed although the client asked for a whole answer. */
function answerAssembled(deps: TurnDeps, flight: TurnInFlight, reply: FlowReply, bytes: Buffer): void {
  const pump = new SamePump(flight.route.wire);
  pump.push(bytes);
  pump.end();
  const result = pump.result();
  if (!result.reply || !result.complete || result.error) {
    const cut: WireError = { message: 'The provider closed the stream before the answer was complete.' };
    failCall(deps, flight, 502, result.error ?? cut);
    return;
  }
  flight.record.end({ status: 'answered', httpStatus: reply.status, error: null, answer: result });
  warnOfTextCalls(deps, flight, result.text);
  const whole = inClientDialect(flight, result.reply);
  keep(deps, flight, whole);
  answerJson(flight, reply, whole);
}

/** The provider answered whole although the client asked for a stream. */
function answerAsStream(flight: TurnInFlight, reply: FlowReply, whole: JsonObject): void {
  beginStream(flight, reply);
  flight.call.response.end(streamOfWhole(flight.facts.dialect, whole, asksUsage(flight.skim)));
}

/** Sends the head of an event stream, unless a provider that let us wait made it go out already. */
function beginStream(flight: TurnInFlight, reply: FlowReply): void {
  const { response } = flight.call;
  if (flight.early?.end() || response.destroyed) return;
  response.writeHead(200, {
    ...clientHeaders(reply.headers, 'new-bytes'),
    ...flight.headers,
    ...requestIds(flight, reply),
    ...STREAM_HEADERS,
    ...eventStreamType(reply),
  });
}

/** Tells a failure by its status, or in-band where the stream has begun. */
function tellFailure(
  { call, early }: TurnInFlight,
  status: number,
  error: WireError,
  headers: OutgoingHttpHeaders,
): void {
  const { response, dialect, requestId } = call;
  if (early?.end()) response.end(errorEvent(dialect, { ...error, status: error.status ?? status }));
  else answerError(response, dialect, status, error, requestId, headers);
}

function inClientDialect(flight: TurnInFlight, reply: JsonObject): JsonObject {
  const { facts, prepared, route } = flight;
  const { context, echo } = prepared;
  if (context) return translateReply(route.wire, facts.dialect, reply, context);
  const restored = Object.entries(echo ?? {}).map(([key, json]) => [key, JSON.parse(json)]);
  return { ...reply, model: facts.model || reply.model, ...Object.fromEntries(restored) };
}

function answerJson(flight: TurnInFlight, reply: FlowReply, whole: JsonObject): void {
  const headers = { ...wholeHeaders(flight, reply), 'content-type': 'application/json' };
  send(flight, reply.status, headers, Buffer.from(JSON.stringify(whole)));
}

function wholeHeaders(flight: TurnInFlight, reply: FlowReply): OutgoingHttpHeaders {
  return { ...clientHeaders(reply.headers, 'new-bytes'), ...flight.headers, ...requestIds(flight, reply) };
}

function send(flight: TurnInFlight, status: number, headers: OutgoingHttpHeaders, bytes: Buffer): void {
  const { response } = flight.call;
  if (response.destroyed) return;
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  response.end(bytes);
}

/** The provider's own request id is what its support asks for; Anthropic's clients look for it under another name. */
function requestIds({ call }: TurnInFlight, reply: FlowReply): OutgoingHttpHeaders {
  const id = one(reply.headers['x-request-id']);
  const isNamed = call.dialect !== 'anthropic' || reply.headers['request-id'] !== undefined;
  return {
    ...(id === undefined ? {} : { 'x-request-id': id }),
    ...(isNamed ? {} : { 'request-id': id ?? call.requestId }),
  };
}

function eventStreamType(reply: FlowReply): OutgoingHttpHeaders {
  const type = one(reply.headers['content-type']) ?? '';
  return /^text\/event-stream\b/i.test(type) ? { 'content-type': type } : {};
}

function isNativeError(flight: TurnInFlight, text: string): boolean {
  const json = parseJson(text);
  if (!isObject(json) || !isObject(json.error)) return false;
  return flight.call.dialect !== 'anthropic' || json.type === 'error';
}
