import { expect } from 'vitest';
import { type ProxyLab, startProxyLab } from './proxy.ts';
import { post, rawRequest } from './raw.ts';
import type { RawReply } from './upstream.ts';

type Json = Record<string, unknown>;

/** One wording of a refusal, and what has to come of it. */
export interface RefusalCase {
  /** Whose wording it is. */
  by: string;
  body: Json;
  status?: number;
  error: unknown;
  /** True while the request is refused. */
  refuses: (body: Json) => boolean;
  /** What must hold of the request that is taken, the second time and ever after. */
  after?: (body: Json) => void;
  dropped?: string;
  /** How the model's name begins. */
  family?: string;
}

export const has =
  (...fields: string[]) =>
  (body: Json) =>
    fields.some((field) => field in body);
export const openai = (message: string, param: string | null = null, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
});
export const google = (message: string) => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }];
export const anthropic = (message: string, id = 'req_1') => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
  request_id: id,
});
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
export const FORMAT = { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } };
export const TOOL = {
  type: 'function',
  function: {
    name: 'f',
    parameters: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      // A property may have the name of a word.
      properties: {
        additionalProperties: {
          type: 'object',
          description: 'a name',
          properties: {},
          additionalProperties: false,
        },
      },
      required: ['additionalProperties'],
    },
  },
};
export const SYSTEM = [
  { role: 'system', content: 'S' },
  { role: 'user', content: 'hi' },
];
export const TWO_SYSTEMS = [...SYSTEM, { role: 'system', content: 'T' }, { role: 'user', content: 'ho' }];
export const ANSWERED = [
  { role: 'user', content: 'q' },
  { role: 'assistant', content: 'a', reasoning_content: 'because' },
  { role: 'user', content: 'q2' },
];
export const roles = (body: Json) => (body.messages as Json[]).map((message) => message.role);
export const tooLong = (limit: number) => (body: Json) =>
  Number(body.max_tokens ?? body.max_completion_tokens) > limit;

let used = 0;

/** A proxy whose every model is a new one to it. */
export async function startRefusalLab(wire: 'openai' | 'anthropic' = 'openai'): Promise<ProxyLab> {
  return startProxyLab({ model: 'm', wire, upstream: { strict: false } });
}

/** The name of a model of which nothing is known; it begins with `family`. */
export function newModel(lab: ProxyLab, family = ''): string {
  used += 1;
  const model = `${family}m${used}`;
  lab.config.llm.models.push(model);
  return model;
}

export async function ask(lab: ProxyLab, model: string, body: Json) {
  const anthropicWire = lab.config.llm.wire === 'anthropic';
  const limit = anthropicWire ? { max_tokens: 50 } : {};
  const whole = { model, messages: [{ role: 'user', content: 'hi' }], ...limit, ...body };
  const path = anthropicWire ? '/v1/messages' : '/v1/chat/completions';
  return rawRequest(lab.port, post(path, JSON.stringify(whole), { 'anthropic-version': '2023-06-01' }));
}

export function refusal(status: number, error: unknown): RawReply {
  return typeof error === 'string' ? { status, body: error } : { status, body: error as Json };
}

/** The case's request is refused once, then sent in a form that is taken, and always so from then on. */
export async function learns(lab: ProxyLab, test: RefusalCase): Promise<void> {
  const model = newModel(lab, test.family);
  lab.upstream.reset();
  lab.upstream.script(({ json }) => (test.refuses(json) ? refusal(test.status ?? 400, test.error) : 'taken'));
  const first = await ask(lab, model, test.body);
  expect(first.status, first.body).toBe(200);
  expect(lab.upstream.chats).toHaveLength(2);
  test.after?.(lab.upstream.last.json);
  expect(first.headers['x-metaclaw-dropped']).toBe(test.dropped);
  await ask(lab, model, test.body);
  expect(lab.upstream.chats).toHaveLength(3);
  test.after?.(lab.upstream.last.json);
  expect(lab.provider.learnedQuirks()[0]).toMatchObject({ model, host: new URL(lab.upstream.url).host });
}
