import { AppError } from '../../shared/errors.ts';
import type { Dialect } from '../../shared/model.ts';
import type { ChatModel } from '../ports.ts';
import { type Asker, askOwn } from './own-call.ts';
import type { Route } from './route.ts';

export interface ChatModelDeps extends Omit<Asker, 'sessionId'> {
  route: () => Route;
}

type Ask = Parameters<ChatModel['complete']>[0];
type Json = Record<string, unknown>;

/** The Responses API refuses less. */
const LEAST_OUTPUT_TOKENS = 16;
const CHAT_PATHS: Readonly<Record<Dialect, string>> = {
  openai: '/chat/completions',
  anthropic: '/messages',
  responses: '/responses',
};

/** One question, one whole answer, on any wire. */
export function createChatModel(deps: ChatModelDeps): ChatModel {
  return {
    async complete(ask, signal) {
      const route = deps.route();
      let { status, text } = await call(deps, route, ask, signal);
      // Reasoning models take no temperature; the provider says so with a 400 that names it.
      if (status === 400 && ask.temperature !== undefined && /temperature/i.test(text)) {
        const { temperature: _, ...plain } = ask;
        ({ status, text } = await call(deps, route, plain, signal));
      }
      if (status !== 200)
        throw new AppError('UPSTREAM_REFUSED', `${route.name} answered ${status}: ${providerWords(text)}`, {
          hint: status === 401 || status === 403 ? 'Check the provider’s key.' : undefined,
        });
      return { model: route.model, text: readAnswer(route, text) };
    },
  };
}

/** The body of a plain question on the route's wire, in the form that its provider is known to take. */
export function questionBody(route: Route, ask: Ask): Json {
  const { quirks } = route;
  const limit = Math.min(ask.maxTokens, quirks.mostOutput ?? ask.maxTokens);
  const warm = ask.temperature !== undefined && !quirks.refusedFields.includes('temperature');
  const common = {
    ...route.options,
    model: route.model,
    ...(warm ? { temperature: ask.temperature } : {}),
    ...(quirks.wholeWithoutThinking ? { enable_thinking: false } : {}),
    stream: false,
  };
  if (route.wire === 'anthropic')
    return {
      ...common,
      max_tokens: limit,
      ...(ask.system === '' ? {} : { system: ask.system }),
      messages: [{ role: 'user', content: ask.user }],
    };
  if (route.wire === 'responses')
    return {
      ...common,
      ...(ask.system === '' ? {} : { instructions: ask.system }),
      input: ask.user,
      max_output_tokens: Math.max(LEAST_OUTPUT_TOKENS, limit),
      store: false,
    };
  const system = ask.system === '' ? [] : [ask.system];
  return {
    ...common,
    [quirks.maxTokensField]: limit,
    messages: quirks.systemRole
      ? [...system.map((content) => ({ role: 'system', content })), { role: 'user', content: ask.user }]
      : [{ role: 'user', content: [...system, ask.user].join('\n\n') }],
  };
}

/** Path of the chat endpoint below a route's base URL. */
export function chatPath(route: Route): string {
  return CHAT_PATHS[route.wire];
}

/** The sentence of a provider's error body, whatever its shape; at most 300 characters. */
export function providerWords(text: string): string {
  let words = text.replace(/<[^>]*>/g, ' ');
  try {
    const parsed = JSON.parse(text) as Json | Json[];
    const root = (Array.isArray(parsed) ? parsed[0] : parsed) ?? {};
    const inner = root.error as Json | string | undefined;
    const found = typeof inner === 'object' ? inner?.message : (root.message ?? inner ?? root.detail);
    if (typeof found === 'string') words = found;
  } catch {
    // Not JSON: the text itself.
  }
  return words.replace(/\s+/g, ' ').trim().slice(0, 300) || 'no details';
}

function call(deps: ChatModelDeps, route: Route, ask: Ask, signal: AbortSignal) {
  const asker = { ...deps, sessionId: ask.sessionId ?? null };
  const question = { path: chatPath(route), body: questionBody(route, ask), signal };
  return askOwn(asker, route, question, 32 * 1024 * 1024);
}

function readAnswer(route: Route, text: string): string {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    throw new AppError('UPSTREAM_REFUSED', `${route.name} did not answer with JSON: ${providerWords(text)}`, {
      hint: 'Check the provider’s address.',
    });
  }
  const content = contentOf(route.wire, json);
  const plain =
    typeof content === 'string'
      ? content
      : Array.isArray(content)
        ? content.map((block: Json) => (isText(block) ? String(block.text) : '')).join('')
        : null;
  if (plain === null)
    throw new AppError('UPSTREAM_REFUSED', `${route.name} answered without text: ${providerWords(text)}`);
  return plain.replace(/^\s*<think>[\s\S]*?<\/think>\s*/, '');
}

/** Where each wire keeps the answer: a string or blocks; undefined when there is none. */
function contentOf(wire: Dialect, json: Json): unknown {
  if (wire === 'anthropic') return json.content;
  if (wire === 'openai') {
    const choices = json.choices as { message?: { content?: unknown } }[] | undefined;
    return choices?.[0]?.message?.content;
  }
  const output = json.output as { type?: string; content?: unknown[] }[] | undefined;
  return output?.flatMap((item) => (item.type === 'message' ? (item.content ?? []) : []));
}

function isText(block: Json | null): boolean {
  return block?.type === 'text' || block?.type === 'output_text';
}
