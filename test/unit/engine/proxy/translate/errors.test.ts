import { describe, expect, it } from 'vitest';
import {
  clientStatus,
  errorBody,
  errorEvent,
  errorType,
  readUpstreamError,
} from '../../../../../src/engine/proxy/translate/errors.ts';
import { jsonEvents, parseSse } from './support.ts';

describe('readUpstreamError', () => {
  it.each([
    [
      'OpenAI',
      401,
      '{"error":{"message":"bad key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}',
      'invalid_request_error',
      'bad key',
      'invalid_api_key',
    ],
    [
      'Anthropic',
      529,
      '{"type":"error","error":{"type":"overloaded_error","message":"busy"},"request_id":"r"}',
      'overloaded_error',
      'busy',
      null,
    ],
    [
      'Gemini array',
      400,
      '[{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]',
      'invalid_request_error',
      'no',
      '400',
    ],
    [
      'FastAPI',
      422,
      '{"detail":[{"loc":["body","model"],"msg":"field required"}]}',
      'invalid_request_error',
      'body.model: field required',
      null,
    ],
    ['FastAPI text', 404, '{"detail":"Not Found"}', 'not_found_error', 'Not Found', null],
    ['Ollama', 404, '{"error":"model not found"}', 'not_found_error', 'model not found', null],
    [
      'vLLM',
      400,
      '{"object":"error","message":"too long","type":"BadRequestError","code":400}',
      'invalid_request_error',
      'too long',
      '400',
    ],
    [
      'HTML',
      502,
      '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>',
      'api_error',
      '502 Bad Gateway',
      null,
    ],
    ['plain', 503, ' try  later\n', 'api_error', 'try later', null],
    ['empty', 500, '', 'api_error', 'The upstream answered HTTP 500.', null],
    ['JSON without words', 429, '{"a":1}', 'rate_limit_error', '{"a":1}', null],
  ])('%s', (_name, status, body, type, message, code) => {
    expect(readUpstreamError(status, body)).toMatchObject({ type, message, code, status });
  });
});

describe('errors for clients', () => {
  it.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [405, 'invalid_request_error'],
    [413, 'request_too_large'],
    [415, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [504, 'timeout_error'],
    [529, 'overloaded_error'],
  ])('status %i is %s', (status, type) => {
    expect(errorType(status)).toBe(type);
  });

  it('H12: the exact bodies', () => {
    expect(errorBody('anthropic', 404, { message: 'm' }, 'req')).toEqual({
      type: 'error',
      error: { type: 'not_found_error', message: 'm' },
      request_id: 'req',
    });
    expect(errorBody('openai', 400, { message: 'm', param: 'n' }, 'req')).toEqual({
      error: { message: 'm', type: 'invalid_request_error', param: 'n', code: null },
    });
  });

  it("H04: OpenAI's code for a limit, and a foreign type that Anthropic clients do not know", () => {
    expect(errorBody('openai', 429, { message: 'm' }, 'r')).toMatchObject({
      error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    });
    expect(errorBody('anthropic', 429, { message: 'm', type: 'insufficient_quota' }, 'r')).toMatchObject({
      error: { type: 'rate_limit_error' },
    });
  });

  it('H06: 529 is 503 for OpenAI clients only', () => {
    expect([
      clientStatus('openai', 529),
      clientStatus('anthropic', 529),
      clientStatus('openai', 500),
    ]).toEqual([503, 529, 500]);
  });

  it('S42, S43: in-band errors', () => {
    const error = { type: 'overloaded_error', message: 'busy' };
    const [event] = parseSse(errorEvent('anthropic', error));
    expect([event?.event, event?.data]).toEqual([
      'error',
      '{"type":"error","error":{"type":"overloaded_error","message":"busy"}}',
    ]);
    expect(jsonEvents(errorEvent('openai', error))).toEqual([
      { error: { message: 'busy', type: 'overloaded_error', code: null } },
    ]);
  });
});
