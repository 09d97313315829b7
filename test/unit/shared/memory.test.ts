import { expect, it } from 'vitest';
import { parseScope, scopeName } from '../../../src/shared/memory.ts';

it.each([
  ['default', {}],
  ['', {}],
  ['default|session:abc', {}],
  ['session:abc', {}],
  ['user:alice', { user: 'alice' }],
  ['user:alice|workspace:api|session:1', { user: 'alice', workspace: 'api' }],
  ['workspace:api|user:alice', { user: 'alice', workspace: 'api' }],
  ['User: alice | Workspace: my api', { user: 'alice', workspace: 'my api' }],
  ['harbor-api', { workspace: 'harbor-api' }],
  ['workspace:default', { workspace: 'default' }],
  ['https://example.com/repo', { workspace: 'https://example.com/repo' }],
  ['user:mail:alice@example.com', { user: 'mail:alice@example.com' }],
  ['two\nlines', { workspace: 'two lines' }],
  ['user:王|agent:codex', { user: '王', agent: 'codex' }],
])('reads the scope %j', (text, parts) => {
  const scope = parseScope(text);
  expect(scope).toEqual({ user: '', workspace: '', agent: '', ...parts });
  expect(parseScope(scopeName(scope))).toEqual(scope);
});
