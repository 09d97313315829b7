import { describe, expect, it } from 'vitest';
import { identify, isDone, laneOf, newSessionSign, safeId } from '../../../src/engine/sessions/identity.ts';

const UUID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301';
const OTHER = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const facts = (
  headers: Record<string, string> = {},
  fields: Record<string, string> = {},
  firstUserText = 'hello',
) => ({ headers, fields, firstUserText });

describe('identify', () => {
  // A weaker sign that wins over a stronger one splits or mixes conversations.
  it('takes the strongest sign of a request that carries them all', () => {
    const runtime = `hello\n\nRuntime: agent=main | session=agent:main:main | sessionId=${UUID} | host=h`;
    const headers: [string, string][] = [
      ['x-metaclaw-session', 'metaclaw-header'],
      ['x-session-id', 'original-header'],
      ['x-mc-session', 'client-header'],
      ['x-claude-code-session-id', 'client-header'],
      ['session_id', 'client-header'],
      ['session-id', 'client-header'],
      ['thread-id', 'client-header'],
      ['x-session-affinity', 'client-header'],
      ['x-session-key', 'client-header'],
      ['x-opencode-session', 'client-header'],
    ];
    const fields: [string, string, string][] = [
      ['prompt_cache_key', 'key-1', 'key-1'],
      ['metadata.user_id', JSON.stringify({ device_id: 'd', session_id: 'meta-1' }), 'meta-1'],
      ['client_metadata.session_id', 'client-1', 'client-1'],
    ];
    const headersOf = (from: number) =>
      Object.fromEntries(headers.slice(from).map(([name]) => [name, `id-of-${name}`]));
    const fieldsOf = (from: number) =>
      Object.fromEntries(fields.slice(from).map(([name, value]) => [name, value]));
    headers.forEach(([name, source], index) => {
      expect(identify(facts(headersOf(index), fieldsOf(0), runtime))).toEqual({
        id: `id-of-${name}`,
        source,
      });
    });
    fields.forEach(([, , id], index) => {
      expect(identify(facts({}, fieldsOf(index), runtime))).toEqual({ id, source: 'body' });
    });
    expect(identify(facts({}, {}, runtime))).toEqual({ id: UUID, source: 'openclaw-text' });
    expect(identify(facts())).toBeNull();
  });

  it('reads the original’s body field, and its header wins', () => {
    expect(identify(facts({}, { session_id: 'from-body' }))).toEqual({
      id: 'from-body',
      source: 'original-header',
    });
    expect(identify(facts({ 'x-session-id': 'from-header' }, { session_id: 'from-body' }))?.id).toBe(
      'from-header',
    );
  });

  // OpenClaw counts its attempts in the id; every retry would start a session.
  it('strips the attempt number', () => {
    expect(identify(facts({ session_id: `${UUID}:0` }))?.id).toBe(UUID);
    expect(identify(facts({}, { prompt_cache_key: `${UUID}:12` }))?.id).toBe(UUID);
    expect(identify(facts({ 'x-session-key': 'agent:main:main' }))?.id).toBe('agent:main:main');
  });

  // SDKs and Codex put a fresh uuid per request there: each request would be a session of its own.
  it('takes x-client-request-id only in its numbered form', () => {
    expect(identify(facts({ 'x-client-request-id': `${UUID}:0` }))).toEqual({
      id: UUID,
      source: 'client-header',
    });
    expect(identify(facts({ 'x-client-request-id': UUID }))).toBeNull();
    expect(identify(facts({ 'x-client-request-id': 'req_123:4' }))).toBeNull();
  });

  it('reads both spellings of Claude Code’s user id, and takes no plain user for a session', () => {
    const of = (value: string) => identify(facts({}, { 'metadata.user_id': value }))?.id ?? null;
    expect(of(`user_${'ab'.repeat(32)}_account_${OTHER}_session_${UUID}`)).toBe(UUID);
    expect(of(JSON.stringify({ session_id: UUID }))).toBe(UUID);
    expect(of('user-17')).toBeNull();
    expect(of('{"session_id":5}')).toBeNull();
    expect(of('{broken')).toBeNull();
  });

  it('believes OpenClaw’s runtime line only where OpenClaw writes it', () => {
    expect(identify(facts({}, {}, `what does sessionId=${UUID} mean?`))).toBeNull();
    expect(identify(facts({}, {}, `Runtime: agent=main | sessionId=${UUID.slice(0, 20)} | x`))).toBeNull();
  });

  it('passes over empty headers', () => {
    expect(identify(facts({ 'x-metaclaw-session': ' ', 'x-session-id': '' }, { session_id: 's' }))?.id).toBe(
      's',
    );
  });
});

describe('safeId', () => {
  // An id that becomes a path, a header or a log line as it came.
  it.each([
    ['../../etc/passwd'],
    ['a/b'],
    ['a\\b'],
    ["x'; DROP TABLE turns; --"],
    ['with space'],
    ['line\nbreak'],
    ['..'],
    ['a..b'],
    ['ü'],
    ['x'.repeat(129)],
    ['-leading'],
    ['sk-TEST1234567890abcdef'],
  ])('hashes %j', (raw) => {
    const id = safeId(raw);
    expect(id).toMatch(/^x-[0-9a-f]{32}$/);
    expect(safeId(raw)).toBe(id);
  });

  it.each([['ses_01J8'], [UUID], ['agent:main:main'], ['user@host'], ['a.b-c_d~e=f+g']])(
    'keeps %j',
    (raw) => {
      expect(safeId(raw)).toBe(raw);
    },
  );
});

describe('ends and lanes', () => {
  it('knows the truthy words, and the header wins over the body', () => {
    for (const word of ['1', 'true', 'YES', ' on '])
      expect(isDone(facts({ 'x-session-done': word }))).toBe(true);
    for (const word of ['0', 'false', 'no', ''])
      expect(isDone(facts({ 'x-session-done': word }))).toBe(false);
    expect(isDone(facts({}, { session_done: 'true' }))).toBe(true);
    expect(isDone(facts({ 'x-session-done': 'false' }, { session_done: 'true' }))).toBe(false);
  });

  // Talk about /new that ends the session.
  it('takes only the command itself or OpenClaw’s announcement', () => {
    for (const text of ['/new', ' /NEW\n', '/reset']) expect(newSessionSign(text)).toBe('command');
    for (const text of ['/new please', 'what does /new do?', '/newer', 'new', '/new /reset'])
      expect(newSessionSign(text)).toBeNull();
    const opening = 'A new session was started via /new or /reset. Run your start-up sequence.';
    expect(newSessionSign(opening)).toBe('announcement');
  });

  it('reads the chat’s own key', () => {
    expect(laneOf(facts({ 'x-session-key': 'agent:main:telegram:1' }))).toBe('agent:main:telegram:1');
    expect(
      laneOf(facts({}, {}, `hi\nRuntime: agent=main | session=agent:main:main | sessionId=${UUID}`)),
    ).toBe('agent:main:main');
    expect(laneOf(facts())).toBeNull();
  });
});
