import type { Express, Request, Response } from 'express';
import { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import { MEMORY_KINDS, type MemoryKind, type MemoryStatus } from '../../shared/memory.ts';
import { isJsonType } from '../platform/guard.ts';
import { readRequestBody } from './body.ts';

/** Who calls, and whose memories the call names. */
interface Asker {
  headers: Readonly<Record<string, string | undefined>>;
  agent: string;
  scope?: string | undefined;
}

interface Exchange {
  user: string;
  reply: string;
  id: string;
}

/** What is remembered, as far as these routes need it. Every method throws NOT_RUNNING while memory is off. */
export interface MemoryDoor {
  stats(asker: Asker): object;
  health(asker: Asker): object;
  summary(asker: Asker): object;
  actionPlan(asker: Asker): object;
  maintenance(asker: Asker): object;
  feedbackAnalysis(asker: Asker): object;
  operatorReport(asker: Asker): object;
  search(asker: Asker, query: { text: string; limit: number; turns: boolean }): Promise<object[]>;
  list(
    asker: Asker,
    query: {
      type?: MemoryKind | undefined;
      q: string;
      status: MemoryStatus;
      limit: number;
      cursor?: string | undefined;
    },
  ): { data: object[]; total: number; next: string | null };
  get(asker: Asker, id: string): object;
  add(
    asker: Asker,
    memory: {
      content: string;
      kind: MemoryKind;
      pinned: boolean;
      importance: number;
      tags: string[];
      expiresAt: string | null;
    },
  ): object;
  edit(
    asker: Asker,
    id: string,
    change: {
      content: string | undefined;
      kind: MemoryKind | undefined;
      pinned: boolean | undefined;
      tags: string[] | undefined;
      expiresAt: string | null | undefined;
      base: string | undefined;
    },
  ): object;
  forget(asker: Asker, id: string, now: boolean): object;
  restore(asker: Asker, id: string): object;
  ingest(asker: Asker, sessionId: string, exchanges: readonly Exchange[]): Promise<object>;
  bufferTurn(asker: Asker, sessionId: string, exchange: Exchange): object;
  flushSession(asker: Asker, sessionId: string): Promise<object>;
}

export interface MemoryRoutesDeps {
  memory: MemoryDoor;
  agentOf: (request: Request) => string;
}

const MAX_BYTES = 4 * 1024 * 1024;
const MOST_CHARS = 100_000;

const kind = z.enum(MEMORY_KINDS);
const scopeText = z.string().max(1000).optional();
const tags = z.array(z.string().max(100)).max(50);
/** ISO, or empty as the original wrote it for never. */
const expiry = z
  .union([z.iso.datetime({ offset: true }), z.literal('')])
  .nullable()
  .transform((value) => value || null);
const sessionId = z.string().trim().min(1).max(200);
/** What is longer is cut: nobody remembers that much. */
const text = z.string().transform((value) => value.slice(0, MOST_CHARS));
const exchange = z
  .object({
    prompt_text: text.default(''),
    response_text: text.default(''),
    id: z.string().max(200).default(''),
  })
  .transform(({ prompt_text: user, response_text: reply, id }): Exchange => ({ user, reply, id }));
const flag = z
  .enum(['', '1', 'true', '0', 'false'])
  .optional()
  .transform((value) => value !== undefined && value !== '0' && value !== 'false');

const scopeQuery = z.object({ scope: scopeText });
const listQuery = z.object({
  scope: scopeText,
  type: kind.optional(),
  q: z.string().max(20_000).default(''),
  status: z.enum(['active', 'superseded', 'expired', 'forgotten']).default('active'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.string().max(200).optional(),
});
const searchQuery = z.object({
  scope: scopeText,
  q: z.string().max(20_000),
  limit: z.coerce.number().int().min(1).max(200).default(20),
  turns: flag,
});
const content = z.string().trim().min(1).max(20_000);
const newMemory = z.strictObject({
  content,
  type: kind.optional(),
  memory_type: kind.optional(),
  scope: scopeText,
  pinned: z.boolean().default(false),
  importance: z.number().min(0).max(1).default(0.8),
  tags: tags.default([]),
  expires_at: expiry.default(null),
});
const change = z.strictObject({
  content: content.optional(),
  type: kind.optional(),
  memory_type: kind.optional(),
  pinned: z.boolean().optional(),
  tags: tags.optional(),
  expires_at: expiry.optional(),
  /** `updated_at` of the memory that was changed; another one there is refused with 409. */
  base: z.string().max(100).optional(),
});
const session = z.object({ session_id: sessionId, scope: scopeText, scope_id: scopeText });
const ingestBody = z.object({
  session_id: z.string().trim().max(200).default(''),
  scope: scopeText,
  scope_id: scopeText,
  turns: z.array(exchange).max(1000).default([]),
});
const bufferBody = session.extend({ turn: exchange });

/**
 * `/v1/memory…`: the original's routes, and lists, changes and deletion, which it lacked. A call is about the scope
 * that it names, within what its headers say that the caller may see.
 */
export function addMemoryRoutes(app: Express, { memory, agentOf }: MemoryRoutesDeps): void {
  const asker = (request: Request, scope?: string): Asker => ({
    headers: textHeaders(request),
    agent: agentOf(request),
    scope,
  });
  const about = (request: Request) => asker(request, parse(scopeQuery, request.query).scope);

  app.get('/v1/memory', (request, response) => {
    const { scope, ...query } = parse(listQuery, request.query);
    const { data, total, next } = memory.list(asker(request, scope), query);
    response.json({ object: 'list', data, total, has_more: next !== null, next_cursor: next });
  });
  app.post('/v1/memory', async (request, response) => {
    const {
      scope,
      type,
      memory_type: old,
      expires_at: expiresAt,
      ...rest
    } = await bodyOf(request, newMemory);
    const memoryKind = type ?? old ?? 'semantic';
    response.status(201).json(memory.add(asker(request, scope), { ...rest, kind: memoryKind, expiresAt }));
  });

  const READS = {
    stats: (one: Asker) => memory.stats(one),
    health: (one: Asker) => memory.health(one),
    summary: (one: Asker) => memory.summary(one),
    'feedback-analysis': (one: Asker) => memory.feedbackAnalysis(one),
    'operator-report': (one: Asker) => memory.operatorReport(one),
  };
  for (const [name, read] of Object.entries(READS))
    app.get(`/v1/memory/${name}`, (request, response) => {
      response.json(read(about(request)));
    });
  app.get('/v1/memory/search', async (request, response) => {
    const { scope, q, ...query } = parse(searchQuery, request.query);
    response.json(await memory.search(asker(request, scope), { text: q, ...query }));
  });

  app.post('/v1/memory/action-plan', (request, response) => {
    response.json(memory.actionPlan(about(request)));
  });
  app.post('/v1/memory/maintenance', (request, response) => {
    response.json(memory.maintenance(about(request)));
  });
  app.post('/v1/memory/ingest', async (request, response) => {
    const input = await bodyOf(request, ingestBody);
    if (input.turns.length > 0 && input.session_id === '')
      throw new AppError('BAD_INPUT', 'Turns need the session_id that they belong to.', {
        field: 'session_id',
      });
    response.json(await memory.ingest(asker(request, scopeOf(input)), input.session_id, input.turns));
  });
  app.post('/v1/memory/buffer_turn', async (request, response) => {
    const input = await bodyOf(request, bufferBody);
    response.json(memory.bufferTurn(asker(request, scopeOf(input)), input.session_id, input.turn));
  });
  app.post('/v1/memory/flush_session', async (request, response) => {
    const input = await bodyOf(request, session);
    response.json(await memory.flushSession(asker(request, scopeOf(input)), input.session_id));
  });

  app.get('/v1/memory/:id', (request, response) => {
    response.json(memory.get(about(request), request.params.id));
  });
  app.patch('/v1/memory/:id', async (request, response) => {
    const one = about(request);
    const input = await bodyOf(request, change);
    const { content: words, pinned, tags: marks, base } = input;
    response.json(
      memory.edit(one, request.params.id, {
        content: words,
        kind: input.type ?? input.memory_type,
        pinned,
        tags: marks,
        expiresAt: input.expires_at,
        base,
      }),
    );
  });
  app.delete('/v1/memory/:id', (request, response) => {
    const { now } = parse(z.object({ now: flag }), request.query);
    response.json(memory.forget(about(request), request.params.id, now));
  });
  app.post('/v1/memory/:id/restore', (request, response) => {
    response.json(memory.restore(about(request), request.params.id));
  });

  const refuse = (allowed: string) => (request: Request, response: Response) => {
    response.setHeader('allow', allowed.replace(' or ', ', '));
    throw new AppError(
      'METHOD_NOT_ALLOWED',
      `${request.method} is not allowed on ${request.path}; use ${allowed}.`,
    );
  };
  app.all('/v1/memory', refuse('GET or POST'));
  app.all('/v1/memory/:id', refuse('GET, PATCH or DELETE'));
  app.all('/v1/memory/*rest', (request) => {
    throw new AppError('NOT_FOUND', `There is nothing at ${request.method} ${request.path}.`);
  });
}

/** Both names that the original's callers use. */
function scopeOf(input: { scope?: string | undefined; scope_id?: string | undefined }): string | undefined {
  return input.scope ?? input.scope_id;
}

async function bodyOf<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  if (!isJsonType(request.headers['content-type']))
    throw new AppError('MEDIA_TYPE', `The content type ${request.headers['content-type']} is not JSON.`, {
      hint: 'Send application/json.',
    });
  const raw = await readRequestBody(request, MAX_BYTES);
  let json: unknown = {};
  try {
    if (raw.length > 0) json = JSON.parse(raw.toString('utf8'));
  } catch (error) {
    throw new AppError('BAD_INPUT', 'The body is not JSON.', { cause: error });
  }
  return parse(schema, json);
}

function parse<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  throw new AppError('BAD_INPUT', `${field === '' ? '' : `${field}: `}${issue?.message ?? 'bad input'}`, {
    ...(field === '' ? {} : { field }),
  });
}

function textHeaders({ headers }: Request): Record<string, string | undefined> {
  const out: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') out[name] = value;
  return out;
}
