import { AppError, messageOf } from '../../shared/errors.ts';
import type { Clock } from '../ports.ts';
import type { Route, UpstreamReply } from '../upstream/index.ts';
import { collect, decoded } from './decode.ts';
import type { TurnDeps } from './flight.ts';
import { one } from './headers.ts';
import { seen } from './hidden-error.ts';
import type { PreparedRequest } from './prepare.ts';
import type { FlowReply } from './stream.ts';

/** A provider's answer, and by which way it came. */
export interface Reached {
  route: Route;
  prepared: PreparedRequest;
  reply: FlowReply;
  /** The body of a refusal, decoded; null when the answer is good and its body still flows. */
  refusal: Buffer | null;
}

export interface Journey {
  /** In the order in which they are asked; the first one's request is `first`. */
  routes: readonly Route[];
  first: PreparedRequest;
  /** Makes the request anew for another route. Throws AppError when that route cannot carry it. */
  prepare: (route: Route) => PreparedRequest;
  signal: AbortSignal;
}

const MIB = 1024 * 1024;
const OVERLOADED = 529;
const OVERLOADED_RETRIES = 2;
/** A provider that asks for more is not waited for. */
const LONGEST_WAIT_MS = 2000;
/** Most refusals of one request that teach something. */
const LESSONS = 4;
/** Statuses whose refusals are about the request's form; 500 is what llama.cpp says when a chat template gives up. */
const TEACHES: ReadonlySet<number> = new Set([400, 422, 500]);

/**
 * Asks the providers in turn until one answers. Nothing has reached the client so far, so that: a provider that says
 * "overloaded" is asked again shortly (H06); one that refuses a form of the request is asked once more in the form
 * that it takes (T44); one that is down, out of quota or refuses its key gives way to the next (S48). A request that
 * is at fault itself is refused at once. Of several failures the first is told. Rejects when nobody could be reached.
 */
export async function reach(deps: TurnDeps, journey: Journey): Promise<Reached> {
  let failure: { reached: Reached } | { error: unknown } | null = null;
  for (const [index, route] of journey.routes.entries()) {
    const isLast = index === journey.routes.length - 1;
    try {
      const prepared = index === 0 ? journey.first : journey.prepare(route);
      const reached = await ask(deps, journey, route, prepared, isLast ? OVERLOADED_RETRIES : 1);
      if (reached.refusal === null) {
        deps.upstream.answered(reached.route);
        return reached;
      }
      const givesWay = deps.upstream.failed(reached.route, reached.reply, reached.refusal.toString('utf8'));
      failure ??= { reached };
      // That a later one cannot take the request (no pictures, a smaller window) says nothing of the next.
      if (!givesWay && index === 0) break;
    } catch (error) {
      if (journey.signal.aborted) throw error;
      failure ??= { error };
      // What cannot be said on this route's wire may be said on the next one's.
      const untranslatable = error instanceof AppError && error.code === 'NOT_TRANSLATABLE';
      if (!untranslatable) deps.upstream.unreachable(route);
    }
    if (!isLast && !journey.signal.aborted)
      deps.log.warn({ from: route.name, to: journey.routes[index + 1]?.name }, 'the next provider is asked');
    if (journey.signal.aborted) break;
  }
  if (failure && 'reached' in failure) return failure.reached;
  throw failure?.error;
}

async function ask(
  deps: TurnDeps,
  journey: Journey,
  firstRoute: Route,
  firstRequest: PreparedRequest,
  retries: number,
): Promise<Reached> {
  let route = firstRoute;
  let prepared = firstRequest;
  let overloads = 0;
  /** What was learned on the way; kept only when it led to an answer. */
  const learned: { gist: string; remember: () => void }[] = [];
  for (;;) {
    const { path, headers, body } = prepared;
    const { signal } = journey;
    const sent = await deps.upstream.send(route, { path, method: 'POST', headers, body, signal });
    const { reply, refusal } =
      sent.status < 300 ? await seen(sent) : { reply: sent, refusal: await read(sent) };
    if (refusal === null) {
      for (const { remember } of learned) remember();
      return { route, prepared, reply, refusal };
    }
    const reached = { route, prepared, reply, refusal };
    if (signal.aborted) return reached;
    const wait = deps.upstream.askedWaitMs(reply) ?? 0;
    if (reply.status === OVERLOADED && overloads < retries && wait <= LONGEST_WAIT_MS) {
      const jittered = 200 * 2 ** overloads * (1 + Math.random());
      await pause(deps.clock, Math.max(wait, jittered), signal);
      if (signal.aborted) return reached;
      overloads += 1;
      continue;
    }
    if (!TEACHES.has(reply.status) || learned.length === LESSONS) return reached;
    const taught = deps.upstream.learn(route, reply.status, refusal.toString('utf8'), body);
    // The same complaint again: what was taken out was not what it meant.
    if (!taught || learned.at(-1)?.gist === taught.gist) return reached;
    const again = retell(journey, taught.route);
    if (!again || again.body.equals(body)) return reached;
    learned.push(taught);
    route = taught.route;
    prepared = again;
  }
}

function retell(journey: Journey, route: Route): PreparedRequest | null {
  try {
    return journey.prepare(route);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

async function read(reply: UpstreamReply): Promise<Buffer> {
  const body = decoded(reply.body, one(reply.headers['content-encoding']));
  if (body === null) {
    await reply.body.bytes(MIB).catch(messageOf);
    return Buffer.alloc(0);
  }
  return collect(body).catch(() => Buffer.alloc(0));
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve);
    signal.addEventListener('abort', () => {
      cancel();
      resolve();
    });
  });
}
