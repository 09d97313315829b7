import type { IncomingHttpHeaders } from 'node:http';
import express, { type Express, type Request, type Response } from 'express';
import { AppError } from '../../shared/errors.ts';
import type { Dialect } from '../../shared/model.ts';
import { answerError } from './answer.ts';
import { countTokens } from './count-tokens.ts';
import { addFeedbackRoute } from './feedback-route.ts';
import type { ModelRequest, TurnDeps } from './flight.ts';
import { forward } from './forward.ts';
import { addMemoryRoutes, type MemoryDoor } from './memory-routes.ts';
import { anthropicModel, modelList, openaiModel, withClaudeAliases } from './models.ts';
import type { ProxyPath } from './request-path.ts';
import { addResponseRoutes } from './response-routes.ts';

/** What the door already knows of a call when Express gets it. */
export type CallContext = Omit<ModelRequest, 'request' | 'response'>;

/** Answers a call that failed. */
type Fail = (request: Request, response: Response, error: unknown) => void;

export interface RoutesDeps {
  turn: TurnDeps;
  memory: MemoryDoor;
  version: string;
  contextOf: (request: Request) => CallContext;
  fail: Fail;
}

/** Every route but the two that models answer on: probes, model lists, counting, and the generic pass-through. */
export function createRoutes(deps: RoutesDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  const { upstream } = deps.turn;

  app.use((request, response, next) => {
    response.setHeader('x-request-id', deps.contextOf(request).requestId);
    next();
  });
  app.get(['/health', '/healthz'], (_request, response) => {
    // `ok` is what the original's own programs, and our daemon's starter, look for.
    response.json({ ok: true, status: 'ok', name: 'metaclaw', version: deps.version });
  });
  app.get('/', (_request, response) => {
    response.json({ name: 'metaclaw', version: deps.version, openai: '/v1', anthropic: '/' });
  });

  app.get('/v1/models', (request, response) => {
    const { limit, after_id: afterId, before_id: beforeId } = textQuery(request);
    response.json(modelList(upstream.models(), wantsAnthropic(request), { limit, afterId, beforeId }));
  });
  app.get('/v1/models/*id', (request, response) => {
    const id = ([] as string[]).concat(request.params.id ?? []).join('/');
    const names = upstream.models();
    const anthropic = wantsAnthropic(request);
    if (!(anthropic ? withClaudeAliases(names) : names).includes(id))
      throw new AppError(
        'NOT_FOUND',
        `There is no model ${JSON.stringify(id)}. Known: ${names.join(', ') || 'none'}.`,
      );
    response.json(anthropic ? anthropicModel(id) : openaiModel(id));
  });

  app.post('/v1/messages/count_tokens', (request, response) =>
    countTokens(deps.turn, { ...deps.contextOf(request), request, response }),
  );

  for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens', '/v1/responses'])
    app.all(path, (request, response) => refuseMethod(deps, request, response, 'POST'));
  app.all(['/v1/models', '/v1/models/*id'], (request, response) =>
    refuseMethod(deps, request, response, 'GET, HEAD'),
  );

  addFeedbackRoute(app, deps.turn.feedback);
  addMemoryRoutes(app, { memory: deps.memory, agentOf });
  addResponseRoutes(app, { turn: deps.turn, agentOf });

  app.all('/v1/*rest', async (request, response) => {
    const { requestId, agent } = { ...deps.contextOf(request), agent: agentOf(request) };
    const route = upstream.resolve('', agent);
    const path = request.url.replace(/^\/v1/, '');
    refuseDots(path);
    await forward(upstream, route, { request, response, path, requestId });
  });

  app.use((request: Request) => {
    throw new AppError('NOT_FOUND', `There is nothing at ${request.method} ${request.path}.`, {
      hint: 'OpenAI clients use /v1 as base URL, Anthropic clients the address without /v1.',
    });
  });
  app.use((error: unknown, request: Request, response: Response, _next: unknown) =>
    deps.fail(request, response, error instanceof URIError ? badAddress(error) : error),
  );
  return app;

  function agentOf(request: Request): string {
    const named = request.headers['x-metaclaw-agent'];
    return deps.contextOf(request).path.agent ?? (typeof named === 'string' ? named : 'unknown');
  }
}

/** The dialect of a call that is no model call, for the shape of errors and lists. */
export function dialectOf({ path }: ProxyPath, headers: IncomingHttpHeaders): Dialect {
  if (headers['anthropic-version'] !== undefined || path.startsWith('/v1/messages')) return 'anthropic';
  return path.startsWith('/v1/responses') ? 'responses' : 'openai';
}

/** Dot segments would lead out of the provider's base path, with its key. */
function refuseDots(path: string): void {
  const [raw = ''] = path.split('?');
  if (raw.split(/[/\\]/).some((part) => /^(?:\.|%2e){1,2}$/i.test(part)))
    throw new AppError('BAD_INPUT', 'The address leads out of the API.');
}

function badAddress(cause: URIError): AppError {
  return new AppError('BAD_INPUT', 'The address holds a broken percent escape.', { cause });
}

function wantsAnthropic(request: Request): boolean {
  return request.headers['anthropic-version'] !== undefined;
}

function textQuery(request: Request): Record<string, string | undefined> {
  const out: Record<string, string | undefined> = {};
  for (const [key, value] of Object.entries(request.query)) if (typeof value === 'string') out[key] = value;
  return out;
}

function refuseMethod(deps: RoutesDeps, request: Request, response: Response, allow: string): void {
  const { dialect, requestId } = deps.contextOf(request);
  const message = `${request.method} is not allowed on ${request.path}; use ${allow}.`;
  answerError(response, dialect, 405, { message }, requestId, { allow });
}
