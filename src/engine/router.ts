import { randomBytes } from 'node:crypto';
import { ROUTES, type RouteName, type RouteOutput, type RouteParsed } from '../shared/contract.ts';
import { AppError, type ErrorJson, messageOf } from '../shared/errors.ts';
import type { Logger } from './platform/logger.ts';

/** Who is calling: the window of the app, the control port (CLI), or code in the same process. */
type Caller = 'window' | 'control' | 'internal';

/** One handler per route; the type makes the table exhaustive. */
export type Handlers = {
  [R in RouteName]: (input: RouteParsed<R>, caller: Caller) => Promise<RouteOutput<R>> | RouteOutput<R>;
};

/** Calls a route with anything that came over a wire. Rejects with AppError only. */
export type Dispatch = (route: string, input: unknown, caller: Caller) => Promise<unknown>;

/**
 * The one door into the engine, whatever the transport: finds the route, parses its input, runs the handler, and
 * turns everything that is thrown into an AppError (unexpected failures get a short reference that the log has too).
 */
export function createDispatch(handlers: Handlers, log: Logger): Dispatch {
  return async (route, input, caller) => {
    if (!isRoute(route)) throw new AppError('NOT_FOUND', `There is no call named ${JSON.stringify(route)}.`);
    const parsed = ROUTES[route].input.safeParse(input ?? {});
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      const field = issue?.path.join('.') ?? '';
      throw new AppError(
        'BAD_INPUT',
        `${route}: ${field === '' ? '' : `${field}: `}${issue?.message ?? 'bad input'}`,
        {
          field: field === '' ? undefined : field,
        },
      );
    }
    const start = performance.now();
    try {
      // The table relates each route to its own input and output; the compiler cannot follow a union of both.
      const handler = handlers[route] as (input: unknown, caller: Caller) => unknown;
      return await handler(parsed.data, caller);
    } catch (error) {
      throw asAppError(error, (ref) => log.error({ err: error, route, ref }, 'call failed unexpectedly'));
    } finally {
      const ms = performance.now() - start;
      if (ms > 1000) log.warn({ route, ms: Math.round(ms) }, 'slow call');
    }
  };
}

/** What crosses the boundary for any thrown thing. */
export function errorJson(error: unknown): ErrorJson {
  return error instanceof AppError ? error.toJSON() : { code: 'INTERNAL', message: messageOf(error) };
}

function isRoute(route: string): route is RouteName {
  return Object.hasOwn(ROUTES, route);
}

function asAppError(error: unknown, report: (ref: string) => void): AppError {
  if (error instanceof AppError) return error;
  const ref = randomBytes(4).toString('hex');
  report(ref);
  return new AppError('INTERNAL', `Something went wrong inside MetaClaw (${ref}).`, {
    hint: `The log has the details under ${ref}.`,
    ref,
    cause: error,
  });
}
