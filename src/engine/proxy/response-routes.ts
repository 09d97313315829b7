import { createHash } from 'node:crypto';
import type { Express, Request, Response } from 'express';
import { AppError } from '../../shared/errors.ts';
import { readRequestBody } from './body.ts';
import type { TurnDeps } from './flight.ts';
import { promptTokens } from './prepare.ts';
import { skim } from './skim.ts';
import { asText } from './translate/json.ts';
import { responsesStreamOfWhole } from './translate/responses/whole-to-stream.ts';
import type { JsonObject } from './translate/types.ts';

export interface ResponseRoutesDeps {
  turn: TurnDeps;
  agentOf: (request: Request) => string;
}

const DEFAULT_PAGE = 20;
const MOST_PER_PAGE = 100;

/**
 * `/v1/responses/…`: what is kept here is answered from here; a provider that keeps responses itself gets the rest.
 * The calls fall through to the generic pass-through for it.
 */
export function addResponseRoutes(app: Express, { turn, agentOf }: ResponseRoutesDeps): void {
  const { responses: store, upstream } = turn;
  const isNative = (request: Request) =>
    upstream.resolve('', agentOf(request), 'responses').wire === 'responses';

  app.post('/v1/responses/input_tokens', async (request, response, next) => {
    if (isNative(request)) {
      next();
      return;
    }
    const body = skim(await readRequestBody(request, turn.config().proxy.max_body_mb * 1024 * 1024));
    response.json({ object: 'response.input_tokens', input_tokens: promptTokens(body) });
  });

  app.get('/v1/responses/:id', (request, response, next) => {
    const known = store.get(request.params.id);
    if (known === null) return missing(request, response, next);
    if (request.query.stream !== 'true') response.json(known);
    else {
      const after = Number(request.query.starting_after ?? -1);
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
      });
      response.end(responsesStreamOfWhole(known, Number.isFinite(after) ? after : -1));
    }
  });

  app.delete('/v1/responses/:id', (request, response, next) => {
    const { id } = request.params;
    if (store.get(id) === null) return missing(request, response, next);
    store.delete(id);
    response.json({ id, object: 'response', deleted: true });
  });

  app.get('/v1/responses/:id/input_items', (request, response, next) => {
    const { id } = request.params;
    const items = store.inputOf(id);
    if (items === null) return missing(request, response, next);
    response.json(page(id, items, request.query));
  });

  app.post('/v1/responses/:id/cancel', (request, response, next) => {
    if (store.get(request.params.id) === null) return missing(request, response, next);
    throw new AppError('BAD_INPUT', 'Cannot cancel a synchronous response.');
  });

  app.all('/v1/responses/:id', (request, response, next) => {
    if (store.get(request.params.id) === null) return missing(request, response, next);
    const message = `${request.method} is not allowed on ${request.path}; use GET or DELETE.`;
    response.setHeader('allow', 'GET, HEAD, DELETE');
    throw new AppError('METHOD_NOT_ALLOWED', message);
  });
  app.all(['/v1/responses/:id', '/v1/responses/:id/*rest'], missing);

  function missing(request: Request<{ id: string }>, _response: Response, next: () => void): void {
    if (isNative(request)) {
      next();
      return;
    }
    const { id } = request.params;
    if (id === 'compact')
      throw new AppError('NOT_FOUND', 'This provider cannot compact conversations; the client has to do it.');
    throw new AppError('NOT_FOUND', `Response with id '${id}' not found.`);
  }
}

/** One page of a response's input, newest first unless asked otherwise. */
function page(id: string, items: readonly JsonObject[], query: Request['query']): JsonObject {
  const named = items.map((item, at) => ({
    ...item,
    id: asText(item.id) || itemId(id, at, asText(item.type)),
  }));
  if (query.order !== 'asc') named.reverse();
  const wanted = Number(query.limit ?? DEFAULT_PAGE);
  const limit = Number.isInteger(wanted) && wanted > 0 ? Math.min(wanted, MOST_PER_PAGE) : DEFAULT_PAGE;
  const after = typeof query.after === 'string' ? named.findIndex((item) => item.id === query.after) : -1;
  const data = named.slice(after + 1, after + 1 + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: after + 1 + limit < named.length,
  };
}

/** Items that the client sent without an id get one that stays the same. */
function itemId(responseId: string, at: number, type: string): string {
  const prefix = type === 'message' || type === '' ? 'msg' : 'item';
  return `${prefix}_${createHash('sha256').update(`${responseId} ${at}`).digest('hex').slice(0, 32)}`;
}
