import { describe, expect, it } from 'vitest';
import { scopesOf } from '../../../src/engine/memory/scope.ts';
import { DEFAULT_CONFIG } from '../../../src/shared/config.ts';
import { scopeName } from '../../../src/shared/memory.ts';

/** Names of the scopes of a request: where it writes, then what it reads. */
function names(
  headers: Record<string, string>,
  over: { fields?: Record<string, string>; agent?: string; scope?: string; own?: string } = {},
): string[] {
  const config = {
    ...DEFAULT_CONFIG,
    memory: { ...DEFAULT_CONFIG.memory, scope: over.scope ?? DEFAULT_CONFIG.memory.scope },
    agents: over.own === undefined ? {} : { [over.own]: { memory_scope: 'own' as const } },
  };
  const { write, read } = scopesOf(
    { headers, fields: over.fields ?? {}, agent: over.agent ?? 'codex' },
    config,
  );
  return [write, ...read].map(scopeName);
}

describe('a request', () => {
  it('without any name is about the owner of this computer', () => {
    expect(names({})).toEqual(['default', 'default']);
  });

  it('of a user never reads what nobody is named for', () => {
    expect(names({ 'x-user-id': 'alice' })).toEqual(['user:alice', 'user:alice']);
    expect(names({ 'x-user-id': 'alice', 'x-workspace-id': 'api' })).toEqual([
      'user:alice|workspace:api',
      'user:alice|workspace:api',
      'user:alice',
    ]);
  });

  it('of a workspace reads the owner’s too', () => {
    expect(names({ 'x-workspace-id': 'api' })).toEqual(['workspace:api', 'workspace:api', 'default']);
    expect(names({}, { scope: 'api' })).toEqual(['workspace:api', 'workspace:api', 'default']);
  });

  it('may name them in its body; a header counts before', () => {
    expect(names({}, { fields: { user_id: 'bob' } })[0]).toBe('user:bob');
    expect(names({ 'x-user-id': 'alice' }, { fields: { user_id: 'bob' } })[0]).toBe('user:alice');
    expect(names({}, { fields: { memory_scope: 'team' } })).toEqual(['workspace:team', 'workspace:team']);
  });

  it('with a scope by name is about that one alone', () => {
    expect(names({ 'x-memory-scope': 'user:bob|workspace:w|session:9', 'x-user-id': 'alice' })).toEqual([
      'user:bob|workspace:w',
      'user:bob|workspace:w',
    ]);
    expect(names({ 'x-memory-scope': 'default' })).toEqual(['default', 'default']);
    expect(names({ 'x-memory-scope': 'default|session:1' })).toEqual(['default', 'default']);
  });

  it('of an agent with memories of its own stays with them', () => {
    expect(names({}, { own: 'codex' })).toEqual(['agent:codex', 'agent:codex']);
    expect(names({ 'x-user-id': 'alice' }, { own: 'codex' })).toEqual([
      'user:alice|agent:codex',
      'user:alice|agent:codex',
    ]);
    expect(names({}, { own: 'openclaw' })).toEqual(['default', 'default']);
  });

  it('cannot pass for another user by signs in a name, a line break or its length', () => {
    const { write } = scopesOf(
      { headers: { 'x-user-id': 'alice|workspace:secret' }, fields: {}, agent: '' },
      DEFAULT_CONFIG,
    );
    expect(write).toEqual({ user: 'alice|workspace:secret', workspace: '', agent: '' });
    expect(names({ 'x-user-id': ' alice\n' })[0]).toBe('user:alice');
    const long = (end: string) => names({ 'x-user-id': `${'a'.repeat(500)}${end}` })[0];
    expect(long('1')).not.toBe(long('2'));
    expect(long('1')?.length).toBeLessThanOrEqual(205);
  });
});
