import type { IncomingHttpHeaders } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { z } from 'zod';
import { AppError, messageOf } from '../../shared/errors.ts';
import { MEMORY_KINDS, type MemoryKind } from '../../shared/memory.ts';
import { fromOtherSite, hostAllowed, isJsonType, keyAccepted, type Listener } from '../platform/guard.ts';
import type { Logger } from '../platform/logger.ts';

/** Who calls, and the scope that the call is about. */
interface Asker {
  headers: Readonly<Record<string, string | undefined>>;
  agent: string;
  scope: string;
}

interface Exchange {
  user: string;
  reply: string;
  id: string;
}

/** What is remembered, as far as the sidecar needs it. Every method throws NOT_RUNNING while memory is off. */
export interface SidecarMemory {
  stats(asker: Asker): {
    scope_id: string;
    active: number;
    active_by_type: Partial<Record<MemoryKind, number>>;
  } & Record<string, unknown>;
  search(asker: Asker, query: { text: string; limit: number; turns: boolean }): Promise<object[]>;
  ingest(asker: Asker, sessionId: string, exchanges: readonly Exchange[]): Promise<{ added: number }>;
  bufferTurn(asker: Asker, sessionId: string, exchange: Exchange): { flushed: boolean; added: null };
  flushSession(asker: Asker, sessionId: string): Promise<{ added: number }>;
  add(
    asker: Asker,
    memory: {
      content: string;
      kind: MemoryKind;
      pinned: boolean;
      importance: number;
      tags: string[];
      expiresAt: null;
    },
  ): { memory_id: string };
  forget(asker: Asker, id: string, now: boolean): object;
  maintenance(asker: Asker): { superseded: number; decayed: number; reinforced: number };
}

/** The block that a turn with these words would carry, and how many memories stand in it. Throws like the rest. */
export type Retrieve = (asker: Asker, text: string) => Promise<{ text: string; memories: number }>;

export interface SidecarAppDeps {
  memory: SidecarMemory;
  retrieve: Retrieve;
  listener: Listener;
  /** Scope of calls that name none. */
  scope: () => string;
  allowedHosts: () => readonly string[];
  log: Logger;
}

const MAX_BODY = '4mb';
const MOST_CHARS = 100_000;
/** The original pinned by this importance. */
const PINNED = 0.99;

const scopeId = z.string().max(1000).nullish();
const sessionId = z.string().trim().min(1).max(200);
/** What is longer is cut: nobody remembers that much. */
const text = z.string().transform((value) => value.slice(0, MOST_CHARS));
const turn = z
  .object({ prompt_text: text, response_text: text, id: z.string().max(200).default('') })
  .transform(({ prompt_text: user, response_text: reply, id }): Exchange => ({ user, reply, id }));

const bodies = {
  retrieve: z.object({ task_description: text, scope_id: scopeId }),
  ingest: z.object({ session_id: sessionId, turns: z.array(turn).max(1000), scope_id: scopeId }),
  buffer: z.object({ session_id: sessionId, turn, scope_id: scopeId }),
  flush: z.object({ session_id: sessionId, scope_id: scopeId }),
  search: z.object({
    query: z.string().max(20_000),
    scope_id: scopeId,
    limit: z.coerce
      .number()
      .catch(10)
      .default(10)
      .transform((limit) => Math.min(200, Math.max(1, Math.floor(limit)))),
  }),
  store: z.object({
    content: z.string().trim().min(1).max(20_000),
    memory_type: z.enum(MEMORY_KINDS).catch('semantic'),
    scope_id: scopeId,
    tags: z.array(z.string().max(100)).max(50).default([]),
    importance: z
      .number()
      .default(0.5)
      .transform((value) => Math.min(1, Math.max(0, value))),
  }),
  forget: z.object({ memory_id: z.string().min(1).max(200) }),
  consolidate: z.object({ scope_id: scopeId }),
} as const;

const GET = { '/health': true, '/stats': true, '/upgrade/status': true } as const;

/**
 * The routes of the original's sidecar, with its replies and, in the same objects, what the OpenClaw plugin reads:
 * results carry their fields flat and under `unit`, statistics are flat. Errors are FastAPI's `{detail}`.
 *
 * A gateway calls `/retrieve`, `/buffer_turn` and `/flush_session` by itself with every turn, so while memory is off
 * they answer that there is nothing.
 */
export function createSidecarApp(deps: SidecarAppDeps): Express {
  const { memory } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((request, response, next) => {
    response.setHeader('cache-control', 'no-store');
    admit(request, deps);
    next();
  });
  app.use(express.json({ limit: MAX_BODY, type: (request) => isJsonType(request.headers['content-type']) }));

  app.get('/health', async (request, response) => {
    if (!hasKey(request, deps)) return void response.json({ status: 'ok' });
    const asker = askerOf(request, deps);
    const counts = await whenOn(() => memory.stats(asker), null);
    response.json({
      status: counts === null ? 'off' : 'ok',
      memories: counts?.active ?? 0,
      scope: asker.scope,
    });
  });
  app.use((request, _response, next) => {
    if (!hasKey(request, deps))
      throw new AppError('UNAUTHORIZED', 'The key of this sidecar is missing or wrong.', {
        hint: 'Send it as bearer token or x-api-key.',
      });
    next();
  });
  app.get('/stats', (request, response) => {
    response.json(flat(memory.stats(askerOf(request, deps))));
  });
  app.get('/upgrade/status', (_request, response) => {
    response.json({ state: 'idle', last_cycle: null, detail: 'Settings are adapted by memory.adaptive.' });
  });

  const post = <S extends z.ZodType<{ scope_id?: string | null | undefined }>>(
    path: string,
    schema: S,
    answer: (body: z.output<S>, asker: Asker) => Promise<object> | object,
  ) =>
    app.post(path, async (request, response) => {
      const parsed = schema.safeParse(request.body ?? {});
      if (!parsed.success)
        return void response.status(422).json({ detail: parsed.error.issues.map(issueOf) });
      response.json(await answer(parsed.data, askerOf(request, deps, parsed.data.scope_id)));
    });
  post('/retrieve', bodies.retrieve, ({ task_description: task }, asker) =>
    whenOn(
      async () => {
        const block = await deps.retrieve(asker, task);
        return { rendered_prompt: block.text, unit_count: block.memories };
      },
      { rendered_prompt: '', unit_count: 0 },
    ),
  );
  post('/ingest', bodies.ingest, ({ session_id: session, turns }, asker) =>
    whenOn(async () => ({ added: (await memory.ingest(asker, session, turns)).added }), { added: 0 }),
  );
  post('/buffer_turn', bodies.buffer, ({ session_id: session, turn: one }, asker) =>
    whenOn(() => memory.bufferTurn(asker, session, one), { flushed: false, added: null }),
  );
  post('/flush_session', bodies.flush, ({ session_id: session }, asker) =>
    whenOn(() => memory.flushSession(asker, session), { added: 0 }),
  );
  post('/search', bodies.search, async ({ query, limit }, asker) => ({
    results: await memory.search(asker, { text: query, limit, turns: true }),
  }));
  post('/store', bodies.store, ({ content, memory_type: kind, tags, importance }, asker) => {
    const pinned = importance >= PINNED;
    return {
      memory_id: memory.add(asker, { content, kind, pinned, importance, tags, expiresAt: null }).memory_id,
    };
  });
  app.post('/forget', (request, response) => {
    const parsed = bodies.forget.safeParse(request.body ?? {});
    if (!parsed.success) return void response.status(422).json({ detail: parsed.error.issues.map(issueOf) });
    // As with the original, one that is not there is forgotten too.
    try {
      memory.forget({ ...askerOf(request, deps), scope: '' }, parsed.data.memory_id, false);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
    }
    response.json({ ok: true });
  });
  post('/consolidate', bodies.consolidate, (_body, asker) => {
    const { superseded, decayed, reinforced } = memory.maintenance(asker);
    return { superseded, decayed, reinforced };
  });
  app.post('/upgrade/trigger', (_request, response) => {
    response.json({ triggered: false, ran: false, detail: 'Settings are adapted by memory.adaptive.' });
  });

  app.use((request: Request, response: Response) => {
    const known = app.router.stack.some((layer) => layer.route?.path === request.path);
    if (!known) return void response.status(404).json({ detail: 'Not Found' });
    response.setHeader('allow', Object.hasOwn(GET, request.path) ? 'GET' : 'POST');
    response.status(405).json({ detail: 'Method Not Allowed' });
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    answerError(error, request, response, deps.log);
  });
  return app;
}

/** Refuses web pages, and names that are not this computer's. */
function admit(request: Request, { listener, allowedHosts }: SidecarAppDeps): void {
  const { headers } = request;
  if (!hostAllowed(headers.host, listener, allowedHosts()))
    throw new AppError('HOST_NOT_ALLOWED', 'This host name is not allowed here.', {
      hint: 'Use 127.0.0.1 or localhost.',
    });
  if (headers.origin !== undefined || fromOtherSite(headers))
    throw new AppError('ORIGIN_NOT_ALLOWED', 'The memory sidecar is not for web pages.');
}

function hasKey({ headers }: Request, { listener }: SidecarAppDeps): boolean {
  return keyAccepted(listener.ownKey ?? '', headers, null);
}

function askerOf(request: Request, deps: SidecarAppDeps, named?: string | null): Asker {
  return { headers: textHeaders(request.headers), agent: '', scope: named?.trim() || deps.scope() };
}

function textHeaders(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  const out: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') out[name] = value;
  return out;
}

/** `otherwise` while memory is off. */
async function whenOn<T, O>(work: () => Promise<T> | T, otherwise: O): Promise<T | O> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_RUNNING') return otherwise;
    throw error;
  }
}

/** Readers print each value as it is: what is nested becomes words. */
function flat(stats: Record<string, unknown>): Record<string, string | number | boolean> {
  const out: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(stats))
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      out[name] = value;
    else if (value !== null && typeof value === 'object')
      out[name] = Object.entries(value)
        .map(([key, count]) => `${key} ${String(count)}`)
        .join(', ');
  return out;
}

/** As FastAPI tells what is wrong with a body. */
function issueOf({ path, message }: z.core.$ZodIssue): {
  loc: (string | number)[];
  msg: string;
  type: string;
} {
  const loc = ['body', ...path.map((part) => (typeof part === 'number' ? part : String(part)))];
  return { loc, msg: message, type: 'value_error' };
}

function answerError(error: unknown, request: Request, response: Response, log: Logger): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (error instanceof AppError) {
    const detail = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
    response.status(error.status).json({ detail, code: error.code.toLowerCase() });
    return;
  }
  // What Express finds wrong with a request carries the status.
  const { status } = error as { status?: unknown };
  if (typeof status === 'number' && status >= 400 && status < 500) {
    const broken = status === 400 ? 422 : status;
    response.status(broken).json({ detail: messageOf(error) });
    return;
  }
  log.error({ err: error, path: request.path }, 'a call of the memory sidecar failed');
  response.status(500).json({ detail: 'Something went wrong inside MetaClaw; its log has the details.' });
}
